"""Turns to try the pager on: any sequence of what may happen in them, and what must hold of every request."""

from dataclasses import dataclass, replace
from itertools import pairwise

from hypothesis import strategies as st
from tests.journal.world import MAIN, event, step

from daimon.abi.context import Background, Prompt, Scene, Stretch
from daimon.abi.event import Event, Said
from daimon.abi.ids import HOME_SPACE, OWNER, SELF, BlobHash, EventId, Key, TurnId
from daimon.abi.judgement import Gate
from daimon.abi.label import Author, Label, Origin, join, owned
from daimon.abi.message import Content, Image, Part, Reasoning, Role, Text, ToolCall, ToolResult
from daimon.abi.ports import Claim
from daimon.abi.step import Happened, Intended, Received, Replied, Step
from daimon.abi.tool import Effect, Manifest, Touched
from daimon.abi.turn import State, Turn
from daimon.context.assemble import Pager, Paging, Sources
from daimon.context.budget import LEAST_ROOM, TokenBudget
from daimon.context.entries import Entries
from daimon.context.tokens import estimate, of_tool
from daimon.testing.clock import START, ManualClock
from daimon.testing.ids import CountingIds
from daimon.testing.journal import MemoryJournal
from daimon.testing.redactor import PlainRedactor

PICTURE = Image(BlobHash("ab"), "image/png")
STRANGER = Label.of(Origin(Author.STRANGER, "web:example.org"))
SCRIPTS = ("a ", "error: no\n", "漢", "🦜", "\0", "ü", '"\\')
sizes = st.sampled_from((0, 1, 30, 300, 3_000, 30_000)) | st.integers(0, 2_000)
texts = st.builds(lambda script, size: (script * size)[:size], st.sampled_from(SCRIPTS), sizes)


@dataclass(frozen=True)
class Round:
    said: str
    calls: int
    texts: tuple[str, ...]
    thought: str = ""
    is_error: bool = False
    attached: int = 0
    later: str | None = None


rounds = st.builds(
    Round,
    texts,
    st.sampled_from((0, 1, 1, 2, 3, 40)),
    st.lists(texts, min_size=1, max_size=3).map(tuple),
    st.sampled_from(("", "hm ", "so " * 500)),
    st.booleans(),
    st.integers(0, 3),
    st.none() | texts,
)
turns = st.lists(st.tuples(texts, st.lists(rounds, max_size=5)), min_size=1, max_size=5)


class Turning:
    """A turn that grows: its steps, and the events that it took in."""

    def __init__(self, name: str, text: str) -> None:
        sent = event(f"{name}-asked", Said((Text(text),)))
        turn = Turn(
            id=TurnId(name), conversation="main", event=sent.id, principal=OWNER, agent=SELF, root=TurnId(name), state=State.RUNNING,
            created_at=START, space=HOME_SPACE,
        )  # fmt: skip
        self.claim = Claim(conversation=MAIN, worker="w1", epoch=1, turn=turn, event=sent, steps=())
        self.steps: list[Step] = []
        self.events: dict[EventId, Event] = {}

    @property
    def n(self) -> int:
        return len(self.steps)

    def reply(self, *parts: Part, context: tuple[object, ...] = ()) -> None:
        self.steps.append(step(self.claim, self.n, Replied("m", parts, "stop", context=context)))  # type: ignore[arg-type]

    def intend(self, call: str, tool: str, arguments: dict[str, object]) -> int:
        key = Key(f"{self.claim.turn.id}:{self.n}")
        self.steps.append(step(self.claim, self.n, Intended(call, tool, arguments, key, Effect.UNSAFE, "hash", Gate("allow"))))  # type: ignore[arg-type]
        return self.n - 1

    def happen(self, intent: int, *parts: Content, code: str = "", touched: tuple[str, ...] = (), label: Label | None = None) -> None:
        about = self.steps[intent].body
        assert isinstance(about, Intended)
        label = label or owned("test")
        result = ToolResult(about.call, about.tool, parts, bool(code), label)
        made = Happened(intent, result, code, touched=tuple(Touched("file", path, "changed") for path in touched))
        self.steps.append(replace(step(self.claim, self.n, made), label=label))

    def call(self, tool: str, arguments: dict[str, object], text: str = "ok", *, code: str = "", touched: tuple[str, ...] = ()) -> None:
        """A round of one call."""
        name = f"c{self.n}"
        self.reply(ToolCall(name, tool, arguments))  # type: ignore[arg-type]
        self.happen(self.intend(name, tool, arguments), Text(text), code=code, touched=touched)

    def hear(self, text: str) -> None:
        sent = event(f"{self.claim.turn.id}-{self.n}", Said((Text(text),)))
        self.events[sent.id] = sent
        self.steps.append(step(self.claim, self.n, Received(sent.id)))

    def go(self, round_: Round) -> None:
        thought = (Reasoning(round_.thought, "p", "signed"),) if round_.thought else ()
        names = [f"c{self.n}-{i}" for i in range(round_.calls)]
        told = (Text(round_.said),) if round_.said or not names else ()
        self.reply(*thought, *told, *(ToolCall(name, "look", {"at": round_.said[:5_000], "n": i}) for i, name in enumerate(names)))
        intents = [self.intend(name, "look", {"at": round_.said[:5_000], "n": i}) for i, name in enumerate(names)]
        if round_.later is not None:
            self.hear(round_.later)
        for i, intent in enumerate(reversed(intents)):
            code = "failed" if round_.is_error and i == 0 else ""
            self.happen(intent, Text(round_.texts[i % len(round_.texts)]), *(PICTURE,) * (round_.attached if i == 0 else 0), code=code)

    def scene(self, window: int | None = None) -> Scene:
        return Scene(self.claim.turn, self.claim.event, SELF, tuple(self.steps), window)

    def stretch(self) -> Stretch:
        return Stretch(self.claim.turn.id, tuple(Entries().of_turn(self.claim.event, self.claim.turn.id, tuple(self.steps), self.events)))


def grown(name: str, text: str, done: list[Round]) -> Turning:
    made = Turning(name, text)
    for each in done:
        made.go(each)
    return made


def pager(window: int, system: str = "You are a test.", budget: TokenBudget | None = None) -> Pager:
    journal = MemoryJournal(ManualClock(), CountingIds())
    return Pager(Sources(journal, journal), system, Paging(budget or TokenBudget(window, 100, 100, 100)), PlainRedactor())


def background(turn: Turning, earlier: tuple[Stretch, ...] = (), **more: object) -> Background:
    return Background(earlier, turn.events, **more)  # type: ignore[arg-type]


def check(made: Prompt, tools: tuple[Manifest, ...] = ()) -> None:
    """What holds of every request."""
    messages = made.request.messages
    total = sum(map(estimate, messages)) + sum(map(of_tool, tools))
    assert made.account.used == total
    if estimate(messages[0]) + sum(map(of_tool, tools)) + LEAST_ROOM <= made.account.window:
        assert total <= made.account.window
    assert made.request.label == join(message.label for message in messages)
    assert len(made.explain()) == len(messages)
    assert sum(seen.tokens for seen in made.explain()) == sum(map(estimate, messages))
    assert len(made.chunks) == len(messages) + 1
    assert all(message.parts for message in messages)
    is_legal(made)


def is_legal(made: Prompt) -> None:
    """As providers want it: who asked first, and every result right behind the reply with its call."""
    messages = made.request.messages
    assert messages[0].role is Role.SYSTEM
    assert len(messages) == 1 or messages[1].role is Role.USER
    waiting: set[str] = set()
    for before, message in pairwise(messages):
        if message.role is Role.TOOL:
            assert before.role in (Role.TOOL, Role.ASSISTANT)
            (result,) = [part for part in message.parts if isinstance(part, ToolResult)]
            assert result.call in waiting, f"a result without its call: {result.call}"
            waiting.remove(result.call)
        else:
            assert not waiting, f"calls without results: {waiting}"
            waiting = {call.call for call in message.calls}
    assert not waiting
