"""What the model saw, and why: the request of one call as a table, or the messages that hold some words."""

import asyncio
from pathlib import Path

from rich.table import Table
from rich.text import Text

from daimon import homes
from daimon.abi.codec import encode
from daimon.abi.errors import NotFound
from daimon.cli import look, screen
from daimon.cli.reach import source
from daimon.context.provenance import SeenMessage, SeenRequest, seen

MOST_SHOWN = 100
MOST_FOUND = 600


def context(given: Path | None, turn: str, step: int | None, words: str, as_json: bool) -> None:
    found = asyncio.run(_seen(homes.home_at(given), turn, step))
    if as_json:
        screen.emit(encode(SeenRequest, found))
    elif words:
        _explain(found, words)
    else:
        _table(found)


async def _seen(home: homes.Home, turn: str, step: int | None) -> SeenRequest:
    async with source(home) as journal:
        return await seen(journal, journal, (await look.find(journal, turn)).id, step)


def _table(found: SeenRequest) -> None:
    out = screen.out()
    total = sum(message.tokens for message in found.messages) + found.tools_tokens
    told = (
        f"{found.told:,} by its own count, {found.cached:,} of them from its cache" if found.told else "it did not say how many it counted"
    )
    out.print(Text(f"step {found.step} of {found.turn}, {found.model}: about {total:,} tokens; {told}"))
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, justify in (("tokens", "right"), ("what", "left"), ("from", "left"), ("trusted", "left"), ("why it is there", "left")):
        table.add_column(name, justify=justify, overflow="fold")  # type: ignore[arg-type]
    table.add_row(f"{found.tools_tokens:,}", "tools", str(len(found.tools)), "yes", ", ".join(found.tools)[:MOST_SHOWN])
    for message in found.messages:
        what = message.sort if message.form == "whole" else f"{message.sort}, {message.form}"
        why = f"{message.why}: {_beginning(message)}"
        row = (f"{message.tokens:,}", what, message.source, "yes" if message.label.is_trusted else "no", why)
        table.add_row(*(Text(screen.plain(cell)) for cell in row))
        for line in message.lines:
            table.add_row("", "", Text(screen.plain(line.item)), "", Text(screen.plain(f"{line.text[:MOST_SHOWN]}  {line.why}".strip())))
    out.print(table)


def _explain(found: SeenRequest, words: str) -> None:
    """Every message, and every line of a block, that holds these words."""
    wanted = words.lower()
    shown = 0
    for message in found.messages:
        if wanted not in message.text.lower():
            continue
        lines = [line for line in message.lines if wanted in line.text.lower()]
        for text, origin, why in [(line.text, line.item, f"{message.why}: {line.why}") for line in lines] or [_whole(message, wanted)]:
            screen.out().print(Text(screen.plain(f"{text}\n  from {origin or 'nobody knows'}: {why} (labels: {_labels(message)})")))
            shown += 1
    if not shown:
        raise NotFound(
            f"nothing in step {found.step} of {found.turn} holds {words[:80]!r}; `daimon context {found.turn} {found.step}` lists it"
        )


def _whole(message: SeenMessage, wanted: str) -> tuple[str, str, str]:
    at = max(0, message.text.lower().find(wanted) - MOST_FOUND // 3)
    return message.text[at : at + MOST_FOUND], message.source, message.why


def _labels(message: SeenMessage) -> str:
    return ", ".join(str(origin) for origin in message.label.origins)


def _beginning(message: SeenMessage) -> str:
    plain = " ".join(message.text[: 4 * MOST_SHOWN].split())
    return plain if len(plain) <= MOST_SHOWN else f"{plain[:MOST_SHOWN]}…"
