"""`daimon model list`: what is set up, or what a provider has."""

import asyncio
import textwrap
from pathlib import Path

from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from daimon.cli import screen
from daimon.cli.model_change import opened
from daimon.setup import Offer, Rate, Row
from daimon.steward import model_words

_INDENT = " " * 3


def own(given: Path | None, as_json: bool) -> None:
    setup = opened(given)
    rows = setup.rows()
    if as_json:
        screen.emit_value({"use": list(setup.settings.model.use), "models": [_as_value(row) for row in rows]})
        return
    table = screen.table("name", "order", "vendor", "model", "$ a million tokens", "source", "context", "where", "key")
    for row in rows:
        table.add_row(*(Text(screen.plain(cell)) for cell in _cells(row)))
    if _fits(table):
        screen.out().print(table)
    else:
        for row in rows:
            _say_lines(row)
    if not setup.settings.models:
        screen.remark("`daimon model add` sets up a language model")


def _fits(table: Table) -> bool:
    """Without a word being folded."""
    console = screen.out()
    return Measurement.get(console, console.options.update_width(screen.WIDE), table).maximum <= console.width


def _say_lines(row: Row) -> None:
    """Two, where the table is too wide: which it is, and what is known of it. What is still too long goes on below, in whole words."""
    first, *more = _lines(row)
    screen.say(_wrapped(first, ""), "bold")
    for line in more:
        screen.say(_wrapped(line, _INDENT))


def _lines(row: Row) -> tuple[str, ...]:
    order = "- " if row.place is None else f"{row.place}."
    if not row.model:
        return (f"{order} {row.name}  {row.vendor}",)
    name, _, vendor, model, price, source, context, where, key = _cells(row)
    cost = f"{price} ({source})" if source and source != price else f"price {price}" if row.rate is None else price
    size = "" if row.context_tokens is None else f"{context} tokens"
    known = (cost, where, size, "no key" if key == "-" else f"key {key}")
    unused = "  (not in use)" if row.place is None else ""
    return f"{order} {name}  {vendor}:{model}{unused}", " · ".join(word for word in known if word)


def _wrapped(line: str, indent: str) -> str:
    width = screen.out().width
    plain = screen.plain(line)
    return textwrap.fill(plain, width, initial_indent=indent, subsequent_indent=_INDENT, break_long_words=False, break_on_hyphens=False)


def provided(given: Path | None, at: str, base_url: str | None, as_json: bool) -> None:
    setup = opened(given)
    wanted = setup.at(at, None if base_url is None else model_words.address(base_url))
    offers = asyncio.run(setup.offers(wanted))
    if as_json:
        screen.emit_value({"at": at, "models": [_offer(offer) for offer in offers]})
        return
    table = screen.table("model", "$ a million tokens", "context")
    for offer in offers:
        table.add_row(*(Text(screen.plain(cell)) for cell in (offer.model, str(offer.rate or "unknown"), _size(offer.context_tokens))))
    screen.out().print(table)


def _cells(row: Row) -> tuple[str, ...]:
    place = "-" if row.place is None else str(row.place)
    if not row.model:
        return (row.name, place, row.vendor, "", "", "", "", "here", "")
    price, source = ("unknown", "") if row.rate is None else (str(row.rate), row.rate.price.source)
    key = "missing" if row.lacks_key else row.key or "-"
    return (
        row.name,
        place,
        row.vendor,
        row.model,
        price,
        source,
        _size(row.context_tokens),
        f"{row.address}, at home" if row.is_local else row.address,
        key,
    )


def _as_value(row: Row) -> dict[str, object]:
    return {
        "name": row.name,
        "order": row.place,
        "vendor": row.vendor,
        "model": row.model or None,
        "address": row.address or None,
        "price": _rate(row.rate),
        "context_tokens": row.context_tokens,
        "is_local": row.is_local,
        "key": row.key or None,
        "lacks_key": row.lacks_key,
    }


def _offer(offer: Offer) -> dict[str, object]:
    return {"model": offer.model, "context_tokens": offer.context_tokens, "price": _rate(offer.rate)}


def _rate(rate: Rate | None) -> dict[str, object] | None:
    return None if rate is None else {"input": rate.input, "output": rate.output, "source": rate.price.source}


def _size(tokens: int | None) -> str:
    return "-" if tokens is None else f"{tokens:,}"
