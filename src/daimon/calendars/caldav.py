"""The driver of `abi.calendar.Calendars`: calendars by CalDAV, through the guarded way out.

    read     REPORT for a span of time → objects → repetitions counted out here
    add      PUT under a name made of the call's key, only if nothing is there: a second time finds the first
    change   GET → change → PUT, only over what was read; done already if the object bears the call's mark
    remove   DELETE, or a PUT without one repetition, only over what was read

So no change overwrites what somebody else changed meanwhile: the server refuses it, and the model reads again. The server is the only
record; what is kept here is where the calendars and their events are, and is found again at any time.
"""

import asyncio
import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo

from daimon.abi.calendar import Change, Days, Done, Draft, Event, Found
from daimon.abi.errors import ToolFailed
from daimon.abi.tool import Call
from daimon.abi.web import WebResponse
from daimon.calendars import writing
from daimon.calendars.account import Account, On
from daimon.calendars.dav import CAL, DAV, between, wanted
from daimon.calendars.discovery import calendars_at
from daimon.calendars.reading import Series, Span, event, occurrences, read
from daimon.calendars.recurrence import moment

MOST_EVENTS = 500
FOLLOWED_S = 5.0
"""So long repetitions are counted out in one calendar; what is left then is left out."""
_ETAG, _DATA = f"{DAV}getetag", f"{CAL}calendar-data"
_A_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class _Held:
    """An object as it was read."""

    account: Account
    id: str
    key: str
    """Of one repetition; empty: the whole."""
    url: str
    etag: str
    series: Series


class CalDav:
    def __init__(self, accounts: Mapping[str, Account], default: str, zone: tzinfo) -> None:
        """`default`: where new events go, unless a calendar is named. `zone`: the owner's."""
        self._accounts = accounts
        self._default = default
        self._zone = zone
        self._collections: dict[str, str] = {}
        self._urls: dict[str, str] = {}

    async def events(self, since: datetime, until: datetime, calendar: str, call: Call) -> Found:
        on, span = On(call.label), Span(since, until, self._zone)
        found: list[Event] = []
        unread = 0
        for name in (calendar,) if calendar else tuple(self._accounts):
            events, missed = await self._in(self._account(name), span, on)
            found += events
            unread += missed
        found.sort(key=lambda each: (_begins(each, self._zone), each.id))
        notes = [f"{len(found)} events take place; these are the first {MOST_EVENTS}"] if len(found) > MOST_EVENTS else []
        notes += [f"{unread} could not be read, and are left out"] if unread else []
        return Found(tuple(found[:MOST_EVENTS]), "; ".join(notes), tuple(on.touched))

    async def add(self, draft: Draft, call: Call) -> Done:
        account, on = self._changeable(draft.calendar or self._default), On(call.label)
        digest = _digest(call)
        base = await self._collection(account, on)
        url = f"{base.rstrip('/')}/daimon-{digest}.ics"
        body = writing.made(draft, f"daimon-{digest}", self._stamp(call))
        response = await self._put(account, url, body, on, {"If-None-Match": "*"})
        if response.status == 412:  # this very call was here before
            body = (await self._get(account, url, on)).body
        elif response.status not in (200, 201, 204):
            raise account.failed(response)
        id_ = self._named(account, url, base)
        return Done(self._of(account, event(read(body).first, id_, self._zone)), tuple(on.touched))

    async def change(self, event: str, change: Change, call: Call) -> Done:
        on = On(call.label)
        held = await self._held(event, on)
        before: Event | None = None
        if writing.marked(held.series, held.key) != _digest(call):
            before = self._shown(held)
            self._check(held, change.guests or ())
            access = held.account.access
            if change.guests and not access.address:
                raise ToolFailed("no_address", f"who invites? The owner sets calendars.{access.name}.address")
            body = writing.changed(held.series, held.key, change, self._stamp(call), access.address)
            await self._over(held, body, on)
        return Done(self._shown(held), tuple(on.touched), before)

    async def remove(self, event: str, guests: tuple[str, ...], call: Call) -> Done:
        on = On(call.label)
        held = await self._held(event, on)
        shown = self._shown(held)
        if not shown.organiser or shown.organiser == held.account.access.address.lower():
            self._check(held, guests)
        if held.key:
            await self._over(held, writing.without(held.series, held.key, self._stamp(call)), on)
            return Done(shown, tuple(on.touched))
        quiet = {} if guests else {"Schedule-Reply": "F"}
        response = await held.account.tell("DELETE", held.url, on, {**_only_over(held), **quiet})
        if response.status not in (200, 202, 204):
            raise held.account.failed(response)
        return Done(shown, tuple(on.touched))

    async def is_gone(self, event: str, call: Call) -> bool:
        on = On(call.label)
        try:
            self._shown(await self._held(event, on))
        except ToolFailed as failed:
            if failed.reason == "not_found":
                return True
            raise
        return False

    async def _in(self, account: Account, span: Span, on: On) -> tuple[list[Event], int]:
        base = await self._collection(account, on)
        query = between(span.since - _A_DAY, span.until + _A_DAY)  # days and times without a zone are looked at here
        told = await account.listed("REPORT", base, on, query, depth="1")
        texts = [(self._named(account, account.joined(each.href, base), base), each.text(_DATA)) for each in told if each.href]
        events, missed = await asyncio.to_thread(_counted_out, texts, span)
        return [self._of(account, each) for each in events], missed

    async def _held(self, id_: str, on: On) -> _Held:
        whole, _, key = id_.partition("@")
        account = self._changeable(whole.partition(".")[0])
        url = self._urls.get(whole) or await self._found(account, whole, on)
        response = await self._get(account, url, on)
        try:
            series = read(response.body)
        except ValueError as wrong:
            raise ToolFailed("unreadable", f"the event {whole}: {wrong}; nothing was changed") from wrong
        return _Held(account, whole, key, url, response.headers.get("etag", ""), series)

    async def _found(self, account: Account, id_: str, on: On) -> str:
        """Where an event is whose id comes from before this start."""
        base = await self._collection(account, on)
        for each in await account.listed("PROPFIND", base, on, wanted(_ETAG), depth="1"):
            self._named(account, account.joined(each.href, base), base)
        if id_ not in self._urls:
            raise ToolFailed("not_found", f"there is no event {id_[:60]!r}; use an id as calendar_events gave it")
        return self._urls[id_]

    async def _get(self, account: Account, url: str, on: On) -> WebResponse:
        response = await account.tell("GET", url, on)
        if response.status != 200 or response.is_cut:
            raise account.failed(response)
        return response

    async def _put(self, account: Account, url: str, body: bytes, on: On, only: Mapping[str, str]) -> WebResponse:
        return await account.tell("PUT", url, on, {"Content-Type": "text/calendar; charset=utf-8", **only}, body)

    async def _over(self, held: _Held, body: bytes, on: On) -> None:
        response = await self._put(held.account, held.url, body, on, _only_over(held))
        if response.status not in (200, 201, 204):
            raise held.account.failed(response)

    async def _collection(self, account: Account, on: On) -> str:
        name = account.access.name
        if name not in self._collections:
            places = await calendars_at(account, on)
            if len(places) != 1:
                known = "; ".join(f"{each.url} ({each.title})" for each in places) or "none"
                raise ToolFailed("which", f"the calendar {name} must name one calendar of its server; there are: {known}")
            self._collections[name] = places[0].url
        return self._collections[name]

    def _account(self, name: str) -> Account:
        if name not in self._accounts:
            raise ToolFailed("not_found", f"there is no calendar {name[:40]!r}; there are: {', '.join(self._accounts)}")
        return self._accounts[name]

    def _changeable(self, name: str) -> Account:
        account = self._account(name)
        if not account.access.is_changeable:
            raise ToolFailed("read_only", f"the calendar {name} is only read (calendars.{name}.changeable)")
        return account

    def _named(self, account: Account, url: str, base: str) -> str:
        """The id of what is there. It is made of the place, and holds nothing that can be read in it."""
        id_ = f"{account.access.name}.{hashlib.sha256(url.removeprefix(base).encode()).hexdigest()[:12]}"
        self._urls[id_] = url
        return id_

    def _check(self, held: _Held, guests: tuple[str, ...]) -> None:
        """Whoever will be told must have been named. Raises ToolFailed."""
        shown, own = self._shown(held), held.account.access.address.lower()
        if shown.organiser and shown.organiser != own:
            raise ToolFailed("not_yours", "somebody else invited to this event, and only they can change it")
        told = {each.address for each in shown.guests} - {own} - {each.lower() for each in guests}
        if told:
            raise ToolFailed("has_guests", "it has guests, who are told of it; use calendar_invite with all of them, or delete it so")

    def _shown(self, held: _Held) -> Event:
        """What the id stands for, as it is now."""
        if held.key and held.key not in held.series.others:
            at = writing.start_of(held.series, held.key, self._zone)
            found = replace(event(held.series.first, held.id, self._zone, at), id=f"{held.id}@{held.key}", series=held.id)
        else:
            found = event(writing.target(held.series, held.key), held.id, self._zone)
            found = replace(found, id=f"{held.id}@{held.key}", series=held.id) if held.key else found
        return self._of(held.account, found)

    def _of(self, account: Account, found: Event) -> Event:
        access = account.access
        return replace(found, is_own=access.is_own and found.organiser in ("", access.address.lower()))

    def _stamp(self, call: Call) -> writing.Stamp:
        return writing.Stamp(_digest(call), call.now, self._zone)


def _counted_out(texts: list[tuple[str, str]], span: Span) -> tuple[list[Event], int]:
    found: list[Event] = []
    missed, end = 0, time.monotonic() + FOLLOWED_S
    for id_, text in texts:
        try:
            if time.monotonic() > end:
                raise ValueError("the others took too long")
            found += occurrences(read(text.encode()), id_, span)
        except (ValueError, TypeError, OverflowError, KeyError, AttributeError):
            missed += 1
    return found, missed


def _begins(each: Event, zone: tzinfo) -> datetime:
    return moment(each.when.first if isinstance(each.when, Days) else each.when.starts, zone)


def _digest(call: Call) -> str:
    return hashlib.sha256(f"calendar {call.key}".encode()).hexdigest()[:32]


def _only_over(held: _Held) -> dict[str, str]:
    return {"If-Match": held.etag} if held.etag else {}
