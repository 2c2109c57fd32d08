"""Expressions of a query, from words to a tree.

expression  OR, then XOR, then AND, then NOT, then a comparison: = <> < <= > >= CONTAINS, STARTS WITH, ENDS WITH, IN, IS [NOT] NULL
operand     a value, a name, name.key, name:Label, a list in [ ], function(…), count(*), ANY|ALL|NONE|SINGLE(x IN list WHERE …), ( … )
"""

from typing import Literal

from pydantic import JsonValue

from daimon.memory.graph import tree
from daimon.memory.graph.reader import Reader

FUNCTIONS = {
    "nodes": 1,
    "relationships": 1,
    "length": 1,
    "type": 1,
    "labels": 1,
    "properties": 1,
    "count": 1,
    "size": 1,
    "tolower": 1,
    "toupper": 1,
    "startnode": 1,
    "endnode": 1,
}
"""With how many arguments."""

_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
_CONSTANTS: dict[str, bool | None] = {"TRUE": True, "FALSE": False, "NULL": None}
_QUANTIFIERS: dict[str, Literal["ANY", "ALL", "NONE", "SINGLE"]] = {"ANY": "ANY", "ALL": "ALL", "NONE": "NONE", "SINGLE": "SINGLE"}


def expression(reader: Reader) -> tree.Expression:
    reader.deeper()
    found = _joined(reader, 0)
    reader.depth -= 1
    return found


def literal(reader: Reader) -> JsonValue:
    """A value that stands for itself."""
    at = reader.token.at
    match expression(reader):
        case tree.Literally(value):
            return value
        case tree.Several(items) if all(isinstance(item, tree.Literally) for item in items):
            return [item.value for item in items if isinstance(item, tree.Literally)]
        case _:
            raise reader.wrong_at(
                at, "expected a text in quotes, a number, true, false or a list of those", "other conditions go into WHERE"
            )


_JOINS: tuple[Literal["OR", "XOR", "AND"], ...] = ("OR", "XOR", "AND")


def _joined(reader: Reader, level: int) -> tree.Expression:
    if level == len(_JOINS):
        return _negated(reader)
    at = reader.token.at
    parts = [_joined(reader, level + 1)]
    while reader.take_word(_JOINS[level]):
        parts.append(_joined(reader, level + 1))
    return parts[0] if len(parts) == 1 else tree.Joined(_JOINS[level], tuple(parts), at)


def _negated(reader: Reader) -> tree.Expression:
    at, is_negated = reader.token.at, False
    is_not = False
    while reader.take_word("NOT"):
        is_not, is_negated = True, not is_negated
    found = _compared(reader)
    if not is_not:
        return found
    # An even number of them is not nothing: what is negated must be true or false.
    return tree.Not(found, at) if is_negated else tree.Not(tree.Not(found, at), at)


def _compared(reader: Reader) -> tree.Expression:
    left = _operand(reader)
    token = reader.token
    if (by := _comparison(reader)) == "IS":
        is_negated = reader.take_word("NOT")
        reader.expect_word("NULL", "write IS NULL or IS NOT NULL")
        missing = tree.Missing(left, token.at)
        return tree.Not(missing, token.at) if is_negated else missing
    if not by:
        return left
    found = tree.Compared(by, left, _operand(reader), token.at)
    if reader.token.kind == "sign" and reader.token.text in _COMPARISONS:
        raise reader.unexpected("AND, OR or the end of the condition", "compare two values at a time")
    return found


def _comparison(reader: Reader) -> str:
    """Which one stands here, passed; empty: none."""
    token = reader.token
    if token.kind == "sign" and token.text in _COMPARISONS:
        return reader.advance().text
    if token.word in ("CONTAINS", "IN", "IS"):
        reader.advance()
        return token.word
    if token.word in ("STARTS", "ENDS"):
        reader.advance()
        reader.expect_word("WITH")
        return f"{token.word} WITH"
    return ""


def _operand(reader: Reader) -> tree.Expression:
    found, depth = _primary(reader), reader.depth
    while True:
        at = reader.token.at
        if reader.take("."):
            reader.deeper()
            found = tree.Property(found, reader.name("the name of a property"), at)
        elif isinstance(found, tree.Variable) and reader.take(":"):
            found = tree.HasLabel(found, reader.name("a label"), at)
        else:
            reader.depth = depth
            return found


def _primary(reader: Reader) -> tree.Expression:
    token = reader.token
    if token.kind == "string":
        return tree.Literally(reader.advance().text, token.at)
    if token.kind == "number" or token.text == "-":
        return _number(reader)
    if token.kind == "name":
        return _named(reader)
    if reader.take("("):
        found = expression(reader)
        reader.expect(")")
        return found
    if reader.take("["):
        return tree.Several(_items(reader, "]"), token.at)
    raise reader.unexpected("a value, a name or a condition")


def _number(reader: Reader) -> tree.Expression:
    at, sign = reader.token.at, -1 if reader.take("-") else 1
    if reader.token.kind != "number" or len(reader.token.text) > 30:
        raise reader.unexpected("a number of at most 30 digits")
    text = reader.advance().text
    return tree.Literally(sign * (int(text) if text.isdigit() else float(text)), at)


def _named(reader: Reader) -> tree.Expression:
    token = reader.token
    is_call = reader.next.kind == "sign" and reader.next.text == "("
    if token.word in _CONSTANTS and not is_call:
        return tree.Literally(_CONSTANTS[reader.advance().word], token.at)
    if not is_call:
        return tree.Variable(reader.name(), token.at)
    if token.word in _QUANTIFIERS:
        return _quantified(reader)
    if token.text.lower() not in FUNCTIONS:
        raise reader.wrong_at(token.at, f"there is no function `{token.text[:40]}`", f"there are {', '.join(FUNCTIONS)}")
    return _called(reader)


def _called(reader: Reader) -> tree.Expression:
    token = reader.advance()
    function = token.text.lower()
    reader.expect("(")
    if function == "count" and reader.take("*"):
        reader.expect(")")
        return tree.Call(function, (), at=token.at)
    is_distinct = function == "count" and reader.take_word("DISTINCT")
    arguments = _items(reader, ")")
    if len(arguments) != FUNCTIONS[function]:
        raise reader.wrong_at(token.at, f"{function} takes {FUNCTIONS[function]} argument, not {len(arguments)}")
    return tree.Call(function, arguments, is_distinct, token.at)


def _items(reader: Reader, end: str) -> tuple[tree.Expression, ...]:
    found: list[tree.Expression] = []
    while not reader.take(end):
        if found:
            reader.expect(",", f"or `{end}`")
        found.append(expression(reader))
    return tuple(found)


def _quantified(reader: Reader) -> tree.Expression:
    token = reader.advance()
    reader.expect("(")
    name = reader.name("a name for each item")
    reader.expect_word("IN", f"like {token.word}(n IN nodes(path) WHERE …)")
    among = expression(reader)
    reader.expect_word("WHERE", f"like {token.word}(n IN nodes(path) WHERE …)")
    where = expression(reader)
    reader.expect(")")
    return tree.Quantified(_QUANTIFIERS[token.word], name, among, where, token.at)
