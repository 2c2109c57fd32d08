"""What to propose after a turn: a new skill, a change of one that was learned and used, or to give one up. Pure.

    used a learned skill, and was expensive   its `Check` gets what was met: `refined`
    expensive, and no skill fits the request  a skill: `new`
    a learned skill fails, or lies unused     to give it up: `retired`

The same reasons give the same proposal, with the same id; so what was rejected does not come back unless there is something new to say.
"""

import difflib
import hashlib
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta

from daimon.abi.lesson import Evidence, Proposal, Service
from daimon.abi.skill import Installed
from daimon.abi.tool import Manifest
from daimon.skills import writing
from daimon.skills.expense import expense
from daimon.skills.experience import Experience
from daimon.skills.learning import checks_of, draft, request
from daimon.skills.private import Privacy
from daimon.skills.service import UNUSED_DAYS, fails
from daimon.skills.steps import teller_of


def id_of(fingerprint: str) -> str:
    return f"p-{fingerprint[:10]}"


def new(
    lived: Experience, manifests: Mapping[str, Manifest], privacy: Privacy, now: datetime, taken: Collection[str] = ()
) -> Proposal | None:
    """`taken`: names that others have."""
    made = draft(lived, manifests, privacy, taken)
    if made is None:
        return None
    return Proposal(
        id=id_of(made.fingerprint), kind="new", skill=made.name, text=made.text, diff=diff("", made.text), why=made.why,
        evidence=evidence(lived, made.asked), at=now, fingerprint=made.fingerprint, tools=made.tools, words=made.words,
    )  # fmt: skip


def refined(
    lived: Experience, held: Installed, text: str, manifests: Mapping[str, Manifest], privacy: Privacy, now: datetime
) -> Proposal | None:
    """`text`: of its `SKILL.md` as it is."""
    costs = expense(lived)
    teller = teller_of(lived, manifests, privacy)
    checks = checks_of(lived, costs, teller, privacy) if costs.is_any else ()
    after = writing.refined(text, checks, lived.turns)
    if after == text:
        return None
    mark = _hashed("refine", held.name, *checks)
    return Proposal(
        id=id_of(mark), kind="refine", skill=held.name, text=after, diff=diff(text, after), why=f"it was used, and {costs.in_words}",
        evidence=evidence(lived, request(lived.asked, privacy)), at=now, fingerprint=mark, tools=held.skill.requires.tools,
        version=held.version,
    )  # fmt: skip


def retired(held: Installed, text: str, service: Service, now: datetime) -> Proposal | None:
    """None: it serves, or is too young to say."""
    quiet_since = service.last_at or held.at
    if fails(service):
        why = f"of {service.uses} uses {service.good} went well"
        mark = _hashed("retire", held.name, held.version, "fails")
    elif now - quiet_since > timedelta(days=UNUSED_DAYS):
        why = f"it was not used for {(now - quiet_since).days} days"
        mark = _hashed("retire", held.name, held.version, f"{quiet_since:%Y-%m-%d}")
    else:
        return None
    return given_up(held, text, why, mark, now)


def orphaned(held: Installed, text: str, turn: str, now: datetime) -> Proposal:
    """The words that it was drawn from were erased."""
    why = "what you said in the turn that it was drawn from was erased since; it may hold some of it"
    return given_up(held, text, why, _hashed("retire", held.name, "erased", turn), now)


def given_up(held: Installed, text: str, why: str, mark: str, now: datetime) -> Proposal:
    return Proposal(
        id=id_of(mark), kind="retire", skill=held.name, text="", diff=diff(text, ""), why=why, at=now, fingerprint=mark,
        tools=held.skill.requires.tools, version=held.version,
    )  # fmt: skip


def evidence(lived: Experience, asked: str) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(
            turn=each.turn, at=each.at, asked=asked, calls=len(each.deeds), tokens=each.tokens, cost=each.cost,
            outcome=str(each.ending) if each.turn == lived.turn else f"{each.ending}, and put right by the next message",
        )
        for each in lived.parts or (lived,)
    )  # fmt: skip


def diff(before: str, after: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), "SKILL.md as it is", "SKILL.md as proposed", lineterm="")
    return "\n".join(lines)


def _hashed(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
