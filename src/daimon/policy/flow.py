"""On what basis does a call stand? Labels decide, not text.

Pure and table-driven; no tool's name occurs here. A call that leaves the machine, spends, deletes or changes who may do what stands

    clean     when nobody but the owner and trusted services had a word in what the model has read; text that it passes on unread, and
              closed answers about it, do not change that, as long as they do not say where, what, how much or whom
    plan      when it is an unspent step of a plan that was stated on such a context, argument by argument (`planned.py`, `licence.py`)
    words     without a plan: when each argument is shown to come from the owner's own words or from what they name (`shown.py`)
    off_plan  when there is a plan and this is not in it
    none      otherwise

Known good or nothing: an argument is never let through because it looks harmless, except the free text of a call whose destination is known
good, and that text may then carry neither anything active (`content.py`) nor what its reader was not meant to see. An argument without a
role counts as a destination. Looking at a page is a way out as well: its address can carry words away.
"""

from dataclasses import replace

from pydantic import JsonValue

from daimon.abi.judgement import Situation
from daimon.abi.tool import ArgumentRole, Capability, Manifest
from daimon.policy import licence, outflow
from daimon.policy.act import FREE_TEXT, Act, flat, is_private, taken_apart
from daimon.policy.content import active
from daimon.policy.facts import Facts
from daimon.policy.linked import is_linked, is_written
from daimon.policy.names import canonical
from daimon.policy.planned import by_plan
from daimon.policy.shown import by_store, by_words
from daimon.policy.words import says


def weigh(manifest: Manifest, arguments: dict[str, JsonValue], situation: Situation) -> Facts:
    act = taken_apart(manifest, arguments, situation)
    is_fetch = not manifest.is_consequential and Capability.READS_OUTSIDE in manifest.capabilities and bool(act.audience)
    is_planning = Capability.PLANS in manifest.capabilities
    if not (manifest.is_consequential or is_fetch or is_planning):
        return Facts(basis="harmless", by="harmless")
    facts, carried = _weigh(act, is_fetch, is_planning), outflow.portions(act)
    if facts.basis not in ("none", "off_plan") and (too_much := outflow.excess(act, carried)):
        facts = replace(facts, basis="none", reason=too_much)
    return replace(
        facts,
        carries=carried,
        destinations=tuple(sorted({canonical(text) for text in act.audience})),
        targets=tuple(sorted({canonical(text) for text in act.texts(ArgumentRole.TARGET)})),
        drawn=tuple(sorted({seen.tool for seen in situation.seen if is_private(seen)})),
        is_active=facts.is_active or (facts.basis in ("none", "off_plan") and _is_active(act)),
    )


def _weigh(act: Act, is_fetch: bool, is_planning: bool) -> Facts:
    situation = act.situation
    if situation.is_clean:
        return _clean(act, is_fetch or is_planning)
    if is_planning:
        return Facts(basis="none", reason="The plan was made after reading what others wrote.", provenance=act.untrusted())
    if situation.is_unswayed:
        return by_store(act)
    if is_fetch:
        return _fetch(act)
    if situation.plans:
        return by_plan(act)
    return by_words(act)


def _is_active(act: Act) -> bool:
    """Whatever else is wrong with it: no grant covers what acts in its text and is not the owner's."""
    free = (text for role in FREE_TEXT for text in act.texts(role))
    return any(active(text, [act.situation.said]) for text in free)


def _clean(act: Act, is_aside: bool) -> Facts:
    """Anything may be done. What is a step of the plan spends it all the same: it is not there for a second call later."""
    if act.situation.plans and not is_aside and (planned := by_plan(act)).basis == "plan":
        return planned
    return Facts(basis="clean", by="clean", provenance=tuple(act.told(name, "own", "nobody else was heard") for name in act.given))


def _fetch(act: Act) -> Facts:
    """An address that the owner wrote, that the plan names, or that a page which the owner named holds for its own host, may be looked at;
    another could carry words away."""
    wrong = [text for text in act.audience if not (is_written(act.situation.said, text) or _is_planned(act, text) or is_linked(act, text))]
    besides = [name for name in act.given if act.role(name) is not ArgumentRole.DESTINATION and not _may_go_along(act, name)]
    if besides and not wrong:
        reason = f"{besides[0]}: it would go to {act.audience[0][:80]!r}, and you did not write it."
        return Facts(basis="none", reason=reason, provenance=act.untrusted())
    if not wrong:
        return Facts(
            basis="plan" if act.situation.plans else "words", by="words", provenance=tuple(act.told(n, "owner", "") for n in act.given)
        )
    draws = [draw for licensed in act.situation.plans for draw in licensed.plan.draws]
    is_off = bool(act.situation.plans) and all(draw.tool != act.manifest.name for draw in draws)
    reason = f"You did not write {wrong[0][:80]!r}."
    return Facts(basis="off_plan" if is_off else "none", reason=reason, provenance=act.untrusted())


def _may_go_along(act: Act, name: str) -> bool:
    value = act.given[name]
    if all(says(act.situation.said, text) for text in flat(value)):
        return True
    draws = [(licensed.plan, draw) for licensed in act.situation.plans for draw in licensed.plan.draws]
    sources = [(plan, draw.arguments[name]) for plan, draw in draws if draw.tool == act.manifest.name and name in draw.arguments]
    return any(licence.fit(source, value, plan, act.situation).verdict == "fits" for plan, source in sources)


def _is_planned(act: Act, text: str) -> bool:
    for licensed in act.situation.plans:
        for draw in licensed.plan.draws:
            sources = draw.arguments.values() if draw.tool == act.manifest.name else ()
            if any(licence.fit(source, text, licensed.plan, act.situation).verdict == "fits" for source in sources):
                return True
    return False
