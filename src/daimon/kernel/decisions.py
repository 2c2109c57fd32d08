"""What people decided: every question that was settled, with all that they could see, what they said, and what came of it.

A reading of the journal and nothing else. It is for looking back, and as examples to learn from: the question with its options, where each
part of a call was shown to come from, who answered after how long, and the outcome of the call.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pydantic import JsonValue

from daimon.abi.ids import EventId, PrincipalId, SpaceId, StepRef
from daimon.abi.judgement import Gate, Grant
from daimon.abi.ports import Archive
from daimon.abi.step import Answered, Asked, Granted, Happened, Intended, Received, Started, Step
from daimon.abi.tool import Question
from daimon.abi.turn import Turn
from daimon.kernel import words
from daimon.kernel.permission import YES

MOST_TURNS = 1_000


@dataclass(frozen=True, slots=True)
class Case:
    """A call that was in question."""

    n: int
    tool: str
    arguments: JsonValue
    gate: Gate
    """What the rules said of it, with what could be shown of each argument."""
    is_allowed: bool
    """By this answer; a later one may have stopped it."""
    outcome: str
    """`ok`, an error code, or `none` while it has none."""
    result: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanDecision:
    to: StepRef
    conversation: str
    job: str
    question: Question
    choice: str
    text: str
    by: PrincipalId | None
    """None: nobody answered in time."""
    event: EventId | None
    asked_at: datetime
    answered_at: datetime
    took_s: float
    cases: tuple[Case, ...] = ()
    grants: tuple[Grant, ...] = ()


async def decisions(archive: Archive, space: SpaceId, limit: int) -> tuple[HumanDecision, ...]:
    """The newest first, out of the newest turns."""
    found: list[HumanDecision] = []
    for turn in await archive.turns(space, MOST_TURNS):
        if len(found) >= limit:
            break
        made = sorted(decided(turn, await archive.steps(turn.id)), key=lambda each: each.answered_at, reverse=True)
        found += [await with_people(archive, each) for each in made]
    return tuple(found[:limit])


async def with_people(archive: Archive, made: HumanDecision) -> HumanDecision:
    """The answer to a tool's question is an outcome, which does not say who gave it; its event does."""
    if made.by is not None or made.event is None:
        return made
    return replace(made, by=(await archive.event(made.event)).principal)


def decided(turn: Turn, steps: Sequence[Step]) -> Iterator[HumanDecision]:
    for step in steps:
        match step.body:
            case Answered(question=n):
                asked = steps[n]
                if isinstance(asked.body, Asked):
                    yield _answer(turn, steps, asked, asked.body, step, step.body)
            case Happened(intent=intent, how="answered"):
                started = next((s for s in steps if isinstance(s.body, Started) and s.body.intent == intent), None)
                if started is not None and isinstance(started.body, Started) and started.body.question is not None:
                    yield _told(turn, steps, started, started.body.question, step, step.body)
            case _:
                pass


def _answer(turn: Turn, steps: Sequence[Step], asked: Step, body: Asked, step: Step, answer: Answered) -> HumanDecision:
    granted = tuple(s.body.grant for s in steps if isinstance(s.body, Granted) and s.body.question == asked.n)
    return HumanDecision(
        to=asked.ref, conversation=turn.conversation, job=turn.job, question=body.question, choice=answer.choice, text=answer.text,
        by=None if answer.event is None else answer.by, event=answer.event, asked_at=asked.at, answered_at=step.at,
        took_s=(step.at - asked.at).total_seconds(), cases=tuple(_cases(steps, body.calls, _allowed(body, answer))), grants=granted,
    )  # fmt: skip


def _told(turn: Turn, steps: Sequence[Step], started: Step, question: Question, step: Step, body: Happened) -> HumanDecision:
    """An answer to a question that a tool asked is the outcome of its call; the event that brought it was received before."""
    event = next(
        (s.body.event for s in steps if isinstance(s.body, Received) and s.body.resolves == body.intent and not s.body.ignored), None
    )
    data = words.data_of(body.result.parts)
    said = data if isinstance(data, dict) else {}
    is_expired = bool(said.get("expired"))
    return HumanDecision(
        to=StepRef(turn.id, body.intent), conversation=turn.conversation, job=turn.job, question=question,
        choice=str(said.get("choice", "")), text=str(said.get("text", "")), by=None,
        event=None if is_expired else event, asked_at=started.at, answered_at=step.at, took_s=(step.at - started.at).total_seconds(),
        cases=tuple(_cases(steps, (body.intent,), (body.intent,))),
    )  # fmt: skip


def _allowed(asked: Asked, answer: Answered) -> Sequence[int]:
    return (answer.only or asked.calls) if answer.choice in YES else ()


def _cases(steps: Sequence[Step], calls: Sequence[int], allowed: Sequence[int]) -> Iterator[Case]:
    outcomes = {step.body.intent: step.body for step in steps if isinstance(step.body, Happened)}
    for n in calls:
        intended, outcome = steps[n].body, outcomes.get(n)
        if isinstance(intended, Intended):
            told = "none" if outcome is None else outcome.code or "ok"
            result = "" if outcome is None else words.joined(outcome.result.parts)
            yield Case(n, intended.tool, intended.arguments, intended.gate, n in allowed, told, result)
