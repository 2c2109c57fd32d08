"""Who is speaking: people, what they may do here, and the chats by which they are known.

A person is a principal. A *contact* is one way by which a person speaks: a channel and that channel's own id of the sender. Who is known
by no contact is a stranger: nothing of theirs reaches a model, they get no answer, and that they knocked is listed for the owner. A
contact is made with a short-lived code that was shown to the owner, or by the owner's own command.

What a rank permits is decided elsewhere (`policy`, `gateway/reception.py`); here is only who has which.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from daimon.abi.event import Address
from daimon.abi.ids import PrincipalId


class Rank(StrEnum):
    OWNER = "owner"
    TRUSTED = "trusted"
    """May talk to the agent and have it work; whatever reaches out of the machine is asked of the owner."""
    GUEST = "guest"
    """May talk to the agent; it answers from what is theirs and what is public."""


@dataclass(frozen=True, slots=True)
class Person:
    id: PrincipalId
    name: str
    rank: Rank
    since: datetime


@dataclass(frozen=True, slots=True)
class Contact:
    channel: str
    sender: str
    person: PrincipalId
    name: str
    """What the channel calls them."""
    place: str
    """Where they spoke to the agent alone last; empty: only in groups so far."""
    paired_at: datetime
    last_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Knock:
    """A stranger who spoke."""

    channel: str
    sender: str
    name: str
    place: str
    times: int
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True)
class Invitation:
    """A pairing code, as it is shown to the owner once. Only its hash is kept."""

    code: str
    person: PrincipalId
    rank: Rank
    until: datetime


class Directory(Protocol):
    async def who(self, channel: str, sender: str) -> Person | None:
        """None: a stranger."""
        ...

    async def people(self) -> tuple[tuple[Person, tuple[Contact, ...]], ...]: ...

    async def knocks(self) -> tuple[Knock, ...]:
        """Newest first."""
        ...

    async def knocked(self, knock: Knock) -> None: ...

    async def seen(self, channel: str, sender: str, name: str, place: str, at: datetime) -> None:
        """A known person spoke; `place` is empty where others read too."""
        ...

    async def invite(self, name: str, rank: Rank, code: str, until: datetime) -> Invitation:
        """The owner has one id; for others it is made of the name. Raises BadInput."""
        ...

    async def pair(self, code: str, knock: Knock) -> Person | None:
        """None: no such code, or it has run out, was used, or too many wrong ones were tried."""
        ...

    async def allow(self, channel: str, sender: str, name: str, rank: Rank) -> Person:
        """By the owner's own hand, without a code."""
        ...

    async def change(self, person: PrincipalId, rank: Rank) -> Person: ...

    async def remove(self, person: PrincipalId, channel: str = "", sender: str = "") -> None:
        """One contact, or the person with all of them. Raises NotFound."""
        ...

    async def reach(self, person: PrincipalId) -> Address | None:
        """Where they spoke to the agent alone last."""
        ...
