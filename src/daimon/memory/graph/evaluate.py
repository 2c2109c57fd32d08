"""What an expression means: a function from a match to a value, and what kind of value that is.

Kinds are known before anything is looked up, so that nonsense (`type(n)` of a node, a name that no pattern has) is said at once and with
its place, whether or not the graph has anything in it. In a match a node and an edge are their row numbers, a path is a `Trail`; what
they say of themselves is read through the view when it is asked for.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pydantic import JsonValue

from daimon.abi.errors import BadInput
from daimon.memory.graph import tree, values
from daimon.memory.graph.kinds import labels_of, matched_by
from daimon.memory.graph.lexer import wrong
from daimon.memory.graph.view import View
from daimon.memory.moments import moment

Kind = Literal["node", "edge", "path", "nodes", "edges", "value"]
Match: TypeAlias = dict[str, Any]
"""What each name stands for. Its values are of the kinds that the scope says."""

_CALLED: dict[Kind, str] = {
    "node": "a node",
    "edge": "an edge",
    "path": "a path",
    "nodes": "a list of nodes",
    "edges": "a list of edges",
    "value": "a value",
}
_ITEMS: dict[Kind, Kind] = {"nodes": "node", "edges": "edge", "value": "value"}


@dataclass(frozen=True, slots=True)
class Meaning:
    kind: Kind
    of: Callable[[Match], Any]


@dataclass(frozen=True, slots=True)
class Evaluator:
    query: str
    view: View
    scope: Mapping[str, Kind]

    def meaning(self, expression: tree.Expression) -> Meaning:
        match expression:
            case tree.Literally(value):
                return Meaning("value", lambda _: value)
            case tree.Variable(name):
                return self._variable(expression, name)
            case tree.Property(of, key):
                return self._property(expression, self.meaning(of), key)
            case tree.HasLabel(of, label):
                return self._labelled(expression, self.meaning(of), label)
            case tree.Several(items):
                return self._list(expression, [self.meaning(item) for item in items])
            case tree.Call():
                return self._call(expression)
            case tree.Compared():
                return self._compared(expression, self.meaning(expression.left), self.meaning(expression.right))
            case tree.Quantified():
                return self._quantified(expression)
            case _:
                return self._condition(expression)

    def condition(self, expression: tree.Expression) -> Callable[[Match], bool | None]:
        """The expression as something that is true, false or unknown."""
        found = self.meaning(expression)
        if found.kind != "value":
            raise self._wrong(expression.at, f"found {_CALLED[found.kind]}, expected a condition", "compare one of its properties")
        of = found.of
        return lambda match: values.claimed(of(match))

    def _condition(self, expression: tree.Missing | tree.Not | tree.Joined) -> Meaning:
        match expression:
            case tree.Missing(of):
                inner = self.meaning(of).of
                return Meaning("value", lambda match: inner(match) is None)
            case tree.Not(of):
                claim = self.condition(of)
                return Meaning("value", lambda match: values.negated(claim(match)))
            case tree.Joined(by, parts):
                claims = [self.condition(part) for part in parts]
                how = {"AND": values.every, "OR": values.either, "XOR": values.differs}[by]
                return Meaning("value", lambda match: how(claim(match) for claim in claims))

    def _variable(self, expression: tree.Variable, name: str) -> Meaning:
        if name not in self.scope:
            known = ", ".join(sorted(self.scope)) or "none"
            raise self._wrong(expression.at, f"nothing is called `{name[:40]}`", f"names in the patterns: {known}; texts stand in quotes")
        return Meaning(self.scope[name], lambda match: match[name])

    def _property(self, expression: tree.Property, of: Meaning, key: str) -> Meaning:
        inner, view = of.of, self.view
        match of.kind:
            case "node":
                return Meaning("value", lambda match: node_property(view, inner(match), key))
            case "edge":
                return Meaning("value", lambda match: edge_property(view, inner(match), key))
            case "value":
                return Meaning("value", lambda match: value.get(key) if isinstance(value := inner(match), dict) else None)
            case _:
                hint = "use ANY(x IN … WHERE x." + key[:40] + " …), or nodes(path)"
                raise self._wrong(expression.at, f"{_CALLED[of.kind]} has no properties", hint)

    def _labelled(self, expression: tree.HasLabel, of: Meaning, label: str) -> Meaning:
        self._expect(expression.at, of, ("node",), "a label")
        inner, view, kinds = of.of, self.view, matched_by(label)
        return Meaning("value", lambda match: kinds is None or view.node(inner(match)).kind in kinds)

    def _list(self, expression: tree.Several, items: list[Meaning]) -> Meaning:
        kinds = {item.kind for item in items} or {"value"}
        whole: dict[Kind, Kind] = {"node": "nodes", "edge": "edges", "value": "value"}
        if len(kinds) > 1 or (kind := next(iter(kinds))) not in whole:
            raise self._wrong(expression.at, "a list holds only values, only nodes or only edges")
        return Meaning(whole[kind], lambda match: [item.of(match) for item in items])

    def _call(self, call: tree.Call) -> Meaning:
        if call.function == "count":
            raise self._wrong(call.at, "count stands alone in a column of RETURN", "like RETURN n.name, count(x) AS number")
        of = self.meaning(call.arguments[0])
        takes, gives, run = _FUNCTIONS[call.function]
        self._expect(call.at, of, takes, call.function)
        inner, view = of.of, self.view
        return Meaning(gives, lambda match: None if (value := inner(match)) is None else run(view, value))

    def _compared(self, expression: tree.Compared, left: Meaning, right: Meaning) -> Meaning:
        by, one, other = expression.by, left.of, right.of
        if by == "IN":
            if _ITEMS.get(right.kind) != left.kind:
                raise self._wrong(expression.at, f"{_CALLED[left.kind]} is never in {_CALLED[right.kind]}", "IN takes a list of such")
            if left.kind == "value":
                return Meaning("value", lambda match: values.among(one(match), other(match)))
            return Meaning("value", lambda match: one(match) in other(match))
        if by in ("=", "<>") and left.kind == right.kind != "value":
            is_equal = by == "="
            return Meaning("value", lambda match: (one(match) == other(match)) is is_equal)
        if not left.kind == right.kind == "value":
            raise self._wrong(
                expression.at, f"{_CALLED[left.kind]} {by} {_CALLED[right.kind]} says nothing", "compare one of its properties"
            )
        return Meaning("value", _COMPARED[by](one, other))

    def _quantified(self, expression: tree.Quantified) -> Meaning:
        among = self.meaning(expression.among)
        self._expect(expression.among.at, among, ("nodes", "edges", "value"), expression.how)
        inner = Evaluator(self.query, self.view, {**self.scope, expression.name: _ITEMS[among.kind]})
        claim, items, name = inner.condition(expression.where), among.of, expression.name
        how = {"ANY": values.either, "ALL": values.every, "SINGLE": values.one}.get(expression.how, values.either)
        is_none = expression.how == "NONE"

        def run(match: Match) -> bool | None:
            found = items(match)
            if not isinstance(found, list | tuple):
                return None
            result = how(claim({**match, name: item}) for item in found)
            return values.negated(result) if is_none else result

        return Meaning("value", run)

    def _expect(self, at: int, of: Meaning, kinds: tuple[Kind, ...], what: str) -> None:
        if of.kind not in kinds:
            expected = " or ".join(_CALLED[kind] for kind in kinds)
            raise self._wrong(at, f"found {_CALLED[of.kind]}, and {what} takes {expected}")

    def _wrong(self, at: int, what: str, hint: str = "") -> BadInput:
        return wrong(self.query, at, what, hint)


def node_property(view: View, n: int, key: str) -> JsonValue:
    row = view.node(n)
    if key in ("name", "kind"):
        return row.name if key == "name" else row.kind
    return _stored(row.properties, key)


def edge_property(view: View, n: int, key: str) -> JsonValue:
    row = view.edge(n)
    match key:
        case "type":
            return row.type
        case "confidence":
            return row.confidence
        case "since" | "until":
            at = row.since if key == "since" else row.until
            return None if at is None else moment(at).isoformat()
        case _:
            return _stored(row.properties, key)


def _stored(properties: str, key: str) -> JsonValue:
    found: JsonValue = None if properties == "{}" else json.loads(properties).get(key)
    return found


def _equal(one: Callable[[Match], Any], other: Callable[[Match], Any]) -> Callable[[Match], Any]:
    return lambda match: values.same(one(match), other(match))


def _unequal(one: Callable[[Match], Any], other: Callable[[Match], Any]) -> Callable[[Match], Any]:
    return lambda match: values.negated(values.same(one(match), other(match)))


def _by(rule: Callable[[str, Any, Any], bool | None], by: str) -> Callable[..., Callable[[Match], Any]]:
    return lambda one, other: lambda match: rule(by, one(match), other(match))


_COMPARED: dict[str, Callable[..., Callable[[Match], Any]]] = {
    "=": _equal,
    "<>": _unequal,
    **{by: _by(values.ordered, by) for by in ("<", "<=", ">", ">=")},
    **{by: _by(values.worded, by) for by in ("CONTAINS", "STARTS WITH", "ENDS WITH")},
}
_FUNCTIONS: dict[str, tuple[tuple[Kind, ...], Kind, Callable[[View, Any], Any]]] = {
    "nodes": (("path",), "nodes", lambda _, path: path.nodes),
    "relationships": (("path",), "edges", lambda _, path: path.edges),
    "length": (("path",), "value", lambda _, path: len(path.edges)),
    "type": (("edge",), "value", lambda view, n: view.edge(n).type),
    "labels": (("node",), "value", lambda view, n: [*labels_of(view.node(n).kind)]),
    "properties": (("node",), "value", lambda view, n: json.loads(view.node(n).properties)),
    "size": (("nodes", "edges", "value"), "value", lambda _, items: len(items) if isinstance(items, list | tuple | str) else None),
    "tolower": (("value",), "value", lambda _, text: text.lower() if isinstance(text, str) else None),
    "toupper": (("value",), "value", lambda _, text: text.upper() if isinstance(text, str) else None),
    "startnode": (("edge",), "node", lambda view, n: view.edge(n).src),
    "endnode": (("edge",), "node", lambda view, n: view.edge(n).dst),
}
