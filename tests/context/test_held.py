"""No word of a stranger in what is shown, whatever the shape; and all of it behind the handles."""

import json

from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue
from tests.abi import values

from daimon.abi.fields import leaves
from daimon.abi.ids import Key
from daimon.abi.label import Author, Label, Origin
from daimon.abi.message import Text, ToolResult
from daimon.abi.step import Happened
from daimon.context.held import filled, handles, held, place, shown

KEY = Key("t01:4")
BOB = Label.of(Origin(Author.STRANGER, "mail:bob@x.org"))
BANK = Label.of(Origin(Author.SERVICE, "bank"))
MARK = "§"


def marked(value: JsonValue) -> JsonValue:
    """With a mark in every text and name."""
    match value:
        case dict():
            return {MARK + name: marked(inner) for name, inner in value.items()}
        case list():
            return [marked(inner) for inner in value]
        case str():
            return MARK + value
        case _:
            return value


def outcome(data: JsonValue, whole: Label, labels: dict[str, Label] | None = None) -> Happened:
    text = json.dumps({"ok": True, "data": data}, ensure_ascii=False)
    return Happened(4, ToolResult("c", "read", (Text(text),), False, whole, labels or {}), hold="strangers")


@given(values.json_values)
def test_nothing_that_a_stranger_wrote_is_shown_and_the_label_says_so(data: JsonValue) -> None:
    happened = outcome(marked(data), BOB)
    seen = shown(KEY, happened)
    assert MARK not in str(seen.parts)
    assert seen.label.is_trusted


@given(st.dictionaries(st.sampled_from(["good", "bad", "worse"]), values.json_values, min_size=1))
def test_every_untrusted_leaf_is_behind_a_handle_and_every_trusted_one_is_shown(data: dict[str, JsonValue]) -> None:
    whole: dict[str, JsonValue] = {name: inner if name == "good" else marked(inner) for name, inner in data.items()}
    happened = outcome(whole, BANK.joined(BOB), {"": BANK, "/bad": BOB, "/worse": BOB})
    body = json.loads(shown(KEY, happened).parts[0].text)["data"]  # type: ignore[union-attr]
    assert body.get("good") == whole.get("good")
    assert MARK not in json.dumps({name: body[name] for name in body if name != "good"}, ensure_ascii=False)
    kept = held(KEY, happened)
    known = {value.handle: value for value in kept}
    assert list(known) == [f"h:{KEY}.{i}" for i in range(1, len(kept) + 1)]
    assert set(handles(body)) == set(known)
    found = {str(leaf.value) for value in kept for leaf in leaves(value.value)}
    assert {str(leaf.value) for leaf in leaves(whole) if leaf.path[0] != "good" and isinstance(leaf.value, str)} <= found


def test_what_takes_the_place_of_a_handle_is_not_looked_at_again() -> None:
    first, second = held(KEY, outcome([f"{{{{h:{KEY}.2}}}}", "secret"], BOB))
    known = {first.handle: first, second.handle: second}
    assert filled({"text": f"see {{{{{first.handle}}}}}"}, known) == {"text": f"see {{{{{second.handle}}}}}"}
    assert str(place(second.handle)[0]) == KEY
