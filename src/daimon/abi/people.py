"""Who is speaking: people, what they may do here, and the chats by which they are known.

A person is a principal. A *contact* is one way by which a person speaks: a channel and that channel's own id of the sender. Who is known
by no contact is a stranger: nothing of theirs reaches a model, they get no answer, and that they knocked is listed for the owner. A
contact is made with a short-lived code that was shown to the owner, or by the owner's own command.

A group chat is a principal of its own, whoever speaks in it: what is said there is read by all of them, so nothing may come in that one of
them may not read, be it the owner who asks.

What a rank permits is decided elsewhere (`policy`, `gateway/reception.py`); here is only who has which.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from daimon.abi.event import Address
from daimon.abi.ids import OWNER, PrincipalId
from daimon.abi.label import Label
from daimon.abi.rank import Rank as Rank

GROUP = "group:"
"""How the names of groups begin. A person's has no colon in it."""
MOST_TRIES_OF_SENDER, MOST_TRIES = 5, 50
"""Wrong codes of one sender in an hour, and of everybody during the life of an invitation: after that it is void."""
_FOR_OWNER = ("service:", "agent:")


def group(channel: str, place: str) -> PrincipalId:
    return PrincipalId(f"{GROUP}{channel}/{place}")


def serves_owner(principal: PrincipalId) -> bool:
    """Is it the owner, or a service that works for nobody else? Of any other name nothing is assumed."""
    return principal == OWNER or principal.startswith(_FOR_OWNER)


def may_read(principal: PrincipalId, label: Label) -> bool:
    """May what has this label come into a turn that serves this one, or go to them?"""
    return serves_owner(principal) or label.may_be_read_by(principal)


def for_reader(label: Label, whom: PrincipalId) -> Label:
    """Of a task whose result the owner has sent to somebody: then they may know it. What others ask for is nobody's to share."""
    if serves_owner(whom) or label.readers is None or not label.is_trusted:
        return label
    return Label.of(*label.origins, readers=(*label.readers, whom))


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
