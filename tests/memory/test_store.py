"""The store as a projection: whatever happens to its file, it says what the journal says."""

import asyncio
import subprocess
import sys
import threading
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.memory.asking import EVE, item, items
from tests.memory.writing import Written

from daimon.abi.errors import JournalFailed, Misconfigured, ToolFailed
from daimon.abi.ids import HOME_SPACE, OWNER, EventId, TurnId
from daimon.abi.label import UNLABELLED, Author, Label, Origin
from daimon.abi.memory import Forget, Import, Item, Put, Query, Remember
from daimon.abi.ports import START, Change, Cursor
from daimon.abi.step import Asked, Received, Started
from daimon.abi.tool import Question
from daimon.abi.turn import Turn
from daimon.memory.store import MemoryStore

STRANGER = Label.of(Origin(Author.STRANGER, "mail:eve@example.org"), readers=(OWNER,))


async def texts(store: MemoryStore, query: str = "", limit: int = 50) -> list[str]:
    return [item.text for item in await found(store, query, limit)]


async def found(store: MemoryStore, query: str = "", limit: int = 50) -> tuple[Item, ...]:
    asked = Query(space=HOME_SPACE, principal=OWNER, text=query, limit=limit, kinds=("note",))
    return tuple(hit.item for hit in (await store.recall(asked)).hits)


def remove(path: Path) -> None:
    path.unlink()


async def reopened(store: MemoryStore, path: Path, journal: Any) -> tuple[MemoryStore, list[str]]:
    await store.close()
    return await MemoryStore.open(path, journal)


# -- what counts -------------------------------------------------------------------------------------------------------


async def test_only_operations_of_outcomes_that_went_well_count(store: MemoryStore, journal: Any) -> None:
    journal.event()
    journal.step(Received(EventId("e1")))
    journal.outcome(Remember("refused", "n1"), code="denied")
    journal.outcome(Remember("first", "n2"), Remember("second", "n3"))
    assert sorted(await texts(store)) == ["first", "second"]


async def test_operations_of_a_call_that_goes_on_and_of_a_question_count_as_well(store: MemoryStore, journal: Any) -> None:
    journal.step(Started(0, "t1:0", operations=(Remember("first", "n1"),)))
    journal.step(Asked(Question("Which?"), operations=(Remember("second", "n2"),)))
    assert sorted(await texts(store)) == ["first", "second"]


async def test_a_note_carries_the_label_and_time_of_its_step(store: MemoryStore, journal: Any) -> None:
    journal.remember("Eve wants money", label=STRANGER)
    (note,) = await found(store, "money", 1)
    assert (note.label, note.at) == (STRANGER, journal.changes[0].item.at)


async def test_a_forgotten_note_is_history_and_neither_found_nor_indexed(store: MemoryStore, journal: Any, path: Path) -> None:
    note = journal.remember("Anna likes tea")
    assert await texts(store, "tea") == ["Anna likes tea"]
    journal.forget(note)
    assert await texts(store, "tea") == await texts(store) == []
    rows = apsw.Connection(str(path)).execute("SELECT text, standing, (SELECT count(*) FROM words) FROM items").fetchall()
    assert rows == [("Anna likes tea", "forgotten", 0)]


async def test_a_note_that_was_forgotten_first_does_not_come_up_later(store: MemoryStore, journal: Any) -> None:
    journal.forget("n1")
    journal.remember("Anna likes tea", "n1")
    assert await texts(store, "tea") == await texts(store) == []


async def test_a_strangers_word_ends_nothing_that_the_owner_said_but_what_strangers_said(store: MemoryStore, journal: Any) -> None:
    journal.remember("never pay by gift card", "n1")
    journal.remember("pay by gift card", "n2", label=EVE)
    journal.outcome(Put("k", 1))
    for id_ in ("n1", "n2", "k"):
        journal.forget(id_, label=EVE)
    assert {each.id: each.standing for each in await items(store)} == {"n1": "holds", "value:k": "holds"}
    journal.forget("n1")
    assert (await item(store, "n1")).standing == "forgotten"


async def test_a_change_that_cannot_be_taken_in_is_said_and_stops_none_of_the_others(store: MemoryStore, journal: Any) -> None:
    broken: Any = None
    journal.remember("before", "n1")
    journal.outcome(Remember("half of it", "n2"), Remember(broken, "n3"))
    journal.remember("after", "n4")
    assert {each.id for each in await items(store, "note")} == {"n1", "n4"}
    assert len(store.warnings) == 1
    assert "Step at 1 of the journal" in store.warnings[0]
    journal.remember("later", "n5")
    assert {each.id for each in await items(store, "note")} == {"n1", "n4", "n5"}
    assert len(store.warnings) == 1


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
async def test_a_date_outside_of_all_years_is_kept_as_the_last_one_that_can_be(store: MemoryStore, journal: Any, at: str) -> None:
    when = datetime.fromisoformat(at)
    there = Item(id="n1", kind="note", text="tea", at=when, label=EVE, source="x", used_at=when, uses=1 << 80)
    journal.amend(Import((there,)))
    (kept,) = await items(store, "note")
    assert abs(kept.at.year - when.year) <= 1
    assert kept.at.astimezone(timezone(timedelta(hours=14))).year == when.year
    assert store.warnings == []


async def test_nobody_can_make_another_forget(store: MemoryStore, journal: Any) -> None:
    journal.remember("Anna likes tea", "n1")
    journal.forget("n1", principal="bob")
    journal.forget("n1", space="work")
    journal.remember("Bob's own", "n1", principal="bob")
    assert await texts(store) == ["Anna likes tea"]


async def test_the_same_operation_twice_is_one_note(store: MemoryStore, journal: Any) -> None:
    journal.remember("Anna likes tea", "n1")
    journal.remember("Anna likes tea", "n1")
    assert await texts(store, "tea") == ["Anna likes tea"]


# -- finding -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Anna's birthday is on 3 May", "When is Anna's birthday?"),
        ("The wifi password is tulip", "what is the wifi-password"),
        ("Café Müller opens at nine", "cafe muller"),
        ("Two appointments with the dentist", "dentists"),
        ("Der Zahnarzttermin ist am Montag", "Zahnarzt"),
        ("東京に行く", "東京"),
        ('He said "never again"', '"never again"'),
        ("Rent: 800 EUR", "rent AND NOT (800"),
    ],
)
async def test_a_question_finds_its_note(store: MemoryStore, journal: Any, text: str, query: str) -> None:
    journal.remember("Something else entirely")
    journal.remember(text)
    assert (await texts(store, query))[0] == text


async def test_a_possessive_means_its_owner(store: MemoryStore, journal: Any) -> None:
    journal.remember("Anna has her birthday in May")
    journal.remember("Bob's birthday is in June")
    assert (await texts(store, "Anna’s birthday"))[0] == "Anna has her birthday in May"


async def test_of_notes_that_match_equally_the_newer_comes_first(store: MemoryStore, journal: Any) -> None:
    for n in range(5):
        journal.remember(f"lunch with Anna {n}")
    assert await texts(store, "anna lunch", 2) == ["lunch with Anna 4", "lunch with Anna 3"]


async def test_a_rare_word_weighs_more_than_a_frequent_one(store: MemoryStore, journal: Any) -> None:
    journal.remember("the passport is in the blue box")
    for n in range(20):
        journal.remember(f"box number {n} holds books")
    assert (await texts(store, "passport cupboard box", 3))[0] == "the passport is in the blue box"


async def test_a_question_of_silent_words_only_gives_the_newest(store: MemoryStore, journal: Any) -> None:
    journal.remember("tea")
    journal.remember("coffee")
    for query in ("What do you know about me?", "???", "   "):
        assert await texts(store, query) == ["coffee", "tea"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text() | st.text(st.sampled_from("\"*^(){}:+-.\0'\ud800ab\U0001f600ﷺ NEARORANDT,")) | st.text(min_size=3000, max_size=4000))
def test_no_text_breaks_a_search(tmp_path_factory: pytest.TempPathFactory, journal: Any, query: str) -> None:
    async def ask() -> None:
        store, _ = await MemoryStore.open(tmp_path_factory.mktemp("store") / "memory.db", journal)
        try:
            await found(store, query, 5)
        finally:
            await store.close()

    journal.changes.clear()
    journal.remember(query.encode("utf-8", "replace").decode())
    asyncio.run(ask())


# -- the projection ----------------------------------------------------------------------------------------------------


async def test_after_a_restart_it_goes_on_where_it_was(store: MemoryStore, journal: Any, path: Path) -> None:
    journal.remember("one")
    assert await texts(store) == ["one"]
    journal.remember("two")
    journal.asked.clear()
    again, warnings = await reopened(store, path, journal)
    assert await texts(again) == ["two", "one"]
    assert (journal.asked, warnings) == ([START, Cursor("0"), Cursor("1")], [])  # the first: is it still the same journal?
    await again.close()


async def test_without_its_file_it_is_rebuilt_from_the_journal(store: MemoryStore, journal: Any, path: Path) -> None:
    journal.remember("one", label=STRANGER)
    journal.forget(journal.remember("two"))
    before = await found(store, "", 9)
    await store.close()
    remove(path)
    again, warnings = await MemoryStore.open(path, journal)
    assert await found(again, "", 9) == before
    assert warnings == []
    await again.close()


async def test_more_than_one_batch_is_applied(store: MemoryStore, journal: Any) -> None:
    for n in range(1201):
        journal.remember(f"note number {n}")
    assert len(await texts(store, limit=2000)) == 1201
    assert journal.asked == [START, Cursor("499"), Cursor("999"), Cursor("1200")]


async def test_a_file_that_is_ahead_of_its_journal_is_made_again_and_that_is_said(store: MemoryStore, path: Path, journal: Any) -> None:
    journal.remember("kept", "n1")
    await store.catch_up()
    journal.remember("of a day that never was", "n2")
    await store.catch_up()
    await store.close()
    del journal.changes[1:]
    again, warnings = await MemoryStore.open(path, journal)
    assert [each.id for each in await items(again)] == ["n1"]
    assert "another journal, or a later state" in warnings[0]
    journal.remember("another second change", "n3")
    journal.remember("and a third", "n4")
    assert {each.id for each in await items(again)} == {"n1", "n3", "n4"}
    await again.close()
    journal.changes[-1] = replace(journal.changes[-1], item=replace(journal.changes[-1].item, turn=TurnId("t9")))
    again, warnings = await MemoryStore.open(path, journal)
    assert len(warnings) == 1
    await again.close()
    again, warnings = await MemoryStore.open(path, journal)
    assert warnings == []
    await again.close()


class Torn(Written):
    """Of one turn it cannot tell anything."""

    def known_turn(self, turn: TurnId) -> Turn | None:
        if turn == "torn":
            raise apsw.IOError("disk I/O error")
        return super().known_turn(turn)


async def test_a_batch_is_applied_whole_or_not_at_all(path: Path) -> None:
    journal = Torn()
    store, _ = await MemoryStore.open(path, journal)
    journal.remember("one")
    await store.catch_up()
    journal.remember("two")
    journal.remember("three", turn="torn")
    with pytest.raises(JournalFailed):
        await store.catch_up()
    rows = apsw.Connection(str(path)).execute("SELECT text, cursor FROM items, position").fetchall()
    assert rows == [("one", "0")]
    await store.close()


KILLED = """
import asyncio, sys
from datetime import UTC, datetime
from pathlib import Path
from daimon.abi.ids import HOME_SPACE, OWNER, SELF, TurnId
from daimon.abi.message import ToolResult
from daimon.abi.ports import Change, Cursor
from daimon.abi.step import Happened, Step
from daimon.abi.memory import Remember
from daimon.memory.store import MemoryStore

class Endless:
    def since(self, cursor, limit):
        n = int(cursor or -1) + 1
        print(n, flush=True)
        body = Happened(0, ToolResult("c", "remember", ()), operations=(Remember(f"note number {n}", f"n{n}"),))
        at = datetime(2026, 3, 13, tzinfo=UTC)
        return [Change(Cursor(str(n)), Step(turn=TurnId("t"), n=n, body=body, at=at, space=HOME_SPACE, principal=OWNER, agent=SELF))]

    def known_turn(self, turn):
        return None

async def main():
    store, _ = await MemoryStore.open(Path(sys.argv[1]), Endless())
    await store.catch_up()

asyncio.run(main())
"""


def applied_when_killed(path: Path, batches: int) -> int:
    """Kills a process while it catches up. How many changes it had surely applied."""
    command = [sys.executable, "-c", KILLED, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": ":".join(sys.path)}) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) >= batches:
                process.kill()
                break
    return batches


@pytest.mark.parametrize("batches", [1, 50])
async def test_a_kill_in_mid_work_leaves_rows_and_cursor_that_agree(path: Path, journal: Any, batches: int) -> None:
    surely = await asyncio.to_thread(applied_when_killed, path, batches)
    rows, cursor = apsw.Connection(str(path)).execute("SELECT (SELECT count(*) FROM items), cursor FROM position").get
    assert rows == int(cursor) + 1 >= surely
    for n in range(rows):
        journal.remember(f"note number {n}", f"n{n}", turn="t")
    store, warnings = await MemoryStore.open(path, journal)
    assert warnings == []
    assert len(await texts(store, "note", limit=rows + 1)) == rows
    await store.close()


async def test_a_journal_that_fails_is_told_as_it_is_and_the_next_search_goes_on(path: Path, journal: Any) -> None:
    class Failing(Written):
        is_down = True

        def since(self, cursor: Cursor, limit: int) -> list[Change]:
            if self.is_down:
                raise OSError("no journal")
            found: list[Change] = journal.since(cursor, limit)
            return found

    failing = Failing()
    store, _ = await MemoryStore.open(path, failing)
    journal.remember("one")
    with pytest.raises(OSError, match="no journal"):
        await texts(store)
    failing.is_down = False
    assert await texts(store) == ["one"]
    await store.close()


async def test_damage_of_the_journal_does_not_pass_for_damage_of_the_store(path: Path) -> None:
    class Damaged(Written):
        def since(self, cursor: Cursor, limit: int) -> list[Change]:
            raise apsw.CorruptError("database disk image is malformed")

    store, _ = await MemoryStore.open(path, Damaged())
    with pytest.raises(JournalFailed, match="memory cannot read the journal: database disk image is malformed"):
        await texts(store)
    assert (aside(path), store.warnings) == ([], [])
    await store.close()


async def test_blocking_work_stays_off_the_event_loop(path: Path, journal: Any) -> None:
    threads: set[str] = set()

    class Watched(Written):
        def since(self, cursor: Cursor, limit: int) -> list[Change]:
            threads.add(threading.current_thread().name)
            return []

    store, _ = await MemoryStore.open(path, Watched())
    await asyncio.gather(*(texts(store) for _ in range(10)))
    await store.close()
    assert threads == {"memory_0"}


# -- files that cannot be used -----------------------------------------------------------------------------------------


def overwrite(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def spoil(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[8192:-4096] = b"\x55" * len(content[8192:-4096])
    path.write_bytes(content)


def aside(path: Path) -> list[Path]:
    return sorted(each for each in path.parent.iterdir() if ".damaged-" in each.name and not each.name.endswith(("-wal", "-shm")))


async def test_a_label_that_was_taken_away_makes_a_note_a_strangers(store: MemoryStore, journal: Any, path: Path) -> None:
    journal.remember("tea")
    await store.catch_up()
    for label in ("", "{", '{"origins": [], "readers": null}', '{"origins": [{"author": "root", "source": "x"}]}'):
        apsw.Connection(str(path)).execute("UPDATE items SET label = ?", (label,))
        assert [note.label for note in await found(store, "tea", 1)] == [UNLABELLED]


@pytest.mark.parametrize("rubbish", [b"this is not a database at all" * 400, b"SQLite format 3\0" + b"\xff" * 5000])
async def test_a_damaged_file_is_moved_aside_and_rebuilt(store: MemoryStore, journal: Any, path: Path, rubbish: bytes) -> None:
    journal.remember("one")
    await store.catch_up()
    await store.close()
    overwrite(path, rubbish)
    again, warnings = await MemoryStore.open(path, journal)
    assert await texts(again) == ["one"]
    assert len(warnings) == 1
    assert "rebuilt from the journal, the old one is kept as memory.db.damaged-20" in warnings[0]
    assert aside(path)[0].read_bytes() == rubbish
    await again.close()


async def test_a_file_with_damage_inside_is_moved_aside_and_rebuilt(store: MemoryStore, journal: Any, path: Path) -> None:
    for n in range(400):
        journal.remember(f"note number {n}")
    await store.catch_up()
    await store.close()
    spoil(path)
    again, warnings = await MemoryStore.open(path, journal)
    assert len(await texts(again, limit=500)) == 400
    assert "damaged" in warnings[0]
    await again.close()


async def test_a_file_that_is_damaged_while_open_is_rebuilt_in_the_same_search(store: MemoryStore, journal: Any, path: Path) -> None:
    journal.remember("tea for Anna")
    await store.catch_up()
    apsw.Connection(str(path)).execute("UPDATE words_data SET block = x'ffffffffffffffffffff'")
    assert await texts(store, "tea") == ["tea for Anna"]
    assert len(store.warnings) == len(aside(path)) == 1


@pytest.mark.parametrize(
    ("pragma", "reason"), [("user_version = 99", "its schema is 99"), ("application_id = 7", "it is not a memory file")]
)
async def test_a_file_of_another_release_or_program_is_moved_aside_and_rebuilt(
    store: MemoryStore, journal: Any, path: Path, pragma: str, reason: str
) -> None:
    journal.remember("one")
    await store.catch_up()
    await store.close()
    apsw.Connection(str(path)).execute(f"PRAGMA {pragma}")
    again, warnings = await MemoryStore.open(path, journal)
    assert await texts(again) == ["one"]
    assert reason in warnings[0]
    await again.close()


async def test_a_second_damaged_file_does_not_replace_the_first(path: Path, journal: Any) -> None:
    for content in (b"first rubbish" * 100, b"second rubbish" * 100):
        overwrite(path, content)
        store, _ = await MemoryStore.open(path, journal)
        await store.close()
        remove(path)
    assert len(aside(path)) == 2


async def test_an_empty_file_is_a_new_one(path: Path, journal: Any) -> None:
    overwrite(path, b"")
    journal.remember("one")
    store, warnings = await MemoryStore.open(path, journal)
    assert (await texts(store), warnings) == (["one"], [])
    await store.close()


async def test_a_folder_that_is_not_there_is_told_to_the_operator(tmp_path: Path, journal: Any) -> None:
    with pytest.raises(Misconfigured, match=r"cannot be opened: .*; check its folder and permissions"):
        await MemoryStore.open(tmp_path / "nowhere" / "memory.db", journal)


async def test_a_file_that_cannot_be_written_is_told_to_the_model_and_not_thrown_away(store: MemoryStore, journal: Any, path: Path) -> None:
    journal.remember("one")
    await store.catch_up()
    apsw.Connection(str(path)).execute("DROP TABLE items")
    journal.remember("two")
    with pytest.raises(ToolFailed, match="memory cannot be read now"):
        await texts(store)
    assert aside(path) == []


async def test_forgetting_needs_no_common_order(store: MemoryStore, journal: Any) -> None:
    journal.outcome(Forget("n1"), Remember("one", "n1"), Remember("two", "n2"))
    assert await texts(store) == ["two"]
