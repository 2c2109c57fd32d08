"""Other words for something, or the old ones again: as operations of an amendment.

An item is never changed. Its successor has an id of its own and names what it took the place of, so that its history can be told, and a
second hand that still looks at the old one finds that it is over. Whether the page has room is for whoever calls.
"""

import json

from pydantic import JsonValue

from daimon.abi.errors import BadInput, Outdated
from daimon.abi.memory import AmendedBy, Item, Learn, Put, Remember
from daimon.memory.values import id_of

MOST_CHARACTERS = 4_000
"""Of a note or a statement, as for models."""
KEPT = ("note", "fact", "value")


def corrected(found: Item, text: str, new: str, on_page: bool | None) -> AmendedBy:
    """The operation that puts other words in its place, under the id `new`."""
    if found.ended_at is not None:
        raise Outdated(f"{found.id} holds no longer: it is {found.standing}. Look at what holds now, and change that")
    match found.kind:
        case "fact":
            return Learn(new, found.subject, worded(text, "the statement", MOST_CHARACTERS), found.about, supersedes=(found.id,))
        case "note":
            stands = found.on_page if on_page is None else on_page
            return Remember(worded(text, "the note", MOST_CHARACTERS), new, stands, replaces=(found.id,))
        case other:
            raise BadInput(f"{found.id} is a {other}: only notes and facts can be put in other words")


def returned(found: Item, new: str, has_room: bool) -> tuple[str, AmendedBy]:
    """Under which id it comes back, and the operation that does it. A value is known by its key for ever."""
    if found.ended_at is None:
        raise BadInput(f"{found.id} holds already")
    match found.kind:
        case "fact":
            return new, Learn(new, found.subject, found.text, found.about, found.confidence, supersedes=(found.id,))
        case "note":
            return new, Remember(found.text, new, found.on_page and has_room, replaces=(found.id,))
        case "value":
            return id_of(found.subject), Put(found.subject, _value(found))
        case other:
            raise BadInput(f"{found.id} is a {other}: it tells what happened, and is never over")


def _value(found: Item) -> JsonValue:
    try:
        value: JsonValue = json.loads(found.text)
    except (ValueError, RecursionError):
        raise BadInput(f"{found.id} was brought by an import and is no value that could be put again: its text is no JSON") from None
    return value


def worded(text: str, what: str, most: int) -> str:
    text = text.strip()
    if not text or len(text) > most:
        raise BadInput(f"{what} has {len(text)} characters; give 1 to {most}")
    return text
