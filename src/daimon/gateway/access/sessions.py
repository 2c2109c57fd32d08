"""Browsers, phones and programs that are in, and for how long.

A device holds a secret of 256 random bits, in a cookie that scripts cannot read or, if it is a program, as its token; here and on disk is
only its hash. A secret is always made here: what a client brings is looked up, never taken over, and every way in makes a new device with a
new secret (no fixation). A device that is not seen for 30 days is over, and so is every device after 180; that it was seen is written down
once in some minutes.

All devices are in memory, so that looking one up costs no reading and needs no waiting. The journal is written first: a device that was
revoked is revoked after a crash as well. Changes of what is written are made one after the other, each on what the last one left: that a
device was seen must not write back the rights it had, or that it was in. `changed` tells whoever serves a stream to a device that it is
over, or has other rights.
"""

import asyncio
import hashlib
import secrets
import unicodedata
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

from daimon.abi.access import Access, By, Caller, Device, Right
from daimon.abi.errors import NotFound, TooMany
from daimon.abi.plain import clean
from daimon.abi.ports import Clock, Ids

UNUSED, LONGEST = timedelta(days=30), timedelta(days=180)
FRESH = timedelta(minutes=5)
MOST_DEVICES, MOST_NAME = 200, 60
LOOK_S = 30.0
"""So often it is looked whether a device with an open stream is over by time."""


class Sessions:
    def __init__(self, access: Access, clock: Clock, ids: Ids) -> None:
        self._access, self._clock, self._ids = access, clock, ids
        self._by_hash: dict[bytes, str] = {}
        self._devices: dict[str, Device] = {}
        self._changed: dict[str, asyncio.Event] = {}
        self._turn = asyncio.Lock()

    async def load(self) -> None:
        for device, hash_ in await self._access.devices(self._clock.now()):
            self._devices[device.id] = device
            self._by_hash[hash_] = device.id

    def find(self, secret: str) -> Device | None:
        """Whose secret this is, if they are still in. What is looked up is a hash, so how long it takes tells nothing of the secret."""
        id_ = self._by_hash.get(hash_of(secret))
        return None if id_ is None else self.alive(id_)

    def alive(self, id_: str) -> Device | None:
        device = self._devices.get(id_)
        return device if device is not None and self._clock.now() < device.expires_at else None

    def all(self) -> tuple[Device, ...]:
        now = self._clock.now()
        return tuple(device for device in self._devices.values() if now < device.expires_at)

    def changed(self, id_: str) -> asyncio.Event:
        """Set when the device is over or has other rights; whoever waits then looks again."""
        return self._changed.setdefault(id_, asyncio.Event())

    def is_still(self, caller: Caller) -> bool:
        """Is the device of this caller in, with the rights that they came with?"""
        device = self.alive(caller.id)
        return device is not None and device.rights == caller.rights

    async def until_over(self, caller: Caller) -> None:
        changed = self.changed(caller.id)
        while self.is_still(caller) and not changed.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await changed.wait()

    async def begin(self, name: str, rights: frozenset[Right], by: By) -> tuple[Device, str]:
        """A new device, and its secret, which is not kept."""
        self._forget_old()
        if len(self._devices) >= MOST_DEVICES:
            raise TooMany(f"{MOST_DEVICES} devices are signed in; `daimon devices revoke ID` ends one")
        secret, now = new_secret(), self._clock.now()
        device = Device(self._ids.new("d"), named(name), rights, by, now, now, now + UNUSED)
        await self._access.admit(device, hash_of(secret))
        self._devices[device.id] = device
        self._by_hash[hash_of(secret)] = device.id
        return device, secret

    async def seen(self, id_: str) -> None:
        if not self._is_stale(id_):
            return
        async with self._turn:
            device, now = self.alive(id_), self._clock.now()
            if device is not None and self._is_stale(id_):
                self._devices[id_] = later = replace(device, seen_at=now, expires_at=min(now + UNUSED, device.made_at + LONGEST))
                await self._access.update(later)

    def _is_stale(self, id_: str) -> bool:
        """Is it long ago that it was written down that this device was seen?"""
        device = self.alive(id_)
        return device is not None and self._clock.now() - device.seen_at >= FRESH

    async def change(self, id_: str, rights: frozenset[Right]) -> Device:
        async with self._turn:
            changed = replace(self._require(id_), rights=rights)
            await self._access.update(changed)
            self._devices[id_] = changed
            self._tell(id_)
        return changed

    async def end(self, id_: str) -> Device:
        async with self._turn:
            ended = replace(self._require(id_), revoked_at=self._clock.now())
            await self._access.update(ended)
            self._drop(id_)
        return ended

    def _require(self, id_: str) -> Device:
        device = self.alive(id_)
        if device is None:
            raise NotFound(f"there is no device {id_[:40]!r}; `daimon devices` lists those that are signed in")
        return device

    def _forget_old(self) -> None:
        for id_ in [each for each in self._devices if self.alive(each) is None]:
            self._drop(id_)

    def _drop(self, id_: str) -> None:
        self._devices.pop(id_, None)
        self._by_hash = {hash_: each for hash_, each in self._by_hash.items() if each != id_}
        self._tell(id_)

    def _tell(self, id_: str) -> None:
        if (told := self._changed.pop(id_, None)) is not None:
            told.set()


def caller_of(device: Device) -> Caller:
    return Caller(device.id, device.name, device.rights, device.by)


def new_secret() -> str:
    return secrets.token_urlsafe(32)


def hash_of(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).digest()


def named(name: str) -> str:
    """What it calls itself, without what would change how the lines around it look: breaks, controls, and marks that are not seen."""
    seen = "".join(each if unicodedata.category(each)[0] != "C" else " " if each in "\t\n\r" else "" for each in clean(name))
    return " ".join(seen.split())[:MOST_NAME].strip() or "a browser"
