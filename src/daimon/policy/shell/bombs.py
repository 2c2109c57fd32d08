"""Functions that multiply without end, and shells that talk to a connection."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from daimon.policy.shell.scene import Never
from daimon.policy.shell.tree import text_of

if TYPE_CHECKING:
    from tree_sitter import Node

ALWAYS = frozenset({"compound_statement", "subshell", "pipeline", "redirected_statement", "command_name"})
"""What lies below these runs whenever the function runs. A call behind a condition is recursion like any other."""
_TALKING_SHELL = re.compile(r"(?:^|[\s/])(?:ba|da|z|k)?sh\s+(?:-\w+\s+)*-\w*i")
_WIRE = re.compile(r"(?:^|[\s/])(?:nc|ncat|netcat|telnet|socat|openssl\s+s_client)\s")


def refuse(name: str, body: "Node") -> None:
    calls = list(_calls(name, body, False))
    if len(calls) > 1 or True in calls:
        raise Never(
            f"`{name}() {text_of(body)[:60]}` never runs: the function starts itself again and again until the machine stands still"
        )


def _calls(name: str, node: "Node", is_behind: bool) -> Iterator[bool]:
    """For each call of itself: does it run in the background?"""
    for child in node.named_children:
        following = child.next_sibling
        behind = is_behind or (following is not None and following.type == "&")
        if child.type == "command" and text_of(child).split(" ")[0] == name:
            yield behind
        elif child.type in ALWAYS:
            yield from _calls(name, child, behind)


def refuse_shell_on_wire(parts: Sequence[str]) -> None:
    """`sh -i | nc HOST PORT`, the other half of which comes back through a pipe file."""
    for first, second in pairwise(parts):
        if _TALKING_SHELL.search(first[:500]) and _WIRE.search(second[:500]):
            raise Never(
                f"`{first[:40].strip()} | {second[:40].strip()}` never runs: it would give a shell on this machine to somebody else"
            )
