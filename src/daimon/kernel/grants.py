"""What the owner allowed ahead of time, at hand for every judgement.

The journal has the truth. This holds a copy of what is in force: loaded at the start, added to when a grant is on disk, taken from when one
is revoked. Whether a grant has run out is asked of the clock each time.
"""

from collections.abc import Iterable
from datetime import datetime

from daimon.abi.ids import PrincipalId, SpaceId
from daimon.abi.judgement import Grant
from daimon.abi.ports import Given, Grants
from daimon.abi.step import Granted, Step


class Standing:
    """The grants of one space."""

    def __init__(self, journal: Grants, space: SpaceId) -> None:
        self._journal = journal
        self._space = space
        self._grants: dict[str, Grant] = {}
        self._revoked: set[str] = set()

    async def load(self, now: datetime) -> None:
        self._grants = {grant.id: grant for grant in await self._journal.grants(self._space, now)}

    def current(self, now: datetime) -> tuple[Grant, ...]:
        return tuple(grant for grant in self._grants.values() if Given(grant).is_in_force(now))

    def take(self, steps: Iterable[Step]) -> None:
        """These steps are on disk."""
        for step in steps:
            if isinstance(step.body, Granted) and step.space == self._space and step.body.grant.id not in self._revoked:
                self._grants[step.body.grant.id] = step.body.grant

    async def given(self) -> tuple[Given, ...]:
        """All that ever were, the newest first."""
        return await self._journal.given(self._space)

    def drop(self, grants: Iterable[str]) -> None:
        """These are gone from the journal."""
        for grant in grants:
            self._revoked.add(grant)
            self._grants.pop(grant, None)

    async def revoke(self, grant: str, by: PrincipalId) -> Given:
        """Raises NotFound."""
        revoked = await self._journal.revoke(self._space, grant, by)
        self.drop((grant,))  # whoever recorded it may not have told us yet
        return revoked


def ran_on(by: str) -> str | None:
    """The grant that a call was allowed by (`Gate.by`), if it was one."""
    kind, _, name = by.partition(":")
    return name if kind == "grant" else None
