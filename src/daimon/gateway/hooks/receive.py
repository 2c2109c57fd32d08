"""One delivery, from its bytes to the disk.

The order is the point. Nothing of a body is looked at before its signature was right, so a stranger learns no more than "no" and costs one
HMAC; nothing is answered with 202 before it is on disk; and a delivery that came before is answered like the first time, without effect.

    known hook → address not shut out → signed → within the hook's rate → not paused → readable → of its form → new → filtered or kept

It knows no sockets: whole bodies come in (`route`, `lane`), a status, an answer and a time to wait go out.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from pydantic import JsonValue

from daimon.abi.cleaning import cleaned
from daimon.abi.codec import encode
from daimon.abi.errors import BadInput, JournalFailed, JournalFull
from daimon.abi.event import Address, Event, Webhook
from daimon.abi.hook import Hooks, Posted
from daimon.abi.ids import HOME_SPACE, OWNER, EventId, Key, PrincipalId
from daimon.abi.people import for_reader
from daimon.abi.ports import Clock, Ids
from daimon.abi.secret import Redactor
from daimon.gateway.answers import explained
from daimon.gateway.hooks import filtering, signature
from daimon.gateway.hooks.keys import Known, known_by
from daimon.gateway.hooks.posted import MOST_BYTES, Postings
from daimon.gateway.hooks.rates import Wrongdoers
from daimon.gateway.hooks.reading import read
from daimon.gateway.hooks.ready import Ready, Secrets, Shelf, label_of
from daimon.gateway.hooks.signature import Heads
from daimon.kernel.wall import OWNERS_DESK

KEPT_HEADERS = ("x-github-event", "x-event-type", "x-slack-retry-num", "x-slack-retry-reason")
PAUSED_S = 300
_LONGEST_HEADER = 200
_ANSWER: Any = dict[str, str | bool]


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    body: bytes
    wait_s: int = 0
    """How long the sender should wait before it tries again."""


class Waker(Protocol):
    async def wake(self, event: Event) -> None: ...


@dataclass(frozen=True, slots=True)
class Behind:
    """What stands behind the door for deliveries."""

    hooks: Hooks
    shelf: Shelf
    waker: Waker
    clock: Clock
    ids: Ids
    redactor: Redactor
    secrets: Secrets
    whom: Callable[[Address | None], Awaitable[PrincipalId]]
    """Who reads at a place: its turn serves them."""


class Receiver:
    def __init__(self, behind: Behind, postings: Postings) -> None:
        self._behind = behind
        self._postings = postings
        self._wrongdoers = Wrongdoers()

    async def most_bytes(self, name: str) -> int:
        ready = None if self._postings.get(name) else await self._behind.shelf.find(name)
        return MOST_BYTES if ready is None else ready.hook.most_bytes

    async def post(self, name: str, given: Heads, body: bytes) -> Reply:
        try:
            if (channel := self._postings.get(name)) is not None:
                return Reply(await channel(given, body), b"{}")
            return await self._post(await self._behind.shelf.find(name), given, body)
        except JournalFull as full:
            return _no(507, full.code, "there is no room for it at the moment", 60)
        except JournalFailed as failed:
            return _no(503, failed.code, "it cannot be written at the moment", 60)

    async def _post(self, ready: Ready | None, given: Heads, body: bytes) -> Reply:
        now, address = self._behind.clock.monotonic(), _address(given)
        if (wait := self._wrongdoers.wait_s(address, now)) > 0:
            return _no(429, "too_many", "too many requests with a bad signature from this address", wait)
        if ready is None:
            signature.is_signed(None, (), 0.0, 0)
            self._wrongdoers.note(address, now)
            return _no(404, "not_found", "there is no such hook")
        if len(body) > ready.hook.most_bytes:
            return _no(413, "too_large", f"a body has at most {ready.hook.most_bytes} bytes here")
        shown = signature.shown(ready.hook, given, body)
        secrets = self._behind.secrets(ready.names)
        at, tolerance = self._behind.clock.now().timestamp(), ready.hook.tolerance_s
        if not signature.is_signed(shown, secrets, at, tolerance) or shown is None:
            self._wrongdoers.note(address, now)
            await self._refused(ready, now, signature.fault(shown, at, tolerance) if secrets else "its secret is not in the vault")
            return _no(401, "not_signed", "the signature does not fit")
        return await self._signed(ready, given, body, signature.digest(shown.content))

    async def _signed(self, ready: Ready, given: Heads, body: bytes, content: str) -> Reply:
        now = self._behind.clock.monotonic()
        if (wait := ready.bucket.take(now)) > 0:
            await self._refused(ready, now, f"more than {ready.hook.per_minute} in a minute")
            return _no(429, "too_many", f"more than {ready.hook.per_minute} deliveries in a minute", wait)
        if ready.hook.is_paused:
            await self._refused(ready, now, "paused")
            return _no(503, "paused", "this hook is paused", PAUSED_S)
        try:
            data = read(given, body)
            if ready.check is not None and (wrong := ready.check(data)):
                raise BadInput(f"the body does not have the form that is asked for: {wrong}")
        except BadInput as bad:
            await self._refused(ready, now, str(bad))
            return _no(400, bad.code, str(bad))
        if ready.hook.scheme == "slack" and isinstance(data, dict) and data.get("type") == "url_verification":
            return Reply(200, encode(dict[str, str], {"challenge": str(data.get("challenge", ""))}))
        return await self._keep(ready, given, self._without_secrets(data, body), known_by(ready.hook.scheme, given, data, content))

    async def _keep(self, ready: Ready, given: Heads, data: JsonValue, known: Known) -> Reply:
        hook, now = ready.hook, self._behind.clock.now()
        why = filtering.held_back(hook.filters, data, given)
        headers = {name: given[name][:_LONGEST_HEADER] for name in KEPT_HEADERS if name in given}
        outcome = "filtered" if why else "collected" if hook.mode == "collect" else "accepted"
        posted = Posted(
            hook=hook.name, key=known.key, content=known.content, at=now, outcome=outcome, why=why,  # type: ignore[arg-type]
            data=data if outcome == "collected" else None, headers=headers,
        )  # fmt: skip
        whom = await self._behind.whom(hook.to) if outcome == "accepted" else OWNER
        event = self._event(ready, posted, data, whom) if outcome == "accepted" else None
        accepted = await self._behind.hooks.post(HOME_SPACE, posted, event)
        if accepted is not None and event is not None:
            await self._behind.waker.wake(event)
        answer = {"delivery": known.key, "outcome": "known" if accepted is None else outcome, "new": accepted is not None}
        return Reply(202, encode(_ANSWER, answer))

    def _event(self, ready: Ready, posted: Posted, data: JsonValue, whom: PrincipalId) -> Event:
        hook, by = ready.hook, ready.hooked
        principal = by.by if hook.task else PrincipalId(f"service:{hook.name}")
        label = ready.label if whom == OWNER else label_of(replace(by, label=for_reader(by.label, whom)))
        where = hook.conversation or f"hooks/{hook.name}"
        return Event(
            id=EventId(self._behind.ids.new("e")), source=f"hook:{hook.name}", key=Key(posted.key), conversation=where,
            principal=principal if whom == OWNER else whom, label=label,
            body=Webhook(hook.name, data, posted.headers, hook.task, by.label if hook.task else None),
            occurred_at=posted.at, received_at=posted.at, reply_to=hook.to or OWNERS_DESK,
        )  # fmt: skip

    def _without_secrets(self, data: JsonValue, body: bytes) -> JsonValue:
        """Where nothing is written in escapes, the text as a whole shows that there is nothing to clean."""
        clean = self._behind.redactor.clean_known
        if b"\\" not in body and b"%" not in body and (text := body.decode("utf-8", "replace")) == clean(text):
            return data
        return cleaned(data, clean)

    async def _refused(self, ready: Ready, now: float, why: str) -> None:
        """Written down a few times a minute; the others are counted."""
        if ready.records.take(now) > 0:
            ready.unrecorded += 1
            return
        more, ready.unrecorded = ready.unrecorded, 0
        told = self._behind.redactor.clean(f"{why} (and {more} more before it)" if more else why)
        posted = Posted(hook=ready.hook.name, key="", at=self._behind.clock.now(), outcome="refused", why=told)
        await self._behind.hooks.post(HOME_SPACE, posted)


def _address(given: Heads) -> str:
    """As the proxy named it, which is the last that was added. Empty: nobody knows."""
    return given.get("x-forwarded-for", "").rpartition(",")[2].strip()[:64]


def _no(status: int, code: str, message: str, wait_s: float = 0) -> Reply:
    return Reply(status, explained(code, message), int(wait_s) + 1 if wait_s else 0)
