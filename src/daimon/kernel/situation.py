"""A turn as the gate sees it: who said what, what was read, what was done, what was planned. A reading of its steps."""

import json
from contextlib import suppress
from dataclasses import replace

from pydantic import JsonValue

from daimon.abi.event import Event, Fired, FromAgent, Said
from daimon.abi.judgement import Licensed, Made, Seen, Situation
from daimon.abi.label import Author, Label
from daimon.abi.message import Text
from daimon.abi.step import Answered, Asked, Happened, Intended, Step
from daimon.abi.tool import Manifest, StatePlan
from daimon.kernel.calls import call_for
from daimon.kernel.dispatch import Dispatch
from daimon.kernel.held import known_in, label_of
from daimon.kernel.log import Log


async def situation_of(log: Log, dispatch: Dispatch, n: int) -> Situation:
    """Of a call that is on record."""
    intended = log.progress.intent(n)
    assert intended is not None
    await dispatch.holding.fetch(log, intended.arguments)
    return situation_for(log, n, dispatch.known(), intended.arguments)


def situation_for(log: Log, n: int, manifests: dict[str, Manifest], arguments: JsonValue) -> Situation:
    steps = tuple(log.progress.steps)
    outcomes = {step.body.intent: step for step in steps if isinstance(step.body, Happened)}
    call, held = call_for(log, n), known_in(log, arguments)
    return Situation(
        call=replace(call, label=call.label.joined(label_of(held.values()))),
        words=(*_words((log.claim.event, *log.progress.heard.values())), *_typed(outcomes)),
        seen=tuple(_seen(log.progress.seen, steps, outcomes)),
        made=tuple(_made(steps, outcomes, manifests, n)),
        plans=tuple(_plans(steps)),
        declined=tuple(_declined(steps)),
        grants=log.desk.grants.current(log.now()),
        job=log.claim.turn.job,
        held=held,
        heard=call.label,
    )


def _words(events: tuple[Event, ...]) -> tuple[str, ...]:
    """Only what the owner said: anybody else's words license nothing."""
    said: list[str] = []
    for event in events:
        if not _is_owners(event.label):
            continue
        if isinstance(event.body, Said | FromAgent):
            said += [part.text for part in event.body.parts if isinstance(part, Text)]
        elif isinstance(event.body, Fired):
            said.append(event.body.about)
    return tuple(said)


def _typed(outcomes: dict[int, Step]) -> list[str]:
    """What the owner wrote when the agent asked. An option that was merely chosen holds the agent's words, not the owner's."""
    found = []
    for step in outcomes.values():
        if isinstance(step.body, Happened) and step.body.how == "answered" and _is_owners(step.body.result.label):
            data = _data(step.body.result.parts)
            if isinstance(data, dict) and isinstance(text := data.get("text"), str):
                found.append(text)
    return found


def _is_owners(label: Label) -> bool:
    return bool(label.origins) and all(origin.author is Author.OWNER for origin in label.origins)


def _seen(kept: dict[int, Seen], steps: tuple[Step, ...], outcomes: dict[int, Step]) -> list[Seen]:
    found = []
    for step in steps:
        outcome = outcomes.get(step.n)
        if isinstance(step.body, Intended) and outcome is not None and isinstance(outcome.body, Happened) and not outcome.body.code:
            if step.n not in kept:
                result = outcome.body.result
                kept[step.n] = Seen(step.n, step.body.tool, step.body.arguments, _data(result.parts), result.label, result.labels)
            found.append(kept[step.n])
    return found


def _data(parts: tuple[object, ...]) -> JsonValue:
    """What the tool returned, taken out of the form in which it is shown to the model."""
    for part in parts:
        if isinstance(part, Text):
            with suppress(ValueError, RecursionError):
                body = json.loads(part.text)
                if isinstance(body, dict):
                    return body.get("data")
            return part.text
    return None


def _made(steps: tuple[Step, ...], outcomes: dict[int, Step], manifests: dict[str, Manifest], n: int) -> list[Made]:
    found = []
    for step in steps:
        if not isinstance(step.body, Intended) or step.n == n or step.body.gate.verdict in ("invalid", "deny"):
            continue
        outcome, manifest = outcomes.get(step.n), manifests.get(step.body.tool)
        is_refused = outcome is not None and isinstance(outcome.body, Happened) and outcome.body.how in ("refused", "cancelled")
        if not is_refused and (manifest is None or manifest.is_consequential):
            found.append(Made(step.n, step.body.tool, step.body.arguments, step.body.gate.by))
    return found


def _plans(steps: tuple[Step, ...]) -> list[Licensed]:
    return [
        Licensed(step.body.intent, operation.plan)
        for step in steps
        if isinstance(step.body, Happened)
        for operation in step.body.operations
        if isinstance(operation, StatePlan)
    ]


def _declined(steps: tuple[Step, ...]) -> list[str]:
    """Tools whose call a person was asked about and refused."""
    asked = {step.n: step.body for step in steps if isinstance(step.body, Asked)}
    intents = {step.n: step.body.tool for step in steps if isinstance(step.body, Intended)}
    refused: list[int] = []
    for step in steps:
        match step.body:
            case Answered(question=n, choice="deny" | "stop"):
                refused += asked[n].calls
            case Answered(question=n, only=only) if only:
                refused += [call for call in asked[n].calls if call not in only]
            case _:
                pass
    return [intents[n] for n in refused if n in intents]
