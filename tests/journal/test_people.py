"""The contract of the directory, on the file and in memory, and what only the file can show: restarts, the record of every change."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.journal.world import database

from daimon.abi.errors import BadInput
from daimon.abi.event import Address
from daimon.abi.ids import HOME_SPACE, Conversation, Key, StepRef, TurnId
from daimon.abi.people import MOST_TRIES_OF_SENDER, Directory, Knock, Rank
from daimon.journal.people import MOST_KNOCKS
from daimon.journal.readonly import ReadOnlyJournal
from daimon.journal.sqlite import SqliteJournal
from daimon.testing.clock import ManualClock
from daimon.testing.contracts.people import CODE, VALID, WRONG, DirectoryContract
from daimon.testing.ids import CountingIds
from daimon.testing.people import MemoryDirectory

CHAT = Conversation(HOME_SPACE, "telegram/chat-7")


class TestSqlitePeople(DirectoryContract):
    @asynccontextmanager
    async def open(self, clock: ManualClock) -> AsyncIterator[Directory]:
        with TemporaryDirectory() as home:
            async with journal_at(Path(home) / "journal.db", clock) as journal:
                yield journal


class TestMemoryPeople(DirectoryContract):
    @asynccontextmanager
    async def open(self, clock: ManualClock) -> AsyncIterator[Directory]:
        yield MemoryDirectory(clock)


@asynccontextmanager
async def journal_at(file: Path, clock: ManualClock) -> AsyncIterator[SqliteJournal]:
    journal = await SqliteJournal.open(file, clock, CountingIds())
    try:
        yield journal
    finally:
        await journal.close()


def knock(sender: str, clock: ManualClock) -> Knock:
    return Knock("telegram", sender, "somebody", f"chat-{sender}", 1, clock.now(), clock.now())


async def test_a_restart_gives_nobody_new_tries(tmp_path: Path) -> None:
    file, clock = tmp_path / "journal.db", ManualClock()
    async with journal_at(file, clock) as journal:
        await journal.invite("Anna", Rank.GUEST, CODE, clock.now() + VALID)
        for _ in range(MOST_TRIES_OF_SENDER):
            await journal.pair(WRONG, knock("7", clock))
    async with journal_at(file, clock) as journal:
        assert await journal.pair(CODE, knock("7", clock)) is None
        assert await journal.pair(CODE, knock("8", clock)) is not None


async def test_a_code_is_nowhere_in_the_file_and_each_change_is(tmp_path: Path) -> None:
    file, clock = tmp_path / "journal.db", ManualClock()
    async with journal_at(file, clock) as journal:
        await journal.invite("Anna", Rank.GUEST, CODE, clock.now() + VALID)
        await journal.pair(WRONG, knock("8", clock))
        anna = await journal.pair(CODE, knock("7", clock))
        assert anna is not None
        await journal.change(anna.id, Rank.TRUSTED)
        await journal.remove(anna.id, "telegram", "7")
        await journal.remove(anna.id)
    assert CODE not in file.read_text("latin-1")
    with database(file) as db:
        rows = db.execute("SELECT what, person, about, by FROM introductions ORDER BY pos").fetchall()
    assert rows == [
        ("invited", "anna", "guest", "owner"),
        ("wrong code", "", "telegram:8", ""),
        ("paired", "anna", "telegram:7", "code"),
        ("ranked", "anna", "trusted", "owner"),
        ("removed", "anna", "telegram:7", "owner"),
        ("removed", "anna", "", "owner"),
    ]


async def test_of_many_strangers_the_newest_are_kept(tmp_path: Path) -> None:
    clock = ManualClock()
    async with journal_at(tmp_path / "journal.db", clock) as journal:
        for n in range(MOST_KNOCKS + 3):
            clock.jump(1)
            await journal.knocked(knock(str(n), clock))
        found = await journal.knocks()
        assert len(found) == MOST_KNOCKS
        assert found[0].sender == str(MOST_KNOCKS + 2)
        assert found[-1].sender == "3"


async def test_people_are_read_where_nobody_runs(tmp_path: Path) -> None:
    file, clock = tmp_path / "journal.db", ManualClock()
    async with journal_at(file, clock) as journal:
        await journal.allow("telegram", "7", "Anna", Rank.GUEST)
        await journal.knocked(knock("8", clock))
        people, knocks = await journal.people(), await journal.knocks()
    reading = await ReadOnlyJournal.open(file)
    try:
        assert (await reading.people(), await reading.knocks()) == (people, knocks)
    finally:
        await reading.close()


async def test_a_value_that_a_channel_keeps_is_there_after_a_restart(tmp_path: Path) -> None:
    file, clock = tmp_path / "journal.db", ManualClock()
    async with journal_at(file, clock) as journal:
        assert await journal.recalled("telegram", "offset") == ""
        await journal.remembered("telegram", "offset", "41")
        await journal.remembered("telegram", "offset", "42")
    async with journal_at(file, clock) as journal:
        assert await journal.recalled("telegram", "offset") == "42"
        assert await journal.recalled("slack", "offset") == ""


async def test_a_notice_goes_out_once_however_often_it_is_put_in(tmp_path: Path) -> None:
    async with journal_at(tmp_path / "journal.db", ManualClock()) as journal:
        for _ in range(2):
            await journal.notify(Key("paired/telegram/1"), CHAT, Address("telegram", "chat-7"), "welcome")
        (message,) = await journal.outgoing(10)
        assert message.to == Address("telegram", "chat-7")
        await journal.delivered(message, "sent")
        await journal.notify(Key("paired/telegram/1"), CHAT, Address("telegram", "chat-7"), "welcome")
        assert await journal.outgoing(10) == ()


async def test_nothing_was_told_of_a_question_that_never_was(tmp_path: Path) -> None:
    async with journal_at(tmp_path / "journal.db", ManualClock()) as journal:
        assert await journal.told_in(StepRef(TurnId("t1"), 4)) == ()
        assert await journal.sent_as("telegram", "chat-7", "1") is None


async def test_that_somebody_spoke_is_noted_once_a_minute(tmp_path: Path) -> None:
    clock = ManualClock()
    async with journal_at(tmp_path / "journal.db", clock) as journal:
        await journal.allow("telegram", "7", "Anna", Rank.GUEST)
        await journal.seen("telegram", "7", "anna", "chat-7", clock.now())
        before = journal.commits
        await journal.seen("telegram", "7", "anna", "chat-7", clock.now() + timedelta(seconds=30))
        assert journal.commits == before
        await journal.seen("telegram", "7", "anna", "chat-7", clock.now() + timedelta(seconds=90))
        assert journal.commits == before + 1


async def test_a_name_that_only_comes_to_the_same_id_does_not_get_in_as_somebody_else(tmp_path: Path) -> None:
    clock = ManualClock()
    async with journal_at(tmp_path / "journal.db", clock) as journal:
        await journal.allow("telegram", "7", "Jörg", Rank.GUEST)
        with pytest.raises(BadInput, match="would be taken for 'Jörg'"):
            await journal.allow("telegram", "8", "Jo\u0301rg", Rank.GUEST)
        with pytest.raises(BadInput, match="would be taken for"):
            await journal.invite("李 Jorg!", Rank.GUEST, CODE, clock.now() + VALID)
        assert await journal.who("telegram", "8") is None
        for n, same in enumerate(("Jörg", "JÖRG", "jorg")):  # another chat of the same person
            assert (await journal.allow("mail", f"{n}@x.org", same, Rank.GUEST)).id == "jorg"
