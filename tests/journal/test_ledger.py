"""The ledger's contract, on the real file and on the fake in memory, and what only the file can show: damage, kills, older files."""

import asyncio
import json
import os
import random
import signal
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.journal.world import DONE, MAIN, PINS, TTL_S, claimed, database, event, filed, opened, said_by, step

from daimon.abi.codec import encode
from daimon.abi.errors import OverBudget
from daimon.abi.event import Event, Stop
from daimon.abi.ids import HOME_SPACE, OWNER, SELF, Conversation, EventId, Key, SpaceId, TurnId
from daimon.abi.label import owned
from daimon.abi.message import Text
from daimon.abi.money import LEAST, Amount, Scope, Usage
from daimon.abi.ports import Damaged
from daimon.abi.step import Continue, Decided, Raised, Replied, Reserved, Settled, Step
from daimon.abi.turn import Pins, State
from daimon.journal.rows import micros, put_event, put_step, write_label, written
from daimon.journal.schema import APPLICATION_ID, MIGRATIONS
from daimon.testing.clock import START, ManualClock
from daimon.testing.contracts.ledger import TODAY, Desk, LedgerContract, LedgerJournal, Pen, amount, call, day, task
from daimon.testing.ids import CountingIds
from daimon.testing.journal import MemoryJournal


class TestSqliteLedger(LedgerContract):
    @asynccontextmanager
    async def open(self, clock: ManualClock) -> AsyncIterator[LedgerJournal]:
        async with filed(clock) as journal:
            yield journal


class TestMemoryLedger(LedgerContract):
    @asynccontextmanager
    async def open(self, clock: ManualClock) -> AsyncIterator[LedgerJournal]:
        yield MemoryJournal(clock, CountingIds())


@pytest.mark.parametrize("contract", [TestSqliteLedger, TestMemoryLedger])
async def test_a_raise_between_the_refusal_and_the_park_is_not_lost(contract: type[LedgerContract]) -> None:
    async with contract().desk() as desk:
        owner, late, limit = await desk.begin("owner"), await desk.begin("late"), task(cost="1")
        short = await late.refused(call(limit, cost="1.5"))
        await owner.write(Raised(Scope.TURN, limit.key, amount(0, "1"), OWNER))
        await late.wait_for(short)
        assert await desk.due() == {"late"}


# -- only in the file


async def test_what_a_damaged_turn_holds_counts_in_full_and_nobody_waits_behind_it(tmp_path: Path) -> None:
    clock = ManualClock()
    async with opened(tmp_path / "journal.db", clock) as journal:
        desk, limit = Desk(journal, clock), day(cost="1")
        holder = await desk.begin("holder")
        settled = await holder.write(call(limit, cost="0.2"))
        await holder.write(Settled(settled, Usage(5, 5, cost=Decimal("0.1")), "measured"), call(limit, tokens=60, cost="0.6"))
        await desk.short("waiting", call(limit, cost="0.4"))
        _break(tmp_path / "journal.db", holder.turn)
        await clock.advance(3_601)
        assert isinstance(await journal.claim(holder.claim.conversation, "w2", TTL_S, PINS), Damaged)
        balance = await desk.balance(limit)
        assert (balance.spent, balance.held) == (amount(70, "0.7"), Amount())
        assert (await desk.spending("day"))[TODAY].assumed == Decimal("0.6")
        assert await desk.due() == {"waiting"}  # though it does not fit: nobody else would ask


async def test_a_damaged_turn_that_asked_about_its_task_leaves_the_question_to_the_next(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db", clock := ManualClock()) as journal:
        desk, limit = Desk(journal, clock), task(cost="1")
        asker = await desk.short("asker", call(limit, cost="2"))
        await desk.short("next", call(limit, cost="2"))
        _break(tmp_path / "journal.db", asker.turn)
        await journal.accept(event("stop", Stop(asker.turn), "asker"))
        assert isinstance(await journal.claim(Conversation(HOME_SPACE, "asker"), "w", TTL_S, PINS), Damaged)
        assert (await desk.balance(limit)).waiting == 1
        assert await desk.due() == {"next"}


def _break(path: Path, turn: TurnId) -> None:
    with database(path) as db:
        db.execute("UPDATE payloads SET body = x'00' WHERE pos IN (SELECT pos FROM steps WHERE turn = ?)", (turn,))


async def test_spaces_do_not_pay_for_each_other(tmp_path: Path) -> None:
    guest = SpaceId("guest")
    async with opened(tmp_path / "journal.db", clock := ManualClock()) as journal:
        await journal.accept(replace(event("g"), space=guest))
        claim = claimed(await journal.claim(Conversation(guest, "main"), "w", TTL_S, PINS))
        await Pen(journal, clock, claim, 0).spend(call(day(cost="1"), cost="1"), Usage(1, cost=Decimal(1)))
        desk = Desk(journal, clock)
        await (await desk.begin("home")).write(call(day(cost="1"), cost="1"))
        assert [row.cost for row in await journal.spending(guest, "day")] == [1]
        assert [row.cost for row in await journal.spending(HOME_SPACE, "day")] == [0]
        assert (await journal.balances(guest, [day()]))[0].spent == amount(1, "1")
        assert (await desk.balance(day())).held == amount(100, "1")


async def test_who_waits_and_what_is_held_outlive_a_restart(tmp_path: Path) -> None:
    limit = day(cost="1")
    async with opened(tmp_path / "journal.db", clock := ManualClock()) as journal:
        desk = Desk(journal, clock)
        holder = await desk.begin("holder")
        n = await holder.write(call(limit, cost="1"))
        await desk.short("waiting", call(limit, cost="0.5"))
    async with opened(tmp_path / "journal.db", clock) as journal:
        desk = Desk(journal, clock)
        assert await desk.due() == {"holder"}  # it was cut off
        again = await desk.claimed(holder.claim.conversation)
        await again.write(Settled(n, Usage(1, cost=Decimal("0.1")), "measured"))
        assert await desk.due() == {"waiting"}


async def test_many_at_once_get_exactly_what_fits(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db", clock := ManualClock()) as journal:
        desk, limit = Desk(journal, clock), day(cost="1")
        pens = [await desk.begin(f"c{n}") for n in range(40)]
        told = await asyncio.gather(*(pen.write(call(limit, cost="0.09")) for pen in pens), return_exceptions=True)
        assert (sum(each == 0 for each in told), sum(isinstance(each, OverBudget) for each in told)) == (11, 29)
        assert (await desk.balance(limit)).held == amount(1_100, "0.99")
        for pen, each in zip(pens, told, strict=True):
            assert len(await journal.steps(pen.turn)) == (each == 0)


# -- kills

KILLS = 20


def test_however_often_it_is_killed_the_accounts_are_the_sums_of_the_calls(tmp_path: Path) -> None:
    script = "import sys; from pathlib import Path; from tests.journal.test_ledger import kill_often; kill_often(Path(sys.argv[1]))"
    rounds = [json.loads(line) for line in said_by(script, tmp_path / "journal.db").splitlines()]
    assert len(rounds) == KILLS
    for each in rounds:
        assert each["accounts"] == each["sums"]
        assert each["calls"] >= each["told"]
    assert any(held for each in rounds for _, _, held, _ in each["accounts"].values())
    assert any(spent for spent, _, _, _ in rounds[-1]["accounts"].values())


def kill_often(path: Path) -> None:
    """In a process of its own: spends in a child, kills that at some point, opens the journal again and prints what it says."""
    chance, told = random.Random(7), 0
    for n in range(KILLS):
        heard, say = os.pipe()
        if (spender := os.fork()) == 0:
            asyncio.run(_spend_for_ever(path, random.Random(n), say))
        os.close(say)
        for _ in range(chance.randrange(1, 50)):
            told += os.read(heard, 1) == b"r"
        os.kill(spender, signal.SIGKILL)
        os.waitpid(spender, 0)
        while said := os.read(heard, 1_000):
            told += said.count(b"r")
        os.close(heard)
        os.write(1, json.dumps({"told": told, **asyncio.run(_said(path))}).encode() + b"\n")


async def _spend_for_ever(path: Path, chance: random.Random, say: int) -> None:
    async with opened(path, clock := ManualClock()) as journal:
        desk = Desk(journal, clock)
        await asyncio.gather(*(_spend(desk, Conversation(HOME_SPACE, name), chance, say) for name in "abcd"))


async def _spend(desk: Desk, where: Conversation, chance: random.Random, say: int) -> None:
    for n in count():
        key = Key(f"{where.name}-{os.getpid()}-{n}")
        await desk.journal.accept(replace(event(key), id=EventId(key), conversation=where.name))
        pen = await desk.claimed(where)
        await _settle_what_was_cut_off(pen)
        for _ in range(chance.randrange(1, 5)):
            reserved = call(task(f"task {where.name}", cost="0.9"), day(cost="3"), tokens=100, cost="0.2")
            try:
                number = await pen.write(reserved)
            except OverBudget as over:
                await pen.write(Raised(over.short.account.scope, over.short.account.key, amount(0, "0.7"), OWNER))
                continue
            os.write(say, b"r")
            if chance.random() < 0.8:
                usage = Usage(chance.randrange(80), 7, cost=chance.randrange(200_000_000) * LEAST)
                await pen.write(Settled(number, usage, "measured"))
                os.write(say, b"s")
        await pen.end()


async def _settle_what_was_cut_off(pen: Pen) -> None:
    settled = {step.body.reservation for step in pen.claim.steps if isinstance(step.body, Settled)}
    for each in pen.claim.steps:
        if isinstance(each.body, Reserved) and each.n not in settled:
            await pen.write(Settled(each.n, Usage(each.body.input_tokens, each.body.output_tokens, cost=each.body.cost), "assumed"))


async def _said(path: Path) -> dict[str, Any]:
    async with opened(path):
        pass
    with database(path) as db:
        return {"accounts": _accounts(db), "sums": _sums(db), "calls": db.execute("SELECT COUNT(*) FROM calls").get}


def _accounts(db: apsw.Connection) -> dict[str, list[int]]:
    rows = db.execute("SELECT scope, key, tokens, cost, held_tokens, held_cost FROM accounts")
    return {f"{scope} {key}": list(amounts) for scope, key, *amounts in rows}


def _sums(db: apsw.Connection) -> dict[str, list[int]]:
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    rows = db.execute("SELECT accounts, state = 'held', input_tokens + output_tokens, cost, held_tokens, held_cost FROM calls")
    for accounts, is_held, tokens, cost, held_tokens, held_cost in rows:
        amounts = (0, 0, held_tokens, held_cost) if is_held else (tokens, cost, 0, 0)
        for scope, key in json.loads(accounts):
            sums[f"{scope} {key}"] = [a + b for a, b in zip(sums[f"{scope} {key}"], amounts, strict=True)]
    return sums


# -- a file of the release before

OLD = TurnId("t-old")


async def test_a_file_of_the_first_format_is_brought_up_to_date_and_keeps_books_from_then_on(tmp_path: Path) -> None:
    path, limit = tmp_path / "journal.db", day(cost="1")
    done, waiting = event("done"), event("open")
    steps = [_old_step(OLD, 0, Decided(Continue(), "1")), _old_step(OLD, 1, Replied("m", (Text("hi"),), "stop", Usage(10, 5)))]
    _write_first_format(path, done, waiting, steps)
    async with opened(path, clock := ManualClock()) as journal:
        with database(path) as db:
            assert db.pragma("user_version") == len(MIGRATIONS)
        old = await journal.turn(OLD)
        assert (old.job, old.state, await journal.steps(OLD)) == ("", State.RUNNING, tuple(steps))
        assert await journal.spending(HOME_SPACE, "day") == ()
        cut_off = claimed(await journal.claim(MAIN, "w", TTL_S, PINS))
        assert (cut_off.turn, cut_off.event, cut_off.steps) == (old, done, tuple(steps))
        pen = Pen(journal, clock, cut_off, 2)
        await pen.spend(call(limit, cost="0.8"), Usage(7, 3, cost=Decimal("0.5")))
        assert (await pen.refused(call(limit, cost="0.8"))).why == "reached"
        await journal.finish(cut_off, [], DONE)
        new = claimed(await journal.claim(MAIN, "w", TTL_S, PINS))
        assert (new.event, new.turn.job) == (waiting, "")
        await journal.record(new, [step(new, 0, call(limit, cost="0.5"))])
    async with opened(path, clock) as journal:  # and once more, with nothing left to do
        assert (await Desk(journal, clock).balance(limit)).held == amount(100, "0.5")
        assert [(row.key, row.cost) for row in await journal.spending(HOME_SPACE, "job")] == [("chat", Decimal("0.5"))]


def _old_step(turn: TurnId, n: int, body: Decided | Replied) -> Step:
    return Step(turn=turn, n=n, body=body, at=START, space=HOME_SPACE, principal=OWNER, agent=SELF, label=owned("test"))


def _write_first_format(path: Path, done: Event, waiting: Event, steps: list[Step]) -> None:
    with database(path) as db:
        db.pragma("application_id", APPLICATION_ID)
        db.pragma("journal_mode", "wal")
        db.execute("BEGIN IMMEDIATE")
        db.execute(MIGRATIONS[0])
        db.pragma("user_version", 1)
        db.execute("INSERT INTO conversations (space, name, next_seq, epoch) VALUES (?, 'main', 2, 1)", (HOME_SPACE,))
        put_event(db, 1, 0, done, OLD, 1)
        put_event(db, 2, 1, waiting, None, 0)
        for each in (done, waiting):
            db.execute("INSERT INTO intake_keys VALUES (?, 'test', ?, ?, ?)", (HOME_SPACE, each.key, each.id, micros(START)))
        db.execute(
            """INSERT INTO turns (id, space, conversation, event, principal, agent, root, effects, pins, label, state, created_at, schema)
               VALUES (?, ?, 'main', ?, ?, ?, ?, 'world', ?, ?, 'running', ?, ?)""",
            (OLD, HOME_SPACE, done.id, OWNER, SELF, OLD, encode(Pins, PINS), write_label(owned("test")), micros(START), done.schema),
        )
        for pos, old in enumerate(steps, 3):
            put_step(db, pos, written(old))
        db.execute("COMMIT")
    path.with_name(path.name + ".exists").write_text("there is one")
