"""What may stand in the graph. A tool asks before it records an operation; what is applied is looked at again, piece by piece."""

import json
import re

from pydantic import JsonValue

from daimon.abi import plain
from daimon.abi.errors import BadInput
from daimon.abi.memory import Edge, Node, Relate, Unrelate
from daimon.abi.text import is_text

LONGEST_NAME = 500
LONGEST_WORD = 64
"""Of a kind, a type, a property's name."""
LARGEST_PROPERTIES = 16_000
"""Characters of all properties of one node or edge, as JSON."""
MOST_PIECES = 2_000
"""Nodes and edges of one operation."""

_TYPE = re.compile(r"[A-Z][A-Z0-9_]*")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def check(operation: Relate | Unrelate) -> None:
    """Raises BadInput with the first thing that cannot be kept."""
    if (pieces := len(operation.nodes) + len(operation.edges)) > MOST_PIECES:
        raise BadInput(f"{pieces} nodes and edges at once are too many; give at most {MOST_PIECES}")
    for node in operation.nodes:
        if found := node_fault(node) if isinstance(node, Node) else name_fault(*node):
            raise BadInput(found)
    for edge in operation.edges:
        if found := edge_fault(edge):
            raise BadInput(found)


def node_fault(node: Node) -> str:
    """Why it cannot be kept; empty if it can."""
    return name_fault(node.kind, node.name) or _properties_fault(node.properties, f"the node {node.name[:80]!r}")


def edge_fault(edge: Edge) -> str:
    if not _TYPE.fullmatch(edge.type) or len(edge.type) > LONGEST_WORD:
        return f"{edge.type[:80]!r} is no type of an edge; write it like DEPENDS_ON, in at most {LONGEST_WORD} capitals, digits and _"
    if not 0 <= edge.confidence <= 1:
        return f"the confidence of the edge {edge.type} is {edge.confidence}; give a number from 0 to 1"
    if edge.since is not None and edge.until is not None and edge.until <= edge.since:
        return f"the edge {edge.type} is over ({edge.until}) before it begins ({edge.since}); give a later end"
    return name_fault(*edge.src) or name_fault(*edge.dst) or _properties_fault(edge.properties, f"the edge {edge.type}")


def name_fault(kind: str, name: str) -> str:
    if not _WORD.fullmatch(kind) or len(kind) > LONGEST_WORD:
        return f"{kind[:80]!r} is no kind of a node; write it like Service, in at most {LONGEST_WORD} letters, digits and _"
    if not name.strip() or len(name) > LONGEST_NAME:
        return f"the name of a {kind} has {len(name)} characters; give 1 to {LONGEST_NAME}"
    return "" if is_text(name) and "\0" not in name else f"the name {name[:80]!r} has characters that no text can have; leave them out"


def written(properties: dict[str, JsonValue]) -> str:
    """As they stand in the tables: equal properties have equal bytes."""
    return json.dumps(properties, ensure_ascii=False, sort_keys=True, separators=(",", ":")) if properties else "{}"


def _properties_fault(properties: dict[str, JsonValue], of: str) -> str:
    for key in properties:
        if not _WORD.fullmatch(key) or len(key) > LONGEST_WORD:
            return f"{key[:80]!r} is no name of a property of {of}; use at most {LONGEST_WORD} letters, digits and _"
    if found := plain.fault(properties):
        return f"the properties of {of} cannot be kept: {found}"
    if properties and len(text := written(properties)) > LARGEST_PROPERTIES:
        return f"the properties of {of} have {len(text)} characters; give at most {LARGEST_PROPERTIES}"
    return ""
