"""`daimon model list`: what is set up, or what a provider has."""

import asyncio
from pathlib import Path

from rich.text import Text

from daimon.cli import screen
from daimon.cli.model_change import opened
from daimon.setup import Offer, Rate, Row


def own(given: Path | None, as_json: bool) -> None:
    setup = opened(given)
    rows = setup.rows()
    if as_json:
        screen.emit_value({"use": list(setup.settings.model.use), "models": [_as_value(row) for row in rows]})
        return
    table = screen.table("name", "order", "vendor", "model", "$ a million tokens", "source", "context", "where", "key")
    for row in rows:
        table.add_row(*(Text(screen.plain(cell)) for cell in _cells(row)))
    screen.out().print(table)
    if not setup.settings.models:
        screen.remark("`daimon model add` sets up a language model")


def provided(given: Path | None, at: str, as_json: bool) -> None:
    setup = opened(given)
    offers = asyncio.run(setup.offers(setup.at(at)))
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
        "at home" if row.is_local else row.address,
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
