"""A finished turn of the owner's, as a lesson is drawn from it: what was asked, which calls were made, how they ended, what the owner put
right.

A reading of recorded steps and of the events that the turn took in; nothing that a model said of its work is part of it. Only turns count
that the owner's own words began, in the world and not in a fork, and of which nothing was erased since. For all others there is no
experience (None), so nothing can be learned from what somebody else asked, nor from what happened by itself.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Literal

from pydantic import JsonValue

from daimon.abi.event import Erased, Event, Said
from daimon.abi.ids import OWNER, WITHOUT_TOOLS, EventId, TurnId
from daimon.abi.label import UNLABELLED, Author, Label
from daimon.abi.message import Text
from daimon.abi.money import Usage
from daimon.abi.step import Answered, Asked, Happened, Intended, ModelFailed, Received, Replied, Settled, Step
from daimon.abi.turn import Ending, Turn

USES_SKILL = "use_skill"
DENIALS = frozenset({"deny", "stop"})
HAS_ENDED_WELL = frozenset({Ending.ANSWERED, Ending.SILENT})


@dataclass(frozen=True, slots=True)
class Deed:
    """A call and what came of it."""

    n: int
    """The step that intended it."""
    tool: str
    arguments: Mapping[str, JsonValue]
    is_clean: bool
    """Nobody but the owner and trusted services had a word in what the model had read when it made this call."""
    code: str = ""
    """Empty: it went well."""
    data: JsonValue = None
    label: Label = UNLABELLED
    labels: Mapping[str, Label] | None = None


@dataclass(frozen=True, slots=True)
class Correction:
    """The owner put something right."""

    how: Literal["steered", "denied", "said after it"]
    after: int
    """The step behind which it came."""
    words: str = ""
    """The owner's own; empty where there were none."""
    tool: str = ""
    """Whose call was refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Experience:
    turn: TurnId
    conversation: str
    at: datetime
    asked: str
    words: tuple[str, ...]
    """All that the owner said in it, the request first."""
    deeds: tuple[Deed, ...] = ()
    corrections: tuple[Correction, ...] = ()
    ending: Ending = Ending.ANSWERED
    model_calls: int = 0
    tokens: int = 0
    cost: Decimal | None = None
    """None: nobody knows all of it."""
    parts: tuple["Experience", ...] = ()
    """Of one that was put together: the single turns, in order."""

    @property
    def turns(self) -> tuple[TurnId, ...]:
        return tuple(each.turn for each in self.parts) or (self.turn,)

    @property
    def went_well(self) -> bool:
        return self.ending in HAS_ENDED_WELL

    @property
    def skills(self) -> tuple[str, ...]:
        """Those that were read or ran, by name, as they were asked for."""
        return tuple(dict.fromkeys(name for deed in self.deeds if not deed.code for name in _skill(deed)))


def experience(turn: Turn, event: Event, steps: Sequence[Step], taken: Mapping[EventId, Event]) -> Experience | None:
    """`taken`: the events that the turn took in later, by id."""
    asked = words_of(event)
    if not asked or not _is_owners_turn(turn, event) or any(isinstance(step.body, Erased) for step in steps):
        return None
    return Experience(
        turn=turn.id,
        conversation=turn.conversation,
        at=turn.ended_at or turn.created_at,
        asked=asked,
        words=(asked, *(each.words for each in _steered(steps, taken))),
        deeds=tuple(_deeds(steps)),
        corrections=tuple(sorted((*_steered(steps, taken), *_denied(steps)), key=lambda each: each.after)),
        ending=turn.ending or Ending.FAILED,
        model_calls=sum(isinstance(step.body, Replied | ModelFailed) for step in steps),
        tokens=sum(usage.input_tokens + usage.output_tokens for usage in _usages(steps)),
        cost=_cost(steps),
    )


def continued(before: Experience, after: Experience) -> Experience:
    """Both as one: the request is that of the first, and what the owner said next put it right."""
    last = max((deed.n for deed in before.deeds), default=0) + 1
    moved = (replace(deed, n=deed.n + last) for deed in after.deeds)
    later = (replace(each, after=each.after + last) for each in after.corrections)
    costs = (before.cost, after.cost)
    return replace(
        after,
        asked=before.asked,
        words=(*before.words, *after.words),
        deeds=(*before.deeds, *moved),
        corrections=(*before.corrections, Correction("said after it", last - 1, after.asked), *later),
        model_calls=before.model_calls + after.model_calls,
        tokens=before.tokens + after.tokens,
        cost=None if None in costs else sum((cost for cost in costs if cost is not None), start=Decimal(0)),
        parts=(*(before.parts or (before,)), after),
    )


def words_of(event: Event) -> str:
    """What the owner typed; empty if it was somebody else, or something else."""
    if event.principal != OWNER or not isinstance(event.body, Said) or not _is_owners(event.label):
        return ""
    return "\n".join(part.text for part in event.body.parts if isinstance(part, Text)).strip()


def _is_owners_turn(turn: Turn, event: Event) -> bool:
    is_own_work = turn.principal == OWNER and turn.effects == "world" and turn.forked_from is None
    return is_own_work and turn.parent is None and not turn.job and turn.agent not in WITHOUT_TOOLS and event.id == turn.event


def _is_owners(label: Label) -> bool:
    return bool(label.origins) and all(origin.author is Author.OWNER for origin in label.origins)


def _deeds(steps: Sequence[Step]) -> Iterator[Deed]:
    outcomes = {step.body.intent: step.body for step in steps if isinstance(step.body, Happened)}
    for step in steps:
        if isinstance(step.body, Intended) and isinstance(step.body.arguments, dict) and (outcome := outcomes.get(step.n)) is not None:
            data = _data(outcome)
            result = outcome.result
            code = outcome.code or ("failed" if result.is_error else _exit(data))
            yield Deed(step.n, step.body.tool, step.body.arguments, step.label.is_trusted, code, data, result.label, result.labels)


def _data(outcome: Happened) -> JsonValue:
    """What the tool returned, taken out of the form in which models get it."""
    for part in outcome.result.parts:
        if isinstance(part, Text):
            with suppress(ValueError, RecursionError):
                told = json.loads(part.text)
                return told.get("data") if isinstance(told, dict) and "data" in told else told
            return part.text
    return None


def _exit(data: JsonValue) -> str:
    """A command may have run and failed."""
    code = data.get("exit") if isinstance(data, dict) else None
    return "exit" if isinstance(code, int) and not isinstance(code, bool) and code != 0 else ""


def _steered(steps: Sequence[Step], taken: Mapping[EventId, Event]) -> list[Correction]:
    found = []
    for step in steps:
        if isinstance(step.body, Received) and step.body.resolves is None and not step.body.ignored:
            event = taken.get(step.body.event)
            if event is not None and (words := words_of(event)):
                found.append(Correction("steered", step.n, words))
    return found


def _denied(steps: Sequence[Step]) -> Iterator[Correction]:
    """By the owner's own word; a question that ran out is no word."""
    asked = {step.n: step.body for step in steps if isinstance(step.body, Asked)}
    tools = {step.n: step.body.tool for step in steps if isinstance(step.body, Intended)}
    for step in steps:
        body = step.body
        if isinstance(body, Answered) and body.by == OWNER and body.event is not None and body.choice in DENIALS and body.question in asked:
            yield Correction("denied", step.n, "", next((tools[n] for n in asked[body.question].calls if n in tools), ""))


def _skill(deed: Deed) -> Iterator[str]:
    name = deed.arguments.get("name")
    if deed.tool == USES_SKILL and isinstance(name, str):
        yield name


def _usages(steps: Sequence[Step]) -> list[Usage]:
    settled = [step.body.usage for step in steps if isinstance(step.body, Settled)]
    return settled or [step.body.usage for step in steps if isinstance(step.body, Replied)]


def _cost(steps: Sequence[Step]) -> Decimal | None:
    costs = [usage.cost for usage in _usages(steps)]
    known = [cost for cost in costs if cost is not None]
    return sum(known, start=Decimal(0)) if len(known) == len(costs) else None
