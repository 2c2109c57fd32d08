"""What waits for the owner's word, made for one screen, and what people decided before.

    GET /v1/approvals   open questions, the oldest first
    GET /v1/decisions   what was decided, the newest first; ?limit ?before

An answer is an event like any other (`POST /v1/events` with `type: answer`); grants have routes of their own (`/v1/grants`).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated

from pydantic import Field, JsonValue
from pydantic.dataclasses import dataclass as checked

from daimon.abi.access import Right
from daimon.abi.ids import HOME_SPACE, AgentId, TurnId
from daimon.abi.ports import Archive
from daimon.abi.runs import Runs, Sought
from daimon.abi.step import Asked, Intended, Step
from daimon.gateway.asked import CHECKED
from daimon.gateway.entry import Call, Entry
from daimon.gateway.room.contents import unwrapped
from daimon.gateway.room.cutting import MOST_TEXT, Clean
from daimon.gateway.room.preview import Peek, preview
from daimon.gateway.room.question import Approval, AskedCall, calls_of, choices_of, given_in
from daimon.kernel import offers, words
from daimon.kernel.decisions import HumanDecision, decided, with_people
from daimon.kernel.questions import OpenQuestion, open_questions
from daimon.kernel.totals import totals

MOST_BEGAN, MOST_RESULT, MOST_CALL, MOST_QUESTION = 200, 400, 400, 1_000
MOST_PER_TURN = 200
MOST_PARSED = 200_000


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Page:
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    before: str = ""
    """A turn: what was decided in it and in later ones is left out."""


@dataclass(frozen=True, slots=True)
class DecidedCall:
    n: int
    call: str
    """The call in words, cut."""
    reason: str
    """Why it needed a word."""
    is_allowed: bool
    outcome: str
    result: str
    """How it begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastDecision:
    to: str
    turn: TurnId
    conversation: str
    job: str
    type: str
    text: str
    options: tuple[str, ...]
    choice: str
    said: str
    by: str
    """Empty: nobody answered in time."""
    asked_at: datetime
    answered_at: datetime
    took_s: float
    calls: tuple[DecidedCall, ...]
    grants: tuple[str, ...]
    """What was granted, in words."""


@dataclass(frozen=True, slots=True)
class Decisions:
    decisions: tuple[PastDecision, ...]
    next: str
    """Where the next page begins (`before`); empty: there are no more."""


@dataclass(frozen=True, slots=True)
class ApprovalRoutes:
    archive: Archive
    runs: Runs
    peek: Peek
    clean: Clean

    def all(self) -> tuple[Entry, ...]:
        history = "What people decided, the newest first: question, answer, who, after how long, what came of it"
        return (
            Entry(
                "GET", "/v1/approvals", self._open, tuple[Approval, ...],
                "Open questions for a screen: what, where to, with which data from where, what each answer does", Right.READ,
            ),
            Entry("GET", "/v1/decisions", self._history, Decisions, history, Right.READ, query=Page),
        )  # fmt: skip

    async def _open(self, call: Call[None, None]) -> tuple[Approval, ...]:
        found = sorted(await open_questions(self.archive, HOME_SPACE), key=lambda each: each.asked_at)
        return tuple([await self._approval(each) for each in found])

    async def _approval(self, asked: OpenQuestion) -> Approval:
        turn, steps = await self.archive.turn(asked.to.turn), await self.archive.steps(asked.to.turn)
        event, question, step = await self.archive.event(turn.event), asked.question, steps[asked.to.n]
        intents = _intents(step, steps)
        each = zip(calls_of(question, intents, self.clean), given_in(question, intents), strict=True)
        calls = tuple([await self._previewed(call, given, step.agent) for call, given in each])
        return Approval(
            to=str(asked.to), type=question.type, text=self.clean(question.text)[:MOST_TEXT], is_free=not question.options,
            choices=choices_of(question, calls), calls=calls, label=step.label, asked_at=asked.asked_at, expires_at=question.expires_at,
            conversation=turn.conversation, agent=step.agent, job=turn.job, principal=turn.principal,
            began=words.short(self.clean(words.said(event.body)[:MOST_TEXT]), MOST_BEGAN), spent=totals(turn, steps).cost,
        )  # fmt: skip

    async def _previewed(self, call: AskedCall, given: JsonValue, agent: AgentId) -> AskedCall:
        shown = await preview(call.tool, given, agent, self.peek)
        return replace(call, diff=self.clean(shown.diff)[:MOST_TEXT], diff_note=self.clean(shown.note))

    async def _history(self, call: Call[Page, None]) -> Decisions:
        wanted, found, before = call.query.limit, list[PastDecision](), call.query.before
        while len(found) < wanted:
            runs = await self.runs.runs(HOME_SPACE, Sought(before=before, has_asked=True), wanted)
            for run in runs:
                made = [await with_people(self.archive, each) for each in decided(run.turn, await self.archive.steps(run.turn.id))]
                newest = sorted(made, key=lambda each: each.answered_at, reverse=True)
                found += [self._past(each) for each in newest[:MOST_PER_TURN]]
                before = run.turn.id
                if len(found) >= wanted:
                    break
            if len(runs) < wanted and (not runs or before == runs[-1].turn.id):
                return Decisions(tuple(found), "")
        return Decisions(tuple(found), before)

    def _past(self, made: HumanDecision) -> PastDecision:
        return PastDecision(
            to=str(made.to), turn=made.to.turn, conversation=made.conversation, job=made.job, type=made.question.type,
            text=self._short(made.question.text, MOST_QUESTION), options=made.question.options, choice=self._short(made.choice, MOST_CALL),
            said=self._short(made.text, MOST_CALL), by=made.by or "", asked_at=made.asked_at, answered_at=made.answered_at,
            took_s=made.took_s, grants=tuple(offers.words(grant) for grant in made.grants),
            calls=tuple(
                DecidedCall(
                    case.n, self._short(words.call(case.tool, case.arguments), MOST_CALL), case.gate.reason, case.is_allowed, case.outcome,
                    self._short(_data(case.result), MOST_RESULT),
                )
                for case in made.cases
            ),
        )  # fmt: skip

    def _short(self, text: str, most: int) -> str:
        return words.short(self.clean(text[:MOST_TEXT]), most)


def _intents(step: Step, steps: Sequence[Step]) -> list[tuple[int, Intended]]:
    """The calls in question. A tool that asks by itself is the call at the step that the answer names."""
    numbers = step.body.calls if isinstance(step.body, Asked) else ()
    found = [(n, steps[n].body) for n in numbers]
    return [(n, body) for n, body in found if isinstance(body, Intended)]


def _data(result: str) -> str:
    """What a call gave back, without the form in which models get it."""
    try:
        told = json.loads(result) if len(result) < MOST_PARSED else None
    except (ValueError, RecursionError):
        return result
    data = unwrapped(told)
    return result if data is None or data is told else data if isinstance(data, str) else words.compact(data)
