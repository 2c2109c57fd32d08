"""`daimon memory why`: an item with its receipt, in words."""

from datetime import datetime
from pathlib import Path

from daimon.abi.codec import encode
from daimon.abi.curator import Account, Origin
from daimon.abi.label import Author, Label
from daimon.abi.memory import Item
from daimon.cli import curated, screen

MOST_SHOWN = 600
_AUTHORS = {
    Author.OWNER: "you, through {source}",
    Author.SERVICE: "Daimon's own {source}",
    Author.AGENT: "an agent, through {source}",
    Author.LIMITED: "a closed answer about {source}",
    Author.STRANGER: "a stranger, through {source}",
}


def why(given: Path | None, id_: str, as_json: bool) -> None:
    found = curated.looked(given, lambda curator: curator.why(id_))
    if as_json:
        screen.emit(encode(Account, found))
        return
    rows = [*_item(found.item), *_origin(found.origin, found.item), *_others(found)] if found.item else _deleted(found)
    screen.out().print(screen.facts(tuple(rows)))


def _item(item: Item) -> list[tuple[str, str]]:
    subject = f"{item.subject}{f', {item.about}' if item.about else ''}"
    over = f" since {_at(item.ended_at)}, by {item.ended_by or 'nobody knows'}" if item.ended_at else ""
    uses = f"{'once' if item.uses == 1 else f'{item.uses} times'}, last {_at(item.used_at)}" if item.uses else "never recalled for a prompt"
    return [
        (item.kind, _cut(item.text)),
        *([("about", subject)] if subject else []),
        ("standing", item.standing + over + (", on the page" if item.on_page and not over else "")),
        ("kept", _at(item.at)),
        ("whose words", _whose(item.label)),
        ("trusted", "yes" if item.label.is_trusted else "no: it never overrides yours and is not recalled by itself"),
        ("confidence", f"{item.confidence:.0%}"),
        ("used", uses),
    ]


def _origin(origin: Origin | None, item: Item) -> list[tuple[str, str]]:
    if origin is None:
        return [("from", f"{item.source}, which is not in the journal")]
    rows = [("from", _place(origin))]
    if origin.erased:
        return [*rows, ("words", _gone(origin))]
    if origin.asked:
        rows.append(("asked", _cut(origin.asked)))
    if origin.text and origin.text != item.text:
        rows.append(("said there" if item.span is None else "quoted", _cut(origin.text)))
    return rows


def _others(found: Account) -> list[tuple[str, str]]:
    before = [("replaced", f"{each.id}: {_cut(each.text)}") for each in found.replaced]
    return before + [("replaced by", f"{each.id}: {_cut(each.text)}") for each in found.replaced_by]


def _deleted(found: Account) -> list[tuple[str, str]]:
    rows = [(found.id, "erased: it was deleted for good, and its words are in no file")]
    if found.origin is not None:
        rows.append(("was from", _place(found.origin)))
        rows += [("erased", _gone(found.origin))] if found.origin.erased else []
    return rows


def _place(origin: Origin) -> str:
    who = f" by {origin.speaker}" if origin.speaker else ""
    where = f" in {origin.conversation}" if origin.conversation else ""
    turn = f", turn {origin.turn}" if origin.turn and origin.what == "event" else ""
    what = {"event": "event", "step": "step", "amendment": "change by hand"}[origin.what]
    return f"{what} {origin.ref}{who}{where}, {_at(origin.at)}{turn}"


def _gone(origin: Origin) -> str:
    return f"{origin.erased}{f', {_at(origin.erased_at)}' if origin.erased_at else ''}"


def _whose(label: Label) -> str:
    return "; ".join(_AUTHORS[origin.author].format(source=origin.source) for origin in label.origins)


def _at(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment.astimezone():%Y-%m-%d %H:%M:%S}"


def _cut(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}… ({len(text) - MOST_SHOWN:,} more characters; --json has them)"
