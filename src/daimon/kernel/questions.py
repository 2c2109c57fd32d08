"""What people are being asked right now."""

from dataclasses import dataclass
from datetime import datetime

from daimon.abi.ids import SpaceId, StepRef
from daimon.abi.ports import Archive
from daimon.abi.step import Answered, Asked, Happened, Received, Started, Step
from daimon.abi.tool import Question
from daimon.abi.turn import State

MOST = 200


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    to: StepRef
    """What an answer resolves."""
    question: Question
    conversation: str
    asked_at: datetime


async def open_questions(archive: Archive, space: SpaceId) -> tuple[OpenQuestion, ...]:
    found: list[OpenQuestion] = []
    running = await archive.turns(space, MOST, state=State.RUNNING)  # first: whoever has just asked is about to park
    for turn in {each.id: each for each in (*running, *await archive.turns(space, MOST, state=State.PARKED))}.values():
        steps = await archive.steps(turn.id)
        found += [
            OpenQuestion(ref, question, turn.conversation, step.at)
            for step in steps
            if (asked := _asked(step, steps))
            for ref, question in [asked]
        ]
    return tuple(found)


def _asked(step: Step, steps: tuple[Step, ...]) -> tuple[StepRef, Question] | None:
    match step.body:
        case Asked(question=question) if not any(isinstance(s.body, Answered) and s.body.question == step.n for s in steps):
            return step.ref, question
        case Started(intent=intent, question=Question() as question) if not any(_settles(s, intent, step.n) for s in steps):
            return StepRef(step.turn, intent), question
        case _:
            return None


def _settles(step: Step, intent: int, since: int) -> bool:
    """Has the call its outcome, or the tool the answer that it goes on with?"""
    match step.body:
        case Happened(intent=n):
            return n == intent
        case Received(resolves=n, ignored=""):
            return n == intent and step.n > since
        case _:
            return False
