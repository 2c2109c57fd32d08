"""Devices, links, requests and wrong tries, by the clock."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import apsw
import pytest

from daimon.abi.access import ALL_RIGHTS, Act, Link, Right
from daimon.abi.errors import Forbidden, NotFound
from daimon.gateway.access.acts import MOST_FAILURES, Acts
from daimon.gateway.access.attempts import FREE, LOCKED_S, MOST_ADDRESSES, Attempts
from daimon.gateway.access.entrance import VALID, Entrance
from daimon.gateway.access.places import Places
from daimon.gateway.access.sessions import FRESH, LONGEST, UNUSED, Sessions, hash_of
from daimon.gateway.door import Source
from daimon.journal.schema import APPLICATION_ID, MIGRATIONS
from daimon.journal.sqlite import SqliteJournal
from daimon.machine.chance import SystemRandom
from daimon.testing.clock import ManualClock
from daimon.testing.ids import CountingIds

HERE, THERE = Source("127.0.0.1", is_local=True), Source("203.0.113.7", is_local=False)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def journal(tmp_path: Path, clock: ManualClock) -> AsyncIterator[SqliteJournal]:
    opened = await SqliteJournal.open(tmp_path / "journal.db", clock, CountingIds())
    yield opened
    await opened.close()


async def entrance(journal: SqliteJournal, clock: ManualClock) -> Entrance:
    await (sessions := Sessions(journal.access, clock, CountingIds())).load()
    return Entrance(journal.access, sessions, Attempts(clock), Acts(journal.access, clock), clock, SystemRandom())


async def test_a_device_that_is_not_used_is_over_and_one_that_is_goes_on_to_its_end(journal: SqliteJournal, clock: ManualClock) -> None:
    sessions = (await entrance(journal, clock)).sessions
    idle, idle_secret = await sessions.begin("idle", ALL_RIGHTS, "link")
    used, used_secret = await sessions.begin("used", ALL_RIGHTS, "link")
    for _ in range(LONGEST // timedelta(days=20)):
        await clock.advance(timedelta(days=20).total_seconds())
        await sessions.seen(used.id)
    assert sessions.find(idle_secret) is None
    assert sessions.find(used_secret) is None
    young, young_secret = await sessions.begin("young", ALL_RIGHTS, "link")
    await clock.advance(UNUSED.total_seconds() - 1)
    assert sessions.find(young_secret) == young
    assert idle.id != young.id


async def test_a_device_that_is_seen_while_it_is_ended_is_over_after_a_restart_too(journal: SqliteJournal, clock: ManualClock) -> None:
    sessions = (await entrance(journal, clock)).sessions
    device, secret = await sessions.begin("lost phone", ALL_RIGHTS, "link")
    await clock.advance(FRESH.total_seconds())
    await asyncio.gather(sessions.end(device.id), sessions.seen(device.id))
    assert sessions.find(secret) is None
    assert (await entrance(journal, clock)).sessions.find(secret) is None


async def test_a_device_that_is_seen_while_its_rights_change_has_the_new_ones_after_a_restart(
    journal: SqliteJournal, clock: ManualClock
) -> None:
    sessions = (await entrance(journal, clock)).sessions
    device, secret = await sessions.begin("phone", ALL_RIGHTS, "link")
    await clock.advance(FRESH.total_seconds())
    await asyncio.gather(sessions.change(device.id, frozenset({Right.READ})), sessions.seen(device.id))
    for each in (sessions, (await entrance(journal, clock)).sessions):
        found = each.find(secret)
        assert found is not None
        assert (found.rights, found.seen_at) == (frozenset({Right.READ}), clock.now())


async def test_that_a_device_was_seen_is_written_once_in_some_minutes(journal: SqliteJournal, clock: ManualClock) -> None:
    sessions = (await entrance(journal, clock)).sessions
    device, _ = await sessions.begin("x", ALL_RIGHTS, "link")
    before = journal.commits
    for _ in range(50):
        await sessions.seen(device.id)
    assert journal.commits == before
    await clock.advance(FRESH.total_seconds())
    await sessions.seen(device.id)
    assert journal.commits == before + 1


async def test_who_was_revoked_stays_out_after_a_restart(journal: SqliteJournal, clock: ManualClock) -> None:
    first = (await entrance(journal, clock)).sessions
    (gone, gone_secret), (kept, kept_secret) = await first.begin("gone", ALL_RIGHTS, "link"), await first.begin("kept", ALL_RIGHTS, "code")
    await first.end(gone.id)
    await first.change(kept.id, frozenset({Right.READ}))
    later = (await entrance(journal, clock)).sessions
    assert later.find(gone_secret) is None
    found = later.find(kept_secret)
    assert found is not None
    assert found.rights == {Right.READ}


async def test_a_link_is_over_after_ten_minutes(journal: SqliteJournal, clock: ManualClock) -> None:
    ways = await entrance(journal, clock)
    in_time, late = await ways.link("", ALL_RIGHTS), await ways.link("", ALL_RIGHTS)
    await clock.advance(VALID.total_seconds() - 1)
    await ways.enter(in_time.secret, "x", HERE)
    await clock.advance(2)
    with pytest.raises(Forbidden, match="too old"):
        await ways.enter(late.secret, "x", HERE)


async def test_a_request_that_nobody_confirmed_is_gone(journal: SqliteJournal, clock: ManualClock) -> None:
    ways = await entrance(journal, clock)
    asked = await ways.ask("phone", THERE)
    await clock.advance(VALID.total_seconds() + 1)
    with pytest.raises(NotFound):
        await ways.decide(asked.code, ALL_RIGHTS)
    with pytest.raises(NotFound):
        await ways.collect(asked.secret, THERE)


async def test_a_lock_ends_and_memory_has_a_bound(clock: ManualClock) -> None:
    attempts = Attempts(clock)
    for _ in range(FREE):
        attempts.wrong("203.0.113.7", is_local=False)
    assert attempts.locked_s("203.0.113.7") == LOCKED_S
    await clock.advance(LOCKED_S)
    assert attempts.locked_s("203.0.113.7") == 0
    for n in range(3 * MOST_ADDRESSES):
        attempts.wrong(f"10.0.{n // 256}.{n % 256}", is_local=False)
    assert len(attempts._of) == MOST_ADDRESSES


def test_one_network_of_ipv6_is_one_address(clock: ManualClock) -> None:
    attempts = Attempts(clock)
    for n in range(FREE):
        attempts.wrong(f"2001:db8:1:2::{n}", is_local=False)
    assert attempts.locked_s("2001:db8:1:2:ffff::1") > 0
    assert attempts.locked_s("2001:db8:1:3::1") == 0


async def test_strangers_cannot_push_acts_out(journal: SqliteJournal, clock: ManualClock) -> None:
    acts = Acts(journal.access, clock)
    await journal.access.note(Act(clock.now(), "token", "the owner", "POST /v1/reload", "", "done"))
    for _ in range(3 * MOST_FAILURES):
        await acts.failed("203.0.113.7", "sign in by link", "forbidden")
    found = await journal.access.acts(1_000)
    assert len(found) == MOST_FAILURES + 1
    assert found[-1].did == "POST /v1/reload"


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("127.0.0.1:7310", "http://127.0.0.1:7310"),
        ("LOCALHOST", "http://localhost"),
        ("[::1]:7310", "http://[::1]:7310"),
        ("daimon.example", "https://daimon.example"),
        ("daimon.example:443", "https://daimon.example"),
        ("192.0.2.4:7310", "http://192.0.2.4:7310"),
        ("daimon.example:7310", None),
        ("192.0.2.4", None),
        ("daimon.example.", None),
        ("", None),
    ],
)
def test_a_place_is_found_by_its_exact_name(host: str, origin: str | None) -> None:
    found = Places(("https://Daimon.example:443", "http://192.0.2.4:7310")).find(host)
    assert (found.origin if found else None) == origin


async def test_a_file_of_format_5_gets_its_tables(tmp_path: Path, clock: ManualClock) -> None:
    file = tmp_path / "journal.db"
    old = apsw.Connection(str(file))
    old.pragma("application_id", APPLICATION_ID)
    for migration in MIGRATIONS[:5]:
        old.execute(migration)
    old.pragma("user_version", 5)
    old.close()
    journal = await SqliteJournal.open(file, clock, CountingIds())
    try:
        link = Link(hash_of("x"), "", ALL_RIGHTS, clock.now() + VALID)
        await journal.access.offer(link, clock.now())
        assert await journal.access.redeem(link.hash, clock.now()) == link
        assert await journal.access.redeem(link.hash, clock.now()) is None
    finally:
        await journal.close()
