"""The owner's hand, on a journal and a memory that are on disk."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.memory.asking import bytes_of

from daimon.abi.errors import BadInput, NotFound
from daimon.abi.ids import OWNER
from daimon.abi.label import Author, Label, Origin, owned
from daimon.abi.memory import Item
from daimon.journal.sqlite import SqliteJournal
from daimon.machine.chance import SystemRandom
from daimon.machine.clock import SystemClock
from daimon.machine.ids import SortableIds
from daimon.memory.curator import StoreCurator
from daimon.memory.store import MemoryStore
from daimon.testing.clock import ManualClock
from daimon.vault.redact import Known, SecretRedactor

WEB = Label.of(Origin(Author.STRANGER, "web:example.org"), readers=(OWNER,))
CANARY = "sk-canary-0123456789abcdef"


@dataclass(frozen=True)
class Desk:
    curator: StoreCurator
    clock: ManualClock
    place: Path
    known: list[Known]


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    clock, known = ManualClock(), list[Known]()
    ids = SortableIds(SystemClock(), SystemRandom())
    journal = await SqliteJournal.open(tmp_path / "journal.db", clock, ids)
    store, _ = await MemoryStore.open(tmp_path / "memory.db", journal)
    yield Desk(StoreCurator(store, journal, clock, ids, SecretRedactor(lambda: tuple(known))), clock, tmp_path, known)
    await store.close()
    await journal.close()


def item(id_: str, text: str, label: Label, desk: Desk) -> Item:
    return Item(id=id_, kind="note", text=text, at=desk.clock.now(), label=label, source="elsewhere")


async def test_what_the_owner_states_has_the_owners_label_and_a_receipt(desk: Desk) -> None:
    fact = await desk.curator.learn("owner", "The owner lives in Ulm.", "city")
    account = await desk.curator.why(fact.id)
    assert (fact.label, fact.confidence) == (owned("memory"), 1.0)
    assert account.origin is not None
    assert (account.origin.what, account.origin.text, account.origin.speaker) == ("amendment", "The owner lives in Ulm.", "owner")


async def test_a_note_that_is_taken_off_the_page_keeps_what_its_label_named(desk: Desk) -> None:
    mail = Label.of(Origin(Author.SERVICE, "mail:me@x.org"), readers=(OWNER,))
    await desk.curator.take_in((replace(item("n1", "from a mail", mail, desk), on_page=True),), True)
    off = await desk.curator.take_off("n1")
    assert (off.on_page, off.label) == (False, mail.joined(owned("memory")))
    assert (await desk.curator.forget_source("mail:me@x.org")).items == {"note": 2}
    assert await desk.curator.items(()) == ()


async def test_what_is_foreseen_is_what_goes_and_nothing_else(desk: Desk) -> None:
    await desk.curator.take_in((item("n1", "walrusword", WEB, desk), item("n2", "otterword", owned("memory"), desk)), True)
    kept = await desk.curator.remember("badgerword", False)
    foreseen = await desk.curator.foresee_forgetting("web:example.org")
    assert (foreseen.items, foreseen.claims, foreseen.payloads) == ({"note": 1}, 0, 1)
    assert [each.id for each in await desk.curator.items(())] == ["n1", "n2", kept.id]
    assert await desk.curator.forget_source("web:example.org") == foreseen
    for name in ("memory.db", "journal.db"):
        assert (b"walrusword" in bytes_of(desk.place / name), b"otterword" in bytes_of(desk.place / name)) == (False, True)
    assert (await desk.curator.why("n1")).item is None


async def test_what_tells_what_happened_is_not_forgotten_softly(desk: Desk) -> None:
    message = replace(item("e1", "hello", owned("chat"), desk), kind="message", conversation="main")
    await desk.curator.take_in((message,), True)
    with pytest.raises(BadInput, match="forget --source"):
        await desk.curator.forget("e1")
    with pytest.raises(NotFound):
        await desk.curator.forget("never")


async def test_rewinding_shows_what_will_change_and_gives_the_way_back(desk: Desk) -> None:
    first = await desk.curator.learn("owner", "The owner lives in Bonn.", "city")
    await desk.clock.advance(3600)
    then = desk.clock.now()
    await desk.clock.advance(3600)
    second = await desk.curator.learn("owner", "The owner lives in Ulm.", "city")
    await desk.clock.advance(60)
    foreseen = await desk.curator.foresee_rewinding(then)
    assert ([each.id for each in foreseen.ended], [each.id for each in foreseen.returned]) == ([second.id], [first.id])
    done = await desk.curator.rewind(then)
    assert (await desk.curator.why(first.id)).item == replace(first, ended_at=None)
    assert done.undo is not None
    await desk.clock.advance(60)
    await desk.curator.rewind(done.undo)
    holding = [each.id for each in await desk.curator.items(()) if each.ended_at is None]
    assert holding == [second.id]
    with pytest.raises(BadInput, match="has not come yet"):
        await desk.curator.foresee_rewinding(desk.clock.now() + timedelta(seconds=1))


async def test_deleted_items_come_back_only_by_an_import_of_the_owners(desk: Desk) -> None:
    brought = item("n1", "once more", WEB, desk)
    await desk.curator.take_in((brought,), True)
    await desk.curator.forget_source("web:example.org")
    assert (await desk.curator.take_in((brought,), True)).new == 1
    assert [each.text for each in await desk.curator.items(())] == ["once more"]


async def test_known_secrets_are_neither_kept_nor_shown(desk: Desk) -> None:
    before = await desk.curator.remember(f"the key is {CANARY}", False)
    desk.known.append(Known("key", CANARY))
    after = await desk.curator.remember(f"the key was {CANARY}", False)
    for id_ in (before.id, after.id):
        assert CANARY not in str(await desk.curator.why(id_))
    stored = bytes_of(desk.place / "journal.db")
    assert (f"is {CANARY}".encode() in stored, f"was {CANARY}".encode() in stored) == (True, False)


async def test_a_full_page_names_what_stands_on_it_and_keeps_nothing(desk: Desk) -> None:
    note = await desk.curator.remember("a" * 3_000, True)
    with pytest.raises(BadInput, match=note.id):
        await desk.curator.remember("b" * 1_000, True)
    assert len(await desk.curator.items(())) == 1
