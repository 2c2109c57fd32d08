"""A question as a screen shows it: what would happen, where to, with which data from where, what each answer does.

Pure. Whatever others wrote is handed on as text, in fields of its own; long values are cleaned and cut. The choices are those that the
answer understands (`kernel/verdict.py`), in plain words. Calls are counted from 1, as the question counts them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final, Literal

from pydantic import JsonValue

from daimon.abi.judgement import Provenance, Shown
from daimon.abi.label import Label
from daimon.abi.step import Intended
from daimon.abi.tool import ArgumentRole, Capability, Question
from daimon.gateway.room.cutting import Clean, pretty
from daimon.kernel import offers, verdict
from daimon.kernel.budget import RAISE, WAIT
from daimon.kernel.permission import ALLOW, DENY, GRANT, SEND, STOP, VERBS

MOST_VALUE = 4_000
GRANTED_DAYS = (1, 7)
"""Shorter grants that are offered beside the usual one."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value, or a part of it, can be shown to come from."""

    value: str
    shown: Shown
    note: str


@dataclass(frozen=True, slots=True)
class Argument:
    name: str
    role: ArgumentRole | Literal[""]
    value: str
    size: int
    is_cut: bool
    origins: tuple[Origin, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedCall:
    n: int
    intent: int
    tool: str
    does: str
    can: tuple[str, ...]
    """What it does to the world, in words."""
    arguments: tuple[Argument, ...]
    reason: str
    rules: tuple[str, ...]
    version: str
    grant: str
    """What a grant would cover, in words; empty: it cannot be granted."""
    diff: str = ""
    diff_note: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    choice: str
    """What to answer."""
    title: str
    note: str
    tone: Literal["yes", "no", "grant", "plain"]
    until: datetime | None = None
    """Of a grant: how long it holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    to: str
    """What an answer names: `TURN:STEP`."""
    type: str
    text: str
    is_free: bool
    """Any text will do as an answer."""
    choices: tuple[Choice, ...]
    calls: tuple[AskedCall, ...]
    label: Label
    asked_at: datetime
    expires_at: datetime | None
    conversation: str
    agent: str
    job: str
    principal: str
    began: str
    """What started the task: the beginning of it."""
    spent: Decimal | None
    """By the task so far. None: nobody knows."""


def calls_of(question: Question, intents: Sequence[tuple[int, Intended]], clean: Clean) -> tuple[AskedCall, ...]:
    """What the question says of them stands before what was recorded: values that the model has not seen are filled in there."""
    told = _told(question)
    granted = {offer.call: offers.words(offer.grant) for offer in verdict.offers_in(question)}
    return tuple(_call(n, each, told.get(each[0], {}), granted.get(n, ""), clean) for n, each in enumerate(intents, 1))


def given_in(question: Question, intents: Sequence[tuple[int, Intended]]) -> tuple[JsonValue, ...]:
    """The arguments of each, whole."""
    told = _told(question)
    return tuple(told.get(intent, {}).get("arguments", body.arguments) for intent, body in intents)


def _call(n: int, recorded: tuple[int, Intended], told: dict[str, JsonValue], grant: str, clean: Clean) -> AskedCall:
    (intent, body), roles = recorded, told.get("roles")
    given = told.get("arguments", body.arguments)
    known = {str(name): str(role) for name, role in roles.items()} if isinstance(roles, dict) else {}
    return AskedCall(
        n=n, intent=intent, tool=body.tool, does=str(told.get("does") or ""), can=_can(told.get("can")),
        arguments=_arguments(given, known, body.gate.provenance, clean), reason=clean(body.gate.reason), rules=body.gate.rules,
        version=body.gate.version, grant=grant,
    )  # fmt: skip


def _told(question: Question) -> dict[int, dict[str, JsonValue]]:
    calls = question.details.get("calls") if isinstance(question.details, dict) else None
    items = [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    return {call["intent"]: call for call in items if isinstance(call.get("intent"), int)}  # type: ignore[misc]


def _can(value: JsonValue) -> tuple[str, ...]:
    names = [str(name) for name in value] if isinstance(value, list) else []
    return tuple(VERBS.get(Capability(name), name.replace("_", " ")) for name in names if name in set(Capability))


def _arguments(given: JsonValue, roles: dict[str, str], shown: Sequence[Provenance], clean: Clean) -> tuple[Argument, ...]:
    values = given if isinstance(given, dict) else {"arguments": given}
    known = {**{each.argument: each.role.value for each in shown}, **roles}
    rest = [each.argument for each in shown if each.argument not in values]
    order = sorted(values, key=lambda name: known.get(name) != ArgumentRole.DESTINATION)
    return tuple(
        _argument(name, values.get(name), known.get(name, ""), tuple(each for each in shown if each.argument == name), clean)
        for name in (*order, *dict.fromkeys(rest))
    )


def _argument(name: str, value: JsonValue, role: str, shown: Sequence[Provenance], clean: Clean) -> Argument:
    text = clean(value if isinstance(value, str) else "" if value is None else pretty(value))
    origins = tuple(Origin(clean(each.value), each.shown, clean(each.note)) for each in shown)
    is_hidden = role == ArgumentRole.SECRET
    known: ArgumentRole | Literal[""] = ArgumentRole(role) if role in set(ArgumentRole) else ""
    return Argument(name, known, "(a secret)" if is_hidden else text[:MOST_VALUE], len(text), len(text) > MOST_VALUE, origins)


def choices_of(question: Question, calls: Sequence[AskedCall]) -> tuple[Choice, ...]:
    """The safe one first, as the question has it."""
    if question.type == "authorise":
        return tuple(choice for option in question.options for choice in _permission(option, question, calls))
    return tuple(_plain(option, i == 0, question) for i, option in enumerate(question.options))


def _permission(option: str, question: Question, calls: Sequence[AskedCall]) -> tuple[Choice, ...]:
    every = "all of them" if len(calls) > 1 else "it"
    match option:
        case _ if option == DENY:
            return (Choice(DENY, "Deny", f"Nothing is done; the agent is told no to {every}.", "no"),)
        case _ if option == ALLOW:
            return (Choice(ALLOW, "Allow once", f"Does {every} now; the next time it asks again.", "yes"),)
        case _ if option == GRANT:
            return tuple(_grants(question))
        case _:
            return (Choice(option, option, "", "plain"),)


def _grants(question: Question) -> list[Choice]:
    offered = verdict.offers_in(question)
    covers = "; ".join(offers.words(offer.grant) for offer in offered)
    note = f"Allows it, and from now on without asking: {covers}, whatever the rest says."
    shorter = [Choice(f"{GRANT} for {days} days", f"Allow for {_span(days)}", note, "grant") for days in GRANTED_DAYS]
    until = offered[0].grant.until if offered else None
    return [*shorter, Choice(GRANT, f"Allow for {offers.DAYS} days", note, "grant", until)]


def _span(days: int) -> str:
    return "a day" if days == 1 else "a week" if days == 7 else f"{days} days"


_MONEY: Final[Mapping[str, tuple[str, Literal["yes", "no", "plain"]]]] = {
    STOP: ("Stop the task", "no"),
    ALLOW: ("Allow for this task", "yes"),
    RAISE: ("Raise the limit", "plain"),
    WAIT: ("Wait until it begins anew", "plain"),
}


def _plain(option: str, is_safe: bool, question: Question) -> Choice:
    if question.type == "undo":
        known = {SEND: Choice(SEND, "Send it now", "", "yes"), STOP: Choice(STOP, "Stop it", "It is not sent.", "no")}
        return known.get(option, Choice(option, option, "", "plain"))
    note = "Taken when nobody answers in time." if is_safe and question.expires_at is not None else ""
    if question.type == "money" and option in _MONEY:
        title, tone = _MONEY[option]
        return Choice(option, title, note, tone)
    return Choice(option, option, note, "plain")
