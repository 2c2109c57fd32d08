"""How often the redactor sees a secret where there is none: counted over ordinary text and code, line by line.

A file is cleaned as a whole, since some shapes take several lines; a line counts once. Whether an alarm is a false one, a reader of the
examples says: a real key in the tests of a library is a true alarm.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from daimon.vault import shapes

LARGEST = 5_000_000
SHOWN = 160
TEXTUAL = re.compile(
    r"c|cfg|conf|css|csv|h|html|ini|java|jsx?|jsonl?|lock|log|lua|m4|map|md|mjs|pem|php|p[lmo]|pyi?|pyx|rb?|rs|rst|sh|sql|svg|tcl|tex|toml|"
    r"tsx?|txt|xml|ya?ml|"
)


@dataclass(frozen=True, slots=True)
class Alarm:
    path: Path
    line: int
    kind: str
    text: str
    """The line, shortened, with the find in it: for the eyes of whoever judges it."""


def false_alarms(paths: Iterable[Path]) -> tuple[int, int, list[Alarm]]:
    """Lines in all, lines with an alarm, and where: over files, and over all textual files below directories."""
    lines, examples = 0, []
    for path in _files(paths):
        text = path.read_text(encoding="utf-8", errors="replace")
        lines += text.count("\n") + 1
        examples += alarms(path, text)
    return lines, len({(alarm.path, alarm.line) for alarm in examples}), examples


def alarms(path: Path, text: str) -> Iterator[Alarm]:
    for found in shapes.found(text):
        begins = text.rfind("\n", 0, found.start) + 1
        ends = text.find("\n", found.start)
        line = text[begins : ends if ends >= 0 else None]
        at = max(0, found.start - begins - SHOWN // 2)
        yield Alarm(path, text.count("\n", 0, found.start) + 1, found.kind, line[at : at + SHOWN])


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        below = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in below:
            is_textual = file == path or TEXTUAL.fullmatch(file.suffix[1:].lower())
            if is_textual and file.is_file() and not file.is_symlink() and file.stat().st_size <= LARGEST and not _is_binary(file):
                yield file


def _is_binary(file: Path) -> bool:
    with file.open("rb") as opened:
        return b"\0" in opened.read(4_096)
