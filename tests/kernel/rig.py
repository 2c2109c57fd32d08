"""A whole kernel on a journal in memory or on disk, with a scripted model and the tools that a test gives it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC
from typing import Any

from pydantic import JsonValue

from daimon.abi.channel import Piece
from daimon.abi.event import Address, Answer, Body, Event, Said, Stop
from daimon.abi.ids import HOME_SPACE, OWNER, READER, SELF, SUMMARIZER, EventId, Key, PrincipalId, StepRef, TurnId
from daimon.abi.label import owned
from daimon.abi.memory import Memory
from daimon.abi.message import Text
from daimon.abi.model import Model
from daimon.abi.ports import Checkpoints, Dispatcher, Ids, Outgoing, Policy
from daimon.abi.skill import Suggests
from daimon.abi.step import Happened, Hold, Replied, Step
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Manifest, Pending, Result
from daimon.abi.turn import Pins, State, Turn
from daimon.context.assemble import Pager, Paging, Sources
from daimon.context.budget import TokenBudget
from daimon.context.summaries import SUMMARIZERS_SYSTEM
from daimon.gateway.delivery import Desk as Post
from daimon.gateway.inbox import Inbox
from daimon.gateway.outbox import Postman
from daimon.kernel.acting import Acting
from daimon.kernel.budget import Budget
from daimon.kernel.decide import Limits
from daimon.kernel.desk import Desk
from daimon.kernel.dispatch import Dispatch
from daimon.kernel.dispatcher import LocalDispatcher
from daimon.kernel.estimate import Estimator
from daimon.kernel.feed import Feed
from daimon.kernel.files import NoFiles
from daimon.kernel.grants import Standing
from daimon.kernel.held import Holding
from daimon.kernel.limiter import LocalLimiter
from daimon.kernel.manner import Manner
from daimon.kernel.record import Record
from daimon.kernel.scheduler import Scheduler
from daimon.kernel.summaries import Summaries
from daimon.kernel.thinking import Brain, Patience, Thinking
from daimon.kernel.turn import Newer, Turns
from daimon.law import READS_SHELL, rules_of
from daimon.machine.chance import SystemRandom
from daimon.machine.clock import SystemClock
from daimon.machine.ids import SortableIds
from daimon.machine.reader import ChildReader
from daimon.models.router import ListRouter, Rule
from daimon.policy.agents import Agents, Terms
from daimon.policy.floor import StandingFloor
from daimon.policy.judge import Judge
from daimon.testing.channel import FakeChannel
from daimon.testing.clock import ManualClock
from daimon.testing.ids import CountingIds
from daimon.testing.journal import MemoryJournal
from daimon.testing.model import Line, ScriptedModel
from daimon.tools.finding import finding_tools
from daimon.tools.quarantine import READERS_SYSTEM
from daimon.tools.registry import Registry
from daimon.vault.redact import Known, SecretRedactor

PINS = Pins("config", "policy", "prompts", "tools", "model")
LIMITS = Limits()
UNLIMITED = Budget({}, UTC)
DEADLINE_S = 60.0
Behaviour = Callable[[dict[str, JsonValue], Call], Awaitable[Result | Pending]]


class Tool:
    """A tool made of a function, which counts its calls by key."""

    def __init__(self, name: str, effect: Effect = Effect.PURE, behaviour: Behaviour | None = None, **more: Any) -> None:
        text: dict[str, JsonValue] = {"type": "string", "description": "what it is about"}
        parameters: dict[str, JsonValue] = {
            "type": "object", "properties": {"text": text}, "required": ["text"], "additionalProperties": False,
        }  # fmt: skip
        roles = {"text": ArgumentRole.DESTINATION} if Capability.SENDS in more.get("capabilities", ()) else {}
        more = {"roles": roles, **more}
        self.manifest = Manifest(name=name, description=f"does {name}", parameters=parameters, effect=effect, **more)
        self.calls: list[Call] = []
        self.verified: list[Call] = []
        self.happened: Result | None = None
        self._behaviour = behaviour

    async def run(self, arguments: dict[str, JsonValue], call: Call) -> Result | Pending:
        self.calls.append(call)
        return Result({"said": arguments["text"]}) if self._behaviour is None else await self._behaviour(arguments, call)

    async def verify(self, arguments: dict[str, JsonValue], call: Call) -> Result | None:
        self.verified.append(call)
        return self.happened


Journals = Any
"""Anything with all the journal ports."""


@dataclass(slots=True, kw_only=True)
class Rig:
    journal: Journals
    clock: ManualClock | SystemClock
    model: Model
    scheduler: Scheduler
    inbox: Inbox
    feed: Feed
    channel: "Whole"
    ids: Ids
    serving: asyncio.Future[None]
    brain: Brain
    desk: Desk
    _sent: int = field(default=0)

    async def say(self, text: str, conversation: str = "main", principal: PrincipalId = OWNER) -> Event:
        return await self.send(Said((Text(text),)), conversation, principal=principal)

    async def answer(self, to: StepRef, choice: str, principal: PrincipalId = OWNER) -> Event:
        return await self.send(Answer(choice), resolves=to, principal=principal)

    async def answer_at(self, conversation: str, to: StepRef, choice: str, text: str = "") -> Event:
        return await self.send(Answer(choice, text), conversation, resolves=to)

    async def stop(self, turn: TurnId) -> Event:
        return await self.send(Stop(turn))

    async def send(self, body: Body, conversation: str = "main", **more: Any) -> Event:
        now, id_ = self.clock.now(), self.ids.new("e")
        event = Event(
            id=EventId(id_), source="test", key=Key(id_), conversation=conversation, principal=OWNER, body=body, label=owned("test"),
            occurred_at=now, received_at=now, reply_to=Address("fake", conversation),
        )  # fmt: skip
        event, _ = await self.inbox.accept(replace(event, **more))
        return event

    async def until(self, is_so: Callable[[], Awaitable[object]]) -> None:
        """Waits for something to become true, within a deadline."""
        async with asyncio.timeout(DEADLINE_S):
            while not await is_so():  # noqa: ASYNC110 - the truth is in the journal, which has no event to wait for
                await asyncio.sleep(0.002)

    async def rested(self, event: Event) -> Turn:
        """The turn of this event, when it is done, failed or parked."""
        found: list[Turn] = []

        async def has_rested() -> bool:
            turn = await self.journal.turn_of(event.id)
            if turn is not None and turn.state in (State.DONE, State.FAILED, State.PARKED):
                found.append(turn)
            return bool(found)

        await self.until(has_rested)
        return found[-1]

    async def ended(self, turn: Turn) -> Turn:
        async def has_ended() -> bool:
            return (await self.journal.turn(turn.id)).ended_at is not None

        await self.until(has_ended)
        return await self.journal.turn(turn.id)

    async def ask(self, text: str) -> tuple[Turn, tuple[Step, ...]]:
        turn = await self.rested(await self.say(text))
        return turn, await self.journal.steps(turn.id)

    async def spoken(self, number: int) -> list[str]:
        async def has_enough() -> bool:
            return len(self.channel.messages) >= number

        await self.until(has_enough)
        return [
            m.content.parts[0].text for m in self.channel.messages if isinstance(m.content, Said) and isinstance(m.content.parts[0], Text)
        ]


@asynccontextmanager
async def kernel(
    *,
    script: Iterable[Line] = (),
    model: Model | None = None,
    tools: Iterable[Any] = (),
    journal: Journals | None = None,
    clock: ManualClock | SystemClock | None = None,
    limits: Limits = LIMITS,
    newer: Newer = "wait",
    pins: Pins = PINS,
    timeout_s: float = DEADLINE_S,
    budget: Budget = UNLIMITED,
    manner: Manner = Manner(),  # noqa: B008 - it cannot change
    policy: Policy | None = None,
    others: tuple[Model, ...] = (),
    rules: tuple[Rule, ...] = (),
    paces: dict[str, int] | None = None,
    dispatcher: Callable[[Dispatcher], Dispatcher] = lambda inner: inner,
    terms: Terms = Terms(),  # noqa: B008 - frozen; a reader asks before every act, whatever led to it
    hold: Hold = "never",
    closed_answers: int = 20,
    ids: Ids | None = None,
    known: tuple[Known, ...] = (),
    checkpoints: Checkpoints | None = None,
    foreign: Iterable[Any] = (),
    finds: bool = False,
    paging: Paging = Paging(TokenBudget(32_000)),  # noqa: B008 - frozen
    memory: Memory | None = None,
    skills: Suggests | None = None,
) -> AsyncIterator[Rig]:
    clock = clock or SystemClock()
    ids = ids or (CountingIds() if isinstance(clock, ManualClock) else SortableIds(clock, SystemRandom()))
    journal = journal or MemoryJournal(clock, ids)
    model = model or ScriptedModel(script)
    feed, channel, redactor = Feed(), Whole(), SecretRedactor(lambda: known)
    finding = finding_tools(lambda *who: dispatch.offered(*who), lambda name: registry.is_own(name)) if finds else ()
    registry = Registry((*tools, *finding), foreign)
    judge = policy or Judge(rules_of({}), Agents({SELF: terms}, registry.manifests()))
    floor, holding = StandingFloor(reader := ChildReader(READS_SHELL)), Holding(journal, hold, closed_answers)
    dispatch = Dispatch(registry, floor, judge, LocalLimiter(clock), clock, holding, redactor, checkpoints or NoFiles())
    systems = {READER: READERS_SYSTEM, SUMMARIZER: SUMMARIZERS_SYSTEM}
    pager = Pager(Sources(journal, journal, memory, skills=skills), "You are a test.", paging, redactor, systems)
    models = {each.name: each for each in (model, *others)}
    router = ListRouter(models, (*rules, Rule(tuple(models))), paces or {}, clock, SystemRandom())
    brain = Brain(router, budget, Patience(timeout_s, timeout_s))
    thinking = Thinking(brain, pager, dispatch, feed, clock, Estimator(), redactor)
    desk = Desk(Standing(journal, HOME_SPACE), manner)
    await desk.grants.load(clock.now())
    turns = Turns(thinking, Acting(dispatch, Record(journal)), limits, newer, desk)
    scheduler = Scheduler(journal, dispatcher(LocalDispatcher(clock)), turns, feed, clock, lambda: pins)
    inbox = Inbox(journal, scheduler, clock, ids, redactor, 1_000_000)
    postman = Postman(Post(journal, clock, redactor), (channel,), inbox, feed, SystemRandom())
    tasks = [asyncio.ensure_future(scheduler.serve(8)), asyncio.ensure_future(postman.serve())]
    if paging.summarises:
        tasks.append(asyncio.ensure_future(Summaries(journal, feed, inbox.accept, clock, ids).serve()))
    try:
        yield Rig(
            journal=journal,
            clock=clock,
            model=model,
            scheduler=scheduler,
            inbox=inbox,
            feed=feed,
            channel=channel,
            ids=ids,
            serving=tasks[0],
            brain=brain,
            desk=desk,
        )
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        reader.close()


def kinds(steps: Iterable[Step]) -> list[str]:
    return [step.body.kind for step in steps]


def outcomes(steps: Iterable[Step]) -> list[Happened]:
    return [step.body for step in steps if isinstance(step.body, Happened)]


def replies(steps: Iterable[Step]) -> list[Replied]:
    return [step.body for step in steps if isinstance(step.body, Replied)]


def result_text(outcome: Happened) -> str:
    part = outcome.result.parts[0]
    assert isinstance(part, Text)
    return part.text


class Whole(FakeChannel):
    """Keeps messages as they were before they were cut."""

    def __init__(self) -> None:
        super().__init__()
        self._whole: dict[str, Outgoing] = {}

    def pieces(self, message: Outgoing) -> tuple[Piece, ...]:
        self._whole[message.key] = message
        return (Piece(str(message.content)),)

    @property
    def messages(self) -> list[Outgoing]:
        return [self._whole[sent.key.rpartition("/")[0]] for sent in self.sent]
