"""Searching: a program looks for lines, and what is told of them is read here, from the tree, as everything else is.

The program (ripgrep, or `searcher.py` where there is none) runs in the directory, with the rights of the tree's owner, an empty
environment, limits and a deadline. It cannot open files as carefully as we do: somebody may put a link in the place of a file just before
it opens it. So all that is taken from it is paths, line numbers and offsets; the words themselves come from a second look.
"""

import os
import re
import shutil
import stat
import sys
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from daimon.abi.errors import ToolFailed
from daimon.abi.files import Query
from daimon.sandbox.files.globs import Glob
from daimon.sandbox.files.program import Program
from daimon.sandbox.files.tree import Tree

LONGEST_S = 20.0
MOST_PATTERN = 2_000
MOST_OF_FILE = 100
_REFUSED = 2
SWITCHES = (
    *("--no-config", "--no-ignore", "--hidden", "--no-follow", "--no-messages", "--color=never", "--no-heading", "--with-filename"),
    *(
        "--line-number",
        "--byte-offset",
        "--null",
        "--max-columns=1",
        f"--max-count={MOST_OF_FILE}",
        "--max-filesize=64M",
        "--encoding=none",
    ),
)
_LINE = re.compile(rb"([^\0]+)\0(\d+):(\d+):[^\n]*\n")
SEARCHER = os.path.join(os.path.dirname(__file__), "searcher.py")


@dataclass(frozen=True, slots=True)
class Engine:
    program: str | None
    """Where ripgrep is; None: there is none."""
    longest_s: float = LONGEST_S

    @property
    def name(self) -> Literal["ripgrep", "python"]:
        return "ripgrep" if self.program else "python"


@dataclass(frozen=True, slots=True)
class Spotted:
    """A line that was found, by a program that is not believed."""

    path: str
    line: int
    offset: int


@dataclass(frozen=True, slots=True)
class Start:
    """Where a search begins: a directory, and the file in it that alone is meant, if any."""

    folder: int
    above: str
    """The path of the directory, with a slash behind it; empty: the top."""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Raw:
    spotted: tuple[Spotted, ...]
    engine: Literal["ripgrep", "python"]
    is_cut: bool = False
    is_late: bool = False


def start_of(tree: Tree, path: str) -> Start:
    real = "/".join(tree.resolve(path))
    about = tree.kind(real)
    if about is not None and not stat.S_ISDIR(about.st_mode):
        above, _, name = real.rpartition("/")
        folder, above = tree.open_directory(above or ".")
        return Start(folder, f"{above}/" if above else "", name)
    folder, real = tree.open_directory(path)
    return Start(folder, f"{real}/" if real else "")


def ripgrep() -> str | None:
    """Where it is on this machine."""
    return shutil.which("rg", path="/usr/local/bin:/usr/bin:/bin")


async def lines(start: Start, query: Query, user: int | None, engine: Engine) -> Raw:
    """Sorted by path and line. Raises ToolFailed for a pattern that cannot be read."""
    _check(query)
    program = engine.program
    words = _ripgrep(program, query, start) if program else _python(query, start)
    other = user if program else None  # the one of our own opens with care, and may not be open to that user
    try:
        said = await Program(words, start.folder, other, engine.longest_s).run()
    except OSError as error:
        raise ToolFailed("failed", f"the search cannot be started: {error.strerror}") from error
    if not said.output and said.code == _REFUSED:
        raise ToolFailed("bad_pattern", f"the search cannot be made: {said.errors.decode(errors='replace').strip()[:500]}")
    spotted = _spotted(said.output, start, Glob(query.glob) if query.glob and not start.name and not program else None)
    is_full = any(count >= MOST_OF_FILE for count in Counter(each.path for each in spotted).values())
    return Raw(tuple(sorted(spotted, key=_order)), engine.name, said.is_cut or is_full, said.is_late)


def _check(query: Query) -> None:
    words = query.pattern + query.glob
    if not 0 < len(words) <= MOST_PATTERN or not query.pattern or "\0" in words:
        raise ToolFailed("bad_pattern", f"a pattern has 1 to {MOST_PATTERN:,} characters, none of them NUL")
    try:
        words.encode()
    except UnicodeEncodeError:
        raise ToolFailed("bad_pattern", "the pattern holds half a character") from None


def _order(one: Spotted) -> tuple[str, int]:
    return one.path, one.line


def _ripgrep(program: str, query: Query, start: Start) -> list[str]:
    words = [program, *SWITCHES]
    words += ["--fixed-strings"] if query.is_literal else []
    words += ["--ignore-case"] if query.ignores_case else []
    words += ["--glob", query.glob] if query.glob and not start.name else []
    words += ["--glob", "!.git"] if not start.name else []
    return [*words, "--regexp", query.pattern, "--", f"./{start.name}"]


def _python(query: Query, start: Start) -> list[str]:
    pattern = re.escape(query.pattern) if query.is_literal else query.pattern
    pattern = f"(?i:{pattern})" if query.ignores_case else pattern
    try:
        re.compile(os.fsencode(pattern), re.MULTILINE)
    except (re.error, OverflowError, RecursionError, ValueError) as broken:
        raise ToolFailed("bad_pattern", f"{query.pattern[:80]!r} is no regular expression: {broken}") from broken
    return [sys.executable, "-I", "-S", SEARCHER, pattern, Glob(query.glob or "*").names, start.name]


def _spotted(output: bytes, start: Start, glob: Glob | None) -> list[Spotted]:
    """The glob is for what the program could not decide itself."""
    found = []
    for path, line, offset in _LINE.findall(output):
        name = os.fsdecode(path).removeprefix("./")
        if glob is None or glob.matches(name):
            found.append(Spotted(f"{start.above}{name}", int(line), int(offset)))
    return found
