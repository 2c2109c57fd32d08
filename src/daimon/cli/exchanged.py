"""`daimon memory export` and `import`: what is kept, as lines of JSON.

The first line is {"format": "daimon-memory", "version": 1}; each other line is an item with all its fields, in the order of their ids, so
that two exports of the same memory are the same bytes. A file is read to its end and every line checked before the first item is taken in.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from daimon.abi.codec import encode
from daimon.abi.curator import Curator, Imported
from daimon.abi.errors import BadInput, DaimonError
from daimon.abi.memory import Item
from daimon.cli import curated, screen
from daimon.cli.remembered import every

FORMAT, VERSION = "daimon-memory", 1
MOST_ID = 1_000
MOST_TEXT = 200_000
"""Of one item; memory itself keeps fewer."""
MOST_AT_ONCE, MOST_BYTES_AT_ONCE = 200, 1 << 20
"""Of items that are handed over together."""


@dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid", strict=True))
class Header:
    format: str
    version: int


_ITEM: TypeAdapter[Item] = TypeAdapter(Item)
_HEADER: TypeAdapter[Header] = TypeAdapter(Header)


def export(given: Path | None, file: Path | None, kinds: tuple[str, ...], as_json: bool) -> None:
    wanted = curated.kinds_of(kinds)

    async def written(curator: Curator, to: BinaryIO) -> int:
        to.write(encode(Header, Header(FORMAT, VERSION)) + b"\n")
        n = 0
        async for item in every(curator, wanted):
            to.write(encode(Item, item) + b"\n")
            n += 1
        return n

    if file is None or str(file) == "-":
        sys.stdout.flush()
        curated.looked(given, lambda curator: written(curator, sys.stdout.buffer))
        return
    with _new(file) as to:
        n = curated.looked(given, lambda curator: written(curator, to))
    if as_json:
        screen.emit_value({"file": str(file), "items": n})
    else:
        screen.say(f"{n:,} items in {file}")


def import_(given: Path | None, file: Path, is_foreign: bool, as_json: bool) -> None:
    items = tuple(_read(file))

    async def taken(curator: Curator) -> Imported:
        total = Imported(0, 0)
        for some in _parts(items):
            came = await curator.take_in(some, not is_foreign)
            total = Imported(total.new + came.new, total.known + came.known)
        return total

    came = curated.done(given, taken)
    if as_json:
        screen.emit(encode(Imported, came))
    else:
        screen.say(f"{came.new:,} taken in, {came.known:,} were known and stay as they are")


def _new(file: Path) -> BinaryIO:
    try:
        return open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
    except FileExistsError:
        raise BadInput(f"{file} is there already, and nothing was written; name another") from None
    except OSError as broken:
        raise DaimonError(f"{file} cannot be written: {broken.strerror}") from None


def _read(file: Path) -> Iterator[Item]:
    seen: dict[str, int] = {}
    for n, line in enumerate(_lines(file), 1):
        if n == 1:
            _check_header(line)
            continue
        item = _item(line, n)
        if item.id in seen:
            raise BadInput(f"line {n}: the id {item.id[:80]} stands in line {seen[item.id]} too; nothing was taken in")
        seen[item.id] = n
        yield item


def _lines(file: Path) -> Iterator[bytes]:
    try:
        stream = sys.stdin.buffer if str(file) == "-" else file.open("rb")
        with stream:
            lines = stream.read().splitlines()
    except OSError as broken:
        raise BadInput(f"{file} cannot be read: {broken.strerror}") from None
    yield from lines or (b"",)


def _check_header(line: bytes) -> None:
    try:
        header = _HEADER.validate_json(line)
    except ValidationError:
        raise BadInput(
            f'line 1 is no header of an export, as in {{"format": "{FORMAT}", "version": {VERSION}}}; nothing was taken in'
        ) from None
    if header != Header(FORMAT, VERSION):
        raise BadInput(f"line 1: {header.format[:40]} {header.version}, this release reads {FORMAT} {VERSION}; nothing was taken in")


def _item(line: bytes, n: int) -> Item:
    try:
        item = _ITEM.validate_json(line, extra="forbid")
    except ValidationError as broken:
        first = broken.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise BadInput(f"line {n}: {where + ': ' if where else ''}{first['msg']}; nothing was taken in") from None
    for what, text, most in (("id", item.id, MOST_ID), ("text", item.text, MOST_TEXT)):
        if len(text) > most or (what == "id" and not text):
            raise BadInput(f"line {n}: its {what} has {len(text):,} characters, 1 to {most:,} can be taken in; nothing was taken in")
    if not item.label.origins:
        raise BadInput(f"line {n}: its label names nobody; nothing was taken in")
    return item


def _parts(items: tuple[Item, ...]) -> Iterator[tuple[Item, ...]]:
    part: list[Item] = []
    size = 0
    for item in items:
        if part and (len(part) == MOST_AT_ONCE or size + len(item.text) > MOST_BYTES_AT_ONCE):
            yield tuple(part)
            part, size = [], 0
        part.append(item)
        size += len(item.text)
    if part:
        yield tuple(part)
