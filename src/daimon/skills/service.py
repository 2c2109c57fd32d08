"""How skills have served, counted turn by turn. Pure.

A turn counts for a skill that was used in it: `use_skill`, or one of its scripts. A turn on a like request without it counts beside that. A
use is good when its turn ended well and the owner put nothing right, neither in it nor with the next message. These are observations: who
compares them must know that turns differ in more than the skill.
"""

from collections.abc import Iterable
from dataclasses import replace

from daimon.abi.lesson import Effort, Evidence, Service
from daimon.abi.money import NOTHING
from daimon.abi.skill import Skill, alias_of, script_tools_of
from daimon.skills.experience import Experience
from daimon.skills.steps import says
from daimon.skills.telling import alike, words

LEAST_USES, LEAST_GOOD = 4, 0.5
"""From so many uses on, a skill of which fewer are good fails."""
UNUSED_DAYS = 90


def used_in(lived: Experience, names: Iterable[str]) -> tuple[str, ...]:
    """Which of these skills the turn used."""
    tools = {deed.tool for deed in lived.deeds if not deed.code}
    return tuple(name for name in names if {name, alias_of(name)} & {*lived.skills} or {*script_tools_of(name)} & tools)


def fits(skill: Skill, asked: str) -> bool:
    """Is the request like those that the skill is for?"""
    return any(says(asked, trigger) for trigger in skill.triggers) or alike(words(skill.description), words(asked))


def with_use(before: Service, lived: Experience) -> Service:
    is_good = is_good_use(lived)
    return replace(
        before,
        uses=before.uses + 1,
        good=before.good + is_good,
        corrected=before.corrected + bool(lived.corrections),
        last_at=lived.at,
        used=_more(before.used, lived),
    )


def without_use(before: Service, lived: Experience) -> Service:
    return replace(before, unused=_more(before.unused, lived))


def put_right_later(before: Service, lived: Experience) -> Service:
    """The next message showed that a use was not as good as it had seemed."""
    return replace(before, good=max(0, before.good - 1), corrected=before.corrected + 1) if is_good_use(lived) else before


def learned_from(before: Service, evidence: Iterable[Evidence]) -> Service:
    """The turns that a skill was drawn from are turns without it."""
    effort = before.unused
    for each in evidence:
        effort = _added(effort, Effort(1, each.calls, each.tokens, each.cost or NOTHING, int(each.cost is None)))
    return replace(before, unused=effort)


def is_good_use(lived: Experience) -> bool:
    return lived.went_well and not lived.corrections


def fails(service: Service) -> bool:
    return service.uses >= LEAST_USES and service.good < LEAST_GOOD * service.uses


def _more(effort: Effort, lived: Experience) -> Effort:
    return _added(effort, Effort(1, len(lived.deeds), lived.tokens, lived.cost or NOTHING, int(lived.cost is None)))


def _added(one: Effort, other: Effort) -> Effort:
    return Effort(
        one.turns + other.turns,
        one.calls + other.calls,
        one.tokens + other.tokens,
        one.cost + other.cost,
        one.unpriced + other.unpriced,
    )
