"""The ways in: a link that works once, and a request that somebody who is in confirms.

**A link** is made by whoever may change how Daimon is set up, at first `daimon open`. Its secret stands in the fragment of the address,
which browsers send to nobody; the page posts it and gets a session for it. It works once and for ten minutes.

**A request** is for a phone: it cannot open a link of this machine's, and typing a long secret is no fun. It shows a short code; the owner
sees the same code where they are in already, and confirms it with the rights that they choose. The phone asks every few seconds with a
secret of its own whether that has happened. The code opens nothing: it is there to be compared, so that nobody else's request is confirmed.
Only so many wait at once, and an address may ask only so often.

A browser that had a session and signs in anew gets another one, and the old one ends.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from daimon.abi.access import Access, Device, Link, Request, Right
from daimon.abi.errors import BadInput, Forbidden, NotFound, TooMany
from daimon.abi.ports import Clock, Random
from daimon.gateway import pairing
from daimon.gateway.access.acts import Acts
from daimon.gateway.access.attempts import Attempts
from daimon.gateway.access.sessions import Sessions, caller_of, hash_of, named, new_secret
from daimon.gateway.door import Source

VALID = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Made:
    """A link, as it is shown once."""

    secret: str
    until: datetime


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, as the one who asks sees it."""

    code: str
    secret: str
    """To ask with whether it was confirmed."""
    until: datetime


@dataclass(frozen=True, slots=True)
class Entrance:
    access: Access
    sessions: Sessions
    attempts: Attempts
    acts: Acts
    clock: Clock
    random: Random

    async def link(self, name: str, rights: frozenset[Right]) -> Made:
        now, secret = self.clock.now(), new_secret()
        await self.access.offer(Link(hash_of(secret), named(name) if name else "", _some(rights), now + VALID), now)
        return Made(secret, now + VALID)

    async def enter(self, secret: str, name: str, source: Source) -> tuple[Device, str]:
        """Raises Forbidden for a link that does not work, TooMany."""
        self._require_welcome(source)
        link = await self.access.redeem(hash_of(secret), self.clock.now())
        if link is None:
            await self._wrong(source, "sign in by link")
            raise Forbidden("this link was used already, or is too old; `daimon open` prints another one")
        return await self._begin(link.name or name, link.rights, "link", source)

    async def ask(self, name: str, source: Source) -> Asked:
        self._require_welcome(source)
        self.attempts.wrong(f"asking {source.address}", source.is_local)
        if (locked_s := self.attempts.locked_s(f"asking {source.address}")) > 0:
            raise TooMany(f"this address asked too often; come again in {round(locked_s)} seconds", locked_s)
        now, secret, code = self.clock.now(), new_secret(), pairing.invitation(self.random)
        request = Request(code, named(name), source.address, now, now + VALID)
        if not await self.access.ask(request, hash_of(secret)):
            raise TooMany("too many devices ask to be let in; confirm or refuse some with `daimon devices`, or wait", VALID.total_seconds())
        await self.acts.failed(source.address, "ask to be let in", "waits")
        return Asked(pairing.shown(code), secret, request.until)

    async def requests(self) -> tuple[Request, ...]:
        return await self.access.requests(self.clock.now())

    async def decide(self, code: str, rights: frozenset[Right]) -> Request:
        """No rights: refused. Raises NotFound."""
        return await self.access.decide(pairing.pairing(code) or code[:20], rights, self.clock.now())

    async def collect(self, secret: str, source: Source) -> tuple[Device, str] | None:
        """None: nothing was decided yet. Raises Forbidden if it was refused, NotFound if it is not there any more."""
        self._require_welcome(source)
        request = await self.access.collect(hash_of(secret), self.clock.now())
        if request is None:
            await self._wrong(source, "collect a session")
            raise NotFound("this request is not there any more; ask again")
        if request.rights is None:
            return None
        if not request.rights:
            raise Forbidden("the request was refused")
        return await self._begin(request.name, request.rights, "code", source)

    async def _begin(self, name: str, rights: frozenset[Right], by: Literal["link", "code"], source: Source) -> tuple[Device, str]:
        begun = await self.sessions.begin(name, rights, by)
        self.attempts.right(source.address)
        await self.acts.note(caller_of(begun[0]), f"sign in by {by}", source.address)
        return begun

    def _require_welcome(self, source: Source) -> None:
        if (locked_s := self.attempts.locked_s(source.address)) > 0:
            raise TooMany(f"too many tries from this address; come again in {round(locked_s) or 1} seconds", locked_s)

    async def _wrong(self, source: Source, did: str) -> None:
        await self.acts.failed(source.address, did, Forbidden.code)
        await self.clock.sleep(self.attempts.wrong(source.address, source.is_local))


def _some(rights: frozenset[Right]) -> frozenset[Right]:
    if not rights:
        raise BadInput("a device without any right can do nothing; choose some of read, chat, approve, admin")
    return rights
