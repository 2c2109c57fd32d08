"""What may be granted instead of being asked about again: computed from the calls in question.

A grant covers what this call is and no more: its agent, its tool with all that the tool can do, the places that it reaches, the things that
it touches and, where an automation makes it, that automation; of somebody else's tool, as long as that is what it was. Where a call names
no such place or thing nothing bounds a grant, and none is offered. Nor is one for a call that moves an amount to nowhere in particular, or
that changes who may do what.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from pydantic import JsonValue

from daimon.abi.ids import AgentId, PrincipalId
from daimon.abi.judgement import Grant
from daimon.abi.label import Author
from daimon.abi.step import Intended
from daimon.abi.tool import ArgumentRole, Capability, Manifest
from daimon.kernel import quote

DAYS = 30
"""How long a grant holds when nobody says otherwise."""
MOST_SHOWN = 60
MOST_PLACE = 2_000
"""Of a place or a thing: the end of an address says whose it is."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A call that needs a person's word."""

    n: int
    intended: Intended
    manifest: Manifest

    def of(self, role: ArgumentRole) -> dict[str, JsonValue]:
        """The arguments with this role that were given."""
        given = self.intended.arguments if isinstance(self.intended.arguments, dict) else {}
        return {name: value for name, value in given.items() if self.manifest.roles.get(name) is role and value not in (None, "", [])}


@dataclass(frozen=True, slots=True)
class Ground:
    """Where a question is asked."""

    agent: AgentId
    job: str
    now: datetime
    zone: tzinfo

    @property
    def today(self) -> date:
        return self.now.astimezone(self.zone).date()


@dataclass(frozen=True, slots=True)
class Offer:
    call: int
    """Counted from 1, as the question counts."""
    grant: Grant


def offers(wanted: Sequence[Wanted], ground: Ground) -> tuple[Offer, ...]:
    found = ((i, _grant(call, ground)) for i, call in enumerate(wanted, 1))
    return tuple(Offer(i, grant) for i, grant in found if grant is not None)


def given(offered: Grant, id_: str, by: PrincipalId, until: date | None, ground: Ground) -> Grant:
    """What was offered, as it is given."""
    limit = offered.until if until is None else end_of(until, ground.zone)
    return replace(offered, id=id_, by=by, at=ground.now, until=limit)


def end_of(day: date, zone: tzinfo) -> datetime:
    """A grant until a day holds through that day."""
    return datetime.combine(day + timedelta(days=1), time(), zone).astimezone(UTC)


def words(grant: Grant) -> str:
    """What it covers, whatever the rest of the call says: `send_email to bob@x.org`."""
    places = f" to {_listed(grant.destinations)}" if grant.destinations else ""
    things = f" on {_listed(grant.targets)}" if grant.targets else ""
    where = f", in {quote.name(grant.job, MOST_SHOWN)} only" if grant.job else ""
    return f"{quote.name(grant.tool, MOST_SHOWN)}{places}{things}{where}"


def _grant(call: Wanted, ground: Ground) -> Grant | None:
    destinations, targets = _values(call.of(ArgumentRole.DESTINATION)), _values(call.of(ArgumentRole.TARGET))
    moves, changes = call.of(ArgumentRole.AMOUNT), call.of(ArgumentRole.PERMISSION)
    if destinations is None or targets is None or not (destinations or targets) or (moves and not destinations):
        return None
    if changes or Capability.GRANTS in call.manifest.capabilities:
        return None
    return Grant(
        id="",
        agent=ground.agent,
        capabilities=call.manifest.capabilities,
        tool=call.intended.tool,
        destinations=tuple(sorted(set(destinations))),
        targets=tuple(sorted(set(targets))),
        job=ground.job,
        until=end_of(ground.today + timedelta(days=DAYS), ground.zone),
        manifest="" if call.manifest.author is Author.SERVICE else call.intended.manifest,
    )


def _values(given: dict[str, JsonValue]) -> list[str] | None:
    """In small letters, as the rules compare them, but for paths. None: something in it is no plain value, so that nobody
    can say what a grant would cover."""
    found: list[str] = []
    for value in given.values():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, bool) or not isinstance(item, str | int | float) or not str(item).strip():
                return None
            text = str(item).strip()
            found.append(text if "/" in text else text.lower())
    return found


def _listed(values: Sequence[str]) -> str:
    return ", ".join(quote.name(value, MOST_PLACE) for value in values)
