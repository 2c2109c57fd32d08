"""Is this call a step of a plan that was stated on a clean context?

Each step is spent once, by the call that names it. An argument that the plan does not name may not be passed. Free text may go to a known
destination if it holds nothing active and could not carry what was read without having been planned.
"""

from collections import Counter
from dataclasses import replace

from daimon.abi.errors import BadInput
from daimon.abi.judgement import Licensed, Provenance, Situation
from daimon.abi.plan import Draw, Planned
from daimon.abi.source import Const, FieldOf, Own, Pick, Series, Source, Sum, parse
from daimon.abi.tool import ArgumentRole
from daimon.policy import licence
from daimon.policy.act import Act, flat, is_private, may_read
from daimon.policy.content import active, coded
from daimon.policy.facts import Facts
from daimon.policy.records import readings
from daimon.policy.yields import drawn

MAY_MISS = frozenset({ArgumentRole.CONTENT, ArgumentRole.TITLE})
NOTHING = (Own(), Series(()), Const(None), Const(""), Const(False))


def by_plan(act: Act) -> Facts:
    spent = {made.by for made in act.situation.made if not made.has_failed}
    failed = {made.by for made in act.situation.made} - spent
    steps = _unspent(act, spent)
    if not steps:
        return Facts(basis="off_plan", reason=_off_plan(act), provenance=act.untrusted())
    tried = [_step(act, by, licensed, step) for by, licensed, step in steps]
    best = min(
        tried, key=lambda facts: sum(each.shown in ("untrusted", "unknown") for each in facts.provenance) + 100 * (facts.basis != "plan")
    )
    if best.basis == "plan" and best.by in failed:
        return replace(best, basis="none", reason="It was tried in this turn, and failed: it may have taken effect all the same.")
    if best.basis != "plan" and act.manifest.name in act.situation.declined:
        return replace(best, basis="off_plan", reason=f"{best.reason} You said no to such a call before.")
    return best


def _unspent(act: Act, spent: set[str]) -> list[tuple[str, Licensed, Planned]]:
    """The steps of this tool that are left. A plan that is stated again, with another text perhaps, does not allow the same twice."""
    steps = [
        (f"plan:{licensed.n}/{i}", licensed, step)
        for licensed in act.situation.plans
        for i, step in enumerate(licensed.plan.steps)
        if step.tool == act.manifest.name
    ]
    made = Counter(_gist(act, step) for by, _, step in steps if by in spent)
    each = [Counter(_gist(act, step) for _, of, step in steps if of is licensed) for licensed in act.situation.plans]
    return [
        (by, licensed, step)
        for by, licensed, step in steps
        if by not in spent and made[_gist(act, step)] < max(count[_gist(act, step)] for count in each)
    ]


def _gist(act: Act, step: Planned) -> frozenset[tuple[str, str]]:
    return frozenset((name, source) for name, source in step.sources.items() if not act.may_be_own(name))


def _off_plan(act: Act) -> str:
    planned = any(step.tool == act.manifest.name for licensed in act.situation.plans for step in licensed.plan.steps)
    return "Every planned call of this tool was made already." if planned else "The request, as planned, needs no such call."


def _step(act: Act, by: str, licensed: Licensed, step: Planned) -> Facts:
    shown = (*(_planned(act, name, step, licensed) for name in act.given), *_left_out(act, step))
    wrong = next((each for each in shown if each.shown in ("untrusted", "unknown")), None)
    if wrong is not None:
        return Facts(basis="none", reason=f"{wrong.argument}: {wrong.note}.", by=by, provenance=shown)
    if objection := _objection(act, licensed, step, shown):
        return Facts(basis="none", reason=objection[0], by=by, provenance=shown, is_active=objection[1])
    return Facts(basis="plan", by=by, provenance=shown)


def _planned(act: Act, name: str, step: Planned, licensed: Licensed) -> Provenance:
    source = step.sources.get(name)
    if source is None:
        return act.told(name, "untrusted", "the plan has no such argument")
    if act.role(name) is not ArgumentRole.CONTENT and licence.has_link(source):
        return act.told(name, "unknown", f"a link that others wrote is no {act.role(name)}")
    fit = licence.fit(source, act.given[name], licensed.plan, act.situation)
    match fit.verdict:
        case "fits":
            return act.told(name, "plan", fit.note)
        case "free" if act.may_be_own(name):
            return act.told(name, "own", "words of its own")
        case "free":
            return act.told(name, "unknown", f"a {act.role(name)} cannot be left to the agent")
        case "differs":
            return act.told(name, "untrusted", fit.note)
        case "unknown":
            return act.told(name, "unknown", fit.note)


def _left_out(act: Act, step: Planned) -> list[Provenance]:
    """Without a folder, a date, an amount that was planned a call may do more than with it. Text may be missing."""
    missed = [name for name in step.sources if name not in act.given and act.role(name) not in MAY_MISS]
    return [Provenance(name, act.role(name), "", "unknown", "the plan has it, the call has not") for name in missed if _is_due(step, name)]


def _is_due(step: Planned, name: str) -> bool:
    try:
        return parse(step.sources[name]) not in NOTHING
    except BadInput:
        return True


def _objection(act: Act, licensed: Licensed, step: Planned, shown: tuple[Provenance, ...]) -> tuple[str, bool] | None:
    """What speaks against the free text of a call whose destination is known good; and whether it is active."""
    free = [text for each in shown if each.shown == "own" for text in flat(act.given[each.argument])]
    if not free or not act.audience:
        return None
    plan = licensed.plan
    for seen in (*act.situation.before, *act.situation.seen):
        if is_private(seen) and not drawn(seen, plan.draws) and not may_read(seen, act.audience):
            return f"Its text could carry what {seen.tool} returned, and the plan did not say so.", False
    known = [act.situation.said, *_literals(step), *_trusted_texts(act.situation, plan.draws)]
    if found := next((found for text in free if (found := active(text, known))), ""):
        return f"Its text holds {found[:80]!r}, which comes neither from you nor from a trusted field.", True
    read = [act.situation.said, *(cell.text for record in act.records for _, cell in record.fields)]
    if found := next((found for text in free if (found := coded(text, read))), ""):
        return f"Its text holds {found[:80]!r}, which looks encoded.", True
    return None


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
        for reading in readings(situation)
        if drawn(reading.seen, draws)
        for record in reading.records
        for _, cell in record.fields
        if cell.is_trusted
    ]
