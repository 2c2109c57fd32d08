"""What only the journal's file can do: outlive its process, refuse to be damaged, run full."""

import asyncio
import hashlib
import json
import os
import shutil
import signal
import subprocess
import weakref
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests.journal.world import (
    DONE,
    MAIN,
    PINS,
    TTL_S,
    begun,
    child,
    claimed,
    database,
    event,
    fresh_ids,
    intent,
    opened,
    outcome,
    said_by,
    step,
)

from daimon.abi.codec import blob_hash
from daimon.abi.errors import BadInput, Fenced, JournalDamaged, JournalStopped
from daimon.abi.event import SCHEMA, Answer, Erased, Said
from daimon.abi.ids import HOME_SPACE, EventId, StepRef, TimerId, TurnId
from daimon.abi.label import UNLABELLED, Author
from daimon.abi.message import Text
from daimon.abi.ports import START, Blob, Busy, Damaged, DeadLetter, Ended, Released
from daimon.abi.step import Continue, Decided, Happened, Replied
from daimon.abi.tool import Send, SetTimer
from daimon.abi.turn import Ending, State
from daimon.journal.opening import prepare
from daimon.journal.outbox import OUTGOING
from daimon.journal.readers import Readers
from daimon.journal.schema import APPLICATION_ID, MIGRATIONS
from daimon.journal.sqlite import SqliteJournal
from daimon.testing.clock import ManualClock

DATA = Path(__file__).parent.parent / "data"


# -- outliving the process


async def test_an_accepted_event_is_there_after_a_restart(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        await journal.accept(event("k1"))
    async with opened(tmp_path / "journal.db") as journal:
        assert await journal.event(EventId("e-k1")) == event("k1")
        again = await journal.accept(event("k1"))
        assert (again.event, again.seq, again.is_new) == ("e-k1", 0, False)


ACCEPT_FOR_EVER = """
import asyncio, sys
from itertools import count
from pathlib import Path
from tests.journal.world import event, opened

async def main():
    async with opened(Path(sys.argv[1])) as journal:
        for n in count():
            accepted = await journal.accept(event(f"k{n}"))
            print(accepted.event, flush=True)

asyncio.run(main())
"""


async def test_what_was_accepted_survives_a_kill_in_the_next_instant(tmp_path: Path) -> None:
    with child(ACCEPT_FOR_EVER, tmp_path / "journal.db") as process:
        assert process.stdout is not None
        told = [process.stdout.readline().strip() for _ in range(25)]
        process.send_signal(signal.SIGKILL)
        told += process.stdout.read().split()
    assert process.returncode == -signal.SIGKILL
    async with opened(tmp_path / "journal.db") as journal:
        for id_ in told:
            assert (await journal.event(EventId(id_))).id == id_
        assert (await journal.count()).events - len(told) in (0, 1)


async def test_a_restart_voids_the_leases_of_the_process_before(tmp_path: Path) -> None:
    clock = ManualClock()
    async with opened(tmp_path / "journal.db", clock) as journal:
        before = await begun(journal)
        await journal.record(before, [intent(before, 0)])
        assert await journal.claim(MAIN, "w2", TTL_S, PINS) == Busy()
    async with opened(tmp_path / "journal.db", clock) as journal:
        assert (await journal.due(clock.now(), 10)).conversations == (MAIN,)
        after = claimed(await journal.claim(MAIN, "w1", TTL_S, PINS))
        assert (after.turn.id, after.steps) == (before.turn.id, (intent(before, 0),))
        assert after.epoch > before.epoch
        with pytest.raises(Fenced):
            await journal.record(before, [outcome(before, 1)])


async def test_a_cursor_stays_good_over_a_restart_even_if_the_last_change_was_an_erasure(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        claim = await begun(journal)
        await journal.finish(claim, [], Ended(Ending.SILENT, claim.turn.label))
        await journal.erase_turn(claim.turn.id, "asked")
        cursor = journal.since(START, 10)[-1].cursor
    async with opened(tmp_path / "journal.db") as journal:
        assert journal.since(cursor, 10) == []
        await journal.accept(event("k2"))
        assert [change.item for change in journal.since(cursor, 10)] == [event("k2")]


async def test_closing_leaves_no_log_whenever_it_is_cancelled(tmp_path: Path) -> None:
    for turns in range(1, 8):
        (place := tmp_path / str(turns)).mkdir()
        journal = await SqliteJournal.open(place / "journal.db", ManualClock(), fresh_ids())
        await begun(journal)
        await journal.count()
        closing = asyncio.create_task(journal.close())
        for _ in range(turns):
            await asyncio.sleep(0)
        closing.cancel()
        async with asyncio.timeout(60):
            await asyncio.wait((closing,))
        assert sorted(_files(place)) == ["journal.db", "journal.db.exists"], turns


async def test_who_reads_on_another_thread_after_the_end_is_refused_and_leaves_no_log(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        await begun(journal)
    with pytest.raises(JournalStopped, match="closed"):
        await asyncio.to_thread(journal.since, START, 1)
    with pytest.raises(JournalStopped, match="closed"):
        await journal.count()
    assert sorted(_files(tmp_path)) == ["journal.db", "journal.db.exists"]


async def test_closing_leaves_one_file_and_its_marker(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        await begun(journal)
        await journal.count()
    assert sorted(_files(tmp_path)) == ["journal.db", "journal.db.exists"]


async def test_closing_the_readers_waits_for_nobody_who_still_holds_one(tmp_path: Path) -> None:
    """Else the last to close is a reader, which may not empty the log."""
    writer, readers = prepare(tmp_path / "journal.db"), Readers(tmp_path / "journal.db")
    held = await readers.run(lambda db: (db, db.execute("SELECT 1 UNION SELECT 2")))
    await readers.close()
    writer.close()
    assert held
    assert sorted(_files(tmp_path)) == ["journal.db", "journal.db.exists"]


@pytest.mark.parametrize("when", ["while it runs", "after it ended"])
async def test_erased_words_are_in_no_file_any_more(tmp_path: Path, when: str) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        await journal.accept(event("k1", Said((Text("the secret word"),))))
        claim = claimed(await journal.claim(MAIN, "w1", TTL_S, PINS))
        await journal.finish(claim, [outcome(claim, 0, text="the secret result")], DONE)
        assert b"the secret" in b"".join(_files(tmp_path).values())
        await journal.erase_turn(claim.turn.id, "asked")
        left = _files(tmp_path)
    left = _files(tmp_path) if when == "after it ended" else left
    assert [name for name, data in left.items() if b"the secret" in data] == []


def _files(home: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in home.iterdir()}


# -- damage


async def _written(path: Path) -> None:
    """A journal with a bit of everything in it."""
    clock = ManualClock()
    async with opened(path, clock) as journal:
        claim = await begun(journal)
        chunks = (b"system", b"tools", os.urandom(9_000))
        blob = Blob(blob_hash(b"".join(chunks)), chunks, fixed=2)
        timer = SetTimer(TimerId("tm-1"), clock.now() + timedelta(hours=1), "tea")
        await journal.record(
            claim,
            [
                step(claim, 0, Replied("m", (Text("hello"),), "stop", request=blob.hash)),
                intent(claim, 1),
                outcome(claim, 2, timer, Send(event("x").reply_to, (Text("hi"),))),  # type: ignore[arg-type]
            ],
            [blob],
        )
        await journal.finish(claim, [], DONE)
        for n in range(2, 40):
            await journal.accept(event(f"k{n}", Said((Text(f"{n} " * 300),))))
        await journal.bury(DeadLetter("api", "bad", b"{", clock.now()))


async def _everything(path: Path) -> list[Any]:
    """All that can be read, then a claim and an event: equal for equal journals."""
    async with opened(path) as journal:
        (turn,) = await journal.turns(HOME_SPACE, 10)
        steps = await journal.steps(turn.id)
        assert isinstance(steps[0].body, Replied)
        assert steps[0].body.request is not None
        seen: list[Any] = [
            turn.state,
            [s.body.kind for s in steps],
            await journal.get(steps[0].body.request),
            [change.item for change in journal.since(START, 100)][-3:],
            [await journal.turn_of(EventId(f"e-k{n}")) for n in range(2, 40)],
            [message.content for message in await journal.outgoing(10)],
            await journal.pending(MAIN),
            await journal.letters(10),
            (await journal.due(ManualClock().now(), 10)).conversations,
            claimed(await journal.claim(MAIN, "w9", TTL_S, PINS)).event,
            (await journal.accept(event("k39"))).is_new,
            (await journal.accept(event("another"))).seq,
        ]
        counted = await journal.count()
        return [*seen, counted.events, counted.steps, counted.turns, counted.timers, counted.outgoing, counted.dead_letters]


async def test_a_page_of_zeros_anywhere_is_damage_and_never_missing_data(tmp_path: Path) -> None:
    whole = tmp_path / "whole" / "journal.db"
    whole.parent.mkdir()
    await _written(whole)
    data, expected = whole.read_bytes(), None
    for page in range(len(data) // 4_096 + 1):  # the last round leaves the file as it is
        home = tmp_path / str(page)
        home.mkdir()
        start = page * 4_096
        (home / "journal.db").write_bytes(data[:start] + bytes(len(data[start : start + 4_096])) + data[start + 4_096 :])
        (home / "journal.db.exists").touch()
        try:
            read = await _everything(home / "journal.db")
        except JournalDamaged:
            continue
        expected = expected or await _everything(whole)
        assert read == expected, f"page {page + 1} of zeros"
    assert expected is not None


@pytest.mark.parametrize("share", [0.01, 0.3, 0.5, 0.9])
async def test_a_file_cut_short_is_damage(tmp_path: Path, share: float) -> None:
    await _written(tmp_path / "journal.db")
    data = (tmp_path / "journal.db").read_bytes()
    (tmp_path / "journal.db").write_bytes(data[: int(len(data) * share)])
    with pytest.raises(JournalDamaged):
        await _everything(tmp_path / "journal.db")


def _garbage(path: Path) -> None:
    path.write_bytes(b"this is not a database, whatever its name says. " * 200)


def _few_bytes(path: Path) -> None:
    path.write_bytes(b"hi")


def _foreign_tables(path: Path) -> None:
    with database(path) as other:
        other.execute("CREATE TABLE shopping (what TEXT)")


def _foreign_id(path: Path) -> None:
    with database(path) as other:
        other.pragma("application_id", 0x12345678)
        other.pragma("user_version", 1)


def _newer(path: Path) -> None:
    prepare(path).close()
    with database(path) as newer:
        newer.pragma("user_version", len(MIGRATIONS) + 1)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (_garbage, "the journal file is damaged; nothing was changed. Restore a backup"),
        (_few_bytes, "the journal file is damaged; nothing was changed. Restore a backup"),
        (_foreign_tables, "is a database of another program; move it away or choose another --home"),
        (_foreign_id, "is a database of another program; move it away or choose another --home"),
        (_newer, "a newer Daimon wrote it. Update, then start again"),
    ],
)
@pytest.mark.parametrize("is_known", [True, False])
async def test_a_file_that_is_not_our_journal_is_refused_and_left_as_it_is(
    tmp_path: Path, make: Callable[[Path], None], sentence: str, is_known: bool
) -> None:
    path = tmp_path / "journal.db"
    make(path)
    if is_known:
        path.with_name("journal.db.exists").touch()
    before = path.read_bytes()
    with pytest.raises(JournalDamaged, match=sentence) as refused:
        await SqliteJournal.open(path, ManualClock(), fresh_ids())
    assert str(path) in str(refused.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize(("is_there", "word"), [(True, "empty"), (False, "missing")])
async def test_a_lost_journal_is_not_replaced_by_an_empty_one(tmp_path: Path, is_there: bool, word: str) -> None:
    path = tmp_path / "journal.db"
    async with opened(path) as journal:
        await journal.accept(event("k1"))
    path.write_bytes(b"") if is_there else path.unlink()
    with pytest.raises(JournalDamaged, match=f"is {word}, but this home had one. Restore it from a backup"):
        await SqliteJournal.open(path, ManualClock(), fresh_ids())
    assert path.exists() == is_there


async def test_whoever_deletes_the_marker_may_start_anew(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db"):
        pass
    for name in _files(tmp_path):
        (tmp_path / name).unlink()
    async with opened(tmp_path / "journal.db") as journal:
        assert (await journal.count()).events == 0


@pytest.mark.parametrize("had_identity", [True, False])
async def test_a_creation_that_was_cut_off_is_completed(tmp_path: Path, had_identity: bool) -> None:
    path = tmp_path / "journal.db"
    if had_identity:
        with database(path) as half:
            half.pragma("application_id", APPLICATION_ID)
    else:
        path.touch()
    async with opened(path) as journal:
        assert (await journal.accept(event("k1"))).is_new


async def test_a_payload_whose_bytes_were_changed_is_damage(tmp_path: Path) -> None:
    long = event("k1", Said((Text("long enough to be compressed " * 100),)))
    async with opened(tmp_path / "journal.db") as journal:
        await journal.accept(long)
    with database(tmp_path / "journal.db") as db:
        (body,) = db.execute("SELECT body FROM payloads").fetchone()  # type: ignore[misc]
        db.execute("UPDATE payloads SET body = ?", (body[:20] + bytes(10) + body[30:],))
    async with opened(tmp_path / "journal.db") as journal:
        with pytest.raises(JournalDamaged):
            await journal.event(long.id)


async def test_a_blob_whose_bytes_were_changed_is_damage_and_not_another_value(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        plain, pressed = await journal.put(b"short"), await journal.put(b"long " * 500)
    with database(tmp_path / "journal.db") as db:
        db.execute("UPDATE blobs SET body = x'00112233' WHERE codec = 0")
        db.execute("UPDATE blobs SET body = x'00112233' WHERE codec = 1")
    async with opened(tmp_path / "journal.db") as journal:
        for name in (plain, pressed):
            with pytest.raises(JournalDamaged):
                await journal.get(name)


# -- a file that cannot be written

OPEN_AS_NOBODY = """
import asyncio, os, sys
from pathlib import Path
from tests.journal.world import event, opened
from daimon.abi.errors import JournalFailed

async def main():
    if os.geteuid() == 0:
        os.setuid(65534)
    try:
        async with opened(Path(sys.argv[1])) as journal:
            await journal.accept(event("k1"))
    except JournalFailed as failed:
        print(type(failed).__name__, failed)

asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("file", "directory"), [(0o444, 0o555), (0o444, 0o777), (0o644, 0o555), (None, 0o555)], ids=["both", "file", "directory", "new"]
)
async def test_a_journal_that_cannot_be_written_says_so(file: int | None, directory: int) -> None:
    with TemporaryDirectory() as home:
        path = Path(home) / "journal.db"
        if file is not None:
            async with opened(path) as journal:
                await journal.accept(event("k0"))
            path.chmod(file)
        path.parent.chmod(directory)
        told = said_by(OPEN_AS_NOBODY, path)
        path.parent.chmod(0o755)
    assert told.startswith((f"JournalStopped {path}: ", f"JournalStopped the journal {path} cannot be written"))


async def test_another_writer_stops_this_one(tmp_path: Path) -> None:
    connection = prepare(tmp_path / "journal.db")
    connection.set_busy_timeout(1)  # patience is not what is tested here
    journal = SqliteJournal(tmp_path / "journal.db", connection, ManualClock(), fresh_ids())
    with database(tmp_path / "journal.db") as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(JournalStopped, match="another process writes to this journal"):
            await journal.accept(event("k1"))
    assert isinstance(await asyncio.wait_for(journal.stopped, 60), JournalStopped)
    await journal.close()


# -- a full disk


FILL_IT = """
import asyncio, json, os, subprocess, sys
from pathlib import Path
from tests.journal.world import database, event, fresh_ids, opened
from daimon.abi.errors import JournalFull
from daimon.abi.event import Said
from daimon.abi.message import Text
from daimon.journal.opening import prepare
from daimon.journal.sqlite import SqliteJournal
from daimon.testing.clock import ManualClock

def a_small_disk(home):
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(home)], check=True)
    ballast = home / "ballast"
    ballast.write_bytes(bytes(1_500_000))
    return prepare(home / "journal.db"), ballast.unlink

def few_pages(home):
    connection = prepare(home / "journal.db")
    connection.pragma("max_page_count", 100)
    return connection, lambda: connection.pragma("max_page_count", 10_000)

async def main(home, limited):
    connection, make_room = limited(home)
    journal = SqliteJournal(home / "journal.db", connection, ManualClock(), fresh_ids())
    for accepted in range(2_000):
        try:
            await journal.accept(event(f"k{accepted}", Said((Text(os.urandom(2_000).hex()),))))
        except JournalFull:
            break
    events, is_stopped = (await journal.count()).events, journal.stopped.done()
    make_room()
    after = await journal.accept(event("after"))
    await journal.close()
    async with opened(home / "journal.db") as journal:
        found = (await journal.count()).events
    with database(home / "journal.db") as db:
        is_whole = db.pragma("integrity_check") == "ok"
    print(json.dumps([2_000 > accepted > 0, events - accepted, is_stopped, after.seq - accepted, found - accepted, is_whole]))

asyncio.run(main(Path(sys.argv[1]), globals()[sys.argv[2]]))
"""
UNSHARED = ("unshare", "--map-root-user", "--mount")
"""A name space of its own, in which a process may mount."""
_TRY = [*UNSHARED, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
MAY_MOUNT = shutil.which("unshare") is not None and subprocess.run(_TRY, capture_output=True).returncode == 0


@pytest.mark.parametrize("limited", ["few_pages", *(["a_small_disk"] if MAY_MOUNT else [])])
def test_a_full_disk_refuses_loses_nothing_and_goes_on_when_there_is_room(limited: str) -> None:
    with TemporaryDirectory() as home:
        told = json.loads(said_by(FILL_IT, home, limited, before=UNSHARED if limited == "a_small_disk" else ()))
    assert told == [True, 0, False, 0, 1, True]


WRITE_PAST_A_LIMIT = """
import asyncio, os, resource, signal, sys
from pathlib import Path
from tests.journal.world import event, opened
from daimon.abi.errors import JournalFailed
from daimon.abi.event import Said
from daimon.abi.message import Text

async def main():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    async with opened(Path(sys.argv[1])) as journal:
        resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))
        try:
            for n in range(1_000):
                await journal.accept(event(f"k{n}", Said((Text(os.urandom(2_000).hex()),))))
        except JournalFailed as failed:
            print(n, type(failed).__name__, type(await asyncio.wait_for(journal.stopped, 60)).__name__)

asyncio.run(main())
"""


async def test_a_write_that_fails_stops_the_journal_and_a_restart_finds_all_that_was_promised(tmp_path: Path) -> None:
    promised, *kinds = said_by(WRITE_PAST_A_LIMIT, tmp_path / "journal.db").split()
    assert kinds == ["JournalStopped", "JournalStopped"]
    async with opened(tmp_path / "journal.db") as journal:
        assert (await journal.count()).events == int(promised) > 0
        assert (await journal.accept(event("after"))).seq == int(promised)


# -- labels, old rows, erased rows


@pytest.mark.parametrize("table", ["events", "steps", "turns", "timers", "outbox"])
async def test_a_row_without_its_label_is_read_as_untrusted(tmp_path: Path, table: str) -> None:
    path = tmp_path / "journal.db"
    await _written(path)
    async with opened(path) as journal:
        (turn,) = await journal.turns(HOME_SPACE, 1)
    with database(path) as db:
        db.execute(f"UPDATE {table} SET label = NULL")
    async with opened(path) as journal:
        labels = {
            "events": [(await journal.event(turn.event)).label],
            "steps": [s.label for s in await journal.steps(turn.id)],
            "turns": [(await journal.turn(turn.id)).label],
            "timers": [reminder.label for reminder in await journal.pending(MAIN)],
            "outbox": [message.label for message in await journal.outgoing(10)],
        }
    assert labels.pop(table)[0] == UNLABELLED
    assert all(label.is_trusted for others in labels.values() for label in others)


async def test_a_timer_without_its_label_fires_as_a_strangers(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    await _written(path)
    with database(path) as db:
        db.execute("UPDATE timers SET label = NULL")
        db.execute("UPDATE events SET taken = 1")
    clock = ManualClock()
    async with opened(path, clock) as journal:
        await clock.advance(7_200)
        await journal.due(clock.now(), 10)
        assert claimed(await journal.claim(MAIN, "w1", TTL_S, PINS)).event.label == UNLABELLED


async def test_rows_of_the_first_schema_are_read_from_the_file(tmp_path: Path) -> None:
    stored = json.loads((DATA / "rows-v1.json").read_text(encoding="utf-8"))
    result = next(row["json"] for row in stored if row["type"] == "step" and row["json"]["kind"] == "outcome")
    async with opened(tmp_path / "journal.db") as journal:
        claim = await begun(journal)
        await journal.record(claim, [outcome(claim, 0)])
    with database(tmp_path / "journal.db") as db:
        (pos,) = db.execute("SELECT pos FROM steps").fetchone()  # type: ignore[misc]
        db.execute("UPDATE steps SET schema = 1 WHERE pos = ?", (pos,))
        body = json.dumps(result).encode()
        db.execute("UPDATE payloads SET codec = 0, body = ?, hash = ? WHERE pos = ?", (body, hashlib.sha256(body).digest(), pos))
    async with opened(tmp_path / "journal.db") as journal:
        (old,) = await journal.steps(claim.turn.id)
        assert isinstance(old.body, Happened)
        assert old.body.result.labels["/subject"].origins[0].author is Author.STRANGER
        assert old.schema == SCHEMA


async def test_a_row_of_a_newer_schema_is_refused(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        await journal.accept(event("k1"))
    with database(tmp_path / "journal.db") as db:
        db.execute("UPDATE events SET schema = ?", (SCHEMA + 1,))
    async with opened(tmp_path / "journal.db") as journal:
        with pytest.raises(JournalDamaged, match="update Daimon"):
            await journal.event(EventId("e-k1"))


async def test_an_event_whose_payload_was_erased_says_so_and_keeps_its_place(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        for key in ("k1", "k2"):
            await journal.accept(event(key))
    with database(tmp_path / "journal.db") as db:
        db.execute("UPDATE payloads SET body = NULL, erased_at = 0, reason = 'the owner asked' WHERE pos = (SELECT MIN(pos) FROM events)")
    async with opened(tmp_path / "journal.db") as journal:
        first = claimed(await journal.claim(MAIN, "w1", TTL_S, PINS)).event
        assert isinstance(first.body, Erased)
        assert (first.id, first.body.reason, len(first.body.hash)) == ("e-k1", "the owner asked", 64)
        assert not (await journal.accept(event("k1"))).is_new


async def test_a_large_payload_whose_blob_was_erased_says_so(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        await journal.accept(event("k1", Said((Text("x" * 100_000),))))
    with database(tmp_path / "journal.db") as db:
        db.execute("UPDATE blobs SET body = NULL")
    async with opened(tmp_path / "journal.db") as journal:
        assert isinstance((await journal.event(EventId("e-k1"))).body, Erased)


# -- many at once


async def test_many_at_once_share_their_commits(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        accepted = await asyncio.gather(*(journal.accept(event(f"k{n}")) for n in range(200)))
        assert sorted(one.seq for one in accepted) == list(range(200))
        assert journal.commits <= 20


async def test_a_refusal_does_not_harm_its_neighbours_in_the_same_commit(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        lost = replace(event("lost", Answer("yes")), resolves=StepRef(TurnId("nowhere"), 0))
        broken = event("broken", Said((Text("\ud800"),)))
        sent = [event("k1"), lost, event("k2"), broken, event("k3")]
        before, lasts = journal.commits, await asyncio.gather(*(journal.accept(each) for each in sent), return_exceptions=True)
        assert [type(last).__name__ for last in lasts[1:4:2]] == ["BadInput", "PydanticSerializationError"]
        assert isinstance(lasts[1], BadInput)
        assert [last.seq for last in lasts[::2]] == [0, 1, 2]  # type: ignore[union-attr]
        assert journal.commits - before <= 2
        assert (await journal.count()).events == 3
        assert not journal.stopped.done()


async def test_what_was_refused_leaves_its_key_free(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        with pytest.raises(BadInput):
            await journal.accept(replace(event("k1"), resolves=StepRef(TurnId("nowhere"), 0)))
        assert (await journal.accept(event("k1"))).is_new


async def test_looking_for_work_where_there_is_none_costs_no_commit(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        claim = await begun(journal)
        assert await journal.finish(claim, [step(claim, 0, Decided(Continue(), "1"))], DONE) == Released()
        before = journal.commits
        for _ in range(5):
            await journal.due(ManualClock().now(), 10)
            await journal.claim(MAIN, "w1", TTL_S, PINS)
        assert journal.commits == before


LIST_MODES = """
import asyncio, os, sys
from pathlib import Path
from tests.journal.world import event, opened

async def main():
    os.umask(0o077)
    async with opened(Path(sys.argv[1])) as journal:
        await journal.accept(event("k1"))
        print(*(f"{path.name}={path.stat().st_mode & 0o777:o}" for path in sorted(Path(sys.argv[1]).parent.iterdir())))

asyncio.run(main())
"""


def test_under_the_umask_of_the_program_every_file_is_for_the_owner_only(tmp_path: Path) -> None:
    told = dict(each.split("=") for each in said_by(LIST_MODES, tmp_path / "journal.db").split())
    assert set(told) == {"journal.db", "journal.db-shm", "journal.db-wal", "journal.db.exists"}
    assert set(told.values()) == {"600"}


async def test_whoever_held_a_turn_that_turned_out_to_be_damaged_is_fenced(tmp_path: Path) -> None:
    clock = ManualClock()
    async with opened(tmp_path / "journal.db", clock) as journal:
        claim = await begun(journal)
        await journal.record(claim, [outcome(claim, 0)])
        await clock.advance(TTL_S + 1)
        with database(tmp_path / "journal.db") as db:
            db.execute("UPDATE payloads SET body = x'00' WHERE pos IN (SELECT pos FROM steps)")
        assert isinstance(await journal.claim(MAIN, "w2", TTL_S, PINS), Damaged)
        with pytest.raises(Fenced):
            await journal.record(claim, [outcome(claim, 1)])
        assert (await journal.turn(claim.turn.id)).state is State.FAILED


async def test_what_waits_for_a_place_is_found_by_place_however_much_waits_elsewhere(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db"):
        pass
    with database(tmp_path / "journal.db") as db:
        plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {OUTGOING}", (0, "", 1, "[]"))]
    assert any("outbox_places (channel=? AND dest=? AND pos<?)" in step for step in plan), plan


async def test_a_forked_child_closes_no_connection_of_a_thread_that_it_has_not(tmp_path: Path) -> None:
    """It would wait for a lock of SQLite's that this thread may have held, and its parent, which is Daimon, for it."""
    prepare(path := tmp_path / "journal.db").close()
    readers = Readers(path)
    try:
        seen = await readers.run(weakref.ref)
        child = os.fork()
        if child == 0:
            os._exit(0 if seen() is not None else 1)
        assert os.waitstatus_to_exitcode((await asyncio.to_thread(os.waitpid, child, 0))[1]) == 0
    finally:
        await readers.close()
    assert seen() is None, "closed when nobody needs it any more"
