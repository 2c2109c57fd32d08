"""What a call would change in files, as unified text, before anybody allowed it.

It is worked out from the arguments of the call and from what stands in the workspace now; nothing is changed, and no session takes it for
something that it has read. Where the file cannot be read, or is too long to be compared, what the call says is shown as it is, and that is
said. So it is where comparing would take long: lines that are there again and again are each compared with each, and whoever chooses both
texts could have it last for minutes. It is a preview: whoever changes the file before the call runs makes it untrue.
"""

import asyncio
import difflib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from daimon.abi.files import Glance
from daimon.abi.ids import AgentId

Peek = Callable[[AgentId, str], Awaitable[Glance]]
"""What stands at a path in the agent's workspace."""
MOST_COMPARED = 400_000
MOST_PAIRS = 400_000
"""Of equal lines, one from each text; it takes about a second."""
LINES_AROUND = 3
FEW_LINES = 200
"""As `difflib` has it: of fewer all are looked at."""
NO_END = "\n\\ No newline at end of file\n"
_MISSING = "The text to replace is not in the file as it is now."
_UNREADABLE = "The file cannot be read here: only what is replaced."
_TOO_LONG = "The file would be too long to be shown here: only what is replaced."


@dataclass(frozen=True, slots=True)
class Preview:
    diff: str = ""
    note: str = ""


NOTHING = Preview()


async def preview(tool: str, arguments: JsonValue, agent: AgentId, peek: Peek) -> Preview:
    """Of a tool that changes no files: nothing."""
    given = arguments if isinstance(arguments, dict) else {}
    path = str(given.get("path", ""))
    match tool:
        case "patch_files":
            return Preview(str(given.get("patch", "")))
        case "write_file":
            return await asyncio.to_thread(_compared, path, await peek(agent, path), str(given.get("content", "")))
        case "edit_file":
            edits, is_all = _pairs(given.get("edits")), bool(given.get("all"))
            return await asyncio.to_thread(_edited, path, await peek(agent, path), edits, is_all=is_all)
        case "delete_file":
            return await asyncio.to_thread(_compared, path, await peek(agent, path), None)
        case "move_file":
            return Preview(note=f"Moves {path} to {given.get('to', '')}.")
        case _:
            return NOTHING


def _compared(path: str, before: Glance, after: str | None) -> Preview:
    if before.state == "unreadable" or len(before.text) + len(after or "") > MOST_COMPARED or _is_long(before.text, after or ""):
        what = "Deletes it" if after is None else "All of it is replaced"
        return Preview(_marked("+", after or ""), f"{path} cannot be shown here as it is now. {what}.")
    note = "A new file." if before.state == "missing" else "Nothing changes." if before.text == after else ""
    here, there = "/dev/null" if before.state == "missing" else f"a/{path}", "/dev/null" if after is None else f"b/{path}"
    return Preview("".join(_ended(difflib.unified_diff(_lines(before.text), _lines(after or ""), here, there, n=LINES_AROUND))), note)


def _is_long(before: str, after: str) -> bool:
    """Would it take long? Lines that are a hundredth of the second text and more are not looked at one by one."""
    there = Counter(lines := _lines(after))
    usual = len(lines) // 100 + 1 if len(lines) >= FEW_LINES else len(lines)
    return sum(there[line] for line in _lines(before) if there[line] <= usual) > MOST_PAIRS


def _edited(path: str, before: Glance, pairs: list[tuple[str, str]], *, is_all: bool) -> Preview:
    after = before.text
    for old, new in pairs:
        times = (after.count(old) if is_all else int(old in after)) if old else 0
        if not times:
            return _apart(path, pairs, _MISSING if before.state == "there" else _UNREADABLE)
        if len(after) + times * (len(new) - len(old)) > MOST_COMPARED:
            return _apart(path, pairs, _TOO_LONG)
        after = after.replace(old, new) if is_all else after.replace(old, new, 1)
    return _compared(path, before, after)


def _apart(path: str, pairs: list[tuple[str, str]], note: str) -> Preview:
    """Each replacement by itself, without its place."""
    hunks = "".join(f"@@ replacement {i} @@\n{_marked('-', old)}{_marked('+', new)}" for i, (old, new) in enumerate(pairs, 1))
    return Preview(f"--- a/{path}\n+++ b/{path}\n{hunks}" if pairs else "", note)


def _pairs(value: JsonValue) -> list[tuple[str, str]]:
    items = value if isinstance(value, list) else []
    return [(str(item[0]), str(item[1])) for item in items if isinstance(item, list) and len(item) == 2]


def _marked(mark: str, text: str) -> str:
    return "".join(f"{mark}{line}\n" for line in text.splitlines())


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _ended(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield line if line.endswith("\n") else line + NO_END
