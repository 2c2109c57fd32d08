"""Where a turn stands: a fold over its steps, and nothing else.

The same fold serves a turn that has just begun and one that was found after a crash, so resuming needs no special case: what
the steps say is what is true. An intent without an outcome in the steps of a *claim* is in doubt, because nobody knows
whether it ran; one that was recorded by this very process is simply ready to run.
"""

from datetime import datetime

from daimon.abi.context import Scene
from daimon.abi.event import Event
from daimon.abi.ids import AgentId, StepRef
from daimon.abi.label import Label
from daimon.abi.message import ToolCall
from daimon.abi.ports import Claim
from daimon.abi.step import (
    Answered,
    Asked,
    Decided,
    Happened,
    Intended,
    ModelFailed,
    Received,
    Replied,
    Started,
    Step,
    Usage,
    Wait,
)
from daimon.abi.tool import HandOver
from daimon.abi.turn import Turn
from daimon.kernel.decide import View

ALLOW, CONTINUE = "allow", "continue"
"""The choices that let something happen. Whatever else a person says means no."""


class Progress:
    def __init__(self, claim: Claim) -> None:
        self.turn: Turn = claim.turn
        self.event: Event = claim.event
        self.agent: AgentId = claim.turn.agent
        self.steps: list[Step] = []
        self.is_stopped = claim.is_stopped
        self.is_interrupted = False
        self.label: Label = claim.event.label
        """The join of everything in this turn so far."""
        self._intents: dict[int, Intended] = {}
        self._outcomes: dict[int, Happened] = {}
        self._started: dict[int, Started] = {}
        self._questions: dict[int, Asked] = {}
        self._answers: dict[int, Answered] = {}
        self._usage: list[Usage] = []
        self._active_ms = 0.0
        self._errors = 0
        self.model_failures = 0
        self._extensions = 0
        self._last_reply: int | None = None
        self._last_input: int = -1
        self._hand_over: HandOver | None = None
        for step in claim.steps:
            self.take(step)
        self.in_doubt: set[int] = set(self.ready)
        self.rerun: set[int] = set()
        """Intents that ran, or may have run, before a crash."""

    def take(self, step: Step) -> None:  # noqa: C901 - one line a kind of step
        self.steps.append(step)
        if step.label != self.label:
            self.label = self.label.joined(step.label)
        match step.body:
            case Replied() as reply:
                self._take_reply(step.n, reply)
            case ModelFailed():
                self._errors += 1
                self.model_failures += 1
            case Intended() as intent:
                self._intents[step.n] = intent
            case Started() as started:
                self._started[started.intent] = started
            case Happened() as outcome:
                self._take_outcome(outcome)
            case Asked() as asked:
                self._questions[step.n] = asked
            case Answered() as answer:
                self._take_answer(answer)
            case Received(resolves=None):
                self._last_input = step.n
            case Decided(decision=decision) if decision.kind == "hand_off":
                self.agent, self._hand_over = decision.to, None

    def scene(self) -> Scene:
        return Scene(self.turn, self.event, self.agent, tuple(self.steps))

    @property
    def next_n(self) -> int:
        return len(self.steps)

    @property
    def last_reply(self) -> Replied | None:
        body = None if self._last_reply is None else self.steps[self._last_reply].body
        return body if isinstance(body, Replied) else None

    @property
    def ready(self) -> tuple[int, ...]:
        """Intents that may run and have not."""
        return tuple(
            n for n, intent in self._intents.items() if n not in self._outcomes and n not in self._started and self._is_allowed(n, intent)
        )

    def intent(self, n: int) -> Intended | None:
        return self._intents.get(n)

    def question(self, n: int) -> Asked | None:
        return self._questions.get(n)

    def started(self, intent: int) -> Started | None:
        return self._started.get(intent)

    def is_settled(self, n: int) -> bool:
        """Has this intent its outcome, or this question its answer?"""
        return n in self._outcomes or n in self._answers

    @property
    def open_intents(self) -> tuple[int, ...]:
        return tuple(n for n in self._intents if n not in self._outcomes)

    def calls_of_last_reply(self) -> tuple[ToolCall, ...]:
        reply = self.last_reply
        return () if reply is None else tuple(p for p in reply.parts if isinstance(p, ToolCall))

    def view(self) -> View:
        usage = self._usage
        return View(
            steps=len(self.steps),
            replies=len(usage),
            tokens=sum(u.input_tokens + u.output_tokens for u in usage),
            cost=sum((u.cost for u in usage if u.cost is not None), start=View.NOTHING),
            active_s=round(self._active_ms / 1000, 3),
            errors=self._errors,
            extensions=self._extensions,
            ready=tuple(n for n in self.ready if n not in self.in_doubt),
            waits=self._waits(),
            has_answer=self._last_reply is not None and self._last_input < self._last_reply and not self.calls_of_last_reply(),
            is_silent=self.last_reply is not None and not self.last_reply.parts,
            is_stopped=self.is_stopped,
            is_interrupted=self.is_interrupted,
            hand_over=self._hand_over,
        )

    def _is_allowed(self, n: int, intent: Intended) -> bool:
        """The last question about a call decides; one that nobody has answered yet means no."""
        questions = [q for q, asked in self._questions.items() if asked.about == n]
        if not questions:
            return intent.gate.verdict == "allow"
        answer = self._answers.get(questions[-1])
        return answer is not None and answer.choice == ALLOW

    def _take_reply(self, n: int, reply: Replied) -> None:
        self._usage.append(reply.usage)
        self._active_ms += reply.duration_ms
        self._last_reply, self.model_failures = n, 0
        if not self.calls_of_last_reply():
            self._errors = 0

    def _take_outcome(self, outcome: Happened) -> None:
        self._outcomes[outcome.intent] = outcome
        self._active_ms += outcome.duration_ms
        self._errors = self._errors + 1 if outcome.code and outcome.how != "refused" else 0
        for operation in outcome.operations:
            if isinstance(operation, HandOver):
                self._hand_over = operation

    def _take_answer(self, answer: Answered) -> None:
        self._answers[answer.question] = answer
        if self._questions[answer.question].about is not None:
            return
        if answer.choice == CONTINUE:
            self._extensions += 1
            self._errors = 0
        else:
            self.is_stopped = True

    def _waits(self) -> tuple[Wait, ...]:
        turn = self.turn.id
        started = [
            Wait("answer" if s.question else "event", StepRef(turn, n), _until(s))
            for n, s in self._started.items()
            if n not in self._outcomes
        ]
        asked = [Wait("answer", StepRef(turn, n), q.question.expires_at) for n, q in self._questions.items() if n not in self._answers]
        return (*started, *asked)


def _until(started: Started) -> datetime | None:
    return started.until or (started.question.expires_at if started.question else None)
