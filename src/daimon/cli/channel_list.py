"""`daimon channel list`: what is set up, how it is (as the running gateway says), and what could be added."""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

from rich.text import Text

from daimon import config, homes, hookup, lines
from daimon.abi.errors import NotFound
from daimon.cli import screen
from daimon.cli.reach import Source, source
from daimon.gateway.answers import LineState
from daimon.gateway.client import Client
from daimon.kernel import words
from daimon.steward.channel_questions import HOW

MOST = 1_000
_STYLES = {"up": "green", "starting": "", "down": "yellow", "locked_out": "red", "not running": "dim", "waits for a restart": "yellow"}


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    line: LineState | None
    state: str
    queued: int
    unknown: int


def show(given: Path | None, as_json: bool) -> None:
    home = homes.home_at(given)
    settings = config.load(home.config, os.environ)
    client = Client(home.socket)
    is_running = client.is_there()
    states = {line.name: line for line in client.status().lines} if is_running else {}
    names = tuple(dict.fromkeys((*lines.all_wanted(settings), *states)))
    mail = asyncio.run(_mail(home, names))
    rows = [_row(name, states.get(name), is_running, mail[name]) for name in names]
    if as_json:
        screen.emit_value({"channels": [_plain(row) for row in rows], "could_be_added": list(hookup.addable(settings))})
        return
    _print(rows)
    for name in hookup.addable(settings):
        screen.remark(f"could be added: {name} ({HOW[name]}), by `daimon channel add {name}`")


def _row(name: str, line: LineState | None, is_running: bool, mail: tuple[int, int]) -> _Row:
    state = line.state if line is not None else "waits for a restart" if is_running else "not running"
    return _Row(name, line, state, *mail)


async def _mail(home: homes.Home, names: tuple[str, ...]) -> dict[str, tuple[int, int]]:
    """Of each channel: how many messages are still to go out, and of how many nobody knows."""
    none = dict.fromkeys(names, (0, 0))
    if not names:
        return none
    try:
        async with source(home) as journal:
            return {name: (await _count(journal, name, "queued", "sending"), await _count(journal, name, "unknown")) for name in names}
    except NotFound:
        return none


async def _count(journal: Source, name: str, *states: str) -> int:
    return sum([len(await journal.mailings(MOST, name, state)) for state in states])


def _print(rows: list[_Row]) -> None:
    shown = screen.table("channel", "state", "since", "to go out", "unknown", "")
    for row in rows:
        since = f"{row.line.since.astimezone():%m-%d %H:%M}" if row.line is not None else ""
        state = Text(row.state.replace("_", " "), _STYLES[row.state])
        shown.add_row(screen.plain(row.name), state, since, _number(row.queued), _number(row.unknown), Text(screen.plain(_why(row))))
    screen.out().print(shown if rows else "no channel is set up")
    for row in rows:
        if row.state == "locked_out":
            screen.remark(f"only you can mend {row.name}: `daimon channel add {row.name}` sets it up anew")


def _why(row: _Row) -> str:
    if row.line is None or row.state in ("up", "starting"):
        return ""
    again = f"; next try at {row.line.next_try.astimezone():%H:%M:%S}" if row.line.next_try is not None else ""
    return words.short(row.line.why, 160) + again


def _number(amount: int) -> str:
    return f"{MOST}+" if amount >= MOST else str(amount or "")


def _plain(row: _Row) -> dict[str, object]:
    line = row.line
    told: dict[str, object] = {"name": row.name, "state": row.state.replace(" ", "_"), "queued": row.queued, "unknown": row.unknown}
    if line is not None:
        told |= {"since": line.since.isoformat(), "why": line.why, "restarts": line.restarts}
        told["next_try"] = None if line.next_try is None else line.next_try.isoformat()
    return told
