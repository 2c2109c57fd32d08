"""What an answer shows of a value: a node is its kind, name and properties, an edge its type, ends and properties, a path its nodes and
edges. And what makes two values the same one."""

import json
from typing import Any

from pydantic import JsonValue

from daimon.memory.graph import values
from daimon.memory.graph.evaluate import Kind
from daimon.memory.graph.view import View


def shown(view: View, kind: Kind, value: Any) -> JsonValue:
    if value is None:
        return None
    match kind:
        case "node":
            return _node(view, value)
        case "edge":
            return _edge(view, value)
        case "nodes":
            return [_node(view, n) for n in value]
        case "edges":
            return [_edge(view, n) for n in value]
        case "path":
            view.load(value.nodes)
            view.load_edges(value.edges)
            return {"nodes": [_node(view, n) for n in value.nodes], "edges": [_edge(view, n) for n in value.edges]}
        case "value":
            said: JsonValue = value
            return said


def key_of(kind: Kind, value: Any) -> object:
    """Equal for equal values of one kind, and with a hash."""
    return values.frozen(value) if kind == "value" else tuple(value) if isinstance(value, list) else value


def _node(view: View, n: int) -> JsonValue:
    row = view.node(n)
    return {"kind": row.kind, "name": row.name, "properties": json.loads(row.properties)}


def _edge(view: View, n: int) -> JsonValue:
    row = view.edge(n)
    src, dst = view.node(row.src), view.node(row.dst)
    return {"type": row.type, "src": [src.kind, src.name], "dst": [dst.kind, dst.name], "properties": json.loads(row.properties)}
