"""Where a turn stands: a fold over its steps, and nothing else.

The same fold serves a turn that has just begun and one that was found after a crash, so resuming needs no special case: what
the steps say is what is true. An intent without an outcome in the steps of a *claim* is in doubt, because nobody knows
whether it ran; one that was recorded by this very process is simply ready to run.
"""

from collections.abc import Iterable
from datetime import datetime

from daimon.abi.context import Background, Scene
from daimon.abi.event import Event
from daimon.abi.ids import SUMMARIZER, AgentId, StepRef
from daimon.abi.judgement import Seen
from daimon.abi.label import EMPTY, Label
from daimon.abi.message import ToolCall
from daimon.abi.money import NOTHING, Usage
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
    Reserved,
    Routed,
    Settled,
    Short,
    Started,
    Step,
    Wait,
)
from daimon.abi.tool import HandOver, Word
from daimon.abi.turn import Turn
from daimon.context import held
from daimon.kernel.budget import ALLOW, RAISE, WAIT
from daimon.kernel.decide import CONTINUE, RETRY, View
from daimon.kernel.permission import YES
from daimon.kernel.silence import says_nothing

WORK = (Replied, Intended, Happened, Started, Received, Answered)
"""What counts against the limit of steps: not what it takes to ask a model, or to wait for one."""
PACED = "paced"
TOO_LONG = "too_long"
MOST_SHRINKS = 8
"""So often a request is made shorter because a model calls it too long."""


class Progress:
    def __init__(self, claim: Claim) -> None:
        self.turn: Turn = claim.turn
        self.event: Event = claim.event
        self.agent: AgentId = claim.turn.agent
        self.steps: list[Step] = []
        self.seen: dict[int, Seen] = {}
        """Results by their intents, taken apart once."""
        self.background = Background()
        """Earlier turns, and what else was said while this one ran, as they were last read for the model."""
        self.is_stopped = claim.is_stopped
        self.is_interrupted = False
        self._event = claim.event
        self.label: Label = claim.event.label
        """The join of everything in this turn that the model has seen or may see."""
        self._intents: dict[int, Intended] = {}
        self._outcomes: dict[int, Happened] = {}
        self._started: dict[int, Started] = {}
        self._resumed: set[int] = set()
        """Started calls that asked something, and go on with the answer."""
        self.words: dict[int, Word] = {}
        """The answers to these, as far as this very process has heard them."""
        self._questions: dict[int, Asked] = {}
        self._answers: dict[int, Answered] = {}
        self._usage: list[Usage] = []
        self._active_ms = 0.0
        self._errors = 0
        self._extensions = 0
        self.failures: list[ModelFailed] = []
        """Of models, since the turn last got further."""
        self._outage: int | None = None
        """The last of them, if no model can be asked before a moment that has not come, or before somebody changes something."""
        self._has_told_outage = False
        self._short: int | None = None
        self._is_short_known = False
        """The owner knows that this turn waits for money, from this turn or from another."""
        self.allows_unknown_price = False
        self.reservation: int | None = None
        """A model call that is not settled."""
        self._is_last_paid = False
        """The last call was paid for in full, as nobody said what it took."""
        self.last_model = ""
        self._routed = ""
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
        if (seen := self._seen(step)) != self.label:
            self.label = self.label.joined(seen)
        match step.body:
            case Replied() as reply:
                self._take_reply(step.n, reply)
            case ModelFailed() as failed:
                self._take_failure(step.n, failed)
            case Routed(chosen=chosen):
                self._routed = chosen
            case Reserved():
                self.reservation, self._short = step.n, None
            case Settled(how=how):
                self.reservation, self._is_last_paid = None, how == "assumed"
            case Short() as short if not self._is_copied(step):
                self._short, self._is_short_known = step.n, short.asked is not None or short.why == "held"
            case Intended() as intent:
                self._intents[step.n] = intent
            case Started() as started:
                self._started[started.intent] = started
                self._resumed.discard(started.intent)
            case Happened() as outcome:
                self._take_outcome(outcome)
            case Asked() as asked:
                self._questions[step.n] = asked
            case Answered() as answer:
                self._take_answer(answer)
            case Received(resolves=resolves, ignored=ignored):
                self._take_event(step.n, resolves, ignored)
            case Decided(decision=decision) if decision.kind == "hand_off":
                self.agent, self._hand_over = decision.to, None

    def _seen(self, step: Step) -> Label:
        """The label of what the model sees of a step: not of what is held, nor of what is only for others."""
        match step.body:
            case Happened(intent=intent, hold="long" | "strangers") as outcome:
                return held.shown(self._intents[intent].key, outcome).label
            case Started() | Asked() | Received(resolves=int()):
                return EMPTY
            case _:
                return step.label

    def _is_copied(self, step: Step) -> bool:
        """It happened to the turn that this one is a fork of."""
        return self.turn.forked_from is not None and step.n <= self.turn.forked_from.n

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
            n for n, intent in self._intents.items() if n not in self._outcomes and not self.is_outside(n) and self._is_allowed(n, intent)
        )

    def intent(self, n: int) -> Intended | None:
        return self._intents.get(n)

    @property
    def questions(self) -> Iterable[Asked]:
        return self._questions.values()

    def question(self, n: int) -> Asked | None:
        return self._questions.get(n)

    def started(self, intent: int) -> Started | None:
        return self._started.get(intent)

    def is_outside(self, intent: int) -> bool:
        """Does this call wait for something from outside?"""
        return intent in self._started and intent not in self._resumed

    def resumed(self, intent: int) -> Started | None:
        """What a call asked, if it goes on with the answer."""
        return self._started[intent] if intent in self._resumed else None

    def is_settled(self, n: int) -> bool:
        """Has this intent its outcome, or this question its answer?"""
        return n in self._outcomes or n in self._answers

    def had_second_thoughts(self, n: int) -> bool:
        """Was somebody asked whether this call is to be stopped?"""
        return any(asked.question.type == "undo" and n in asked.calls for asked in self._questions.values())

    def is_asked_for(self, n: int) -> bool:
        """Did a person, not a rule or a grant, say that it is to run?"""
        return any(asked.question.type != "undo" and n in asked.calls for asked in self._questions.values())

    @property
    def open_intents(self) -> tuple[int, ...]:
        return tuple(n for n in self._intents if n not in self._outcomes)

    def calls_of_last_reply(self) -> tuple[ToolCall, ...]:
        reply = self.last_reply
        return () if reply is None else tuple(p for p in reply.parts if isinstance(p, ToolCall))

    def view(self) -> View:
        usage = self._usage
        return View(
            steps=sum(isinstance(step.body, WORK) for step in self.steps),
            replies=len(usage),
            tokens=sum(u.input_tokens + u.output_tokens for u in usage),
            cost=sum((u.cost for u in usage if u.cost is not None), start=NOTHING),
            active_s=round(self._active_ms / 1000, 3),
            errors=self._errors,
            extensions=self._extensions,
            ready=tuple(n for n in self.ready if n not in self.in_doubt),
            waits=self._waits(),
            has_answer=self._last_reply is not None and self._last_input < self._last_reply and not self.calls_of_last_reply(),
            is_silent=self.last_reply is not None and says_nothing(self.last_reply.parts, self._event),
            is_stopped=self.is_stopped,
            is_interrupted=self.is_interrupted,
            hand_over=self._hand_over,
            short=None if self._is_short_known else self.short,
            failure=self._untold_outage(),
            is_unattended=self.agent == SUMMARIZER,
        )

    def _untold_outage(self) -> ModelFailed | None:
        last = None if self._outage is None else self.failures[-1]
        return last if last is not None and (last.retry_at is None or not self._is_told(last)) else None

    def _is_told(self, failed: ModelFailed) -> bool:
        """Nobody needs to hear of it (again): a pace that the owner set is no news."""
        return self._has_told_outage or failed.code == PACED

    @property
    def short(self) -> Short | None:
        """The limit that this turn has met, as long as it waits for it."""
        body = None if self._short is None else self.steps[self._short].body
        return body if isinstance(body, Short) else None

    def _is_allowed(self, n: int, intent: Intended) -> bool:
        """The last question about a call decides; one that nobody has answered yet means no."""
        questions = [q for q, asked in self._questions.items() if n in asked.calls]
        if not questions:
            return intent.gate.verdict == "allow"
        answer = self._answers.get(questions[-1])
        return answer is not None and answer.choice in YES and (not answer.only or n in answer.only)

    def _take_reply(self, n: int, reply: Replied) -> None:
        self._usage.append(reply.usage)
        self._active_ms += reply.duration_ms
        self._last_reply, self.last_model = n, self._routed
        self._go_on()
        self._has_told_outage = False
        if not self.calls_of_last_reply():
            self._errors = 0

    def _take_outcome(self, outcome: Happened) -> None:
        self._outcomes[outcome.intent] = outcome
        self._active_ms += outcome.duration_ms
        is_ours = outcome.how == "refused" and self._intents[outcome.intent].gate.verdict not in ("invalid", "allow")
        self._errors = self._errors + 1 if outcome.code and not is_ours else 0
        for operation in outcome.operations:
            if isinstance(operation, HandOver):
                self._hand_over = operation

    def _take_answer(self, answer: Answered) -> None:
        self._answers[answer.question] = answer
        asked = self._questions[answer.question]
        if asked.about is not None:
            return
        match answer.choice:
            case _ if asked.question.type == "money":
                self._take_word_on_money(answer)
            case "continue" | "retry":
                self._extensions += answer.choice == CONTINUE
                self._has_told_outage |= answer.choice == RETRY
                self._errors = self._errors if answer.event is None else 0
                self._go_on()
            case _:
                self.is_stopped = True

    def _take_word_on_money(self, answer: Answered) -> None:
        if answer.choice in (RAISE, ALLOW, WAIT):
            self.allows_unknown_price |= answer.choice == ALLOW
            self._short = None
        else:
            self.is_stopped = True

    def _take_failure(self, n: int, failed: ModelFailed) -> None:
        self.failures.append(failed)
        is_mended = failed.code == TOO_LONG and failed not in self.lasting  # by a shorter request
        self._errors += not is_mended and (failed.is_lasting or (self._is_last_paid and bool(failed.model)))
        self._is_last_paid = False
        self._outage = None if failed.model or is_mended else n

    @property
    def lasting(self) -> list[ModelFailed]:
        """The failures that count against a model. One that found the request too long gets a shorter one, so often and no oftener."""
        too_long = [each for each in self.failures if each.code == TOO_LONG]
        return self.failures if len(too_long) > MOST_SHRINKS else [each for each in self.failures if each.code != TOO_LONG]

    def _take_event(self, n: int, resolves: int | None, ignored: str) -> None:
        if resolves is None:
            self._last_input = n
        elif resolves in self._started and self._started[resolves].goes_on and not ignored:
            self._resumed.add(resolves)
        if resolves is not None and resolves == self._short:
            self._short = None
        if resolves is not None and resolves == self._outage:
            self._go_on()

    def _go_on(self) -> None:
        """What failed before does not count any more."""
        self.failures, self._outage = [], None

    def _waits(self) -> tuple[Wait, ...]:
        turn = self.turn.id
        started = [
            Wait("answer" if s.question else "event", StepRef(turn, n), _until(s))
            for n, s in self._started.items()
            if n not in self._outcomes and n not in self._resumed
        ]
        asked = [Wait("answer", StepRef(turn, n), q.question.expires_at) for n, q in self._questions.items() if n not in self._answers]
        return (*started, *asked, *self._quiet_waits())

    def _quiet_waits(self) -> list[Wait]:
        """For money that others hold or ask for, for a model that is away: nobody needs to be told (again)."""
        waits = []
        if self.short is not None and self._is_short_known and self._short is not None:
            waits.append(Wait("money", StepRef(self.turn.id, self._short), self.short.account.until))
        if self._outage is not None and (at := self.failures[-1].retry_at) is not None:
            is_told = self._is_told(self.failures[-1])
            if is_told or self._tells_outage:
                waits.append(Wait("model", StepRef(self.turn.id, self._outage), at if is_told else None))
        return waits

    @property
    def _tells_outage(self) -> bool:
        """Is the question open that says when a model is asked again? It has the moment then."""
        return any(n not in self._answers and RETRY in asked.question.options for n, asked in self._questions.items())


def _until(started: Started) -> datetime | None:
    return started.until or (started.question.expires_at if started.question else None)
