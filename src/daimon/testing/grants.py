"""The grants of a journal in memory: what the owner allowed ahead of time, and took back."""

from dataclasses import dataclass, field, replace
from datetime import datetime

from daimon.abi.errors import NotFound
from daimon.abi.ids import PrincipalId, SpaceId
from daimon.abi.judgement import Grant
from daimon.abi.ports import Given
from daimon.abi.step import Granted, Step


@dataclass(slots=True)
class MemoryGrants:
    rows: dict[tuple[SpaceId, str], tuple[datetime, Given]] = field(default_factory=dict)

    def take(self, step: Step) -> None:
        if isinstance(step.body, Granted):
            self.rows[step.space, step.body.grant.id] = step.at, Given(step.body.grant)

    def grants(self, space: SpaceId, now: datetime) -> tuple[Grant, ...]:
        return tuple(found.grant for found in reversed(self.given(space)) if found.is_in_force(now))

    def given(self, space: SpaceId) -> tuple[Given, ...]:
        mine = [(at, id_, found) for (where, id_), (at, found) in self.rows.items() if where == space]
        return tuple(found for _, _, found in sorted(mine, key=lambda row: row[:2], reverse=True))

    def revoke(self, space: SpaceId, id_: str, by: PrincipalId, now: datetime) -> Given:
        if (space, id_) not in self.rows:
            raise NotFound(f"there is no grant {id_!r}")
        at, found = self.rows[space, id_]
        if found.revoked_at is None:
            self.rows[space, id_] = at, replace(found, revoked_at=now, revoked_by=by)
        return self.rows[space, id_][1]
