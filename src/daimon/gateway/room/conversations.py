"""Conversations over HTTP, as the page shows them.

    GET /v1/conversations           all of them, newest first; ?q ?before ?limit
    GET /v1/conversations/entries   ?name: its turns, newest first, and what waits for one; ?before ?limit
    GET /v1/conversations/turn      ?id: one turn again, when something happened in it
    GET /v1/conversations/text      ?of: the whole of a text that was cut, piece by piece; ?offset

Names of conversations may hold slashes, so they stand in the query. What is searched is what the list shows: name, people, first and last
words; `GET /v1/memory/search` finds all that was ever said.
"""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as checked

from daimon.abi.access import Right
from daimon.abi.chat import Chat, Chats
from daimon.abi.errors import BadInput, NotFound
from daimon.abi.event import Event, Heartbeat, Webhook
from daimon.abi.ids import HOME_SPACE, OWNER, EventId, PrincipalId, StepRef, TurnId
from daimon.abi.people import Directory
from daimon.abi.ports import Archive
from daimon.abi.secret import Redactor
from daimon.gateway.entry import Call, Entry
from daimon.gateway.room.contents import said, text_of, whole
from daimon.gateway.room.markdown import Markdown, without_turning
from daimon.gateway.room.telling import Teller
from daimon.gateway.room.transcript import Came, TurnView

_CHECKED = ConfigDict(extra="forbid")
PIECE_CHARS = 64 * 1024
MOST_SEARCHED = 2_000
"""Conversations, the newest, that a search looks at."""
SHORT = 120
"""Characters of first and last words."""
Page = Annotated[int, Field(ge=1, le=100)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Mark = Annotated[str, Field(max_length=100)]


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class Listing:
    q: Annotated[str, Field(max_length=200)] = ""
    before: Mark = ""
    limit: Page = 50


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class Looking:
    name: Name
    before: Mark = ""
    limit: Page = 30


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class One:
    id: Mark


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class Reading:
    of: Mark
    offset: Annotated[int, Field(ge=0, le=1_000_000_000)] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    name: str
    channel: str
    """`local`, that of its people (`telegram`, …), `automation` or `hook`."""
    people: tuple[str, ...]
    """Others than the owner."""
    is_own: bool
    """Nobody but the owner is in it."""
    title: str
    last: str
    is_last_ours: bool
    """The last words are the agent's."""
    at: datetime
    is_running: bool
    questions: int


@dataclass(frozen=True, slots=True)
class Conversations:
    items: tuple[Listed, ...]
    next: str
    """For `before`; empty: there are no more."""


@dataclass(frozen=True, slots=True)
class Entries:
    name: str
    turns: tuple[TurnView, ...]
    """Newest first."""
    waiting: tuple[Came, ...]
    """Came in and has no turn yet; only with the newest page."""
    next: str


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    offset: int
    chars: int
    """Of the whole."""
    next: int | None
    """None: this was the last piece."""


@dataclass(frozen=True, slots=True)
class ConversationRoutes:
    chats: Chats
    archive: Archive
    directory: Directory
    redactor: Redactor
    markdown: Markdown

    def all(self) -> tuple[Entry, ...]:
        path, read = "/v1/conversations", Right.READ
        return (
            Entry("GET", path, self._list, Conversations, "All conversations of all channels, newest first", read, query=Listing),
            Entry("GET", f"{path}/entries", self._entries, Entries, "What was said and done in one, turn by turn", read, query=Looking),
            Entry("GET", f"{path}/turn", self._turn, TurnView, "One turn of a conversation, as it is now", read, query=One, fails=(404,)),
            Entry("GET", f"{path}/text", self._text, Piece, "A text that was cut, piece by piece", read, query=Reading, fails=(404,)),
        )

    async def _list(self, call: Call[Listing, None]) -> Conversations:
        names, wish = await self._names(), call.query
        if not wish.q.strip():
            found = await self.chats.chats(HOME_SPACE, wish.limit, wish.before)
            items = [self._listed(chat, names) for chat in found]
            return Conversations(tuple(items), found[-1].rank if len(found) == wish.limit else "")
        return Conversations(tuple(await self._matching(wish, names)), "")

    async def _matching(self, wish: Listing, names: dict[PrincipalId, str]) -> list[Listed]:
        found = await self.chats.chats(HOME_SPACE, MOST_SEARCHED)
        sought = wish.q.casefold().split()
        return [each for each in (self._listed(chat, names) for chat in found) if _fits(each, sought)][: wish.limit]

    async def _entries(self, call: Call[Looking, None]) -> Entries:
        wish = call.query
        found, has_more = await self.chats.told(HOME_SPACE, wish.name, wish.limit, wish.before)
        waiting = () if wish.before else await self.chats.waiting(HOME_SPACE, wish.name)
        teller = await self._teller()
        turns = await asyncio.to_thread(lambda: tuple(map(teller.turn, found)))
        return Entries(wish.name, turns, tuple(map(teller.came, waiting)), found[-1].turn.id if has_more else "")

    async def _turn(self, call: Call[One, None]) -> TurnView:
        found = await self.chats.told_of(TurnId(call.query.id))
        return await asyncio.to_thread((await self._teller()).turn, found)

    async def _text(self, call: Call[Reading, None]) -> Piece:
        text = without_turning(self.redactor.clean_known(await self._whole(call.query.of)))
        at = call.query.offset
        end = min(len(text), at + PIECE_CHARS)
        return Piece(text[at:end], at, len(text), end if end < len(text) else None)

    async def _whole(self, of: str) -> str:
        if ":" not in of:
            return said(await self.archive.event(EventId(of)))
        try:
            ref = StepRef.parse(of)
        except ValueError:
            raise BadInput(f"of={of[:60]!r} is neither an event nor a step such as TURN:3") from None
        steps = await self.archive.steps(ref.turn)
        if not 0 <= ref.n < len(steps):
            raise NotFound(f"there is no step {of!r}")
        return await asyncio.to_thread(whole, steps[ref.n])

    async def _teller(self) -> Teller:
        return Teller(self.markdown, self.redactor.clean_known, await self._names())

    async def _names(self) -> dict[PrincipalId, str]:
        return {person.id: person.name for person, _ in await self.directory.people()}

    def _listed(self, chat: Chat, names: dict[PrincipalId, str]) -> Listed:
        reply = "" if chat.reply is None else text_of(chat.reply.parts)
        others = [who for who in chat.principals if who != OWNER and not who.startswith(("service:", "agent:"))]
        short = partial(_short, clean=self.redactor.clean_known)
        return Listed(
            name=chat.name, channel=channel_of(chat), people=tuple(names.get(who, who) for who in others),
            is_own=not others, title=short(_title(chat.began)), last=short(_MARKS.sub("", reply) or said(chat.last)),
            is_last_ours=bool(reply), at=chat.at, is_running=chat.is_running, questions=chat.questions,
        )  # fmt: skip


def channel_of(chat: Chat) -> str:
    """Conversations on a channel are called after it (`gateway/reception.py`), automations and hooks after what they are."""
    first, slash, _ = chat.name.partition("/")
    if first in _OURS and slash:
        return _OURS[first]
    return first if slash and first in (chat.began.source, chat.last.source) else "local"


_MARKS = re.compile(r"[*_`#>|~]{1,6}")
"""Of Markdown, which mean nothing in a line."""
_OURS = {"automations": "automation", "hooks": "hook"}


def _title(event: Event) -> str:
    match event.body:
        case Heartbeat(job=name) | Webhook(service=name):
            return name
        case _:
            return said(event)


def _short(text: str, clean: Callable[[str], str]) -> str:
    """The beginning, on one line."""
    line = " ".join(without_turning(clean(text)).split())
    return line if len(line) <= SHORT else f"{line[: SHORT - 1].rstrip()}…"


def _fits(listed: Listed, sought: list[str]) -> bool:
    shown = " ".join((listed.name, listed.channel, *listed.people, listed.title, listed.last)).casefold()
    return all(word in shown for word in sought)
