"""People, as the owner manages them: the same whether a gateway runs or not.

A code is made here and shown once; the directory keeps its hash. No web framework is imported, so that a command starts quickly.
"""

from dataclasses import dataclass
from typing import Protocol

from daimon.abi.errors import BadInput
from daimon.abi.ids import OWNER, PrincipalId
from daimon.abi.people import Contact, Directory, Invitation, Knock, Person, Rank
from daimon.abi.ports import Clock, Random
from daimon.gateway import pairing
from daimon.gateway.mail.authentic import UNVERIFIED
from daimon.gateway.parting import Parting


@dataclass(frozen=True, slots=True)
class Acquainted:
    person: Person
    contacts: tuple[Contact, ...]


@dataclass(frozen=True, slots=True)
class Everybody:
    people: tuple[Acquainted, ...]
    knocks: tuple[Knock, ...]
    """Strangers, the newest first."""


class Known(Protocol):
    """What of a directory is only read."""

    async def people(self) -> tuple[tuple[Person, tuple[Contact, ...]], ...]: ...

    async def knocks(self) -> tuple[Knock, ...]: ...


async def everybody(known: Known) -> Everybody:
    return Everybody(tuple(Acquainted(*each) for each in await known.people()), await known.knocks())


class Introducing(Protocol):
    async def invite(self, name: str, rank: Rank) -> Invitation: ...

    async def allow(self, channel: str, sender: str, name: str, rank: Rank) -> Person: ...

    async def change(self, person: PrincipalId, rank: Rank) -> Person: ...

    async def remove(self, person: PrincipalId, channel: str = "", sender: str = "") -> None: ...


@dataclass(frozen=True, slots=True)
class Introductions:
    directory: Directory
    clock: Clock
    random: Random
    parting: Parting

    async def everybody(self) -> Everybody:
        return await everybody(self.directory)

    async def invite(self, name: str, rank: Rank) -> Invitation:
        return await self.directory.invite(name, rank, pairing.invitation(self.random), self.clock.now() + pairing.VALID)

    async def allow(self, channel: str, sender: str, name: str, rank: Rank) -> Person:
        if sender.startswith(UNVERIFIED):
            raise BadInput(
                f"{channel}:{sender[:100]} cannot be let in: nobody vouches for this sender, so anybody could write as them; "
                "see authserv_id in docs/channels-mail.md, then let in the bare address"
            )
        return await self.directory.allow(channel, sender, name, rank)

    async def change(self, person: PrincipalId, rank: Rank) -> Person:
        return await self.directory.change(person, rank)

    async def remove(self, person: PrincipalId, channel: str = "", sender: str = "") -> None:
        before = await self._contacts(person)
        await self.directory.remove(person, channel, sender)
        left = await self._contacts(person)
        if person != OWNER and not left:
            await self.parting.gone(person)
        elif channel:
            await self.parting.lost(person, tuple(each for each in before if (each.channel, each.sender) == (channel, sender)), left)

    async def _contacts(self, person: PrincipalId) -> tuple[Contact, ...]:
        return next((contacts for known, contacts in await self.directory.people() if known.id == person), ())
