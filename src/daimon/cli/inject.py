"""`daimon inject`: events from stdin.

One JSON object per line, each handed in as soon as it is read; or, where the first line alone is no JSON, one document over many lines. A
bad line is handed in as well: the gateway says what is wrong with it and keeps it as a dead letter.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from daimon import homes
from daimon.abi.errors import BadInput
from daimon.cli import exits, screen
from daimon.cli.reach import RESTART_S, Door, door
from daimon.cli.talk import deliver
from daimon.gateway.answers import Taken

MOST_BYTES = 64 * 1024 * 1024
"""No gateway takes more (gateway.max_event_bytes); what is beyond is not even read into memory."""


@dataclass(frozen=True, slots=True)
class Piece:
    line: int
    data: bytes


def take_in(given: Path | None, as_json: bool) -> None:
    good = bad = 0
    with door(homes.home_at(given)) as (opened, is_running):
        for piece in pieces(sys.stdin.buffer):
            try:
                taken = _hand_in(opened, piece.data)
            except BadInput as refused:
                bad += 1
                _tell_bad(piece.line, refused, as_json)
            else:
                good += 1
                _tell_good(piece.line, taken, as_json)
    if good and not is_running:
        screen.remark("no gateway is running: they are on disk and will be answered at the next `daimon up`")
    sys.exit(exits.BAD_INPUT if bad else exits.OK)


def pieces(stream: BinaryIO) -> Iterator[Piece]:
    """Lines that hold something, or all lines as one piece."""
    lines = _lines(stream)
    first = next(lines, None)
    if first is None:
        return
    if _is_json(first.data):
        yield first
        yield from lines
        return
    rest: list[Piece] = []
    size = len(first.data)
    for piece in lines:
        rest.append(piece)
        size += len(piece.data)
        if size > MOST_BYTES:
            break
    whole = b"\n".join([first.data, *(piece.data for piece in rest)])
    if rest and size <= MOST_BYTES and _is_json(whole):
        yield Piece(first.line, whole)
        return
    yield first
    yield from rest
    yield from lines


def _lines(stream: BinaryIO) -> Iterator[Piece]:
    number = 0
    while line := stream.readline(MOST_BYTES + 1):
        number += 1
        end = line
        while not end.endswith(b"\n") and (end := stream.readline(MOST_BYTES)):
            pass
        if data := line.strip():
            yield Piece(number, data)


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def _hand_in(opened: Door, data: bytes) -> Taken:
    """An event with a key of its own keeps it; any other gets one, so that a broken connection does not make two of it."""
    if _has_key(data):
        return opened.send(data)
    return deliver(opened, data, RESTART_S)


def _has_key(data: bytes) -> bool:
    try:
        return "key" in json.loads(data)
    except (ValueError, RecursionError, TypeError):
        return False


def _tell_good(line: int, taken: Taken, as_json: bool) -> None:
    if as_json:
        screen.emit_value({"line": line, "event": taken.event, "conversation": taken.conversation, "new": taken.new})
    else:
        screen.say(f"line {line}: {'accepted' if taken.new else 'seen before'} {taken.event}")


def _tell_bad(line: int, refused: BadInput, as_json: bool) -> None:
    if as_json:
        screen.emit_value({"line": line, "error": {"code": refused.code, "message": str(refused)}})
    else:
        screen.say(f"line {line}: {refused}")
