"""Facts, notes and values: who holds, who is history, who may not."""

from typing import Any

import pytest
from tests.memory.asking import EVE, item, items, texts, told

from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.abi.memory import Forget, Learn, Put, Remember
from daimon.memory.page import MOST_CHARACTERS
from daimon.memory.store import MemoryStore


def learn(journal: Any, fact: str, statement: str, **more: Any) -> None:
    about = {name: more.pop(name) for name in ("label", "turn", "code") if name in more}
    journal.outcome(Learn(fact, more.pop("subject", "owner"), statement, more.pop("about", "home"), **more), **about)


async def standings(store: MemoryStore, about: str = "owner") -> list[tuple[str, str]]:
    return [(fact.id, fact.standing) for fact in await store.history(HOME_SPACE, OWNER, about)]


async def test_the_newest_word_holds_and_the_others_are_its_history(store: MemoryStore, journal: Any) -> None:
    for n, city in enumerate(("Berlin", "Köln", "Bonn")):
        learn(journal, f"f{n}", f"lives in {city}")
    assert await texts(store, "fact") == ["lives in Bonn"]
    assert await standings(store) == await standings(store, "f1") == [("f0", "superseded"), ("f1", "superseded"), ("f2", "holds")]
    old = await item(store, "f0")
    assert (old.text, old.ended_by, old.ended_at) == ("lives in Berlin", "t1:1", journal.changes[1].item.at)
    await told(store)


async def test_a_stranger_never_overrides_the_owner(store: MemoryStore, journal: Any) -> None:
    learn(journal, "f1", "lives in Berlin")
    learn(journal, "f2", "lives in Siberia", label=EVE)
    learn(journal, "f3", "lives in Siberia", label=EVE, supersedes=("f1",))
    learn(journal, "f4", "nobody's address", label=EVE, subject="post", supersedes=("f1",))
    assert (await item(store, "f1")).standing == "holds"
    assert [(await item(store, id_)).standing for id_ in ("f2", "f3", "f4")] == ["disputed"] * 3
    await told(store)


async def test_a_stranger_who_says_the_same_disputes_nothing(store: MemoryStore, journal: Any) -> None:
    learn(journal, "f1", "lives in Berlin")
    learn(journal, "f2", "Lives in  Berlin.", label=EVE)
    assert await standings(store) == [("f1", "holds"), ("f2", "holds")]


async def test_where_nobody_trusted_spoke_the_newest_claim_holds_until_somebody_does(store: MemoryStore, journal: Any) -> None:
    learn(journal, "f1", "lives in Siberia", label=EVE)
    learn(journal, "f2", "lives in Alaska", label=EVE)
    assert await standings(store) == [("f1", "superseded"), ("f2", "holds")]
    learn(journal, "f3", "lives in Berlin")
    assert await standings(store) == [("f1", "superseded"), ("f2", "superseded"), ("f3", "holds")]


async def test_facts_that_are_about_no_one_thing_stand_side_by_side(store: MemoryStore, journal: Any) -> None:
    learn(journal, "f1", "likes tea", about="")
    learn(journal, "f2", "likes coffee", about="")
    assert sorted(await texts(store, "fact")) == ["likes coffee", "likes tea"]


@pytest.mark.parametrize(
    "fact",
    [
        Learn("f1", "owner", "x", "home", supersedes=("f1",)),
        Learn("f1", "", "", ""),
        Learn("f1", "owner", "x", "home", confidence=float("nan"), span=(9, 2)),
        Learn("f1", "owner", "x", "home", confidence=-7.0, span=(-1, 2)),
        Learn("f1\0\ud800", "o\0wner", "x\0\ud800", "ho\ud800me", source="\ud800"),
    ],
)
async def test_a_fact_that_makes_no_sense_is_kept_and_breaks_nothing(store: MemoryStore, journal: Any, fact: Learn) -> None:
    journal.outcome(fact)
    journal.outcome(fact)
    (kept,) = await items(store, "fact")
    assert 0 <= kept.confidence <= 1
    assert kept.span is None
    await told(store)


async def test_two_facts_of_one_step_that_contradict_each_other_leave_the_last(store: MemoryStore, journal: Any) -> None:
    journal.outcome(Learn("f1", "owner", "Berlin", "home"), Learn("f2", "owner", "Köln", "home"))
    assert await texts(store, "fact") == ["Köln"]
    await told(store)


async def test_a_forgotten_fact_does_not_come_back_when_what_replaced_it_is_deleted(store: MemoryStore, journal: Any) -> None:
    learn(journal, "f1", "Berlin", turn="t1")
    learn(journal, "f2", "Köln", turn="t2")
    journal.outcome(Forget("f1"), turn="t3")
    journal.erase("t2")
    assert await texts(store, "fact") == []


async def test_a_note_takes_the_place_of_others_together_with_its_arrival(store: MemoryStore, journal: Any) -> None:
    journal.remember("one", "n1")
    journal.remember("two", "n2")
    journal.outcome(Remember("one and two", "n3", replaces=("n1", "n2", "n3", "n4")))
    assert await texts(store, "note") == ["one and two"]
    assert [each.id for each in await store.history(HOME_SPACE, OWNER, "n1")] == ["n1", "n2", "n3"]


async def test_a_strangers_note_replaces_none_of_the_owners(store: MemoryStore, journal: Any) -> None:
    journal.remember("one", "n1")
    journal.outcome(Remember("evil", "n2", replaces=("n1",)), label=EVE)
    assert sorted(await texts(store, "note")) == ["evil", "one"]


async def test_a_note_of_the_same_words_takes_the_place_of_the_fact_that_rules_made_of_them(store: MemoryStore, journal: Any) -> None:
    event = journal.event("remember that my locker code is 4711.")
    journal.turn("t1", event)
    journal.remember("My locker code is 4711", "n1", turn="t1", n=0)
    journal.forget("n1", turn="t2")
    assert await texts(store, "note", "fact") == []


async def test_the_newest_value_holds_and_is_found_by_its_key(store: MemoryStore, journal: Any) -> None:
    journal.outcome(Put("zone", "UTC"))
    journal.outcome(Put("zone", {"name": "Europe/Berlin"}))
    value = await store.value(HOME_SPACE, OWNER, "zone")
    assert value is not None
    assert value.text == '{"name": "Europe/Berlin"}'
    assert len(await store.history(HOME_SPACE, OWNER, "zone")) == 2
    journal.outcome(Put("zone", "Mars"), label=EVE)
    assert await store.value(HOME_SPACE, OWNER, "zone") == value
    journal.outcome(Forget("zone"))
    assert await store.value(HOME_SPACE, OWNER, "zone") is None
    await told(store)


async def test_the_page_has_the_trusted_notes_that_are_meant_for_it_oldest_first(store: MemoryStore, journal: Any) -> None:
    journal.outcome(Remember("first", "n1", on_page=True))
    journal.outcome(Remember("not here", "n2"))
    journal.outcome(Remember("evil", "n3", on_page=True), label=EVE)
    journal.outcome(Remember("second", "n4", on_page=True))
    journal.outcome(Remember("gone", "n5", on_page=True), Forget("n5"))
    page = await store.page(HOME_SPACE, OWNER)
    assert ([note.text for note in page.notes], page.most_characters, page.characters) == (["first", "second"], MOST_CHARACTERS, 13)


async def test_a_page_that_is_too_full_keeps_the_oldest_and_the_rest_are_notes_as_any_other(store: MemoryStore, journal: Any) -> None:
    for n in range(5):
        journal.outcome(Remember(str(n) * 1500, f"n{n}", on_page=True))
    page = await store.page(HOME_SPACE, OWNER)
    assert ([note.id for note in page.notes], page.left_out) == (["n0", "n1"], ("n2", "n3", "n4"))
    assert page.characters <= page.most_characters
    assert len(await items(store, "note")) == 5


async def test_nothing_of_another_owner_is_touched_or_shown(store: MemoryStore, journal: Any) -> None:
    learn(journal, "f1", "Berlin")
    journal.outcome(Learn("f1", "owner", "Köln", "home", supersedes=("f1",)), Put("k", 1), principal="bob")
    journal.event("hello from Bob", principal="bob")
    assert await texts(store) == ["Berlin"]
    assert await store.value(HOME_SPACE, OWNER, "k") is None
    assert await store.items(HOME_SPACE, OWNER, ()) == tuple(await items(store))
