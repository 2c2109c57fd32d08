"""Going back to a moment, and taking things over from an export."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.memory.asking import EVE, item, items, texts, told
from tests.memory.writing import NOON

from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.abi.label import owned
from daimon.abi.memory import Import, Item, Learn, Put, Remember, Rewind
from daimon.memory.store import MemoryStore


async def kept(store: MemoryStore) -> dict[str, str]:
    return {each.id: each.text for each in await items(store, "note", "fact", "value")}


async def test_what_was_kept_becomes_as_it_was(store: MemoryStore, journal: Any) -> None:
    journal.remember("one", "n1")
    journal.outcome(Put("k", 1), Learn("f1", "owner", "Berlin", "home"))
    journal.outcome(Learn("f2", "owner", "Siberia", "home"), label=EVE)
    before = await kept(store)
    then = journal.changes[-1].item.at
    journal.forget("n1")
    journal.outcome(Put("k", 2), Learn("f3", "owner", "Köln", "home"), Remember("three", "n3"))
    after = await kept(store)
    journal.amend(Rewind(then))
    assert await kept(store) == before
    assert (await item(store, "f2")).standing == "disputed"
    assert (await item(store, "n3")).standing == "rewound"
    await told(store)
    journal.amend(Rewind(journal.changes[4].item.at))
    assert await kept(store) == after
    await told(store)


async def test_what_happened_stays(store: MemoryStore, journal: Any) -> None:
    journal.exchange("hello", "hi", "t1")
    then = journal.changes[0].item.received_at
    journal.remember("one", "n1")
    journal.amend(Rewind(then))
    assert await texts(store, "note") == []
    assert sorted(await texts(store, "message")) == ["hello", "hi"]
    assert len(await items(store, "episode")) == 1


async def test_a_thing_that_came_back_keeps_its_receipt_and_its_history(store: MemoryStore, journal: Any) -> None:
    journal.outcome(Remember("one", "n1", on_page=True))
    journal.reply("yes", "n1")
    first = await item(store, "n1")
    journal.forget("n1")
    journal.amend(Rewind(journal.changes[1].item.at))
    assert await item(store, "n1") == first
    assert [each.standing for each in await store.history(HOME_SPACE, OWNER, "n1")] == ["forgotten", "holds"]
    journal.erase("t1")
    assert await store.history(HOME_SPACE, OWNER, "n1") == ()


async def test_an_import_brings_items_with_their_dates_and_labels_and_overwrites_nothing(store: MemoryStore, journal: Any) -> None:
    journal.outcome(Remember("mine", "n1"), Learn("f1", "owner", "Berlin", "home"), Put("k", 1))
    journal.exchange("hello", "hi", "t1", conversation="terminal")
    journal.forget("n1")
    exported = await store.items(HOME_SPACE, OWNER, ())
    assert [each.id for each in exported] == sorted(each.id for each in exported)
    for n, each in enumerate(exported[:-1]):
        (after,) = await store.items(HOME_SPACE, OWNER, (), after=each.id, limit=1)
        assert after == exported[n + 1]
    stranger = Item(id="n9", kind="note", text="Eve's", at=exported[0].at, label=EVE, source="t7:7", uses=3)
    journal.amend(Import((*(replace(each, text="other") for each in exported), stranger)))
    assert await store.items(HOME_SPACE, OWNER, ()) == tuple(sorted((*exported, replace(stranger, source="a5")), key=lambda each: each.id))
    await told(store)


async def test_an_import_into_an_empty_home_says_the_same_as_the_export(store: MemoryStore, journal: Any) -> None:
    ended = replace(an_item("n1", "over"), standing="forgotten", ended_at=journal.now, ended_by="t1:1")
    brought = (an_item("e1", "hello", "message"), an_item("n2", "two"), ended, an_item("value:k", "1", "value"))
    journal.amend(Import(brought))
    journal.amend(Import(brought))
    read = [replace(each, source="") for each in await store.items(HOME_SPACE, OWNER, ())]
    assert read == sorted((replace(each, source="") for each in brought), key=lambda each: each.id)
    await told(store)


@pytest.mark.parametrize("label", [owned("terminal"), EVE])
async def test_imported_facts_are_judged_as_any_other(store: MemoryStore, journal: Any, label: Any) -> None:
    journal.outcome(Learn("f1", "owner", "Berlin", "home"))
    fact = replace(an_item("f2", "Köln", "fact"), subject="owner", about="home", label=label)
    journal.amend(Import((fact,)))
    assert [each.standing for each in await store.history(HOME_SPACE, OWNER, "owner")] == (
        ["holds", "disputed"] if label == EVE else ["superseded", "holds"]
    )


async def test_a_clock_that_was_set_back_never_makes_two_versions_of_one_thing(store: MemoryStore, journal: Any) -> None:
    for value, minute in ((1, 5), (2, 10), (3, 6), (4, 20)):
        journal.outcome(Put("k", value), at=NOON + timedelta(minutes=minute))
    journal.amend(Rewind(NOON + timedelta(minutes=7)), at=NOON + timedelta(minutes=30))
    assert await kept(store) == {"value:k": "3"}
    journal.outcome(Put("k", 5), at=NOON + timedelta(minutes=6))
    journal.amend(Rewind(NOON + timedelta(minutes=7)), at=NOON + timedelta(minutes=31))
    assert await kept(store) == {"value:k": "5"}


def an_item(id_: str, text: str, kind: Any = "note") -> Item:
    subject = "k" if kind == "value" else ""
    return Item(id=id_, kind=kind, text=text, at=NOON, label=owned("terminal"), source="t1:1", subject=subject)
