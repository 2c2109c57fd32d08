"""Whatever happens, the stores agree with each other and with the journal."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.memory.asking import EVE, rebuilt, texts, told
from tests.memory.writing import Written

from daimon.abi.errors import ToolFailed
from daimon.abi.ids import StepRef, TurnId
from daimon.abi.label import owned
from daimon.abi.memory import Edge, Forget, ForgetSource, Import, Item, Learn, Node, Put, Relate, Remember, Rewind, Summarise, Unrelate
from daimon.abi.ports import Change, Cursor
from daimon.memory.agreement import disagreements
from daimon.memory.store import MemoryStore

WORDS = st.sampled_from(["tea", "coffee", "Berlin", "Köln", "I live in Bonn.", "My daughter is called Anna.", "remember that tea is hot"])
IDS = st.sampled_from(["x1", "x2", "x3", "x4"])
LABELS = st.sampled_from([owned("terminal"), EVE, owned("terminal").joined(EVE)])
TURNS = st.sampled_from(["t1", "t2", "t3"])
SMALL = st.integers(0, 30)


def learn(fact: str, about: str, statement: str, others: tuple[str, ...]) -> Learn:
    return Learn(fact, "owner", statement, about, supersedes=others)


KEPT = st.one_of(
    st.builds(Remember, WORDS, IDS, st.booleans(), st.tuples(IDS)),
    st.builds(Forget, IDS | st.just("k")),
    st.builds(learn, IDS, st.sampled_from(["", "home"]), WORDS, st.tuples(IDS) | st.just(())),
    st.builds(Put, st.just("k"), WORDS),
    st.builds(lambda name: Relate((Node("Person", name),), (Edge(("Person", name), "LIKES", ("Drink", "tea")),)), WORDS),
    st.builds(lambda name: Unrelate((("Person", name),)), WORDS),
)


@st.composite
def journals(draw: st.DrawFn) -> Written:
    journal = Written()
    for number in range(1, 4):
        journal.turn(f"t{number}", journal.event(draw(WORDS), label=draw(LABELS)))
    for _ in range(draw(st.integers(1, 25))):
        act = draw(st.integers(0, 9))
        turn, label = draw(TURNS), draw(LABELS)
        if act <= 3:
            journal.outcome(*draw(st.lists(KEPT, max_size=3)), turn=turn, label=label)
        elif act == 4:
            journal.event(draw(WORDS), label=label)
        elif act == 5:
            journal.reply(draw(WORDS), draw(IDS), turn=turn, label=label)
        elif act == 6:
            journal.complete(turn=turn, label=label)
        elif act == 7:
            journal.erase(turn, *draw(st.lists(st.sampled_from(["e0", "e1", "t1:3", "t2:4"]), max_size=2)))
        elif act == 8:
            journal.amend(ForgetSource(draw(st.sampled_from(["mail:eve@example.org", "e1", "t2", "t1:4", "nothing"]))))
        else:
            journal.amend(draw(_amendments(journal)), label=label)
    return journal


def _amendments(journal: Written) -> st.SearchStrategy[Any]:
    at = journal.now
    brought = st.builds(lambda id_, text, label: Item(id=id_, kind="note", text=text, at=at, label=label, source="s"), IDS, WORDS, LABELS)
    back = st.sampled_from([getattr(change.item, "at", at) for change in journal.changes])
    return st.one_of(st.builds(Rewind, back), st.builds(lambda item: Import((item,)), brought), KEPT)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None, max_examples=120)
@given(journals(), st.lists(st.integers(1, 7), min_size=1, max_size=8))
def test_a_rebuild_equals_what_was_applied_bit_by_bit(tmp_path_factory: pytest.TempPathFactory, journal: Written, sizes: list[int]) -> None:
    class Sized(Written):
        def since(self, cursor: Cursor, limit: int) -> list[Change]:
            return super().since(cursor, sizes[len(self.asked) % len(sizes)])

    async def compare(path: Path) -> None:
        store, _ = await MemoryStore.open(path / "memory.db", Sized(journal.changes, turns=journal.turns))
        try:
            assert await told(store) == await rebuilt(path, journal)
        finally:
            await store.close()

    asyncio.run(compare(tmp_path_factory.mktemp("agreement")))


async def test_a_change_that_comes_twice_counts_once(store: MemoryStore, journal: Any, tmp_path: Path) -> None:
    journal.exchange("I live in Berlin", "good", "t1")
    journal.outcome(Remember("tea", "n1"), Put("k", 1))
    journal.outcome(Summarise(("t1",), "all"), turn="t2")
    journal.reply("tea", "n1")

    class Twice(Written):
        def since(self, cursor: Cursor, limit: int) -> list[Change]:
            found = super().since(cursor, 2)
            return [each for change in found for each in (change, change)]

    assert await rebuilt(tmp_path, Twice(journal.changes, turns=journal.turns)) == await told(store)


async def test_a_full_disk_is_told_and_nothing_is_lost(store: MemoryStore, journal: Any, tmp_path: Path) -> None:
    journal.remember("tea", "n1")
    await store.catch_up()
    await store.run(lambda connection: connection.pragma("max_page_count", connection.pragma("page_count")))
    for n in range(40):
        journal.exchange(f"tell me about {n} " + "word " * 400, "well " * 300, f"t{n}")
    with pytest.raises(ToolFailed, match=r"the disk of .*memory.db is full; make room\. Nothing is lost: the journal has it") as full:
        await store.catch_up()
    assert (full.value.reason, full.value.retryable) == ("memory_full", True)
    assert store.warnings == []
    await store._call(lambda: store._opened().pragma("max_page_count", 1_000_000))
    assert await told(store) == await rebuilt(tmp_path, journal)


KILLED = """
import asyncio, sys
from pathlib import Path
from tests.memory.test_agreement import busy
from daimon.memory.store import MemoryStore

class Led(type(busy())):
    def since(self, cursor, limit):
        sys.stdin.readline()
        print(cursor, flush=True)
        return super().since(cursor, min(limit, 3))

async def main():
    full = busy()
    store, _ = await MemoryStore.open(Path(sys.argv[1]), Led(full.changes, turns=full.turns))
    await store.catch_up()

asyncio.run(main())
"""


def busy() -> Written:
    """Of everything a little, many times."""
    journal = Written()
    for n in range(60):
        journal.exchange(f"I live in Town {n}.", f"noted {n}", f"t{n}")
        journal.outcome(Remember(f"note {n}", f"n{n}", replaces=(f"n{n - 2}",)), Put("k", n), turn=f"t{n}", n=2)
        if n % 5 == 4:
            journal.erase(f"t{n - 2}")
        if n % 7 == 6:
            journal.amend(Rewind(journal.changes[-9].item.at if hasattr(journal.changes[-9].item, "at") else journal.now))
    journal.turn("fork", "e0", "fork/fork", StepRef(TurnId("t0"), 1))
    journal.reply("noted 0", turn="fork", n=0)
    return journal


def killed(path: Path, batches: int) -> None:
    """Kills a process in the midst of its work, of which it does so many batches and no more."""
    command, env = [sys.executable, "-c", KILLED, str(path)], {"PYTHONPATH": ":".join([".", *sys.path])}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(batches):
            process.stdin.write("\n")
            process.stdin.flush()
            assert process.stdout.readline(), "there was something left to do"
        process.kill()


async def test_killed_again_and_again_it_ends_up_with_what_a_rebuild_says(path: Path, tmp_path: Path) -> None:
    journal = busy()
    for batches in (1, 2, 3, 7, 11, 5):
        await asyncio.to_thread(killed, path, batches)
        connection = apsw.Connection(str(path))
        assert disagreements(connection) == []
        connection.close()
    store, warnings = await MemoryStore.open(path, journal)
    assert warnings == []
    assert await told(store) == await rebuilt(tmp_path, journal)
    assert [each.name for each in path.parent.iterdir() if "damaged" in each.name] == [], "each went on where the one before was killed"
    await store.close()


async def test_a_disagreement_is_told_in_words(store: MemoryStore, journal: Any, path: Path) -> None:
    journal.exchange("hello", "hi", "t1")
    journal.outcome(Learn("f1", "owner", "Berlin", "home"))
    await store.catch_up()
    other = apsw.Connection(str(path))
    other.execute("DELETE FROM words WHERE rowid = 1; DELETE FROM origins WHERE n = 2")
    other.execute("UPDATE items SET is_trusted = 0 WHERE id = 'f1'; UPDATE items SET standing = 'forgotten' WHERE n = 3")
    other.execute("UPDATE items SET previous = 99 WHERE n = 2; INSERT INTO vectors VALUES (77, 'own', 'm', x'00')")
    assert await store.run(disagreements) == [
        "item 1 holds and is not in the index of words",
        "row 77 has a vector and does not hold",
        "item 3 has a standing that does not fit its end",
        "message 2 follows one that is not there, or comes later, or is another's",
        "item 4 counts as not trusted, and its label says otherwise",
        "item 2 has a label with an origin that is not in the list of origins",
    ]


async def test_a_file_of_the_schema_before_is_made_anew_without_a_word(path: Path, journal: Any) -> None:
    old = apsw.Connection(str(path))
    old.execute("CREATE TABLE notes (n INTEGER PRIMARY KEY); PRAGMA application_id = 0x4461694E")
    old.execute("PRAGMA user_version = 1")
    old.close()
    journal.remember("tea", "n1")
    store, warnings = await MemoryStore.open(path, journal)
    assert (await texts(store), warnings) == (["tea"], [])
    assert [each.name for each in path.parent.iterdir() if "damaged" in each.name] == []
    await store.close()
