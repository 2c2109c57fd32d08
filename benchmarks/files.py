"""Claim: a read, write or edit by the files driver takes at most three times what plain Python takes, a search what ripgrep does.

Small files of some 40 lines in 20 directories. Beside every operation of the driver runs the same by plain Python, in turns, on files of
their own: `open().read()`; a write under another name and a rename; both with a replacement in between. The driver opens every path
without links, compares versions, makes a diff and remembers what was read. The search is for a rare word in a tree made on the spot; beside
it runs ripgrep with the same switches. A ratio is that of the medians of single operations.

    read_ratio, write_ratio, edit_ratio     how many times what plain Python takes
    search_ratio                            how many times what ripgrep alone takes; null: it is not installed
    read_us, write_us, edit_us, search_ms   of the driver, the median
    list_ms                                 a directory of 100,000 files (with --quick 10,000)
"""

import asyncio
import os
import random
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import Any

from lab import report

from daimon.abi.box import Role
from daimon.abi.files import Query, Replacement
from daimon.sandbox.files import searching
from daimon.sandbox.files.driver import Driver
from daimon.sandbox.ground import Stack

AIM = 3.0
FOLDERS = 20
TEXT = "".join(f"line {n} of some text that is neither long nor short\n" for n in range(40))
OLD, NEW = "line 7 of some", "line seven of some"
WORDS = ("the", "quick", "brown", "fox", "jumps", "over", "a", "lazy", "dog", "and", "then", "sleeps", "until", "morning", "comes")


class Plain:
    """A directory as a ground."""

    def __init__(self, tree: Path) -> None:
        self.place = os.open(tree.parent, os.O_PATH | os.O_DIRECTORY)
        self.name, self.user = tree.name, None

    def used(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def rotate(self, stack: Stack) -> bool:
        raise OSError("a plain directory has no layers")

    async def close(self) -> None:
        os.close(self.place)


def plain_read(path: str) -> None:
    with open(path, encoding="utf-8") as file:
        file.read()


def plain_write(path: str, text: str) -> None:
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(f"{path}.new", path)


def plain_edit(path: str) -> None:
    with open(path, encoding="utf-8") as file:
        text = file.read()
    plain_write(path, text.replace(OLD, NEW))


async def timed(work: Awaitable[object]) -> float:
    begun = time.perf_counter()
    await work
    return time.perf_counter() - begun


def timed_plain(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


async def operations(driver: Driver, tree: Path, number: int) -> dict[str, float]:
    """Medians in seconds of each kind, ours and plain."""
    took: dict[str, list[float]] = {f"{kind}{side}": [] for kind in ("write", "read", "edit") for side in ("", "_plain")}
    names = [f"d{n % FOLDERS}/f{n}" for n in range(number)]
    for folder in range(FOLDERS):
        (tree / f"d{folder}").mkdir()
    for kind in ("write", "read", "edit"):
        for name in names:
            ours = {
                "write": lambda name=name: driver.write(f"{name}.txt", TEXT),
                "read": lambda name=name: driver.read(f"{name}.txt"),
                "edit": lambda name=name: driver.edit(f"{name}.txt", [Replacement(OLD, NEW)]),
            }
            other = f"{tree}/{name}.plain"
            plain = {
                "write": lambda p=other: plain_write(p, TEXT),
                "read": lambda p=other: plain_read(p),
                "edit": lambda p=other: plain_edit(p),
            }
            took[kind].append(await timed(ours[kind]()))
            took[f"{kind}_plain"].append(timed_plain(plain[kind]))
    return {kind: report.median(each) for kind, each in took.items()}


def grow(tree: Path, files: int, chance: random.Random) -> None:
    for number in range(files):
        folder = tree / f"src{number % 50}"
        folder.mkdir(exist_ok=True)
        lines = [" ".join(chance.choices(WORDS, k=10)) for _ in range(100)]
        if number % 100 == 0:
            lines[50] += " needle"
        (folder / f"m{number}.py").write_text("\n".join(lines) + "\n")


async def search(driver: Driver, tree: Path, rounds: int) -> dict[str, float | None]:
    ours, alone, program = [], [], searching.ripgrep()
    query = Query(pattern="need[l]e")
    for _ in range(rounds):
        ours.append(await timed(driver.search(query)))
        if program:
            words = [program, *searching.SWITCHES, "--glob", "!.git", "--regexp", query.pattern, "--", "./"]
            alone.append(
                timed_plain(lambda words=words: subprocess.run(words, cwd=tree, stdin=subprocess.DEVNULL, capture_output=True, check=True))
            )
    ratio = round(report.median(ours) / report.median(alone), 2) if alone else None
    return {"search_ratio": ratio, "search_ms": round(report.median(ours) * 1e3, 2)}


async def listing(driver: Driver, tree: Path, files: int) -> float:
    (tree / "many").mkdir()
    for number in range(files):
        (tree / "many" / f"f{number}").touch()
    return await timed(driver.list("many"))


async def measured(place: Path, number: int, files: int, many: int, chance: random.Random) -> dict[str, Any]:
    drivers = []
    trees = [place / name for name in ("small", "searched", "crowded")]
    for tree in trees:
        tree.mkdir()
        drivers.append(Driver(Plain(tree), Role(name="bench", write=(".",))))
    found = await operations(drivers[0], trees[0], number)
    fields: dict[str, Any] = {f"{kind}_ratio": round(found[kind] / found[f"{kind}_plain"], 2) for kind in ("read", "write", "edit")}
    fields |= {f"{kind}_us": round(found[kind] * 1e6, 1) for kind in ("read", "write", "edit")}
    grow(trees[1], files, chance)
    fields |= await search(drivers[1], trees[1], 15)
    fields["list_ms"] = round(await listing(drivers[2], trees[2], many) * 1e3, 1)
    return fields


def aims(fields: dict[str, Any]) -> dict[str, bool]:
    said = {f"a {kind} within {AIM:g} times plain Python": fields[f"{kind}_ratio"] <= AIM for kind in ("read", "write", "edit")}
    if fields["search_ratio"] is not None:
        said[f"a search within {AIM:g} times ripgrep"] = fields["search_ratio"] <= AIM
    return said


def main() -> int:
    asked = report.options(__doc__)
    number, files, many = (300, 1_000, 10_000) if asked.quick else (2_000, 5_000, 100_000)
    with tempfile.TemporaryDirectory() as place:
        fields = asyncio.run(measured(Path(place), number, files, many, random.Random(asked.seed)))
    return report.finish(asked, fields, aims=aims(fields))


if __name__ == "__main__":
    raise SystemExit(main())
