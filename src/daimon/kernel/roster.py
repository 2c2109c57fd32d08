"""Who is who, at hand for every judgement.

The journal has the truth. This holds a copy of the ranks: loaded at the start, changed when a change is on disk. Whoever changes the
directory of a running Daimon does it through here. Somebody who was removed, and a group, is a guest: the fewest rights that there are.
"""

from datetime import datetime

from daimon.abi.event import Address
from daimon.abi.ids import PrincipalId
from daimon.abi.people import Contact, Directory, Invitation, Knock, Person, Rank, serves_owner


class Roster:
    """A `Directory`, and `rank`."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._ranks: dict[PrincipalId, Rank] = {}

    async def load(self) -> None:
        self._ranks = {person.id: person.rank for person, _ in await self._directory.people()}

    def rank(self, principal: PrincipalId) -> Rank:
        return Rank.OWNER if serves_owner(principal) else self._ranks.get(principal, Rank.GUEST)

    async def who(self, channel: str, sender: str) -> Person | None:
        return await self._directory.who(channel, sender)

    async def people(self) -> tuple[tuple[Person, tuple[Contact, ...]], ...]:
        return await self._directory.people()

    async def knocks(self) -> tuple[Knock, ...]:
        return await self._directory.knocks()

    async def knocked(self, knock: Knock) -> None:
        await self._directory.knocked(knock)

    async def seen(self, channel: str, sender: str, name: str, place: str, at: datetime) -> None:
        await self._directory.seen(channel, sender, name, place, at)

    async def invite(self, name: str, rank: Rank, code: str, until: datetime) -> Invitation:
        return await self._directory.invite(name, rank, code, until)

    async def pair(self, code: str, knock: Knock) -> Person | None:
        person = await self._directory.pair(code, knock)
        return None if person is None else self._noted(person)

    async def allow(self, channel: str, sender: str, name: str, rank: Rank) -> Person:
        return self._noted(await self._directory.allow(channel, sender, name, rank))

    async def change(self, person: PrincipalId, rank: Rank) -> Person:
        return self._noted(await self._directory.change(person, rank))

    async def remove(self, person: PrincipalId, channel: str = "", sender: str = "") -> None:
        await self._directory.remove(person, channel, sender)
        if not channel:
            self._ranks.pop(person, None)

    async def reach(self, person: PrincipalId) -> Address | None:
        return await self._directory.reach(person)

    def _noted(self, person: Person) -> Person:
        self._ranks[person.id] = person.rank
        return person
