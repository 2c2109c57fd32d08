"""Where the value of a planned argument comes from: a small language, written by a model, evaluated by the system.

It is read with Python's own grammar, so that every model can write it, and admits only this:

    'text'  12.5  True  ['a', 'b']                     a literal: the owner's words, or the planner's own on a clean context
    seen('tool', field='value', other=like('word'))    the records of that tool's results whose trusted fields say so
    seen('tool', given(argument='value'), …)           only of calls with this argument
    ….field                                            that field of them
    first(…) last(…) largest(…, 'field') smallest(…, 'field')   one record
    all(…)                                             all of them, as a list
    one_of(…)                                          any one of them: a closed choice; also of literals, one_of(['a', 'b'])
    found('/items/*/number')                           any one whole number that stands there in what the automation's watch found
    link(…)                                            the one web address in that text
    a + b   a - b   a * b   a / b                      texts are joined, numbers computed
    own()                                              the agent's own words, drawing only on the plan's reads
    ask('why')                                         nobody knows yet: the owner is asked when it is known

Anything else is refused with the place and the reason. Parsing knows no tools and no values; what a source yields is decided in
`policy/yields.py`.
"""

import ast
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from daimon.abi.errors import BadInput

MOST_CHARACTERS = 4_000
DEEPEST = 12

How = Literal["first", "last", "largest", "smallest", "all", "one_of", "link"]
Operator = Literal["+", "-", "*", "/"]


@dataclass(frozen=True, slots=True)
class Const:
    value: str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Series:
    items: "tuple[Source, ...]"


@dataclass(frozen=True, slots=True)
class Like:
    text: str


@dataclass(frozen=True, slots=True)
class Records:
    tool: str
    given: tuple[tuple[str, Const], ...] = ()
    where: tuple[tuple[str, Const | Like], ...] = ()


@dataclass(frozen=True, slots=True)
class FieldOf:
    of: "Source"
    name: str


@dataclass(frozen=True, slots=True)
class Pick:
    how: How
    of: "Source"
    by: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    at: str
    """A JSON pointer; `*` stands for any index or key."""


@dataclass(frozen=True, slots=True)
class Sum:
    operator: Operator
    left: "Source"
    right: "Source"


@dataclass(frozen=True, slots=True)
class Own:
    pass


@dataclass(frozen=True, slots=True)
class AskOwner:
    why: str = ""


Source = Const | Series | Records | FieldOf | Pick | Found | Sum | Own | AskOwner

_OPERATORS: dict[type[ast.operator], Operator] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_PICKS: dict[str, How] = {
    "first": "first", "last": "last", "largest": "largest", "smallest": "smallest", "all": "all", "one_of": "one_of", "link": "link",
}  # fmt: skip
_BY = frozenset({"largest", "smallest"})
FUNCTIONS = ("seen", "like", "given", *_PICKS, "found", "own", "ask")


@lru_cache(1024)
def parse(text: str) -> Source:
    """Raises BadInput that says what cannot be read, and what can."""
    if len(text) > MOST_CHARACTERS:
        raise BadInput(f"a source has at most {MOST_CHARACTERS} characters, this one {len(text)}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as broken:
        raise BadInput(f"{_short(text)} is no source: {getattr(broken, 'msg', broken)}; write a text in quotes, or {_known()}") from None
    return _read(tree, 1)


def _read(node: ast.expr, depth: int) -> Source:
    if depth > DEEPEST:
        raise BadInput(f"a source is nested at most {DEEPEST} deep")
    match node:
        case ast.Constant(value=str() | int() | float() | bool() | None as value):
            return Const(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return Const(-number)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return Series(tuple(_read(item, depth + 1) for item in items))
        case ast.Attribute(value=of, attr=name):
            return FieldOf(_read(of, depth + 1), name)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return Sum(_OPERATORS[type(op)], _read(left, depth + 1), _read(right, depth + 1))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
            return _call(name, args, keywords, depth)
        case _:
            raise _unknown(node)


def _call(name: str, args: list[ast.expr], keywords: list[ast.keyword], depth: int) -> Source:
    match name:
        case "seen":
            return _records(args, keywords)
        case "found" if len(args) == 1 and not keywords and (at := _text(args[0], "a JSON pointer")).startswith("/"):
            return Found(at)
        case "own" if not args and not keywords:
            return Own()
        case "ask" if len(args) <= 1 and not keywords:
            return AskOwner(_text(args[0], "why") if args else "")
        case _ if name in _PICKS and len(args) == (2 if name in _BY else 1) and not keywords:
            return Pick(_PICKS[name], _read(args[0], depth + 1), _text(args[1], "a field") if name in _BY else "")
        case _:
            raise BadInput(f"{name}(…) cannot be read like this; there is {_known()}")


def _records(args: list[ast.expr], keywords: list[ast.keyword]) -> Records:
    if not args:
        raise BadInput("seen(…) needs the name of a tool first: seen('tool', field='value')")
    tool, given = _text(args[0], "a tool"), []
    for arg in args[1:]:
        if not (isinstance(arg, ast.Call) and isinstance(arg.func, ast.Name) and arg.func.id == "given" and not arg.args):
            raise BadInput(f"seen('{tool}', …): {_short(ast.unparse(arg))} is neither field=… nor given(argument=…)")
        given += [(_named(keyword), _const(keyword.value)) for keyword in arg.keywords]
    where = [(_named(keyword), _condition(keyword.value)) for keyword in keywords]
    return Records(tool, tuple(given), tuple(where))


def _named(keyword: ast.keyword) -> str:
    if keyword.arg is None:
        raise BadInput("** cannot be used in a source; name each field")
    return keyword.arg


def _condition(node: ast.expr) -> Const | Like:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "like" and len(node.args) == 1:
        return Like(_text(node.args[0], "words"))
    return _const(node)


def _const(node: ast.expr) -> Const:
    read = _read(node, DEEPEST)
    if not isinstance(read, Const):
        raise BadInput(f"{_short(ast.unparse(node))}: a condition is a text, a number, True, False or like('…')")
    return read


def _text(node: ast.expr, what: str) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise BadInput(f"{_short(ast.unparse(node))}: expected {what} in quotes")


def _unknown(node: ast.expr) -> BadInput:
    return BadInput(f"{_short(ast.unparse(node))} cannot be part of a source; there is a text in quotes, a number, a list, {_known()}")


def _known() -> str:
    return ", ".join(f"{name}(…)" for name in FUNCTIONS)


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:79] + "…")


def parse_call(text: str) -> tuple[str, dict[str, str]]:
    """`tool(argument=source, …)` as the tool's name and the sources. Raises BadInput."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as broken:
        raise BadInput(f"{_short(text)} cannot be read: {getattr(broken, 'msg', broken)}; write tool(argument=source, …)") from None
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name) or tree.args:
        raise BadInput(f"{_short(text)} is not of the form tool(argument=source, …)")
    sources = {_named(keyword): ast.unparse(keyword.value) for keyword in tree.keywords}
    for source in sources.values():
        parse(source)
    return tree.func.id, sources
