"""A conversation over a gateway that may come and go.

A `Listener` follows the feed in a thread of its own, through restarts, into a bounded queue. An `Exchange` is one message and all that
happens because of it: its updates are read from that queue, and wherever something may have been missed (a restart, a gap, long silence)
the journal is asked. So a token may be lost on the way to the eye, a step or an answer never: every step is told once, in order.

The invariant: a message is sent under one key, however often the connection breaks, so it is one event. Calling order: open the listener,
then send, because the feed shows only what happens after it was opened.
"""

import json
import queue
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import TypeVar, assert_never

from daimon.abi.errors import DaimonError, NotRunning
from daimon.abi.event import Asks
from daimon.abi.ids import BlobHash, Conversation, EventId, StepRef, TurnId
from daimon.abi.message import File, Image
from daimon.abi.step import Asked, Received, Started
from daimon.abi.turn import State
from daimon.cli.awake import POLL_S
from daimon.cli.interrupt import Interrupt
from daimon.cli.reach import Door, Line
from daimon.gateway.answers import Taken, Trace
from daimon.gateway.client import Client, Feed
from daimon.kernel import words
from daimon.kernel.feed import Changed, Cost, Gap, Printed, Recorded, Spoken, Token, Update
from daimon.kernel.questions import OpenQuestion

T = TypeVar("T")
MOST_WAITING = 4_096
MOST_MISSED = 20
CHECK_S = 10.0
"""After so much silence the journal is asked."""
QUIET_S = 2.0
"""After so much silence the one who waits is told that something goes on."""
CONNECT_S = 60.0
RESTING = (State.PARKED, State.DONE, State.FAILED)


@dataclass(frozen=True, slots=True)
class Connected:
    """The feed is open: what happens from here on will be seen."""


@dataclass(frozen=True, slots=True)
class Lost:
    """The gateway went away."""

    at: datetime


@dataclass(frozen=True, slots=True)
class Back:
    """It went away and came back."""


@dataclass(frozen=True, slots=True)
class Nudge:
    """Nothing happened; somebody wants the reader of the queue to look up."""


@dataclass(frozen=True, slots=True)
class Quiet:
    """Nothing was heard for a while; the turn goes on."""


@dataclass(frozen=True, slots=True)
class News:
    """Something that another turn of this conversation said."""

    about: str
    """What it answers."""
    text: str
    question: OpenQuestion | None = None
    """What it asks, if it asks something."""


Heard = Update | Connected | Lost | Nudge


class Listener(AbstractContextManager["Listener"]):
    def __init__(self, client: Client, conversation: str) -> None:
        self._client = client
        self._conversation = conversation
        self._queue: queue.Queue[Heard] = queue.Queue(MOST_WAITING)
        self._feed: Feed | None = None
        self._is_closed = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="feed", daemon=True)

    def __enter__(self) -> "Listener":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._is_closed.set()
        if self._feed is not None:
            self._feed.close()

    def next(self, timeout_s: float) -> Heard:
        """The next thing heard, or a nudge after so much silence."""
        with suppress(queue.Empty):
            return self._queue.get(timeout=timeout_s)
        return Nudge()

    def nudge(self) -> None:
        with suppress(queue.Full):
            self._queue.put_nowait(Nudge())

    def _listen(self) -> None:
        while not self._is_closed.is_set():
            try:
                with self._client.feed(self._conversation) as self._feed:
                    self._put(Connected())
                    for update in self._feed:
                        self._put(update)
            except NotRunning:
                self._put(Lost(datetime.now(UTC)))
                while not self._is_closed.wait(POLL_S) and not self._client.is_there():
                    pass

    def _put(self, heard: Heard) -> None:
        """A slow reader holds the feed up; the gateway then drops the oldest and says so with a gap."""
        while not self._is_closed.is_set():
            with suppress(queue.Full):
                self._queue.put(heard, timeout=1.0)
                return


class Exchange:
    """Iterate to follow it until it rests; after an answer or an interruption, iterate again."""

    def __init__(self, line: Line, listener: Listener, interrupt: Interrupt, event: EventId, trace: Trace | None = None) -> None:
        self._line = line
        self._listener = listener
        self._interrupt = interrupt
        self._lost_at: float | None = None
        self._is_away = False
        self._seen: int | None = None if trace is None else len(trace.steps) - 1
        """The last step that was told."""
        self._answer: EventId | None = None
        """The last answer that was given."""
        self.event = event
        self.turn: TurnId | None = None if trace is None else trace.turn.id

    def __iter__(self) -> Iterator[Token | Printed | Recorded | Spoken | Lost | Back | Quiet]:
        """Raises NotRunning if the gateway goes away and does not come back in time, KeyboardInterrupt only while it waits."""
        heard_at = checked_at = time.monotonic()
        while True:
            with self._interrupt.window():
                heard = self._listener.next(POLL_S if self._lost_at else QUIET_S)
            now = time.monotonic()
            if isinstance(heard, Nudge) and not self._lost_at and now - checked_at < CHECK_S:
                if now - heard_at >= QUIET_S:
                    yield Quiet()
            elif isinstance(heard, Connected | Lost | Nudge | Gap):
                checked_at = now
                yield from self._noticed(heard)
                if self._rests():
                    yield from self._missed()
                    return
            elif self._concerns(heard):
                heard_at = checked_at = now
                if isinstance(heard, Changed) and heard.state in RESTING and self._has_heard(heard.turn, heard.state):
                    return
                yield from self._shown(heard)

    def _shown(self, heard: Update) -> Iterator[Token | Printed | Recorded | Spoken]:
        if isinstance(heard, Recorded):
            yield from self._told(heard)
        elif isinstance(heard, Token | Printed | Spoken):
            yield heard

    def result(self) -> tuple[Trace, tuple[OpenQuestion, ...]]:
        """What the journal holds now, and what it waits for a person to say."""
        assert self.turn is not None
        trace = self._line.client.trace(self.turn)
        asked = self._line.client.questions() if trace.turn.state is State.PARKED else ()
        return trace, tuple(question for question in asked if question.to.turn == self.turn)

    def answer(self, to: StepRef, choice: str, text: str = "") -> Taken:
        event = {"type": "answer", "to": str(to), "choice": choice, "text": text, "source": "chat"}
        taken = deliver(self._line.client, json.dumps(event).encode(), self._line.patience_s, pause=self._interrupt.sleep)
        self._answer = taken.event
        return taken

    def stop(self) -> bool:
        """False if there is nothing to stop yet: the message waits behind others."""
        self._look()
        if self.turn is not None:
            self._line.client.stop(self.turn)
        return self.turn is not None

    def _noticed(self, heard: Connected | Lost | Nudge | Gap) -> Iterator[Recorded | Lost | Back]:
        match heard:
            case Lost() if not self._is_away:
                self._is_away = True
                yield heard
            case Connected():
                self._lost_at = None
                if self._is_away:
                    self._is_away = False
                    yield Back()
                yield from self._missed()
            case Gap():
                yield from self._missed()
            case _:
                pass

    def _told(self, recorded: Recorded) -> Iterator[Recorded]:
        """Each step once and in order; the first one heard may stand anywhere, for a message may join a turn under way."""
        n = recorded.step.n
        if self._seen is not None and n > self._seen + 1:
            yield from self._missed()
        if self._seen is None or n > self._seen:
            self._seen = n
            yield recorded

    def _missed(self) -> Iterator[Recorded]:
        """Steps that the journal holds and that were not heard of."""
        with suppress(NotRunning):
            self._look()
            if self.turn is None:
                return
            trace = self._line.client.trace(self.turn)
            for step in trace.steps:
                if self._seen is None or step.n > self._seen:
                    self._seen = step.n
                    yield Recorded(Conversation(trace.turn.space, trace.turn.conversation), step)

    def _concerns(self, update: Update) -> bool:
        match update:
            case Token(turn=turn) | Printed(turn=turn):
                return turn == self.turn
            case Recorded(step=step):
                return self._is_mine(step.turn)
            case Changed(turn=turn):
                return self._is_mine(turn)
            case Spoken(key=key):
                return self.turn is None or not key.startswith(f"{self.turn}:")
            case Cost() | Gap():
                return False
            case _:
                assert_never(update)

    def _is_mine(self, turn: TurnId) -> bool:
        if self.turn is None:
            self._look()
        return turn == self.turn

    def _look(self) -> None:
        with suppress(NotRunning):
            if (turn := self._line.client.event(self.event).turn) is not None:
                self.turn = turn.id

    def _rests(self) -> bool:
        """What the journal says, when nobody told us."""
        try:
            turn = self._line.client.event(self.event).turn
            if turn is not None:
                self.turn = turn.id
            return turn is not None and turn.state in RESTING and self._has_heard(turn.id, turn.state)
        except NotRunning:
            self._require_patience()
            return False

    def _has_heard(self, turn: TurnId, state: State) -> bool:
        """A turn that has not taken in its answer yet only seems to rest: it parked when it asked, and that may be heard late."""
        if self._answer is None or state is not State.PARKED:
            return True
        with suppress(NotRunning):
            steps = self._line.client.trace(turn).steps
            return any(isinstance(step.body, Received) and step.body.event == self._answer for step in steps)
        return False

    def _require_patience(self) -> None:
        self._lost_at = self._lost_at or time.monotonic()
        if time.monotonic() - self._lost_at > self._line.patience_s:
            raise NotRunning(
                f"the gateway went away and did not come back within {self._line.patience_s:.0f} s. Your message is on disk "
                f"(event {self.event}) and is answered at the next `daimon up`; `daimon turns` shows it"
            )


class Talk(AbstractContextManager["Talk"]):
    """One conversation, as long as somebody sits at it."""

    def __init__(self, line: Line, conversation: str, interrupt: Interrupt) -> None:
        self._line = line
        self._conversation = conversation
        self._interrupt = interrupt
        self.listener = Listener(line.client, conversation)
        self.known: tuple[str, ...] = ()
        """How the keys of messages begin that are no news."""

    def __enter__(self) -> "Talk":
        self.listener.__enter__()
        if not isinstance(self.listener.next(CONNECT_S), Connected):
            raise NotRunning("the gateway's feed cannot be opened")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.listener.__exit__(kind, error, trace)

    def ended_since(self, moment: datetime) -> tuple[Trace, ...]:
        """Turns of this conversation that ended while nobody listened, the oldest first."""
        try:
            recent = self._line.client.turns(MOST_MISSED, self._conversation)
            missed = [turn.id for turn in reversed(recent) if turn.ended_at is not None and turn.ended_at > moment]
            return tuple(map(self._line.client.trace, missed))
        except NotRunning:
            return ()

    def news(self, spoken: Spoken) -> News | None:
        """What it is about; None if it was shown before."""
        if spoken.key.startswith(self.known):
            return None
        self.known += (spoken.key,)
        text = words.joined(spoken.said.parts) + _how_to_answer(spoken.said.asks)
        try:
            trace = self._line.client.trace(TurnId(spoken.key.partition(":")[0]))
        except DaimonError:  # the message can be shown all the same
            return News("", text)
        return News(words.said(trace.event.body), text, _asked(trace, spoken.key))

    def questions(self) -> tuple[OpenQuestion, ...]:
        """What is open in this conversation, the oldest first."""
        try:
            found = [question for question in self._line.client.questions() if question.conversation == self._conversation]
        except NotRunning:
            return ()
        return tuple(sorted(found, key=lambda question: question.asked_at))

    def is_open(self, question: OpenQuestion) -> bool:
        """Somebody else may have answered it. A gateway that is away may yet take the answer."""
        try:
            return any(found.to == question.to for found in self._line.client.questions())
        except NotRunning:
            return True

    def resume(self, question: OpenQuestion) -> tuple[Exchange, bool]:
        """The exchange that asks this, and whether it was put off before."""
        trace = self._line.client.trace(question.to.turn)
        received = [step.body for step in trace.steps if isinstance(step.body, Received) and not step.body.ignored]
        is_put_off = any(event.resolves == question.to.n for event in received)
        return Exchange(self._line, self.listener, self._interrupt, trace.event.id, trace), is_put_off

    def upload(self, data: bytes) -> BlobHash:
        return _patiently(lambda: self._line.client.upload(data), self._line.patience_s, self._interrupt.sleep)

    def say(self, text: str, parts: tuple[Image | File, ...] = ()) -> Exchange:
        event: dict[str, object] = {"type": "message", "text": text, "conversation": self._conversation, "source": "chat"}
        event |= {"parts": [asdict(part) for part in parts]} if parts else {}
        taken = deliver(self._line.client, json.dumps(event).encode(), self._line.patience_s, pause=self._interrupt.sleep)
        return Exchange(self._line, self.listener, self._interrupt, taken.event)


def _asked(trace: Trace, key: str) -> OpenQuestion | None:
    """What a message asks. The journal may not say yet that it is open: the turn is about to park."""
    for step in reversed(trace.steps):
        match step.body:
            case Asked(question=question):
                to = step.ref
            case Started(intent=n, question=question) if question is not None:
                to = StepRef(step.turn, n)
            case _:
                continue
        if key.startswith(f"{to}:"):
            return OpenQuestion(to, question, trace.turn.conversation, step.at)
    return None


def deliver(door: Door, event: bytes, patience_s: float, key: str | None = None, pause: Callable[[float], None] = time.sleep) -> Taken:
    """Hands an event in, again and again under one key until there is an answer."""
    key = key or str(uuid.uuid4())
    return _patiently(lambda: door.send(event, key), patience_s, pause)


def _patiently(call: Callable[[], T], patience_s: float, pause: Callable[[float], None]) -> T:
    """Only for what may be done twice."""
    deadline = time.monotonic() + patience_s
    while True:
        try:
            return call()
        except NotRunning:
            if time.monotonic() > deadline:
                raise
            pause(POLL_S)


def _how_to_answer(asks: Asks | None) -> str:
    if asks is None:
        return ""
    options = f" [{' / '.join(asks.options)}]" if asks.options else ""
    return f"{options}\n(answer with: daimon answer {asks.to} …)"
