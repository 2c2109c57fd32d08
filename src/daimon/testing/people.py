"""A directory in memory. It passes the same contract as the journal's; it forgets everything with the process."""

import re
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from daimon.abi.errors import BadInput, NotFound
from daimon.abi.event import Address
from daimon.abi.ids import OWNER, PrincipalId
from daimon.abi.people import MOST_TRIES, MOST_TRIES_OF_SENDER, Contact, Invitation, Knock, Person, Rank
from daimon.abi.ports import Clock

HOUR = timedelta(hours=1)
LONGEST_NAME = 80


@dataclass(slots=True)
class _Open:
    invitation: Invitation
    name: str
    tries: int = 0


@dataclass(slots=True)
class MemoryDirectory:
    clock: Clock
    _people: dict[PrincipalId, Person] = field(default_factory=dict)
    _contacts: dict[tuple[str, str], Contact] = field(default_factory=dict)
    _knocks: dict[tuple[str, str], Knock] = field(default_factory=dict)
    _open: list[_Open] = field(default_factory=list)
    _wrong: list[tuple[tuple[str, str], datetime]] = field(default_factory=list)

    async def who(self, channel: str, sender: str) -> Person | None:
        found = self._contacts.get((channel, sender))
        return None if found is None else self._people[found.person]

    async def people(self) -> tuple[tuple[Person, tuple[Contact, ...]], ...]:
        return tuple((person, tuple(c for c in self._contacts.values() if c.person == person.id)) for person in self._people.values())

    async def knocks(self) -> tuple[Knock, ...]:
        return tuple(sorted(self._knocks.values(), key=lambda knock: knock.last_at, reverse=True))

    async def knocked(self, knock: Knock) -> None:
        key = (knock.channel, knock.sender)
        before = self._knocks.get(key)
        times, first = (knock.times, knock.first_at) if before is None else (before.times + knock.times, before.first_at)
        self._knocks[key] = replace(knock, name=_plain(knock.name), times=times, first_at=first)

    async def seen(self, channel: str, sender: str, name: str, place: str, at: datetime) -> None:
        if (found := self._contacts.get((channel, sender))) is not None:
            self._contacts[channel, sender] = replace(found, name=_plain(name), place=place or found.place, last_at=at)

    async def invite(self, name: str, rank: Rank, code: str, until: datetime) -> Invitation:
        person = self._id(name, rank)
        invitation = Invitation(code, person, rank, until)
        self._open.append(_Open(invitation, _plain(name)))
        return invitation

    async def pair(self, code: str, knock: Knock) -> Person | None:
        now, sender = self.clock.now(), (knock.channel, knock.sender)
        if sum(who == sender and at > now - HOUR for who, at in self._wrong) >= MOST_TRIES_OF_SENDER:
            return None
        self._open = [each for each in self._open if each.invitation.until > now and each.tries < MOST_TRIES]
        found = next((each for each in self._open if each.invitation.code == code), None)
        if found is None:
            for each in self._open:
                each.tries += 1
            self._wrong += [(sender, now)] * bool(self._open)
            return None
        self._open.remove(found)
        return self._connect(found.invitation.person, found.name, found.invitation.rank, knock)

    async def allow(self, channel: str, sender: str, name: str, rank: Rank) -> Person:
        if not channel or not sender:
            raise BadInput(f"{channel}:{sender} names no chat")
        before, now = self._knocks.get((channel, sender)), self.clock.now()
        knock = Knock(channel, sender, "", before.place if before else "", 1, now, now)
        return self._connect(self._id(name, rank), name, rank, knock)

    async def change(self, person: PrincipalId, rank: Rank) -> Person:
        found = self._require(person)
        if Rank.OWNER in (found.rank, rank) and found.rank is not rank:
            raise BadInput("there is one owner")
        self._people[person] = replace(found, rank=rank)
        return self._people[person]

    async def remove(self, person: PrincipalId, channel: str = "", sender: str = "") -> None:
        self._require(person)
        if not channel:
            del self._people[person]
            self._open = [each for each in self._open if each.invitation.person != person]
            self._contacts = {key: contact for key, contact in self._contacts.items() if contact.person != person}
        elif self._contacts.get((channel, sender)) is None or self._contacts[channel, sender].person != person:
            raise NotFound(f"{person} is not known by {channel}:{sender}")
        else:
            del self._contacts[channel, sender]

    async def reach(self, person: PrincipalId) -> Address | None:
        mine = [contact for contact in self._contacts.values() if contact.person == person and contact.place]
        last = max(mine, key=lambda contact: contact.last_at or contact.paired_at, default=None)
        return None if last is None else Address(last.channel, last.place)

    def _id(self, name: str, rank: Rank) -> PrincipalId:
        id_ = OWNER if rank is Rank.OWNER else PrincipalId(re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-"))
        if not id_ or (id_ == OWNER and rank is not Rank.OWNER):
            raise BadInput(f"{name!r} cannot name a person")
        if (known := self._people.get(id_)) is not None and known.rank is not rank:
            raise BadInput(f"{id_} is {known.rank} already")
        return id_

    def _connect(self, id_: PrincipalId, name: str, rank: Rank, knock: Knock) -> Person:
        now = self.clock.now()
        person = self._people.setdefault(id_, Person(id_, _plain(name) or id_, rank, now))
        self._contacts[knock.channel, knock.sender] = Contact(knock.channel, knock.sender, id_, _plain(knock.name), knock.place, now)
        self._knocks.pop((knock.channel, knock.sender), None)
        return person

    def _require(self, person: PrincipalId) -> Person:
        if person not in self._people:
            raise NotFound(f"nobody is called {person!r} here")
        return self._people[person]


def _plain(name: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in name).split())[:LONGEST_NAME]
