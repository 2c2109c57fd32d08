"""The stand-in for a perfect planner: what a model with no faults would say it needs, before it has read anything that others wrote.

There is no language model here, so the plan is derived from the task's published solution. That is only fair if it says nothing that could
not be known from the request. So:

    it may know   the request; the tools, their arguments and what their results look like; which tools the solution calls, in which order,
                  with which arguments: that is the skill of a perfect planner
    it may not    put into the plan a value that stands neither in the request nor is of the planner's own making

A run of the solution on a clean environment serves to find out *where* a value comes from, and to see that what the plan says of it is
unambiguous there. The value itself is left to the system, which evaluates the source again, on what is really read. For each value:

    in the request      a literal: a word or phrase of it; for a time, its day
    a trusted field     seen('tool', field=…).field, chosen by something that the request says (`lab/selectors.py`)
    computed            arithmetic on numbers of the request and on such fields (`lab/selectors.py`)
    a template          the words of the request, with a trusted field or `one_of` what a tool lists in each {placeholder}
    text of its own     own(): content, and times that others' words decide
    a time or a permission of its own    a literal, if it occurs nowhere in what was read
    anything else       ask('…'): a destination, target, amount or secret that only others' words tell

It does not look at what a tool, an argument or a field is called.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import JsonValue

from daimon.abi.fields import Scalar, leaves
from daimon.abi.judgement import Seen
from daimon.abi.source import FieldOf, Pick, Records, Series, Source, Sum, parse
from daimon.abi.tool import ArgumentRole
from daimon.policy.records import apart
from lab.request import Asked, days
from lab.selectors import Selectors, quoted

FREE = (ArgumentRole.CONTENT, ArgumentRole.TITLE, ArgumentRole.QUERY)


@dataclass(frozen=True, slots=True)
class Read:
    """A read of the solution."""

    tool: str
    arguments: dict[str, JsonValue]
    is_fetch: bool = False
    """It goes outside, so its arguments need sources of their own."""
    before: tuple[Seen, ...] = ()


@dataclass(frozen=True, slots=True)
class Need:
    """A consequential call of the solution, and what had been read before it."""

    tool: str
    arguments: dict[str, JsonValue]
    roles: dict[str, ArgumentRole]
    before: tuple[Seen, ...] = ()


@dataclass(frozen=True, slots=True)
class Stated:
    """A plan, as the model would state it, and what it has to look up because the solution never does."""

    steps: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    lookups: tuple[str, ...] = ()


def state(request: str, needs: Sequence[Need], reads: Sequence[Read], listings: Sequence[Seen]) -> Stated:
    """`listings` are the results of all reads that need no argument."""
    asked = Asked(request)
    drawn = tuple(dict.fromkeys(_draw(read, asked) for read in reads))
    steps, lookups = [], []
    for need in needs:
        extra = tuple(seen for seen in listings if seen.tool not in {each.tool for each in need.before})
        thought = _Thought(asked, need, (*need.before, *extra))
        sources = {name: thought.source(name) for name in need.arguments}
        steps.append(_written(need.tool, sources))
        used = {tool for source in sources.values() for tool in _tools_in(parse(source))}
        lookups += [seen.tool for seen in extra if seen.tool in used]
    wanted = tuple(dict.fromkeys(lookups))
    more = tuple(f"{tool}()" for tool in wanted if f"{tool}()" not in drawn)
    return Stated(tuple(steps), (*drawn, *more), wanted)


def _draw(read: Read, asked: Asked) -> str:
    """Arguments that stand in the request are pinned, others left open."""
    pinned: dict[str, str] = {}
    for name, value in read.arguments.items():
        given = [leaf.value for leaf in leaves(value) if leaf.value is not None]
        if given and all(asked.says(each) or (isinstance(each, str) and asked.names_day(each)) for each in given):
            pinned[name] = repr(value)
        elif read.is_fetch and (link := Selectors(asked, read.before).link(str(given[0]))) is not None:
            pinned[name] = link
    return _written(read.tool, pinned)


def _written(tool: str, sources: dict[str, str]) -> str:
    return f"{tool}({', '.join(f'{name}={source}' for name, source in sources.items())})"


@dataclass(frozen=True)
class _Thought:
    """Where each argument of one call comes from."""

    asked: Asked
    need: Need
    seen: tuple[Seen, ...]

    def source(self, name: str) -> str:
        value, role = self.need.arguments[name], self.need.roles.get(name, ArgumentRole.DESTINATION)
        chosen = Selectors(self.asked, self.seen, name)
        if not isinstance(value, list | dict):
            return self._of(value, role, chosen)
        each = [leaf.value for leaf in leaves(value) if leaf.value is not None]
        if len(each) > 1 and not all(map(self.asked.says, each)) and (every := chosen.every(each)) is not None:
            return every
        return "[" + ", ".join(self._of(one, role, chosen) for one in each) + "]"

    def _of(self, value: Scalar, role: ArgumentRole, chosen: Selectors) -> str:
        if value is None or value == "" or self._is_said(value, role):
            return repr(value)
        match role:
            case ArgumentRole.AMOUNT:
                return chosen.number(value) or _ask(role)
            case ArgumentRole.TIME:
                read = replace(chosen, seen=self.need.before)
                return read.value(value) or ("own()" if self._occurs(value) or read.points_to(value) else repr(value))
            case ArgumentRole.PERMISSION:
                return repr(value) if isinstance(value, bool) or not self._occurs(value) else chosen.value(value) or _ask(role)
            case _ if role in FREE:
                return self._text(value, chosen)
            case ArgumentRole.SECRET:
                return _ask(role)
            case _:
                return chosen.value(value) or _ask(role)

    def _is_said(self, value: Scalar, role: ArgumentRole) -> bool:
        return self.asked.says(value) or (role is ArgumentRole.TIME and isinstance(value, str) and self.asked.names_day(value))

    def _occurs(self, value: Scalar) -> bool:
        """Somewhere in what others wrote and was read before."""
        cells = [cell for seen in self.need.before for record in apart(seen) for _, cell in record.fields]
        texts = [Asked(cell.text) for cell in cells if not cell.is_trusted]
        return any(text.says(str(value)) or not days(text.text).isdisjoint(days(str(value))) for text in texts)

    def _text(self, value: Scalar, chosen: Selectors) -> str:
        if not isinstance(value, str):
            return chosen.value(value) or "own()"
        for template in self.asked.templates:
            holes = [self._hole(each, chosen) for each in template.filled(value) or ()]
            source = " + ".join(_alternating([quoted(piece) for piece in template.pieces], holes))
            if holes and all(holes) and chosen.fits(source, value):
                return source
        return _picked(value, chosen) or "own()"

    def _hole(self, value: str, chosen: Selectors) -> str:
        return quoted(value) if self.asked.says(value) else _picked(value, chosen)


def _picked(value: str, chosen: Selectors) -> str:
    return chosen.value(value, is_strict=True) or chosen.choice(value) or chosen.value(value) or ""


def _alternating(pieces: list[str], holes: list[str]) -> list[str]:
    found = [part for pair in zip(pieces, [*holes, ""], strict=False) for part in pair]
    return [part for part in found if part not in ("", "''")]


def _ask(role: ArgumentRole) -> str:
    return f"ask('the {role} is not known yet')"


def _tools_in(source: Source) -> frozenset[str]:
    """The tools whose results it looks at."""
    match source:
        case Records(tool=tool):
            return frozenset({tool})
        case FieldOf(of=of) | Pick(of=of):
            return _tools_in(of)
        case Sum(left=left, right=right):
            return _tools_in(left) | _tools_in(right)
        case Series(items=items):
            return frozenset().union(*map(_tools_in, items))
        case _:
            return frozenset()
