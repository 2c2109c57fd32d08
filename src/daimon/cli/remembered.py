"""What `daimon memory` does, but for receipts and exports."""

import json
import os
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import JsonValue
from rich.text import Text

from daimon import homes
from daimon.abi.codec import encode
from daimon.abi.curator import Curator, Forgotten, Rewound
from daimon.abi.errors import BadInput, NotFound
from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.abi.memory import Answered, Hit, Item, Kind, Page, Query, Reason, Recalled
from daimon.cli import consent, curated, moments, screen

KEPT: tuple[Kind, ...] = ("note", "fact", "value")
MOST_SHOWN = 300
MOST_NAMED = 10
AT_ONCE = 1_000
NONE_YET = "nothing is kept yet"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for, as it was typed."""

    text: str
    kinds: tuple[str, ...]
    since: str
    until: str
    source: str
    limit: int


def search(given: Path | None, wanted: Wanted, as_json: bool) -> None:
    query = Query(
        space=HOME_SPACE, principal=OWNER, text=wanted.text, limit=wanted.limit, kinds=curated.kinds_of(wanted.kinds),
        since=_moment(given, wanted.since, "--since"), until=_moment(given, wanted.until, "--until", is_end=True), source=wanted.source,
    )  # fmt: skip
    found = curated.looked(given, lambda curator: curator.search(query))
    if as_json:
        screen.emit(encode(Recalled, found))
        return
    out = screen.out()
    for hit in found.hits:
        id_, when, what = _cells(hit.item)
        out.print(what)
        out.print(Text(f"  {id_}  {when}  {screen.plain(_reasons(hit))}", "dim"))
    if not found.hits:
        out.print("nothing was found")
    screen.remark(f"looked by {found.how}")


def show_all(given: Path | None, kinds: tuple[str, ...], is_all: bool, as_json: bool) -> None:
    asked = curated.kinds_of(kinds) or (() if is_all else KEPT)

    async def look(curator: Curator) -> list[Item]:
        return [item async for item in every(curator, asked) if is_all or item.ended_at is None]

    found = curated.looked(given, look)
    if as_json:
        screen.emit(encode(list[Item], found))
    else:
        _show(found)


async def every(curator: Curator, kinds: tuple[Kind, ...]) -> AsyncIterator[Item]:
    after = ""
    while some := await curator.items(kinds, after, AT_ONCE):
        for item in some:
            yield item
        after = some[-1].id


def show_page(given: Path | None, as_json: bool) -> None:
    page = curated.looked(given, lambda curator: curator.page())
    if as_json:
        screen.emit(encode(Page, page))
        return
    rows = screen.table("id", "text")
    for note in page.notes:
        rows.add_row(note.id, Text(screen.plain(note.text)))
    screen.out().print(rows if page.notes else "the page is empty")
    screen.remark(f"{page.characters:,} of {page.most_characters:,} characters")


def add_to_page(given: Path | None, text: str, as_json: bool) -> None:
    _said(curated.done(given, lambda curator: curator.remember(text, True)), "on the page", as_json)


def take_off_page(given: Path | None, id_: str, as_json: bool) -> None:
    _said(curated.looked(given, lambda curator: curator.take_off(id_)), "off the page, kept as a note", as_json)


def learn(given: Path | None, fact: tuple[str, str, str], as_json: bool) -> None:
    subject, statement, about = fact
    _said(curated.done(given, lambda curator: curator.learn(subject, statement, about)), "learnt", as_json)


def history(given: Path | None, about: str, as_json: bool) -> None:
    found = curated.looked(given, lambda curator: curator.history(about))
    if not found:
        raise NotFound(f"memory has no item and no subject {about[:80]!r}; `daimon memory list` shows what there is")
    if as_json:
        screen.emit(encode(tuple[Item, ...], found))
    else:
        _show(found)


def forget(given: Path | None, id_: str, as_json: bool) -> None:
    gone = curated.looked(given, lambda curator: curator.forget(id_))
    _said(gone, "forgotten", as_json)
    if not as_json:
        screen.remark(
            f"it stays as history; `daimon memory forget --source {gone.source}` deletes it for good, with all that came from there"
        )


def forget_source(given: Path | None, source: str, is_meant: bool, as_json: bool) -> None:
    foreseen = curated.looked(given, lambda curator: curator.foresee_forgetting(source))
    if foreseen.is_nothing:
        raise NotFound(f"nothing in memory or journal is from {source[:80]!r}; `daimon memory why ID` names the sources of an item")
    if not is_meant:
        screen.remark(f"from {foreseen.source}: {_counted(foreseen)}", "")
    consent.require("Delete all of it for good?", is_meant)
    gone = curated.looked(given, lambda curator: curator.forget_source(source))
    if as_json:
        screen.emit(encode(Forgotten, gone))
    else:
        screen.say(f"deleted for good: {_counted(gone)}")


def restore(given: Path | None, at: str, is_meant: bool, as_json: bool) -> None:
    to = _moment(given, at, "--at")
    if to is None:
        raise BadInput(f"--at is empty; write it as {moments.FORMS}")
    foreseen = curated.looked(given, lambda curator: curator.foresee_rewinding(to))
    if not (foreseen.ended or foreseen.returned or foreseen.claims):
        _tell_rewound(foreseen, as_json)
        return
    if not is_meant:
        screen.remark(f"as it was at {to.astimezone():%Y-%m-%d %H:%M:%S %Z}:", "")
        _tell_changes(foreseen)
    consent.require("Change memory so?", is_meant)
    _tell_rewound(curated.looked(given, lambda curator: curator.rewind(to)), as_json)


def graph(given: Path | None, query: str, as_json: bool) -> None:
    found = curated.looked(given, lambda curator: curator.ask_graph(query))
    if as_json:
        screen.emit(encode(Answered, found))
        return
    rows = screen.table(*map(screen.plain, found.columns))
    for row in found.rows:
        rows.add_row(*(Text(screen.plain(_cell(value))) for value in row))
    screen.out().print(rows if found.rows else "nothing was found")
    if found.is_cut:
        screen.remark("there is more; narrow the question, or set a LIMIT", "yellow")


def _tell_changes(found: Rewound) -> None:
    for sign, items in (("-", found.ended), ("+", found.returned)):
        for item in items[:MOST_NAMED]:
            screen.remark(f"  {sign} {item.id}  {_text(item)[:MOST_SHOWN]}", "")
        if len(items) > MOST_NAMED:
            screen.remark(f"  {sign} … and {len(items) - MOST_NAMED} more", "")
    screen.remark(_sums(found), "")


def _tell_rewound(found: Rewound, as_json: bool) -> None:
    if as_json:
        screen.emit(encode(Rewound, found))
        return
    if found.undo is None:
        screen.say("nothing to change: what is kept is as it was then")
        return
    screen.say(f"restored: {len(found.ended)} ended, {len(found.returned)} came back{_claims(found)}")
    undo = found.undo.astimezone(UTC).isoformat().replace("+00:00", "Z")
    screen.remark(f"`daimon memory restore --at {undo}` takes this back")


def _sums(found: Rewound) -> str:
    return f"{len(found.ended)} would end, {len(found.returned)} would come back{_claims(found)}"


def _claims(found: Rewound) -> str:
    return f"; {_many(found.claims, 'claim')} of the graph" if found.claims else ""


def _counted(found: Forgotten) -> str:
    in_memory = [_many(n, kind) for kind, n in found.items.items()]
    in_memory += [f"{_many(found.claims, 'claim')} of the graph"] if found.claims else []
    return f"{', '.join(in_memory) or 'nothing'} in memory, {_many(found.payloads, 'entry')} in the journal"


def _many(n: int, what: str) -> str:
    if n == 1:
        return f"1 {what}"
    return f"{n:,} {what[:-1]}ies" if what.endswith("ry") else f"{n:,} {what}s"


def _said(item: Item, how: str, as_json: bool) -> None:
    if as_json:
        screen.emit(encode(Item, item))
    else:
        screen.say(f"{item.id}: {how}")


def _show(items: Iterable[Item]) -> None:
    rows = screen.table("id", "when", "what", "")
    found = False
    for item in items:
        found = True
        rows.add_row(*_cells(item), Text(_standing(item), "dim"))
    screen.out().print(rows if found else NONE_YET)


def _cells(item: Item) -> tuple[str, str, Text]:
    trust = "" if item.label.is_trusted else "(not your word) "
    return item.id, f"{item.at.astimezone():%Y-%m-%d %H:%M}", Text(screen.plain(f"{item.kind}: {trust}{_text(item)}"))


def _standing(item: Item) -> str:
    words: list[str] = [] if item.standing == "holds" else [item.standing]
    words += ["on the page"] if item.on_page and item.ended_at is None else []
    words += [f"until {item.ended_at.astimezone():%Y-%m-%d %H:%M}"] if item.ended_at is not None else []
    return ", ".join(words)


def _text(item: Item) -> str:
    head = f"{item.speaker}: " if item.kind == "message" and item.speaker else ""
    head = f"{item.subject}{f' ({item.about})' if item.about else ''}: " if item.kind == "fact" else head
    head = f"{item.subject} = " if item.kind == "value" else head
    text = " ".join(item.text.split())
    return head + (text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…")


def _reasons(hit: Hit) -> str:
    return "; ".join(_reason(reason) for reason in hit.why)


def _reason(reason: Reason) -> str:
    place = f" (place {reason.rank})" if reason.rank else ""
    return f"{reason.by}{place}{f': {reason.note}' if reason.note else ''}"


def _cell(value: JsonValue) -> str:
    """A node as (Kind name), an edge as TYPE, a path as both in a row."""
    match value:
        case {"nodes": list(nodes), "edges": list(edges)}:
            return " ".join(_cell(part) for pair in zip(nodes, [*edges, ""], strict=True) for part in pair if part != "")
        case {"kind": kind, "name": name, "properties": properties}:
            return f"({kind} {name}{_properties(properties)})"
        case {"type": type_, "src": _, "dst": _, "properties": properties}:
            return f"-[{type_}{_properties(properties)}]-"
        case str():
            return value
        case _:
            return json.dumps(value, ensure_ascii=False)


def _properties(properties: JsonValue) -> str:
    return f" {json.dumps(properties, ensure_ascii=False)}" if properties else ""


def _moment(given: Path | None, text: str, option: str, is_end: bool = False) -> datetime | None:
    if not text:
        return None
    from daimon import config

    settings = config.load(homes.home_at(given).config, os.environ)
    return moments.read(text, option, datetime.now(UTC), config.zone(settings), is_end=is_end)
