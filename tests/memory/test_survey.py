"""What there is, looked over: pages, sources, people and things; and words put right by hand."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from daimon.abi.errors import BadInput, NotFound, Outdated
from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.abi.label import Author, Label, Origin, owned
from daimon.abi.memory import Amendment, Edge, Item, Node, Put, Relate
from daimon.abi.survey import Listing
from daimon.journal.sqlite import SqliteJournal
from daimon.machine.chance import SystemRandom
from daimon.machine.clock import SystemClock
from daimon.machine.ids import SortableIds
from daimon.memory.curator import StoreCurator
from daimon.memory.store import MemoryStore
from daimon.testing.clock import ManualClock
from daimon.vault.redact import SecretRedactor

MINE = owned("chat")
WEB = Label.of(Origin(Author.STRANGER, "web:example.org"), readers=(OWNER,))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def curator(tmp_path: Path, clock: ManualClock) -> AsyncIterator[StoreCurator]:
    ids = SortableIds(SystemClock(), SystemRandom())
    journal = await SqliteJournal.open(tmp_path / "journal.db", clock, ids)
    store, _ = await MemoryStore.open(tmp_path / "memory.db", journal)
    yield StoreCurator(store, journal, clock, ids, SecretRedactor(tuple))
    await store.close()
    await journal.close()


def notes(number: int, label: Label, clock: ManualClock) -> tuple[Item, ...]:
    return tuple(
        Item(id=f"note_{n:06}", kind="note", text=f"note {n}", at=clock.now(), label=label, source="elsewhere") for n in range(number)
    )


async def amended(curator: StoreCurator, *operations: Relate | Put, label: Label = MINE) -> None:
    made = Amendment(id=curator.ids.new("a"), space=HOME_SPACE, principal=OWNER, at=curator.clock.now(), operations=operations, label=label)
    await curator.record.amend(made)


async def test_pages_go_through_all_once_the_newest_first(curator: StoreCurator, clock: ManualClock) -> None:
    await curator.take_in(notes(120, WEB, clock), True)
    seen: list[str] = []
    after = ""
    while True:
        found = await curator.listed(Listing(kinds=("note",), after=after, limit=50))
        assert found.total == 120
        seen += [item.id for item in found.items]
        if not (after := found.next):
            break
        await curator.remember("kept while somebody turns pages", False)
        await curator.forget((await curator.listed(Listing(limit=1))).items[0].id)
    assert seen == [f"note_{n:06}" for n in reversed(range(120))]


async def test_a_list_is_narrowed_by_kind_standing_subject_and_source(curator: StoreCurator, clock: ManualClock) -> None:
    await curator.take_in(notes(2, WEB, clock), True)
    ulm = await curator.learn("Anna", "Anna lives in Ulm.", "city")
    bonn = await curator.learn("Anna", "Anna lives in Bonn.", "city")
    for listing, wanted in (
        (Listing(kinds=("fact",)), [bonn.id]),
        (Listing(kinds=("fact",), standing="over"), [ulm.id]),
        (Listing(subject="Anna", standing="any"), [bonn.id, ulm.id]),
        (Listing(source="web:example.org"), ["note_000001", "note_000000"]),
        (Listing(subject="nobody"), []),
    ):
        found = await curator.listed(listing)
        assert ([item.id for item in found.items], found.total) == (wanted, len(wanted))
    counts = await curator.counts()
    assert (counts.holding, counts.over) == ({"note": 2, "fact": 1}, {"fact": 1})
    with pytest.raises(BadInput, match="no place in the list"):
        await curator.listed(Listing(after="1 OR 1"))


async def test_sources_are_those_that_labels_name(curator: StoreCurator, clock: ManualClock) -> None:
    await curator.take_in(notes(3, WEB, clock), True)
    await curator.remember("mine", False)
    found = await curator.springs()
    assert [(each.source, each.items, each.label.origins[0].author) for each in found] == [
        ("web:example.org", 3, Author.STRANGER), ("memory", 1, Author.OWNER),
    ]  # fmt: skip
    await curator.forget_source("web:example.org")
    assert [each.source for each in await curator.springs()] == ["memory"]


async def test_a_thing_is_shown_with_facts_and_relations_each_with_its_label(curator: StoreCurator) -> None:
    anna, ulm, bob = ("Person", "Anna"), ("Place", "Ulm"), ("Person", "Bob")
    await amended(curator, Relate((Node(*anna, {"age": 7}),), (Edge(anna, "LIVES_IN", ulm),)))
    await amended(curator, Relate((), (Edge(bob, "KNOWS", anna, confidence=0.5),)), label=WEB)
    await curator.learn("Anna", "Anna likes tea.", "")
    found = await curator.portrait("Anna")
    assert [(node.kind, node.properties) for node in found.nodes] == [("Person", {"age": 7})]
    assert [(each.is_from, each.type, each.name, each.label.is_trusted) for each in found.relations] == [
        (True, "LIVES_IN", "Ulm", True), (False, "KNOWS", "Bob", False),
    ]  # fmt: skip
    assert [fact.text for fact in found.facts] == ["Anna likes tea."]
    with pytest.raises(NotFound, match="nobody and nothing"):
        await curator.portrait("anna")


async def test_relations_of_a_thing_with_very_many_are_cut(curator: StoreCurator) -> None:
    edges = tuple(Edge(("Topic", "hub"), "ABOUT", ("Topic", f"spoke {n}")) for n in range(300))
    await amended(curator, Relate((), edges))
    found = await curator.portrait("hub")
    assert (len(found.relations), found.is_cut) == (200, True)


async def test_things_are_found_by_a_part_of_their_name(curator: StoreCurator) -> None:
    await amended(curator, Relate((Node("Person", "Anna"), Node("Team", "Anna")), (Edge(("Person", "Anna"), "KNOWS", ("Person", "100%")),)))
    await curator.learn("Anna", "Anna likes tea.", "")
    await curator.learn("Zoë", "Zoë sings.", "")
    found = (await curator.things("", 10)).things
    assert [(each.name, each.kinds, each.facts, each.relations) for each in found] == [
        ("100%", ("Person",), 0, 1), ("Anna", ("Person", "Team"), 1, 1), ("Zoë", (), 1, 0),
    ]  # fmt: skip
    assert [each.name for each in (await curator.things("AN", 10)).things] == ["Anna"]
    assert [each.name for each in (await curator.things("%", 10)).things] == ["100%"]
    assert (await curator.things("", 2)).is_cut


async def test_latest_changes_tell_what_began_and_what_ended(curator: StoreCurator, clock: ManualClock) -> None:
    note = await curator.remember("tea", False)
    await clock.advance(60)
    await curator.forget(note.id)
    found = await curator.turned(10)
    assert [(each.did, each.item.id) for each in found] == [("forgotten", note.id), ("kept", note.id)]
    back = await curator.rewind(found[0].before)
    assert [item.id for item in back.returned] == [note.id]


async def test_other_words_take_the_place_of_a_fact_or_note_and_are_the_owners(curator: StoreCurator, clock: ManualClock) -> None:
    await curator.take_in(notes(1, WEB, clock), True)
    fact = await curator.learn("Anna", "Anna likes tea.", "")
    for old, kind in ((fact.id, "fact"), ("note_000000", "note")):
        new = await curator.correct(old, "better words")
        assert (new.kind, new.text, new.label, new.supersedes) == (kind, "better words", owned("memory"), (old,))
        account = await curator.why(old)
        assert account.item is not None
        assert (account.item.standing, [each.id for each in account.replaced_by]) == ("superseded", [new.id])
        with pytest.raises(Outdated, match="holds no longer"):
            await curator.correct(old, "a second hand")
    with pytest.raises(BadInput, match="characters"):
        await curator.correct(new.id, " ")


async def test_a_note_is_put_on_the_page_and_edited_there_if_there_is_room(curator: StoreCurator) -> None:
    note = await curator.remember("x" * 2_500, False)
    on_page = await curator.correct(note.id, note.text, True)
    assert [each.id for each in (await curator.page()).notes] == [on_page.id]
    edited = await curator.correct(on_page.id, "y" * 3_900)
    assert [each.id for each in (await curator.page()).notes] == [edited.id]
    with pytest.raises(BadInput, match="the page holds"):
        await curator.correct((await curator.remember("z" * 200, False)).id, "z" * 200, True)


async def test_what_was_forgotten_is_brought_back_without_touching_anything_else(curator: StoreCurator, clock: ManualClock) -> None:
    await curator.take_in(notes(1, WEB, clock), True)
    await amended(curator, Put("colour", "green"))
    fact = await curator.learn("Anna", "Anna likes tea.", "drink")
    for id_ in ("note_000000", fact.id, "value:colour"):
        await curator.forget(id_)
        other = await curator.remember("something else", False)
        back = await curator.bring_back(id_)
        assert (back.standing, back.ended_at) == ("holds", None)
        assert (await curator.why(other.id)).item == other
        with pytest.raises(BadInput, match="holds already"):
            await curator.bring_back(back.id)
    assert not (await curator.listed(Listing(source="web:example.org"))).items[0].label.is_trusted


async def test_a_value_that_an_import_brought_as_no_json_is_refused(curator: StoreCurator, clock: ManualClock) -> None:
    at = clock.now()
    odd = Item(id="x", kind="value", text="{", at=at, label=WEB, source="elsewhere", subject="k", standing="forgotten", ended_at=at)
    await curator.take_in((odd,), True)
    with pytest.raises(BadInput, match="no JSON"):
        await curator.bring_back("x")
