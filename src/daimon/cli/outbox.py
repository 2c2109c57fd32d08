"""`daimon outbox`: what went out to people, and what became of it."""

import asyncio
from pathlib import Path
from typing import get_args

import typer
from rich.text import Text

from daimon import homes
from daimon.abi.codec import encode
from daimon.abi.ports import Delivery, Mailing
from daimon.cli import screen
from daimon.cli.reach import source
from daimon.kernel import words

STYLES = {"queued": "yellow", "sending": "yellow", "sent": "green", "confirmed": "green", "unknown": "magenta", "failed": "red"}


def show(given: Path | None, limit: int, channel: str, state: str, as_json: bool) -> None:
    if state and state not in get_args(Delivery):
        raise typer.BadParameter(f"{state!r} is none of {', '.join(get_args(Delivery))}", param_hint="--state")
    found = asyncio.run(_found(homes.home_at(given), limit, channel, state))
    if as_json:
        screen.emit(encode(tuple[Mailing, ...], found))
        return
    rows = screen.table("when", "to", "state", "tries", "what was said", "note")
    for each in found:
        rows.add_row(
            f"{each.created_at:%m-%d %H:%M:%S}", screen.plain(f"{each.to.channel}/{each.to.to}"), Text(each.state, STYLES[each.state]),
            str(each.attempts), Text(screen.plain(words.short(each.text))), Text(screen.plain(_note(each))),
        )  # fmt: skip
    screen.out().print(rows if found else "nothing went out")


async def _found(home: homes.Home, limit: int, channel: str, state: str) -> tuple[Mailing, ...]:
    async with source(home) as journal:
        return await journal.mailings(limit, channel, state)


def _note(mailing: Mailing) -> str:
    again = f"again at {mailing.retry_at:%H:%M:%S}" if mailing.retry_at is not None and mailing.state in ("queued", "sending") else ""
    return "; ".join(filter(None, (again, words.short(mailing.note, 120))))
