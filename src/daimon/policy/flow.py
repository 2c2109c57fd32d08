"""On what basis does a call stand? Labels decide, not text.

Pure and table-driven; no tool's name occurs here. A call that leaves the machine, spends, deletes or changes who may do what stands

    clean     when nobody but the owner and trusted services had a word in what the model has read
    plan      when it is an unspent step of a plan that was stated on such a context, argument by argument (`licence.py`)
    words     without a plan: when each argument is shown to come from the owner's own words or from what they name
    off_plan  when there is a plan and this is not in it
    none      otherwise

Known good or nothing: an argument is never let through because it looks harmless, except the free text of a call whose destination is known
good, and that text may then carry neither anything active (`content.py`) nor what its reader was not meant to see. An argument without a
role counts as a destination. Looking at a page is a way out as well: its address can carry words away.
"""

from dataclasses import dataclass, replace

from pydantic import JsonValue

from daimon.abi.errors import BadInput
from daimon.abi.fields import leaves
from daimon.abi.judgement import Licensed, Provenance, Seen, Shown, Situation
from daimon.abi.plan import Draw, Planned
from daimon.abi.source import Const, FieldOf, Pick, Series, Source, Sum, parse
from daimon.abi.tool import ArgumentRole, Capability, Manifest
from daimon.policy import licence
from daimon.policy.content import active, covers
from daimon.policy.facts import Facts
from daimon.policy.records import Record, plain, records
from daimon.policy.words import SHORTEST, dates, folded, numbers, quotes, says

MOST_FREE = 20_000
"""So many characters of free text may go to one destination in one turn."""
SHOWN_CHARACTERS = 160

FREE_UNLESS: dict[ArgumentRole, frozenset[Capability]] = {
    ArgumentRole.CONTENT: frozenset(),
    ArgumentRole.TITLE: frozenset(),
    ArgumentRole.QUERY: frozenset(),
    ArgumentRole.TIME: frozenset({Capability.SPENDS, Capability.GRANTS, Capability.DELETES}),
}
"""A plan may leave an argument of this role to the agent, unless the tool can do one of these."""
SAFE = frozenset({ArgumentRole.CONTENT, ArgumentRole.TITLE, ArgumentRole.TIME, ArgumentRole.QUERY})


@dataclass(frozen=True, slots=True)
class _Act:
    """A call, taken apart by roles."""

    manifest: Manifest
    given: dict[str, JsonValue]
    situation: Situation

    def role(self, name: str) -> ArgumentRole:
        return self.manifest.roles.get(name, ArgumentRole.DESTINATION)

    def texts(self, role: ArgumentRole) -> tuple[str, ...]:
        return tuple(text for name, value in self.given.items() if self.role(name) is role for text in flat(value))

    @property
    def audience(self) -> tuple[str, ...]:
        return self.texts(ArgumentRole.DESTINATION)


def weigh(manifest: Manifest, arguments: dict[str, JsonValue], situation: Situation) -> Facts:
    given = {name: value for name, value in arguments.items() if not _is_empty(value)}
    act = _Act(manifest, given, situation)
    is_fetch = not manifest.is_consequential and Capability.READS_OUTSIDE in manifest.capabilities and bool(act.audience)
    is_planning = Capability.PLANS in manifest.capabilities
    if not (manifest.is_consequential or is_fetch or is_planning):
        return Facts(basis="harmless", by="harmless")
    return replace(
        _weigh(act, is_fetch, is_planning),
        destinations=tuple(sorted({folded(text) for text in act.audience})),
        targets=tuple(sorted({folded(text) for text in act.texts(ArgumentRole.TARGET)})),
        drawn=tuple(sorted({seen.tool for seen in situation.seen if _is_private(seen)})),
    )


def _weigh(act: _Act, is_fetch: bool, is_planning: bool) -> Facts:
    situation = act.situation
    if situation.is_clean:
        return Facts(basis="clean", by="clean", provenance=tuple(_told(act, name, "own", "nobody else was heard") for name in act.given))
    if is_planning:
        return Facts(basis="none", reason="The plan was made after reading what others wrote.", provenance=_untrusted(act))
    if is_fetch:
        return _fetch(act)
    if situation.plans:
        return _by_plan(act)
    return _by_words(act)


# -- by plan -----------------------------------------------------------------------------------------------------------


def _by_plan(act: _Act) -> Facts:
    spent = {made.by for made in act.situation.made}
    steps = [
        (f"plan:{licensed.n}/{i}", licensed, step)
        for licensed in act.situation.plans
        for i, step in enumerate(licensed.plan.steps)
        if step.tool == act.manifest.name and f"plan:{licensed.n}/{i}" not in spent
    ]
    if not steps:
        return Facts(basis="off_plan", reason=_off_plan(act), provenance=_untrusted(act))
    tried = [_step(act, by, licensed, step) for by, licensed, step in steps]
    best = min(
        tried, key=lambda facts: sum(each.shown in ("untrusted", "unknown") for each in facts.provenance) + 100 * (facts.basis != "plan")
    )
    if best.basis != "plan" and act.manifest.name in act.situation.declined:
        return replace(best, basis="off_plan", reason=f"{best.reason} You said no to such a call before.")
    return best


def _off_plan(act: _Act) -> str:
    planned = any(step.tool == act.manifest.name for licensed in act.situation.plans for step in licensed.plan.steps)
    return "Every planned call of this tool was made already." if planned else "The request, as planned, needs no such call."


def _step(act: _Act, by: str, licensed: Licensed, step: Planned) -> Facts:
    shown = tuple(_planned(act, name, step, licensed) for name in act.given)
    wrong = next((each for each in shown if each.shown in ("untrusted", "unknown")), None)
    if wrong is not None:
        return Facts(basis="none", reason=f"{wrong.argument}: {wrong.note}.", by=by, provenance=shown)
    if objection := _objection(act, licensed, step, shown):
        return Facts(basis="none", reason=objection[0], by=by, provenance=shown, is_active=objection[1])
    return Facts(basis="plan", by=by, provenance=shown)


def _planned(act: _Act, name: str, step: Planned, licensed: Licensed) -> Provenance:
    source = step.sources.get(name)
    if source is None:
        return _told(act, name, "untrusted", "the plan has no such argument")
    fit = licence.fit(source, act.given[name], licensed.plan, act.situation)
    match fit.verdict:
        case "fits":
            return _told(act, name, "plan", fit.note)
        case "free" if _may_be_own(act, name):
            return _told(act, name, "own", "words of its own")
        case "free":
            return _told(act, name, "unknown", f"a {act.role(name)} cannot be left to the agent")
        case "differs":
            return _told(act, name, "untrusted", fit.note)
        case "unknown":
            return _told(act, name, "unknown", fit.note)


def _may_be_own(act: _Act, name: str) -> bool:
    forbidden = FREE_UNLESS.get(act.role(name))
    return forbidden is not None and forbidden.isdisjoint(act.manifest.capabilities)


def _objection(act: _Act, licensed: Licensed, step: Planned, shown: tuple[Provenance, ...]) -> tuple[str, bool] | None:
    """What speaks against the free text of a call whose destination is known good; and whether it is active."""
    free = [text for each in shown if each.shown == "own" for text in flat(act.given[each.argument])]
    if not free or not act.audience:
        return None
    plan = licensed.plan
    for seen in act.situation.seen:
        if _is_private(seen) and not licence.drawn(seen, plan.draws) and not _may_read(seen, act.audience):
            return f"Its text could carry what {seen.tool} returned, and the plan did not say so.", False
    known = [act.situation.said, *_literals(step), *_trusted_texts(act.situation, plan.draws)]
    if found := next((found for text in free if (found := active(text, known))), ""):
        return f"Its text holds {found[:80]!r}, which comes neither from you nor from a trusted field.", True
    return _too_much(act, free)


def _too_much(act: _Act, free: list[str]) -> tuple[str, bool] | None:
    length = sum(map(len, free)) + sum(
        sum(map(len, flat(made.arguments))) for made in act.situation.made if set(flat(made.arguments)) & set(act.audience)
    )
    return (f"{length:,} characters would go there in one turn, at most {MOST_FREE:,} may.", False) if length > MOST_FREE else None


def _literals(step: Planned) -> list[str]:
    found: list[str] = []
    for source in step.sources.values():
        try:
            found += _consts(parse(source))
        except BadInput:
            continue
    return found


def _consts(source: Source) -> list[str]:
    match source:
        case Const(value=str() as text):
            return [text]
        case Series(items=items):
            return [text for item in items for text in _consts(item)]
        case Sum(left=left, right=right):
            return [*_consts(left), *_consts(right)]
        case FieldOf(of=of) | Pick(of=of):
            return _consts(of)
        case _:
            return []


def _trusted_texts(situation: Situation, draws: tuple[Draw, ...]) -> list[str]:
    """What trusted fields of the planned reads say."""
    return [
        cell.text
        for seen in situation.seen
        if licence.drawn(seen, draws)
        for record in records(seen)
        for _, cell in record.fields
        if cell.is_trusted
    ]


# -- by the owner's words ----------------------------------------------------------------------------------------------


def _by_words(act: _Act) -> Facts:
    shown = tuple(_shown(act, name) for name in act.given)
    wrong = next((each for each in shown if each.shown in ("untrusted", "unknown")), None)
    if wrong is not None:
        return Facts(basis="none", reason=f"{wrong.argument}: {wrong.note}.", provenance=shown)
    key = _key(act, act.given)
    if any(
        made.tool == act.manifest.name and isinstance(made.arguments, dict) and _key(act, made.arguments) == key
        for made in act.situation.made
    ):
        return Facts(basis="none", reason="The same was done in this turn already.", provenance=shown)
    return Facts(basis="words", by="words", provenance=shown)


def _key(act: _Act, arguments: dict[str, JsonValue]) -> tuple[str, ...]:
    """What makes two calls the same act: whom and what they reach."""
    return tuple(sorted(folded(text) for name, value in arguments.items() if act.role(name) not in SAFE for text in flat(value)))


def _shown(act: _Act, name: str) -> Provenance:
    role, texts = act.role(name), flat(act.given[name])
    found = [_origin(act, role, text) for text in texts]
    worst = next((each for each in found if each[0] in ("untrusted", "unknown")), found[0] if found else ("owner", ""))
    return _told(act, name, *worst)


def _origin(act: _Act, role: ArgumentRole, text: str) -> tuple[Shown, str]:
    said = act.situation.said
    match role:
        case ArgumentRole.AMOUNT:
            return _amount(act, text)
        case ArgumentRole.TIME:
            return _time(act, text)
        case ArgumentRole.TITLE:
            return _covered(act, text)
        case ArgumentRole.CONTENT | ArgumentRole.QUERY:
            return _covered(act, text) if act.audience else ("own", "for you alone")
        case ArgumentRole.PERMISSION if text in ("false", "0"):
            return "own", "nothing is opened"
        case ArgumentRole.TARGET if not says(said, text):
            return _named(act, text)
        case ArgumentRole.SECRET if text.isalpha() and not quotes(said, text):
            return "untrusted", "a plain word of yours is not meant as a secret unless you put it in quotes"
        case _:
            return ("owner", "you wrote it") if says(said, text) else ("untrusted", f"you did not write {text[:80]!r}")


def _covered(act: _Act, text: str) -> tuple[Shown, str]:
    """Every word is the owner's or stands in a trusted field, and whatever acts is the owner's own."""
    said = act.situation.said
    if says(said, text):
        return "owner", "you wrote it"
    if found := active(text, [said]):
        return "untrusted", f"it holds {found[:80]!r}, which you did not write"
    trusted = [cell.text for seen in act.situation.seen for record in records(seen) for _, cell in record.fields if cell.is_trusted]
    missing = covers([said, *trusted], text)
    return (
        ("untrusted", f"{missing!r} comes neither from you nor from a trusted field")
        if missing
        else ("store", "your words and trusted fields")
    )


def _amount(act: _Act, text: str) -> tuple[Shown, str]:
    try:
        number = float(text)
    except ValueError:
        return "untrusted", f"{text[:40]!r} is not a number"
    if any(abs(number - each) < licence.CENT for each in numbers(act.situation.said)):
        return "owner", "you wrote it"
    reached = {folded(each) for each in act.audience if says(act.situation.said, each)}
    for record in _all(act.situation):
        is_tied = any(cell.is_trusted and folded(cell.text) in reached for _, cell in record.fields)
        if is_tied and any(cell.is_trusted and licence.equal(cell.value, number) for _, cell in record.fields):
            return "named", f"from a record of {record.tool} with the one that you named"
    return "untrusted", f"you did not write {text[:40]}"


def _time(act: _Act, text: str) -> tuple[Shown, str]:
    said = act.situation.said
    if says(said, text) or ((found := dates(text)) and found <= dates(said)):
        return "owner", "you wrote it"
    if (act.audience and FREE_UNLESS[ArgumentRole.TIME].isdisjoint(act.manifest.capabilities)) or act.texts(ArgumentRole.AMOUNT):
        return "own", "a time of its own choice"
    return "untrusted", f"you did not write {text[:40]!r}"


def _named(act: _Act, text: str) -> tuple[Shown, str]:
    """The id of the one object that the owner named by its title."""
    holders = [r for r in _all(act.situation) if any(cell.is_trusted and folded(cell.text) == folded(text) for _, cell in r.fields)]
    for record in holders:
        for field, cell in record.fields:
            if len(cell.text) > SHORTEST and cell.text.casefold() != text.casefold() and says(act.situation.said, cell.text):
                same = {r.fields for r in _all(act.situation) if any(folded(c.text) == folded(cell.text) for c in r.of(field))}
                if len(same) == 1:
                    return "named", f"you named {cell.text[:60]!r}"
    return "untrusted", f"you did not name {text[:80]!r}"


def _all(situation: Situation) -> list[Record]:
    return [record for seen in situation.seen for record in records(seen)]


# -- looking at a page -------------------------------------------------------------------------------------------------


def _fetch(act: _Act) -> Facts:
    """An address that the owner wrote, or that the plan names, may be looked at; another could carry words away."""
    wrong = [text for text in act.audience if not says(act.situation.said, text) and not _is_planned(act, text)]
    if not wrong:
        return Facts(
            basis="plan" if act.situation.plans else "words", by="words", provenance=tuple(_told(act, n, "owner", "") for n in act.given)
        )
    draws = [draw for licensed in act.situation.plans for draw in licensed.plan.draws]
    is_off = bool(act.situation.plans) and all(draw.tool != act.manifest.name for draw in draws)
    reason = f"You did not write {wrong[0][:80]!r}."
    return Facts(basis="off_plan" if is_off else "none", reason=reason, provenance=_untrusted(act))


def _is_planned(act: _Act, text: str) -> bool:
    for licensed in act.situation.plans:
        for draw in licensed.plan.draws:
            sources = draw.arguments.values() if draw.tool == act.manifest.name else ()
            if any(licence.fit(source, text, licensed.plan, act.situation).verdict == "fits" for source in sources):
                return True
    return False


# -- common ------------------------------------------------------------------------------------------------------------


def flat(value: JsonValue) -> tuple[str, ...]:
    """Every plain value in it, as text."""
    return tuple(plain(leaf.value) for leaf in leaves(value) if leaf.value is not None)


def _is_empty(value: JsonValue) -> bool:
    return value is None or value in ("", [], {})


def _is_private(seen: Seen) -> bool:
    return seen.label.readers is not None


def _may_read(seen: Seen, audience: tuple[str, ...]) -> bool:
    return seen.label.readers is None or {folded(each) for each in audience} <= {folded(str(each)) for each in seen.label.readers}


def _untrusted(act: _Act) -> tuple[Provenance, ...]:
    return tuple(_told(act, name, "unknown", "decided after reading what others wrote") for name in act.given)


def _told(act: _Act, name: str, shown: Shown, note: str) -> Provenance:
    text = ", ".join(flat(act.given[name]))
    value = text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
    return Provenance(name, act.role(name), value, shown, note)
