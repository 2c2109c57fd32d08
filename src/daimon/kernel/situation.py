"""A turn as the gate sees it: who said what, what was read, what was done, what was planned. A reading of its
steps, and of what the model had before it when it decided."""

import json
from contextlib import suppress
from dataclasses import replace

from pydantic import JsonValue

from daimon.abi.context import Background
from daimon.abi.event import Event, Fired, FromAgent, Heartbeat, Said, Webhook
from daimon.abi.fields import label_at
from daimon.abi.judgement import Licensed, Made, Seen, Situation
from daimon.abi.label import Author, Label
from daimon.abi.message import Text, ToolCall, ToolResult
from daimon.abi.plan import Plan
from daimon.abi.step import Answered, Asked, Happened, Intended, Started, Step
from daimon.abi.tool import Capability, Manifest, StatePlan
from daimon.kernel.calls import call_for
from daimon.kernel.dispatch import UNCLEAR, Dispatch
from daimon.kernel.held import known_in, label_of
from daimon.kernel.log import Log

MAY_HAVE_BEGUN = frozenset({"unknown_outcome", "expired"})
"""Codes of outcomes that somebody closed without knowing how the call ended."""

EARLIER = -1
WITH_THE_EVENT = -1
"""The step of a plan that came with the event itself."""


async def situation_of(log: Log, dispatch: Dispatch, n: int) -> Situation:
    """Of a call that is on record."""
    intended = log.progress.intent(n)
    assert intended is not None
    await dispatch.holding.fetch(log, intended.arguments)
    return situation_for(log, n, dispatch.known(), intended.arguments)


def situation_for(log: Log, n: int, manifests: dict[str, Manifest], arguments: JsonValue) -> Situation:
    steps, background = tuple(log.progress.steps), log.progress.background
    outcomes = {step.body.intent: step for step in steps if isinstance(step.body, Happened)}
    call, held = call_for(log, n), known_in(log, arguments)
    return Situation(
        call=replace(call, label=call.label.joined(label_of(held.values()))),
        words=(*_words((log.claim.event, *background.events.values())), *_typed(steps, outcomes)),
        seen=tuple(_seen(log.progress.seen, steps, outcomes)),
        before=_before(background),
        made=tuple(_made(steps, outcomes, manifests, n)),
        plans=(*_standing(log.claim.event), *_plans(steps, manifests)),
        declined=tuple(_declined(steps)),
        grants=log.desk.grants.current(log.now()),
        job=log.claim.turn.job,
        outflow=log.desk.outflow.today(log.now()),
        most=log.desk.outflow.most,
        held=held,
        heard=call.label,
        came=log.claim.event.body.data if isinstance(log.claim.event.body, Heartbeat) else None,
    )


def _words(events: tuple[Event, ...]) -> tuple[str, ...]:
    """Only what the owner said: anybody else's words license nothing. A task that the owner set counts, whoever sent what it is about."""
    said: list[str] = []
    for event in events:
        if isinstance(event.body, Webhook | Heartbeat) and event.body.task and event.body.by is not None and _is_owners(event.body.by):
            said.append(event.body.task)
        if not _is_owners(event.label):
            continue
        if isinstance(event.body, Said | FromAgent):
            said += [part.text for part in event.body.parts if isinstance(part, Text)]
        elif isinstance(event.body, Fired):
            said.append(event.body.about)
    return tuple(said)


def _typed(steps: tuple[Step, ...], outcomes: dict[int, Step]) -> list[str]:
    """What the owner wrote when the agent asked. An option that was merely chosen holds the agent's words, not the owner's."""
    asked = [step.body.intent for step in steps if isinstance(step.body, Started) and step.body.question and not step.body.goes_on]
    found = []
    for outcome in (outcomes[n].body for n in asked if n in outcomes):
        if isinstance(outcome, Happened) and _is_owners(label_at(outcome.result.labels, ("text",), outcome.result.label)):
            data = _data(outcome.result.parts)
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


def _before(background: Background) -> tuple[Seen, ...]:
    """What earlier turns read that the model may still have before it. It licenses nothing, so its data is left out."""
    found, asked = [], dict[str, JsonValue]()
    for part in (part for stretch in background.earlier for message in stretch.messages for part in message.parts):
        match part:
            case ToolCall(call, _, arguments):
                asked[call] = arguments
            case ToolResult(call, tool, is_error=False):
                found.append(Seen(EARLIER, tool, asked.get(call), None, part.label, part.labels))
            case _:
                pass
    return tuple(found)


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
        if not _is_refused(outcome) and (manifest is None or manifest.is_consequential):
            found.append(Made(step.n, step.body.tool, step.body.arguments, step.body.gate.by, _has_failed(outcome)))
    return found


def _has_failed(outcome: Step | None) -> bool:
    """Its tool ran and said that it failed; not one of which nobody knows."""
    body = None if outcome is None else outcome.body
    return isinstance(body, Happened) and body.how in ("ran", "reran") and bool(body.code) and body.code not in UNCLEAR


def _is_refused(outcome: Step | None) -> bool:
    """It never reached its tool. What may have begun counts as done, whatever a person said of it later."""
    return (
        outcome is not None
        and isinstance(outcome.body, Happened)
        and outcome.body.how == "refused"
        and outcome.body.code not in MAY_HAVE_BEGUN
    )


def _standing(event: Event) -> tuple[Licensed, ...]:
    """What the owner stated when they set an automation: each of its turns has it from the first step, to be spent anew."""
    match event.body:
        case Heartbeat(plan=Plan() as plan, by=Label() as by) if _is_owners(by):
            return (Licensed(WITH_THE_EVENT, plan),)
        case _:
            return ()


def _plans(steps: tuple[Step, ...], manifests: dict[str, Manifest]) -> list[Licensed]:
    """Only of tools that say of themselves that they plan: the gate judged their calls as such."""
    return [
        Licensed(step.body.intent, operation.plan)
        for step in steps
        if isinstance(step.body, Happened) and _does_plan(steps[step.body.intent], manifests)
        for operation in step.body.operations
        if isinstance(operation, StatePlan)
    ]


def _does_plan(intent: Step, manifests: dict[str, Manifest]) -> bool:
    manifest = manifests.get(intent.body.tool) if isinstance(intent.body, Intended) else None
    return manifest is not None and Capability.PLANS in manifest.capabilities


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
