"""Speaking with the agent: `send_event` hands a message in, `ask` also waits for the answer.

What is said becomes an Event like any other: on disk first, then worked on, under the label of whoever said it (`party.py`). `ask` waits
for some time and tells how it goes on; when the time is up it answers with a handle, the event, and the reply can be fetched with it later.
That the client hangs up changes nothing: what was taken in is done.

A reply is what was sent out, after the last wall (`kernel/wall.py`), never what a step holds.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass as checked

from daimon.abi.access import Right
from daimon.abi.chat import Chats
from daimon.abi.errors import BadInput, NotFound
from daimon.abi.event import Address, Event, Said
from daimon.abi.ids import EventId, Key, TurnId
from daimon.abi.message import Text
from daimon.abi.plain import clean
from daimon.abi.ports import Archive, Clock, Ids
from daimon.abi.turn import State, Turn
from daimon.gateway.asked import CHECKED
from daimon.gateway.inbox import Inbox
from daimon.gateway.mcp.ability import Ability, Progress
from daimon.gateway.mcp.party import Party
from daimon.gateway.taking import HERE
from daimon.kernel.feed import Changed, Feed, Gap, Recorded, Subscription

MOST_TEXT = 100_000
LONGEST_S = 300.0
OVER = (State.DONE, State.FAILED)
Place = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]{0,59}$", description="One of your own conversations, by any name.")]
Words = Annotated[str, Field(max_length=MOST_TEXT, description="What you say.")]
Once = Annotated[
    str, Field(max_length=100, pattern=r"^[^\x00-\x1f\x7f]*$", description="The same key means the same message: it is not done twice.")
]


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Saying:
    text: Annotated[Words, Field(min_length=1)]
    conversation: Place = "main"
    key: Once = ""


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Asking:
    text: Words = ""
    event: Annotated[str, Field(max_length=80, description="Instead of a text: an event of yours whose reply you want to fetch.")] = ""
    conversation: Place = "main"
    key: Once = ""
    wait_s: Annotated[float, Field(ge=0, le=LONGEST_S, description="How long to wait; then you get the event, to ask again.")] = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    event: EventId
    conversation: str
    state: State
    """`done` and `failed` are final; `parked` waits for somebody or something."""
    run: TurnId | None
    reply: str
    """Empty as long as there is none, and where the agent had nothing to say."""
    at: datetime


@dataclass(frozen=True, slots=True)
class Talking:
    inbox: Inbox
    archive: Archive
    chats: Chats
    feed: Feed
    clock: Clock
    ids: Ids

    def all(self) -> tuple[Ability, ...]:
        what = "Say something to the agent and wait for its reply; if it takes longer than wait_s, ask again with the event you got"
        return (
            Ability("ask", "Ask Daimon", what, Asking, Reply, Right.CHAT, self.ask),
            Ability("send_event", "Tell Daimon", "Say something and do not wait for a reply", Saying, Reply, Right.CHAT, self.send),
        )

    async def send(self, party: Party, wish: Saying, progress: Progress) -> Reply:
        return await self.replied(party, await self._say(party, wish.text, wish.conversation, wish.key))

    async def ask(self, party: Party, wish: Asking, progress: Progress) -> Reply:
        if bool(wish.text) == bool(wish.event):
            raise BadInput("ask: give either a text, to say something, or an event, to fetch its reply")
        with self.feed.subscribe() as updates:
            if wish.text:
                event = await self._say(party, wish.text, wish.conversation, wish.key)
            else:
                event = await self._said(party, EventId(wish.event))
            with suppress(TimeoutError):
                async with asyncio.timeout(wish.wait_s):
                    await self._rest(event, updates, progress)
        return await self.replied(party, event)

    async def replied(self, party: Party, event: Event) -> Reply:
        turn = await self.archive.turn_of(event.id)
        state, run = (State.QUEUED, None) if turn is None else (turn.state, turn.id)
        conversation = event.conversation.removeprefix(party.conversation(""))
        words = "" if turn is None or turn.state not in OVER else await self.words(turn)
        return Reply(event=event.id, conversation=conversation, state=state, run=run, reply=words, at=event.received_at)

    async def words(self, turn: Turn) -> str:
        """What the turn said at its end."""
        sent = (each.said for each in (await self.chats.told_of(turn.id)).sent if each.key.endswith(":reply"))
        return "\n\n".join(part.text for said in sent if said is not None for part in said.parts if isinstance(part, Text))

    async def _say(self, party: Party, text: str, place: str, key: str) -> Event:
        now, id_, conversation = self.clock.now(), EventId(self.ids.new("e")), party.conversation(place)
        event, accepted = await self.inbox.accept(
            Event(
                id=id_, source=party.source, key=Key(key or id_), conversation=conversation, principal=party.principal,
                body=Said((Text(clean(text)),)), occurred_at=now, received_at=now, label=party.label, reply_to=Address(HERE, conversation),
            )
        )  # fmt: skip
        return event if accepted.is_new else await self._said(party, accepted.event)

    async def _said(self, party: Party, id_: EventId) -> Event:
        """One of its own. Of others it is not told that they are there."""
        with suppress(NotFound):
            if (event := await self.archive.event(id_)).source == party.source:
                return event
        raise NotFound(f"there is no event {id_[:40]!r} of yours")

    async def _rest(self, event: Event, updates: Subscription, progress: Progress) -> None:
        if await self._is_over(event):
            return
        done = 0
        async for update in updates:
            match update:
                case Recorded(conversation=where, step=step) if where == event.where:
                    done += 1
                    await progress(done, step.body.kind)
                case Changed(conversation=where) if where == event.where and await self._is_over(event):
                    return
                case Gap() if await self._is_over(event):
                    return
                case _:
                    pass

    async def _is_over(self, event: Event) -> bool:
        turn = await self.archive.turn_of(event.id)
        return turn is not None and turn.state in OVER
