"""The model without a model: it matches intents and uses the same tools, through the same loop, as any other.

It turns a request into a reply and keeps nothing between two requests: the last thing a user said is what to do, the tool results after it
are how far that has come. Call ids count up from the calls that the request already shows, so a replay gives the same bytes. Above it
stands the loop; below it only tables (`intents`, `english`) and plans. It deliberately knows no network, no clock and no journal.

With an embedder, a sentence that no pattern explains may still be understood by its meaning (`meant`), as something that only looks.
"""

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from daimon.abi.ids import OWNER
from daimon.abi.label import Author
from daimon.abi.memory import Embedder
from daimon.abi.message import Audio, Message, Part, Role, Text, ToolCall, ToolResult, is_said
from daimon.abi.model import Delta, Reply, Request, Unmetered
from daimon.models import results
from daimon.models.english import ENGLISH
from daimon.models.intents import EVENTS, SILENT, THRESHOLD, TIMER, Intent, Match, Several, Table, bare, understand
from daimon.models.meant import Meant
from daimon.models.plans import ASK_WHEN, BETTER, BUILT_IN, WAYS, Plan, Tools, Use
from daimon.models.task import task_of
from daimon.models.timewords import is_moment
from daimon.models.zones import zone_of

UNKNOWN = f'I don\'t know what to do with that. {BUILT_IN} Say "help" for what I can do. {BETTER}'
SEVERAL = "That looks like more than one thing, so I did none of them. Please ask for one thing at a time."
NOT_HERE = "That I cannot do for you here."
ONLY_TEXT = "I can only read text."
LOST = "I don't know how to go on from here: another model began this."
_FIRED = re.compile(r"(?P<about>.*?)\s*\(due (?P<due>[^\s,)]+)(?:, (?P<late>\d+(?:\.\d+)?) s late)?\)\s*", re.DOTALL)
_CALL = "reflex-"


FINDS = "find_tools"
SURE = frozenset({Intent.TIME, Intent.REMEMBER, Intent.REMIND, Intent.REMINDERS})
"""What it does as well as any other model. Where there is another, it leaves all else to it."""


class Reflex(Unmetered):
    def __init__(self, tables: tuple[Table, ...] = (ENGLISH,), is_alone: bool = True, embedder: Embedder | None = None) -> None:
        """Where it is alone, it says who it is and how to get a better model."""
        self._tables = tables
        self._is_alone = is_alone
        self._meant = Meant(embedder) if embedder else None

    @property
    def name(self) -> str:
        return "reflex"

    def objection(self, request: Request) -> str:
        turn = _turn(request.messages)
        reading = None if turn is None or turn.has_more or turn.text.startswith(EVENTS) else understand(turn.text, self._tables)
        return "" if isinstance(reading, Match) and _is_sure(reading) else "it is not sure what to do"

    def stands_in(self, request: Request) -> bool:
        """A reminder is said at its time, whoever can be asked and whatever is left of the budget."""
        turn = _turn(request.messages)
        return turn is not None and turn.text.startswith(TIMER)

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        match await self._answer(request):
            case Use(tool, arguments):
                call = ToolCall(f"{_CALL}{_calls_so_far(request.messages) + 1}", tool, dict(arguments))
                yield Reply((call,), self.name, "tools")
            case "":
                yield Reply((), self.name)
            case text:
                for word in re.findall(r"\s*\S+\s*", text):
                    yield Delta(word)
                yield Reply((Text(text),), self.name)

    async def _answer(self, request: Request) -> Use | str:
        """The next tool to use, or what to say; nothing to say is silence."""
        turn = _turn(request.messages)
        if turn is None or turn.text.startswith(SILENT):
            return ""
        if turn.text.startswith(TIMER):
            return _reminder(turn.text.removeprefix(TIMER))
        answer = await self._act(turn, {tool.name: tool for tool in request.tools})
        if turn.is_others and isinstance(answer, str):  # who cannot connect one is not told how
            return answer.replace(f"\n{BETTER}", "").replace(f" {BETTER}", "")
        has_said = any(BUILT_IN in message.text for message in turn.before if message.role is Role.ASSISTANT)
        if isinstance(answer, Use) or not self._is_alone or has_said or BUILT_IN in answer:
            return answer
        return f"{answer}\n\n({BUILT_IN} {BETTER})"

    async def _act(self, turn: "_Turn", tools: Tools) -> Use | str:
        reading = self._read(turn)
        if reading is None and self._meant and not turn.has_more:
            reading = await self._meant.read(turn.text)
        if isinstance(reading, Several):
            return SEVERAL
        if reading is None:
            return UNKNOWN if turn.text or not turn.has_more else ONLY_TEXT
        way = WAYS[reading.intent]
        # Where there is a tool to find others with, a tool may be hidden. It is called by its name; the gate knows whether it may be.
        missing = [] if FINDS in tools else [name for name in way.needs if name not in tools]
        if missing:
            return NOT_HERE if turn.is_others else f"For that I need the tool `{missing[0]}`, and I was not given it."
        return _run(way.plan(reading.slots, tools), turn.results)

    def _read(self, turn: "_Turn") -> Match | Several | None:
        """The last message by itself, or as the time that an earlier wish for a reminder still lacks."""
        reading = understand(turn.text, self._tables)
        time = self._time(turn.text, reading)
        about = self._awaited(turn.before) if time else None
        return Match(Intent.REMIND, {"about": about, "time": time}, THRESHOLD) if time and about else reading

    def _time(self, text: str, reading: Match | Several | None) -> str | None:
        """The text, if it says only when: `tomorrow at 9, please`, `remind me tomorrow at 9`."""
        match reading:
            case None:
                return next((said for table in self._tables if is_moment(said := bare(text, table))), None)
            case Match(Intent.REMIND, slots) if not task_of(slots).about:
                return f"{slots.get('lead', '')} {slots.get('body', '')}"
            case _:
                return None

    def _awaited(self, before: Sequence[Message]) -> str | None:
        """What the person wants to be reminded of, if all that was said since then is about the time."""
        for said, answer in reversed(_exchanges(before)):
            reading = understand(said, self._tables)
            if ASK_WHEN not in answer:
                return None
            if isinstance(reading, Match) and reading.intent is Intent.REMIND and (about := task_of(reading.slots).about):
                return about
            if self._time(said, reading) is None:
                return None
        return None


@dataclass(frozen=True, slots=True)
class _Turn:
    text: str
    has_more: bool
    """There was something other than text."""
    before: Sequence[Message]
    results: Sequence[ToolResult]
    """In the order of their calls."""
    is_others: bool = False
    """Somebody other than the owner said it."""


def _is_sure(reading: Match) -> bool:
    match reading.intent:
        case Intent.TIME:
            return "place" not in reading.slots or zone_of(reading.slots["place"]) is not None
        case Intent.REMIND:
            task = task_of(reading.slots)
            return bool(task.about) and task.moment is not None and not task.moment.is_repeated
        case intent:
            return intent in SURE


def _turn(messages: Sequence[Message]) -> _Turn | None:
    last = max((n for n, message in enumerate(messages) if is_said(message)), default=None)
    if last is None:
        return None
    since = messages[last + 1 :]
    done = {part.call: part for message in since for part in message.parts if isinstance(part, ToolResult)}
    results = [done[call.call] for message in since for call in message.calls if call.call in done]
    parts, label = messages[last].parts, messages[last].label
    is_others = any(reader != OWNER for reader in label.readers or ()) and all(
        origin.author is not Author.OWNER for origin in label.origins
    )
    return _Turn(_said(parts), not all(isinstance(part, Text) for part in parts), messages[:last], results, is_others)


def _said(parts: Sequence[Part]) -> str:
    return "\n".join(part.text if isinstance(part, Text) else part.transcript for part in parts if isinstance(part, Text | Audio)).strip()


def _exchanges(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """What was said and what was answered, without what the kernel wrote for events."""
    pairs: list[tuple[str, str]] = []
    for message in messages:
        if is_said(message):
            pairs.append((_said(message.parts), ""))
        elif message.role is Role.ASSISTANT and pairs:
            pairs[-1] = (pairs[-1][0], pairs[-1][1] + message.text)
    return [pair for pair in pairs if not pair[0].startswith(EVENTS)]


def _calls_so_far(messages: Sequence[Message]) -> int:
    """The highest number of a call in sight, so that an id is never used twice in one history."""
    numbers = (call.call.removeprefix(_CALL) for message in messages for call in message.calls if call.call.startswith(_CALL))
    return max((int(number) for number in numbers if number.isdecimal()), default=0)


def _run(plan: Plan, done: Sequence[ToolResult]) -> Use | str:
    """Feeds a plan the results that are there: the next use, or its last word."""
    try:
        use = next(plan)
        for result in done:
            if result.tool != use.tool:
                return LOST
            answer = results.read(result, use.shape)
            if isinstance(answer, results.Failed):
                return _failure(answer)
            use = plan.send(answer)
    except StopIteration as end:
        return str(end.value)
    return use


def _failure(failed: results.Failed) -> str:
    why = failed.message.rstrip(".") or "it gave no reason"
    again = " You can try again." if failed.is_retryable else ""
    return f"That did not work: the tool `{failed.tool}` failed ({failed.code}): {why}.{again}"


def _reminder(fired: str) -> str:
    match = _FIRED.fullmatch(fired.strip())
    about = (match["about"] if match else fired).strip()
    late = f" This comes {_length(float(match['late']))} late." if match and match["late"] else ""
    return f"Reminder: {about}{'' if about.endswith(('.', '!', '?')) else '.'}{late}"


def _length(seconds: float) -> str:
    for size, name in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{seconds / size:.0f} {name}{'' if round(seconds / size) == 1 else 's'}"
    return f"{seconds:.0f} seconds"
