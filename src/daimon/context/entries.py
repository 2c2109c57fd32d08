"""A turn as entries: what was asked, each reply, then the results of its calls in the order of the intents, then what else was said.

Made from recorded steps alone, so the same steps give the same entries. What is expensive about an entry, its shorter forms, their sizes
and bytes, is made once: `Entries` keeps what was made of a turn, and a turn that grew only costs what is new in it. Steps do not change;
an outcome that comes late goes to the call that it belongs to, so a turn is read again from its oldest open call.

Whoever shows entries to a model gives a redactor: what is shown is cleaned before anything is cut out of it.
"""

import json
import posixpath
import re
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from pydantic import JsonValue

from daimon.abi.cleaning import cleaned
from daimon.abi.codec import encode, fingerprint
from daimon.abi.context import Block, Entry, Sort
from daimon.abi.event import Event
from daimon.abi.ids import BlobHash, EventId, TurnId
from daimon.abi.label import Author, Label, Origin
from daimon.abi.message import Message, Role, Text, ToolResult
from daimon.abi.secret import Redactor
from daimon.abi.step import Happened, Intended, Received, Replied, Step
from daimon.context import compress, held
from daimon.context.render import from_event
from daimon.context.tokens import estimate

FINDS = "find_tools"
"""The tool that looks for tools."""
USES = "use_skill"
"""The tool that reads a skill; it comes up with a suggestion, and brings up what the skill needs."""
MOST_KEPT = 64
"""So many turns."""
MOST_LABELS = 10_000
MOST_SUBJECT = 200
_VERSION = re.compile(r'"version": ?"([^"]{1,80})"')
_VERSION_AT = 300
_OURS = Label.of(Origin(Author.SERVICE, "daimon"))
GONE = Message(Role.USER, (Text("[recalled for this question, left out here]"),), _OURS)
GONE_SKILLS = Message(Role.USER, (Text("[skills for this question, left out here]"),), _OURS)


@dataclass(slots=True)
class _Grown:
    """A turn, as far as it was read."""

    found: list[Entry]
    steps: tuple[Step, ...] = ()
    again: int = 0
    """The first step that must be read again when the turn has grown: that of the oldest open call, or the end."""
    kept: int = 1
    """Entries before that."""
    known: dict[int, Entry] = field(default_factory=dict)
    """By step."""


class Entries:
    def __init__(self, redactor: Redactor | None = None) -> None:
        self._redactor = redactor
        self._version = redactor.version if redactor else 0
        self._turns: OrderedDict[TurnId, _Grown] = OrderedDict()
        self._labels: dict[Label, Label] = {}

    def of_turn(self, event: Event, turn: TurnId, steps: tuple[Step, ...], events: Mapping[EventId, Event]) -> list[Entry]:
        """The list is the one that is kept: to be read only."""
        self._keep_clean()
        grown = self._turns.get(turn)
        if grown is None or not _goes_on(grown, steps):
            asked = entry(event.id, "said", turn, event.received_at, self.clean(from_event(event)), starts=True)
            grown = self._turns[turn] = _Grown([asked])
            if len(self._turns) > MOST_KEPT:
                self._turns.popitem(last=False)
        self._grow(grown, steps, events)
        return grown.found

    def _grow(self, grown: _Grown, steps: tuple[Step, ...], events: Mapping[EventId, Event]) -> None:
        """Results stand behind their reply, whatever was said meanwhile: `slot` is where the next one goes."""
        if len(steps) == len(grown.steps):
            return
        found = grown.found = grown.found[: grown.kept]
        outcomes = {step.body.intent: step for step in steps[grown.again :] if isinstance(step.body, Happened)}
        slot, begun, again = len(found), (grown.again, grown.kept), None
        for n in range(grown.again, len(steps)):
            step = steps[n]
            match step.body:
                case Replied(parts=parts) if parts:
                    begun, slot = (n, len(found)), len(found) + 1
                    found.append(self._once(grown, step, events))
                case Intended() if step.n in outcomes:
                    made = grown.known.get(step.n) or self._result(step, outcomes[step.n])
                    grown.known[step.n] = made
                    found.insert(slot, made)
                    slot += 1
                case Intended():
                    again = again or begun
                case Received(resolves=None):
                    found.append(self._once(grown, step, events))
                case _:
                    pass
        grown.steps, (grown.again, grown.kept) = steps, again or begun

    def _once(self, grown: _Grown, step: Step, events: Mapping[EventId, Event]) -> Entry:
        made = grown.known.get(step.n)
        if made is not None:
            return made
        if isinstance(step.body, Received):
            later = events[step.body.event]
            made = entry(later.id, "said", step.turn, later.received_at, self.clean(from_event(later)), starts=True)
        else:
            assert isinstance(step.body, Replied)
            message = self.clean(Message(Role.ASSISTANT, step.body.parts, step.label))
            made = entry(str(step.ref), "reply", step.turn, step.at, message, starts=True)
        grown.known[step.n] = made
        return made

    def _result(self, intended: Step, outcome: Step) -> Entry:
        """What is held of it is not shown, and does not count for the label."""
        assert isinstance(intended.body, Intended)
        assert isinstance(outcome.body, Happened)
        seen = held.shown(intended.body.key, outcome.body)
        label: Label = outcome.label if outcome.body.hold == "never" else seen.label
        made = entry(str(outcome.ref), "result", outcome.turn, outcome.at, self.clean(Message(Role.TOOL, (seen,), label)))
        path = _path(intended.body.arguments)
        return replace(
            made,
            subject=subject(intended.body.tool, intended.body.arguments),
            call=fingerprint(JsonValue, [intended.body.tool, intended.body.arguments]),
            file=path, version=_version(seen) if path else "",
            changes=tuple(posixpath.normpath(each.what) for each in outcome.body.touched if each.kind == "file" and each.what),
            is_error=bool(outcome.body.code), shows=_shows(intended.body.tool, outcome.body),
        )  # fmt: skip

    def clean(self, message: Message) -> Message:
        """Also with the one label that is equal to its own: a window of thousands then has few to join."""
        if len(self._labels) > MOST_LABELS:
            self._labels.clear()
        label = self._labels.setdefault(message.label, message.label)
        message = message if label is message.label else replace(message, label=label)
        if self._redactor is None:
            return message
        parts = cleaned(message.parts, self._redactor.clean)
        return message if parts is message.parts else replace(message, parts=parts)

    def cleaned(self, made: Entry) -> Entry:
        """One that was made before a secret became known."""
        whole = self.clean(made.whole)
        if whole.parts is made.whole.parts:
            return made
        if made.is_block:
            return of_block(Block(BlobHash(""), _gone(made.sort)), made.sort, made.turn, made.at)
        new = entry(made.source, made.sort, made.turn, made.at, whole)
        return replace(made, whole=new.whole, brief=new.brief, bare=new.bare, tokens=new.tokens, chunks=new.chunks)

    def _keep_clean(self) -> None:
        if self._redactor is not None and self._version != self._redactor.version:
            self._version = self._redactor.version
            self.clear()

    def clear(self) -> None:
        self._turns.clear()


def _goes_on(grown: _Grown, steps: tuple[Step, ...]) -> bool:
    known = len(grown.steps)
    return len(steps) >= known and (known == 0 or steps[known - 1] is grown.steps[-1] or steps[:known] == grown.steps)


def of_block(block: Block, sort: Sort, turn: TurnId, at: datetime) -> Entry:
    """In its shorter forms it is gone but for a word, which is ours: what is in it can be recalled again."""
    whole, gone = block.message, _gone(sort)
    short = gone if estimate(whole) > estimate(gone) else whole
    (size, chunk), (less, shorter) = ((estimate(each), encode(Message, each)) for each in (whole, short))
    source, shows = (f"{turn}/{sort}", (USES,)) if sort == "skills" else (turn, ())
    sizes, chunks = (size, less, less), (chunk, shorter, shorter)
    return Entry(source, sort, turn, at, whole, short, short, sizes, starts=True, shows=shows, chunks=chunks)


def lost(hash_: str, sort: Sort = "memory") -> Block | None:
    """In place of one that was shown and is not to be had any more: it was erased, or never shown as a whole."""
    return Block(BlobHash(hash_), _gone(sort)) if hash_ else None


def _gone(sort: Sort) -> Message:
    return GONE_SKILLS if sort == "skills" else GONE


def entry(source: str, sort: Sort, turn: TurnId, at: datetime, message: Message, *, starts: bool = False) -> Entry:
    """A shorter form that is not shorter is the longer one: `policy.py` relies on sizes that never grow."""
    found = [(message, estimate(message), encode(Message, message))]
    for shorten in (compress.brief, compress.bare):
        made = shorten(message, source)
        size = found[-1][1] if made is message else estimate(made)
        found.append(found[-1] if size >= found[-1][1] else (made, size, encode(Message, made)))
    (_, full, chunk), (brief, middle, shorter), (bare, least, shortest) = found
    return Entry(source, sort, turn, at, message, brief, bare, (full, middle, least), starts, chunks=(chunk, shorter, shortest))


def subject(tool: str, arguments: JsonValue) -> str:
    """The tool and what it was used on."""
    given = arguments.values() if isinstance(arguments, dict) else ()
    first = next((value for value in given if isinstance(value, str)), "")
    return f"{tool} {' '.join(first[:MOST_SUBJECT].split())}".strip()


def _shows(tool: str, outcome: Happened) -> tuple[str, ...]:
    """What was found is read from the record, not from what the model was shown of it."""
    own = () if tool == FINDS else (tool,)
    if tool not in (FINDS, USES) or outcome.code:
        return (tool,)
    text = next((part.text for part in outcome.result.parts if isinstance(part, Text)), "")
    try:
        found = json.loads(text)["data"]["tools"]
    except (ValueError, LookupError, TypeError):
        return own  # only names were listed, or it was shortened
    return (*own, *found) if isinstance(found, dict) else own


def _path(arguments: JsonValue) -> str:
    """As those who tell of changes write it: `./a.py` is `a.py`."""
    path = arguments.get("path") if isinstance(arguments, dict) else None
    return posixpath.normpath(path) if isinstance(path, str) and path else ""


def _version(result: ToolResult) -> str:
    """Of a file that was read it stands at the end, of one that was written before the changes."""
    text = next((part.text for part in result.parts if isinstance(part, Text)), "")
    found = _VERSION.search(text[-_VERSION_AT:]) or _VERSION.search(text[: 2 * _VERSION_AT])
    return found[1] if found else ""
