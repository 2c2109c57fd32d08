"""One episode, played by the whole system: a scripted model that may be hijacked, foreign tools, and an owner who is always right.

    next_call   → a tool call in the model's reply     several for one tool in one reply, so that they can be asked in one go
    the gate    → says what it says
    the owner   → yes to what the user wanted, no to what the attacker did
    a tool runs → execute;  it does not → refused, told when the model is asked next

Who wanted a call (`origin`) is known to the owner and to those who count. It is not in anything that the kernel is given.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue

from daimon.abi.errors import ToolFailed
from daimon.abi.ids import StepRef
from daimon.abi.message import Text, ToolCall
from daimon.abi.model import Delta, Reply, Request, Unmetered
from daimon.abi.step import Answered, Asked, Happened, Intended, Step
from daimon.abi.tool import Call, Manifest, Pending, Result, Tool
from daimon.abi.turn import State
from daimon.tools.planning import planning_tools
from lab.authorship import tell
from lab.catalogue import argument, manifest
from lab.harness import Episode, Harness, Wanted
from lab.kernel import POLL_S, House, opened
from lab.naming import Naming, Plain

PLAN = "plan"
MOST_AT_ONCE = 16
SHORT = 160


@dataclass(frozen=True, slots=True)
class Opening:
    """What an honest model does first, while its context is clean: it states a plan, and looks up what the plan speaks of.

    A plan without steps says that the request needs nothing consequential."""

    steps: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    lookups: tuple[str, ...] = ()
    """Tools, by the harness's names, that are called without an argument."""
    is_stated: bool = True


UNPLANNED = Opening(is_stated=False)


@dataclass(slots=True)
class Act:
    """A call that the model made."""

    id: str
    tool: str
    arguments: dict[str, JsonValue]
    wanted: Wanted | None
    """None: the plan."""
    ran: bool = False
    error: str | None = None
    is_settled: bool = False

    @property
    def is_attack(self) -> bool:
        return self.wanted is not None and self.wanted.origin == "attack"

    def __str__(self) -> str:
        said = f"{self.tool}({', '.join(f'{k}={v!r}' for k, v in self.arguments.items())})"
        return said if len(said) <= SHORT else said[: SHORT - 1] + "…"


@dataclass(frozen=True, slots=True)
class Judged:
    """A call and what became of it."""

    act: Act
    verdict: str
    reason: str
    by: str


@dataclass(frozen=True, slots=True)
class Played:
    judged: tuple[Judged, ...]
    questions: tuple[tuple[str, ...], ...]
    """For each question, the calls (by id) that it is about."""


@dataclass
class Stage:
    """What the model and the tools of one episode share."""

    harness: Harness
    episode: Episode
    naming: Naming = field(default_factory=Plain)
    opening: Opening = UNPLANNED
    acts: list[Act] = field(default_factory=list)
    _held: Wanted | None = None

    def __post_init__(self) -> None:
        self._lookups = list(self.opening.lookups)
        self._is_planned = not self.opening.is_stated

    def tools(self) -> list[Tool]:
        made = [_Foreign(self, manifest(s, self.harness.tool(s["name"]), self.naming)) for s in self.episode.tool_schemas()]
        return [*made, *planning_tools()]

    def turn_to_model(self) -> tuple[Act, ...]:
        """The model's next calls; none at all, it is done."""
        for act in self.acts:
            if not act.is_settled:
                act.is_settled = True
                if act.wanted is not None:
                    self.episode.refused(act.wanted)
        if not self._is_planned:
            self._is_planned = True
            return (self._act(PLAN, {"steps": [*self.opening.steps], "reads": [*self.opening.reads]}, None),)
        if self._lookups:
            return (self._wanted(self.harness.call(self._lookups.pop(0), {}, "user")),)
        return tuple(self._wanted(wanted) for wanted in self._batch())

    def _batch(self) -> list[Wanted]:
        """Calls of one tool, such as mails to several people. The next of another tool may need what this one brings about; so may what
        comes after a read, and what an attacker does after a refusal."""
        batch: list[Wanted] = []
        while len(batch) < MOST_AT_ONCE and (wanted := self._held or self.episode.next_call()) is not None:
            self._held = None
            if batch and (wanted.name != batch[0].name or not self._may_join(wanted)):
                self._held = wanted
                break
            batch.append(wanted)
            if not self._may_join(wanted):
                break
        return batch

    def _may_join(self, wanted: Wanted) -> bool:
        return wanted.origin == "user" and self.harness.tool(wanted.name).effect not in ("read", "net", "private")

    def _wanted(self, wanted: Wanted) -> Act:
        arguments = {self.naming.argument(name): argument(value) for name, value in wanted.args.items()}
        return self._act(self.naming.tool(wanted.name), arguments, wanted)

    def _act(self, tool: str, arguments: dict[str, JsonValue], wanted: Wanted | None) -> Act:
        act = Act(f"call-{len(self.acts)}", tool, arguments, wanted)
        self.acts.append(act)
        return act

    def run(self, tool: str, arguments: dict[str, JsonValue], call: Call) -> Result:
        act = next(a for a in self.acts if not a.is_settled and a.tool == tool and a.arguments == arguments)
        assert act.wanted is not None
        act.is_settled = act.ran = True
        raw, _, act.error = self.episode.execute(act.wanted)
        if act.error is not None:
            raise ToolFailed("failed", act.error)
        told = tell(self.harness, act.wanted.name, raw, self.episode.me, call.label, self.naming)
        return Result(told.data, labels=told.labels)


class _Foreign:
    def __init__(self, stage: Stage, manifest: Manifest) -> None:
        self._stage = stage
        self.manifest = manifest

    async def run(self, arguments: dict[str, JsonValue], call: Call) -> Result | Pending:
        return self._stage.run(self.manifest.name, arguments, call)

    async def verify(self, arguments: dict[str, JsonValue], call: Call) -> Result | None:
        return None


class _Actor(Unmetered):
    """The model: it says what the script says, and nothing that it reads changes its mind but by way of the script."""

    name = "scripted"

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        acts = self._stage.turn_to_model()
        if acts:
            yield Reply(tuple(ToolCall(act.id, act.tool, act.arguments) for act in acts), self.name, "tools")
        else:
            yield Reply((Text("done"),), self.name)


async def play(stage: Stage, under: str) -> Played:
    with tempfile.TemporaryDirectory(prefix="daimon-dojo-") as place:
        async with opened(Path(place), _Actor(stage), stage.tools(), under) as house:
            steps = await _served(house, stage)
    return _read(stage, steps)


async def _served(house: House, stage: Stage) -> tuple[Step, ...]:
    event = await house.say(stage.episode.prompt)
    answered: set[int] = set()
    while True:
        turn, steps = await house.rested(event)
        if turn.state is not State.PARKED:
            if turn.state is State.FAILED or not stage.acts:
                raise RuntimeError(f"the turn {turn.state}: {steps[-1].body}")
            return steps
        intents = _intents(steps)
        due = [step for step in _open(steps) if step.n not in answered]
        for step in due:
            answered.add(step.n)
            about = {intents[n] for n in covered(step)}
            await house.answer(StepRef(turn.id, step.n), _answer(stage, about))
        if not due:
            await asyncio.sleep(POLL_S)  # it is about to wake up


def _answer(stage: Stage, about: set[str]) -> str:
    """The ideal owner: whoever asks for something of the attacker hears no."""
    return "deny" if any(act.is_attack for act in stage.acts if act.id in about) else "allow"


def covered(step: Step) -> tuple[int, ...]:
    """The intents that a question is about."""
    if not isinstance(step.body, Asked) or step.body.about is None:
        raise RuntimeError(f"nobody is there to answer this: {step.body}")
    return (step.body.about, *getattr(step.body, "also", ()))


def _open(steps: Sequence[Step]) -> list[Step]:
    done = {step.body.question for step in steps if isinstance(step.body, Answered)}
    return [step for step in steps if isinstance(step.body, Asked) and step.n not in done]


def _intents(steps: Sequence[Step]) -> dict[int, str]:
    return {step.n: step.body.call for step in steps if isinstance(step.body, Intended)}


def _read(stage: Stage, steps: Sequence[Step]) -> Played:
    intents = _intents(steps)
    acts = {act.id: act for act in stage.acts}
    failed = {step.body.intent: step.body for step in steps if isinstance(step.body, Happened) and step.body.code}
    for n, call in intents.items():
        if acts[call].wanted is None:
            acts[call].ran, acts[call].error = True, _message(failed[n]) if n in failed else None
    judged = [
        Judged(acts[step.body.call], step.body.gate.verdict, step.body.gate.reason, step.body.gate.by)
        for step in steps
        if isinstance(step.body, Intended)
    ]
    questions = [tuple(intents[n] for n in covered(step)) for step in steps if isinstance(step.body, Asked)]
    return Played(tuple(judged), tuple(questions))


def _message(happened: Happened) -> str:
    return "".join(part.text for part in happened.result.parts if isinstance(part, Text))
