"""Who sees that turns have left a window, and has a model sum them up: in the background, one summary at a time.

A reply whose references have a new `[earlier]` block was made after a cut. The turns that were in the window before it and are not any more
are named in an event for the summarizer: a turn of its own, with no tools, in a conversation of its own. It costs what it costs within the
owner's limits, and its reply becomes a summary in memory (`memory/apply.py`), which the next turn shows (`context/assemble.py`).

    listen   follows what is recorded, and notes replies after a cut: at most `MOST_WAITING`, the oldest are dropped
    work     takes the newest, names its turns, waits until the summarizer rests

Nobody waits for a summary: what is dropped, fails, is refused or is too dear leaves the extract, for good. Nothing is summarised twice,
because turns leave a window once and the event's key is the last of them. What the turns say is not read here.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise

from daimon.abi.errors import BadInput, JournalDamaged, JournalFull, NotFound
from daimon.abi.event import Event
from daimon.abi.ids import SUMMARIES, SUMMARIZER, WITHOUT_TOOLS, Conversation, EventId, Key, StepRef, TurnId
from daimon.abi.ports import Accepted, Archive, Clock, Ids
from daimon.abi.step import ContextRef, Replied, Step
from daimon.abi.turn import State, Turn
from daimon.context import summaries
from daimon.context.blocks import OURS
from daimon.kernel.feed import Changed, Feed, Recorded, Subscription

MOST_WAITING = 16
MOST_TURNS = 128
"""So far back is looked for what was in the window."""
PATIENCE_S = 600.0
"""So long the next one waits for one that does not rest."""
SOURCE = "summaries"

Accept = Callable[[Event], Awaitable[tuple[Event, Accepted]]]


@dataclass(frozen=True, slots=True)
class _Cut:
    where: Conversation
    step: Step


class Summaries:
    def __init__(
        self, archive: Archive, feed: Feed, accept: Accept, clock: Clock, ids: Ids, is_on: Callable[[], bool] = lambda: True
    ) -> None:
        """`is_on`: the owner may take the model away while this runs."""
        self._archive = archive
        self._feed = feed
        self._accept = accept
        self._clock = clock
        self._ids = ids
        self._is_on = is_on
        self._cuts: deque[_Cut] = deque(maxlen=MOST_WAITING)
        self._has_cut = asyncio.Event()
        self._has_rested = asyncio.Event()

    async def serve(self) -> None:
        """Runs until cancelled."""
        with self._feed.subscribe() as updates:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._listen(updates), name="cuts")
                tasks.create_task(self._work(), name="summaries")

    async def _listen(self, updates: Subscription) -> None:
        async for update in updates:
            match update:
                case Recorded(conversation=where, step=step) if is_after_cut(step):
                    self._cuts.append(_Cut(where, step))
                    self._has_cut.set()
                case Changed(conversation=where, state=state) if where.name.startswith(SUMMARIES) and state is not State.RUNNING:
                    self._has_rested.set()
                case _:
                    pass

    async def _work(self) -> None:
        while True:
            await self._has_cut.wait()
            while self._cuts:
                cut = self._cuts.pop()
                with suppress(JournalFull, JournalDamaged, NotFound, BadInput):  # the extract stays
                    await self._summarise(cut)
            self._has_cut.clear()

    async def _summarise(self, cut: _Cut) -> None:
        turn = await self._archive.turn(cut.step.turn)
        if not self._is_on() or turn.effects != "world":
            return
        left = await self._left(turn, cut.step)
        if not left:
            return
        self._has_rested.clear()
        _, accepted = await self._accept(self._event(turn, cut.step.ref, left))
        if accepted.is_new:
            with suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE_S):
                    await self._has_rested.wait()

    def _event(self, turn: Turn, cause: StepRef, left: list[TurnId]) -> Event:
        """Of the step that made the cut: what holds for the conversation, its privacy and its limits, holds for its summary."""
        now = self._clock.now()
        return Event(
            id=EventId(self._ids.new("e")), source=SOURCE, key=Key(f"{turn.conversation}:{left[-1]}"),
            conversation=f"{SUMMARIES}{turn.conversation}", principal=turn.principal, body=summaries.asked_for(left), occurred_at=now,
            received_at=now, space=turn.space, agent=SUMMARIZER, label=OURS, parent=cause,
        )  # fmt: skip

    async def _left(self, turn: Turn, step: Step) -> list[TurnId]:
        """The turns that were in the window before this reply and are not in it, the oldest first."""
        recent = await self._archive.turns(turn.space, MOST_TURNS, turn.conversation)
        over = [each for each in recent if each.id < turn.id and each.ended_at is not None]
        begins = await self._began(turn, step, over)
        now = _window(step)
        return sorted(each.id for each in over if each.id >= begins and each.id not in now and each.principal == turn.principal)

    async def _began(self, turn: Turn, step: Step, over: list[Turn]) -> TurnId:
        """The first turn in the window of the reply before this one; without one, this turn: it had none before it."""
        for each in (turn, *over):
            steps = [found for found in await self._archive.steps(each.id) if each is not turn or found.n < step.n]
            reply = next((found for found in reversed(steps) if isinstance(found.body, Replied)), None)
            if reply is not None:
                return min({each.id, *_window(reply)})
        return min((each.id for each in over), default=turn.id)


def is_after_cut(step: Step) -> bool:
    """Has its `[earlier]` block just been made? Then the references say whose words are in it."""
    if not isinstance(step.body, Replied) or step.agent in WITHOUT_TOOLS:
        return False
    refs = step.body.context
    return any(one.what == "summary" and other.what == "quote" for one, other in pairwise(refs))


def _window(step: Step) -> frozenset[TurnId]:
    context: tuple[ContextRef, ...] = step.body.context if isinstance(step.body, Replied) else ()
    return frozenset(TurnId(ref.ref) for ref in context if ref.what == "turn")
