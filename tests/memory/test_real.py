"""Memory behind a real kernel and a real journal, both on disk."""

from pathlib import Path

from tests.kernel.test_labels import asked, home
from tests.memory.asking import bytes_of, found, items, rebuilt, texts, told

from daimon.journal.sqlite import SqliteJournal
from daimon.memory.store import MemoryStore
from daimon.testing.model import calls, says

SECRET = "qxzvpassphrase"


async def test_a_conversation_is_kept_forked_and_erased_and_a_rebuild_says_the_same(tmp_path: Path) -> None:
    note = calls(("remember", {"text": f"the code is {SECRET}"}))
    async with home(tmp_path, note, says(f"noted: {SECRET}"), says("Hello Anna."), says("Hello again.")) as rig:
        journal = rig.journal
        assert isinstance(journal, SqliteJournal)
        store, _ = await MemoryStore.open(tmp_path / "other.db", journal)
        first = await asked(rig, f"Please remember the code {SECRET}")
        second = await asked(rig, "My name is Anna.")
        assert await texts(store, "note") == [f"the code is {SECRET}"]
        assert "Hello Anna." in await texts(store, "message")
        assert len(await items(store, "episode")) == 2
        before = await told(store)
        await journal.fork(second[0].ref)
        assert await told(store) == before
        await journal.erase_turn(first[0].turn, "asked for")
        assert await found(store, SECRET) == []
        assert SECRET[2:].encode() not in bytes_of(tmp_path / "other.db")
        after = await told(store)
        await store.close()
        assert await rebuilt(tmp_path, journal) == after
