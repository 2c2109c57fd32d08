"""The parser, loaded when the first text is read: a start that runs no command does not pay for it."""

import re
from functools import cache
from typing import TYPE_CHECKING

from daimon.abi.text import clean

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


_BEYOND = re.compile("[\U00010000-\U0010ffff]")


@cache
def _parser() -> "Parser":
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def parse(text: str) -> "Node":
    """The grammar's scanner looks characters up in a table that ends long before the last of them: what lies beyond is told as one that
    nobody knows, which is what it is to a shell."""
    return _parser().parse(_BEYOND.sub("\ufffd", clean(text)).encode()).root_node


def text_of(node: "Node") -> str:
    return (node.text or b"").decode("utf-8", "replace")


def between(node: "Node", start: int, end: int) -> str:
    """The text of a node from one byte of the source to another."""
    return (node.text or b"")[start - node.start_byte : end - node.start_byte].decode("utf-8", "replace")
