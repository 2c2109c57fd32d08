"""Tool calls as cards: opened when the call is written down, closed when its outcome is.

    ╭ 1/2 search · query="tea shops" limit=5
    ╭ 2/2 fetch
    │ url: https://example.com/a/very/long/address/that/…
    │ headers: {"accept": "text/html"}
    │ 2/2 fetch · 12 kB so far
    ╰ 2/2 fetch · ok · 120 ms · Demel, Kohlmarkt 14 …
    ╰ 1/2 search · timeout · 5.0 s · no answer within 5 s

Cards only ever add lines, so they survive pipes, scrolling and resizing; what belongs together bears the same number. A call that is alone
has none, and its end needs no name as long as it stands right under its beginning. No line is wider than the terminal. On a dumb or narrow
one a card is two plain lines.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import JsonValue

from daimon.abi.message import Part, Text, ToolCall, ToolResult
from daimon.abi.step import Happened, Intended
from daimon.cli import screen
from daimon.kernel import words

NARROW = 40
MOST_ARGUMENTS = 4
MOST_SHOWN = 400
"""Characters of a value that are looked at; far more than any line holds."""
MOST_LINES, MOST_PRINTED = 12, 4_000
"""Of what a call prints: lines that are shown, and characters of one."""
GOOD, BAD = "dim", "red"
_BESIDES = {"reran": "ok, run again", "verified": "ok, as was found out", "recorded": "ok, from the record"}


@dataclass(frozen=True, slots=True)
class Line:
    text: str
    style: str = GOOD


class Cards:
    """Those of one exchange."""

    def __init__(self) -> None:
        self._numbers: dict[str, str] = {}
        self._open: dict[int, Intended] = {}
        self._last: int | None = None
        self._begun: dict[int, str] = {}
        """Of what calls print: lines that are not complete."""
        self._printed: dict[int, int] = {}

    @property
    def is_open(self) -> bool:
        """Does a call go on?"""
        return bool(self._open)

    def count(self, parts: Iterable[Part]) -> None:
        """A reply calls these tools: several at once are numbered."""
        calls = [part.call for part in parts if isinstance(part, ToolCall)]
        self._numbers = {call: f"{i}/{len(calls)}" for i, call in enumerate(calls, 1)} if len(calls) > 1 else {}

    def separate(self) -> None:
        """Something else was shown: what comes next does not stand under its card."""
        self._last = None

    def begin(self, n: int, intended: Intended) -> list[Line]:
        self._open[n], self._last = intended, n
        if _is_plain():
            return [_line("· ", self._named(intended, words.call(intended.tool, _bounded(intended.arguments))))]
        name = self._named(intended, intended.tool)
        arguments = _arguments(intended.arguments)
        whole = " ".join(f"{key}={value}" for key, value in arguments)
        head = f"{name} · {whole}" if whole else name
        if _fits(head):
            return [_line("╭ ", head)]
        rest = len(arguments) - MOST_ARGUMENTS
        shown = [_line("│ ", f"{key}: {value}") for key, value in arguments[:MOST_ARGUMENTS]]
        return [_line("╭ ", name), *shown, *([_line("│ ", f"… and {rest} more")] if rest > 0 else [])]

    def printed(self, n: int, text: str) -> list[Line]:
        """What a command prints while it runs: its first lines. All of it is kept, and the outcome has the rest."""
        if n not in self._open or _is_plain():
            return []
        *whole, self._begun[n] = (self._begun.get(n, "") + text)[-MOST_PRINTED:].split("\n")
        left = MOST_LINES - self._printed.get(n, 0)
        self._printed[n] = self._printed.get(n, 0) + len(whole)
        said = [*whole[: max(left, 0)], *(["…"] if 0 <= left < len(whole) else [])]
        return [self._inside("│ ", n, "", [line]) for line in said if line.strip()]

    def wait(self, n: int, what: str) -> list[Line]:
        return [self._inside("│ ", n, "", [what])]

    def end(self, happened: Happened) -> list[Line]:
        line = self._inside("╰ ", happened.intent, happened.result.tool, _outcome(happened), BAD if happened.code else GOOD)
        self._open.pop(happened.intent, None)
        return [line]

    def _inside(self, edge: str, n: int, tool: str, said: list[str], style: str = GOOD) -> Line:
        intended = self._open.get(n)
        number = "" if intended is None else self._numbers.get(intended.call, "")
        is_clear = self._last == n and not number and not _is_plain()
        name = "" if is_clear else tool if intended is None else intended.tool
        self._last = n
        if _is_plain():
            return _line("· ", f"{f'{number} {name}'.strip()}: {', '.join(said)}", style)
        return _line(edge, f"{number} {' · '.join(filter(None, [name, *said]))}".strip(), style)

    def _named(self, intended: Intended, name: str) -> str:
        return f"{self._numbers.get(intended.call, '')} {name}".strip()


def _outcome(happened: Happened) -> list[str]:
    took = words.duration(happened.duration_ms / 1000) if happened.duration_ms >= 1 else ""
    if not happened.code:
        verdict = _BESIDES.get(happened.how, "ok")
    elif happened.how in ("refused", "cancelled"):
        verdict = happened.how if happened.code in (happened.how, "denied") else f"{happened.how} ({happened.code})"
    else:
        verdict = happened.code
    return list(filter(None, [verdict, took, _gist(happened.result)]))


def _gist(result: ToolResult) -> str:
    """What a result says, on one line, without the form in which models get it."""
    said = [_unwrapped(part.text) if isinstance(part, Text) else words.part(part) for part in result.parts]
    return words.short(" ".join(filter(None, said))[: MOST_SHOWN * 2], MOST_SHOWN)


def _unwrapped(text: str) -> str:
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return text
    match told:
        case {"ok": True, "data": data}:
            return _value(data)
        case {"ok": False, "error": {"message": str(message)}}:
            return message
        case _:
            return text


def _arguments(arguments: JsonValue) -> list[tuple[str, str]]:
    if isinstance(arguments, dict):
        return [(name, _argument(value)) for name, value in arguments.items()]
    return [("arguments", _argument(arguments))]


def _argument(value: JsonValue) -> str:
    if isinstance(value, str) and len(value) > MOST_SHOWN:
        value = value[:MOST_SHOWN] + "…"
    return words.short(words.compact(value), MOST_SHOWN)


def _bounded(arguments: JsonValue) -> JsonValue:
    """Long texts are cut before they are written out."""
    if isinstance(arguments, dict):
        return {name: value[:MOST_SHOWN] if isinstance(value, str) else value for name, value in arguments.items()}
    return arguments


def _value(data: JsonValue) -> str:
    return "" if data is None else data if isinstance(data, str) else words.compact(data)


def _is_plain() -> bool:
    return screen.out().is_dumb_terminal or screen.out().width < NARROW


def _fits(text: str) -> bool:
    return _width(screen.plain(text)) <= _room()


def _line(edge: str, text: str, style: str = GOOD) -> Line:
    return Line(f"  {edge}{_cut(screen.plain(words.short(text, MOST_SHOWN)), _room())}", style)


def _room() -> int:
    """Cells beside margin and edge; the last column stays free, because some terminals wrap as soon as it is full."""
    return max(screen.out().width - 5, 10)


def _cut(text: str, room: int) -> str:
    if _width(text) <= room:
        return text
    while _width(text) > room - 1:
        text = text[: min(len(text) - 1, room)]
    return text.rstrip() + "…"


def _width(text: str) -> int:
    """In cells: some characters take two."""
    from rich.cells import cell_len

    return cell_len(text)
