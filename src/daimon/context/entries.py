"""A turn as entries: what was asked, each reply, then the results of its calls in the order of the intents, then what else was said.

Made from recorded steps alone, so the same steps give the same entries. What is expensive about an entry, its shorter forms and their
sizes, is made once: `Entries` keeps entries by the step that they were made of, and steps do not change.
"""

import json
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import datetime

from pydantic import JsonValue

from daimon.abi.context import Block, Entry, Sort
from daimon.abi.event import Event
from daimon.abi.ids import EventId, TurnId
from daimon.abi.label import Label
from daimon.abi.message import Message, Role, Text, ToolResult
from daimon.abi.step import Happened, Intended, Received, Replied, Step
from daimon.context import compress, held
from daimon.context.render import from_event
from daimon.context.tokens import estimate

FINDS = "find_tools"
"""The tool that looks for tools."""
MOST_KEPT = 4_096
MOST_SUBJECT = 200
_VERSION = re.compile(r'"version": ?"([^"]{1,80})"')
_VERSION_AT = 300


class Entries:
    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, int, str], Entry] = OrderedDict()

    def of_turn(self, event: Event, turn: TurnId, steps: tuple[Step, ...], events: Mapping[EventId, Event]) -> list[Entry]:
        asked = self._once(event.id, 0, "", lambda: entry(event.id, "said", turn, event.received_at, from_event(event), starts=True))
        found = [asked]
        outcomes = {step.body.intent: step for step in steps if isinstance(step.body, Happened)}
        for step in steps:
            made = self._of_step(step, outcomes, events)
            if made is not None:
                found.append(made)
        return found

    def _of_step(self, step: Step, outcomes: Mapping[int, Step], events: Mapping[EventId, Event]) -> Entry | None:
        match step.body:
            case Replied(parts=parts) if parts:
                message = Message(Role.ASSISTANT, parts, step.label)
                return self._once(step.turn, step.n, "", lambda: entry(str(step.ref), "reply", step.turn, step.at, message, starts=True))
            case Intended() if step.n in outcomes:
                outcome = outcomes[step.n]
                return self._once(step.turn, step.n, "", lambda: _result(step, outcome))
            case Received(event=event, resolves=None):
                later = events[event]
                return self._once(
                    event, 0, step.turn, lambda: entry(event, "said", step.turn, later.received_at, from_event(later), starts=True)
                )
            case _:
                return None

    def _once(self, source: str, n: int, more: str, make: Callable[[], Entry]) -> Entry:
        key = (source, n, more)
        kept = self._kept.get(key)
        if kept is None:
            kept = self._kept[key] = make()
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return kept

    def clear(self) -> None:
        self._kept.clear()


def of_block(block: Block, sort: Sort, turn: TurnId, at: datetime) -> Entry:
    """In its shorter forms it is gone but for a word: what is in it can be recalled again."""
    short = Message(block.message.role, (Text("[recalled for this question, left out here]"),), block.message.label)
    tokens = estimate(short)
    return Entry(turn, sort, turn, at, block.message, short, short, (estimate(block.message), tokens, tokens), starts=True)


def entry(source: str, sort: Sort, turn: TurnId, at: datetime, message: Message, *, starts: bool = False) -> Entry:
    brief, bare = compress.brief(message, source), compress.bare(message, source)
    return Entry(source, sort, turn, at, message, brief, bare, _sizes(message, brief, bare), starts)


def _result(intended: Step, outcome: Step) -> Entry:
    """What is held of it is not shown, and does not count for the label."""
    assert isinstance(intended.body, Intended)
    assert isinstance(outcome.body, Happened)
    seen = held.shown(intended.body.key, outcome.body)
    label: Label = outcome.label if outcome.body.hold == "never" else seen.label
    message = Message(Role.TOOL, (seen,), label)
    source = str(outcome.ref)
    brief, bare = compress.brief(message, source), compress.bare(message, source)
    path = _path(intended.body.arguments)
    return Entry(
        source, "result", outcome.turn, outcome.at, message, brief, bare, _sizes(message, brief, bare),
        subject=subject(intended.body.tool, intended.body.arguments),
        file=path, version=_version(seen) if path else "",
        changes=tuple(each.what for each in outcome.body.touched if each.kind == "file"),
        is_error=bool(outcome.body.code), shows=_shows(intended.body.tool, outcome.body),
    )  # fmt: skip


def subject(tool: str, arguments: JsonValue) -> str:
    """The tool and what it was used on."""
    given = arguments.values() if isinstance(arguments, dict) else ()
    first = next((value for value in given if isinstance(value, str)), "")
    return f"{tool} {' '.join(first[:MOST_SUBJECT].split())}".strip()


def _shows(tool: str, outcome: Happened) -> tuple[str, ...]:
    """What was found is read from the record, not from what the model was shown of it."""
    text = next((part.text for part in outcome.result.parts if isinstance(part, Text)), "")
    if tool != FINDS or outcome.code:
        return (tool,)
    try:
        found = json.loads(text)["data"]["tools"]
    except (ValueError, LookupError, TypeError):
        return ()  # only names were listed, or it was shortened
    return tuple(found) if isinstance(found, dict) else ()


def _path(arguments: JsonValue) -> str:
    path = arguments.get("path") if isinstance(arguments, dict) else None
    return path if isinstance(path, str) else ""


def _version(result: ToolResult) -> str:
    text = next((part.text for part in result.parts if isinstance(part, Text)), "")
    found = _VERSION.search(text[-_VERSION_AT:])
    return found[1] if found else ""


def _sizes(whole: Message, brief: Message, bare: Message) -> tuple[int, int, int]:
    """A shorter form that is not shorter counts as it is: `policy.py` relies on sizes that never grow."""
    full = estimate(whole)
    middle = full if brief is whole else min(estimate(brief), full)
    return full, middle, middle if bare is whole else min(estimate(bare), middle)
