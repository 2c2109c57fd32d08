"""What reflex does about each intent: a plan is a generator that yields the tools it wants used and returns what to say.

A plan has no memory. On every request it runs from its start and is fed the results that are already there; the first use without a result
is the next call. So the same request gives the same bytes, and a crash between two calls loses nothing. A failed tool ends a plan before it
sees the result (`reflex.py`). Invariant: a note or a reminder goes only when it is the one that fits, or when the owner picked it.

What is said here is English; what is understood is in the tables.
"""

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import BaseModel, JsonValue

from daimon.abi.tool import Manifest
from daimon.models import results
from daimon.models.intents import Intent
from daimon.models.task import task_of
from daimon.models.when import resolve
from daimon.models.zones import zone_of

BUILT_IN = "I am reflex, the small built-in model: I know a few phrases and guess nothing."
BETTER = "`daimon model add` connects a better one."
HELP = """You can say:
- "remember that my locker code is 4711", "what did I say about the locker?", "forget what I said about the locker"
- "remind me tomorrow at 9 to call mum", "what are my reminders?", "cancel the reminder to call mum"
- "what time is it?", "what time is it in Tokyo?"
- "status", "who are you?", "help\""""
ASK_WHEN = "When shall I remind you"
"""How the question for a time begins; `reflex.py` recognises by it what the next message answers."""
NONE_OF_THEM = "none of them"
MOST_OPTIONS = 7
LONGEST_OPTION = 80


@dataclass(frozen=True, slots=True)
class Use:
    """A tool that a plan wants used, and the shape of its answer."""

    tool: str
    arguments: dict[str, JsonValue]
    shape: type[BaseModel]


Plan = Generator[Use, Any, str]
Slots = dict[str, str]
Tools = Mapping[str, Manifest]


def tell_time(slots: Slots, _: Tools) -> Plan:
    zone = zone_of(slots["place"]) if "place" in slots else None
    if "place" in slots and zone is None:
        return f'I don\'t know the time zone of "{slots["place"]}".'
    now: results.Now = yield Use("now", {"zone": zone} if zone else {}, results.Now)
    return f"It is {now.time:%H:%M} on {_date(now.time)} ({now.zone})."


def remember(slots: Slots, _: Tools) -> Plan:
    yield Use("remember", {"text": slots["text"]}, results.Nothing)
    return f"Noted: {slots['text']}"


def recall(slots: Slots, _: Tools) -> Plan:
    query = slots.get("query", "")
    found: results.Notes = yield Use("recall", {"query": query}, results.Notes)
    about = f' about "{query}"' if query else ""
    if not found.kept:
        return f"I have no note{about}."
    return _listed(f"My notes{about}:", [note.text for note in found.kept])


def forget(slots: Slots, tools: Tools) -> Plan:
    query = slots["query"]
    found: results.Notes = yield Use("recall", {"query": query}, results.Notes)
    if not found.kept:
        return f'I have no note about "{query}".'
    fitting = [note for note in found.kept if _mentions(note.text, query)]
    if len(fitting) != 1:
        among = fitting or found.kept
        picked = yield from _pick("Which of these notes shall I forget?", [n.text for n in among], tools)
        if isinstance(picked, str):
            return picked
        fitting = [among[picked]]
    yield Use("forget", {"note": fitting[0].id}, results.Nothing)
    return f"Forgotten: {fitting[0].text}"


def remind(slots: Slots, _: Tools) -> Plan:
    task = task_of(slots)
    if not task.about:
        return 'What shall I remind you of? Say it in one sentence, such as "remind me tomorrow at 9 to call mum".'
    if task.moment is None:
        return ask_when(task.about)
    if task.moment.is_repeated:
        return "I can only remind you once, not again and again, so I set nothing."
    now: results.Now = yield Use("now", {}, results.Now)
    at = resolve(task.moment, now.time, _zone(now))
    if at is None:
        return f"I cannot tell one time to come from that. {ask_when(task.about)}"
    yield Use("remind", {"at": at.isoformat(), "about": task.about}, results.Nothing)
    return f"I will remind you on {_moment(at)}: {task.about}"


def ask_when(about: str) -> str:
    return f'{ASK_WHEN} of "{about}"? Say for example "tomorrow at 9:00" or "in 20 minutes".'


def list_reminders(_: Slots, tools: Tools) -> Plan:
    found: results.Reminders = yield Use("reminders", {}, results.Reminders)
    if not found.reminders:
        return "You have no reminders."
    zone = yield from _own_zone(tools)
    return _listed("Your reminders:", [_reminder(r, zone) for r in found.reminders])


def cancel(slots: Slots, tools: Tools) -> Plan:
    query = slots.get("query", "")
    found: results.Reminders = yield Use("reminders", {}, results.Reminders)
    if not found.reminders:
        return "You have no reminders."
    fitting = [r for r in found.reminders if not query or _mentions(r.about, query)]
    if len(fitting) != 1:
        among = fitting or found.reminders
        zone = yield from _own_zone(tools)
        picked = yield from _pick("Which of these reminders shall I cancel?", [_reminder(r, zone) for r in among], tools)
        if isinstance(picked, str):
            return picked
        fitting = [among[picked]]
    yield Use("cancel_reminder", {"reminder": fitting[0].timer}, results.Nothing)
    return f"Cancelled: {fitting[0].about}"


def report(_: Slots, __: Tools) -> Plan:
    status: results.Status = yield Use("status", {}, results.Status)
    counts = {"events": status.events, "timers": status.timers}
    turns = ", ".join(f"{n} {state}" for state, n in status.turns.items() if n) or "none"
    return f"I am running. Turns: {turns}. " + " ".join(f"{what.capitalize()}: {n}." for what, n in counts.items() if n is not None)


def say(text: str) -> Callable[[Slots, Tools], Plan]:
    def plan(_: Slots, __: Tools) -> Plan:
        yield from ()
        return text

    return plan


@dataclass(frozen=True, slots=True)
class Way:
    plan: Callable[[Slots, Tools], Plan]
    needs: tuple[str, ...] = ()


WAYS: dict[Intent, Way] = {
    Intent.HELLO: Way(say('Hello. Say "help" for what I can do.')),
    Intent.THANKS: Way(say("You are welcome.")),
    Intent.BYE: Way(say("Goodbye.")),
    Intent.NEVER_MIND: Way(say("All right, I changed nothing.")),
    Intent.HELP: Way(say(f"{BUILT_IN} {HELP}\n{BETTER}")),
    Intent.WHO: Way(say(f"I am Daimon, your personal agent. For the moment {BUILT_IN} {BETTER}")),
    Intent.STATUS: Way(report, ("status",)),
    Intent.TIME: Way(tell_time, ("now",)),
    Intent.REMEMBER: Way(remember, ("remember",)),
    Intent.RECALL: Way(recall, ("recall",)),
    Intent.FORGET: Way(forget, ("recall", "forget")),
    Intent.REMIND: Way(remind, ("now", "remind")),
    Intent.REMINDERS: Way(list_reminders, ("reminders",)),
    Intent.CANCEL: Way(cancel, ("reminders", "cancel_reminder")),
}


def _pick(question: str, texts: Sequence[str], tools: Tools) -> Generator[Use, Any, int | str]:
    """Which one is meant: its place, or what to say instead."""
    if "ask_owner" not in tools:
        return _listed(f"{question} Say it again with more of its words.", texts)
    options = [f"{n}. {text}"[:LONGEST_OPTION] for n, text in enumerate(texts[:MOST_OPTIONS], 1)]
    answer: results.Choice = yield Use("ask_owner", {"question": question, "options": [NONE_OF_THEM, *options]}, results.Choice)
    return options.index(answer.choice) if answer.choice in options else "All right, I changed nothing."


def _mentions(text: str, query: str) -> bool:
    """Is every word of the query in the text, as one or as many? `car` is not in `carpet`."""
    wanted = _singular(query)
    return bool(wanted) and wanted <= _singular(text)


def _singular(text: str) -> set[str]:
    return {word.removesuffix("s") or word for word in re.findall(r"\w+", text.lower())}


def _listed(title: str, lines: Sequence[str]) -> str:
    return "\n".join([title, *(f"- {line}" for line in lines)])


def _reminder(reminder: results.Reminder, zone: tzinfo | None) -> str:
    return f"{reminder.about}, on {_moment(reminder.at.astimezone(zone) if zone else reminder.at)}"


def _own_zone(tools: Tools) -> Generator[Use, Any, tzinfo | None]:
    """Reminders come in any zone, people live in one."""
    if "now" not in tools:
        return None
    now: results.Now = yield Use("now", {}, results.Now)
    return _zone(now)


def _moment(at: datetime) -> str:
    return f"{_date(at)} at {at:%H:%M}"


def _date(at: datetime) -> str:
    return f"{at:%A}, {at.day} {at:%B} {at.year}"


def _zone(now: results.Now) -> tzinfo:
    try:
        return ZoneInfo(now.zone)
    except (KeyError, ValueError, OSError):
        return now.time.tzinfo or UTC
