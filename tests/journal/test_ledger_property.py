"""Whatever turns do with money, in whatever order: both journals say the same, no limit is passed, and whoever fits is woken."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from daimon.abi.errors import OverBudget
from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.abi.money import LEAST, Account, Amount, Limit, Scope, Usage
from daimon.abi.ports import Balance, Grouping, Spending
from daimon.abi.step import Asked, ModelFailed, Raised, Replied, Reserved, Settled, Short, StepBody
from daimon.abi.turn import Ending
from daimon.journal.sqlite import SqliteJournal
from daimon.testing.clock import ManualClock
from daimon.testing.contracts.ledger import MODELS, MONTH, TODAY, TRY_AGAIN, Desk, Pen
from daimon.testing.ids import CountingIds
from daimon.testing.journal import MemoryJournal

T = TypeVar("T")
TASKS = tuple(Account(Scope.TURN, f"task-{n}", Limit(tokens=100, cost=10 * LEAST)) for n in range(2))
SHARED = (Account(Scope.DAY, TODAY, Limit(cost=15 * LEAST)), Account(Scope.MONTH, MONTH, Limit(tokens=180)))
ACCOUNTS = (*TASKS, *SHARED)
GROUPINGS: tuple[Grouping, ...] = ("day", "month", "job", "agent", "model", "conversation", "turn")
MOVES = 60
MOST_TURNS = 6
HOMES = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""The order of things is tried here, not the disk."""


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_whatever_turns_do_no_limit_is_passed_and_nobody_waits_for_what_is_there(data: st.DataObject) -> None:
    asyncio.run(_play(data))


async def _play(data: st.DataObject) -> None:
    async with _table(data) as table:
        for _ in range(MOVES):
            await table.move()
            await table.check()
        await table.check_spending()


@asynccontextmanager
async def _table(data: st.DataObject) -> AsyncIterator["Table"]:
    with TemporaryDirectory(dir=HOMES) as home:
        clock, ids = ManualClock(), CountingIds()
        file = await SqliteJournal.open(Path(home) / "journal.db", clock, CountingIds())
        ids.new("b")  # a file counts its boots
        try:
            yield Table(data, clock, (Desk(file, clock), Desk(MemoryJournal(clock, ids), clock)))
        finally:
            await file.close()


@dataclass
class Play:
    """One turn, as both journals know it, and what it was told."""

    task: Account
    pens: list[Pen]
    is_parked: bool = False
    refused: Short | None = None
    """Told, and not written down yet."""
    short: Short | None = None
    """Written down: it stands in the queue of this account."""
    since: datetime | None = None
    held: dict[int, Reserved] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.pens[0].name

    @property
    def is_asking(self) -> bool:
        return self.short is not None and self.short.why != "held" and self.short.asked is None


@dataclass
class Table:
    data: st.DataObject
    clock: ManualClock
    desks: tuple[Desk, Desk]
    plays: list[Play] = field(default_factory=list)
    begun: int = 0
    raised: dict[tuple[Scope, str], Amount] = field(default_factory=lambda: {_key(account): Amount() for account in ACCOUNTS})
    due: set[str] = field(default_factory=set)
    is_told: set[tuple[Scope, str]] = field(default_factory=set)
    """Accounts whose asker ended: the owner was asked, and the others wait for a new day."""

    async def move(self) -> None:
        running = [play for play in self.plays if not play.is_parked]
        parked = [play for play in self.plays if play.is_parked]
        moves = {
            self.reserve: 4 * [play for play in running if play.refused is None],
            self.wait: 4 * [play for play in running if play.refused is not None],
            self.resume: 4 * [play for play in parked if play.name in self.due],
            self.settle: 2 * [play for play in running if play.held],
            self.allow_more: running,
            self.go_on_without_money: running[:1],
            self.wait_for_something_else: running[1:2],
            self.end: running[-1:],
            self.stop: parked[:1],
        }
        by_turns = [(move, play) for move, plays in moves.items() for play in plays]
        by_themselves = [self.pass_time, self.reconsider] + 4 * [self.begin] * (len(self.plays) < MOST_TURNS)
        n = self.draw(st.integers(0, len(by_turns) + len(by_themselves) - 1))
        if n < len(by_turns):
            move, play = by_turns[n]
            note(f"{play.name}: {move.__name__}")
            await move(play)
        else:
            note(by_themselves[n - len(by_turns)].__name__)
            await by_themselves[n - len(by_turns)]()

    # -- what turns do

    async def begin(self) -> None:
        self.begun += 1
        self.plays.append(Play(self.pick(*TASKS), [await desk.begin(f"c{self.begun:03}") for desk in self.desks]))

    async def reserve(self, play: Play) -> None:
        tokens, cost = self.pick(30, 50, 5, 80, 0), self.pick(3, 5, 1, 8, 0, 12, None)
        reserved = Reserved("m", "p", tokens, 0, None if cost is None else cost * LEAST, "test", (play.task, *SHARED))
        told = await _both(*(_outcome(pen, reserved) for pen in play.pens))
        if isinstance(told, Short):
            play.refused = told
        else:
            play.held[told], play.short = reserved, None

    async def wait(self, play: Play) -> None:
        before, short = play.short, play.refused
        assert short is not None
        await _both(*(pen.wait_for(short) for pen in play.pens))
        play.short, play.refused, play.is_parked = short, None, True
        if before is None or _key(before.account) != _key(short.account):
            play.since = self.clock.now()

    async def resume(self, play: Play) -> None:
        play.pens = [await desk.resume(pen) for desk, pen in zip(self.desks, play.pens, strict=True)]
        play.is_parked = False

    async def settle(self, play: Play) -> None:
        number, quarters, how = self.pick(*play.held), self.pick(0, 1, 2, 4), self.pick("measured", "assumed", "unused")
        reserved = play.held.pop(number)
        cost = None if reserved.cost is None else reserved.cost * quarters / 4
        usage = Usage() if how == "unused" else Usage(reserved.input_tokens * quarters // 4, cost=cost)
        await self.write(play, Settled(number, usage, how))  # type: ignore[arg-type]

    async def allow_more(self, play: Play) -> None:
        account, more = self.pick(*ACCOUNTS), Amount(self.pick(0, 30), self.pick(3, 0, 8) * LEAST)
        await self.write(play, Raised(account.scope, account.key, more, OWNER))
        before = self.raised[_key(account)]
        self.raised[_key(account)] = Amount(before.tokens + more.tokens, _known(before) + _known(more))

    async def go_on_without_money(self, play: Play) -> None:
        bodies: tuple[StepBody, ...] = (Replied("free", (), "stop"), ModelFailed("", "away", "all"))
        await self.write(play, self.pick(*bodies))
        play.short = play.refused = None

    async def wait_for_something_else(self, play: Play) -> None:
        await _both(*(pen.park(pen.waits("answer", pen.n), Asked(TRY_AGAIN)) for pen in play.pens))
        play.short, play.refused, play.is_parked = None, None, True

    async def stop(self, play: Play) -> None:
        play.pens = [await desk.stopped(pen) for desk, pen in zip(self.desks, play.pens, strict=True)]
        await self.end(play)

    async def end(self, play: Play) -> None:
        await _both(*(pen.end(Ending.STOPPED) for pen in play.pens))
        self.plays.remove(play)
        if play.is_asking and play.short is not None and play.short.account.scope is not Scope.TURN:
            self.is_told.add(_key(play.short.account))

    async def pass_time(self) -> None:
        await self.clock.advance(1)

    async def reconsider(self) -> None:
        changed = self.pick(None, *ACCOUNTS)
        limits = {account.scope: Limit(7) if account == changed else account.limit for account in ACCOUNTS}
        await _both(*(desk.journal.reconsider(limits, MODELS) for desk in self.desks))

    async def write(self, play: Play, body: StepBody) -> None:
        await _both(*(pen.write(body) for pen in play.pens))

    def pick(self, *values: T) -> T:
        return self.draw(st.sampled_from(values))

    def draw(self, strategy: st.SearchStrategy[T]) -> T:
        return self.data.draw(strategy)

    # -- what must always be so

    async def check(self) -> None:
        self.due = await _both(*(desk.due() for desk in self.desks))
        assert not [play.name for play in self.plays if play.is_parked and play.short is None and play.name in self.due]
        for account, balance in zip(ACCOUNTS, await _both(*(_balances(desk) for desk in self.desks)), strict=True):
            self.no_limit_is_passed(account, balance)
            self.nobody_waits_for_what_is_there(balance)

    async def check_spending(self) -> None:
        for by in GROUPINGS:
            for row in await _both(*(_spending(desk, by) for desk in self.desks)):
                assert row.calls >= row.under_way

    def no_limit_is_passed(self, account: Account, balance: Balance) -> None:
        more, limit = self.raised[_key(account)], balance.account.limit
        if account.limit.tokens is not None:
            assert limit.tokens == account.limit.tokens + more.tokens
            assert balance.spent.tokens + balance.held.tokens <= limit.tokens
        if account.limit.cost is not None:
            assert limit.cost == account.limit.cost + _known(more)
            assert _known(balance.spent) + _known(balance.held) <= limit.cost
        held = self.held(account)
        assert balance.held == Amount(sum(each.tokens for each in held), sum(map(_known, held), start=Decimal(0)))

    def held(self, account: Account) -> list[Amount]:
        return [call.amount for play in self.plays for call in play.held.values() if _key(account) in map(_key, call.accounts)]

    def nobody_waits_for_what_is_there(self, balance: Balance) -> None:
        account = balance.account
        queue = [play for play in self.plays if play.short is not None and _key(play.short.account) == _key(account)]
        queue.sort(key=lambda play: (play.since, play.pens[0].turn))
        assert balance.waiting == len(queue)
        if not queue:
            self.is_told.discard(_key(account))
        if not queue or self.held(account):  # even of nothing: it will be settled, and then they are looked at
            return
        room = balance.spent
        for play in queue:
            assert play.short is not None
            after = Amount(room.tokens + play.short.needed.tokens, _known(room) + _known(play.short.needed))
            if _fits(play.short.needed, after, account.limit):
                assert not play.is_parked or play.name in self.due, f"{play.name} fits"
                room = after
        is_cared_for = any(not play.is_parked or play.name in self.due or play.is_asking for play in queue)
        assert is_cared_for or _key(account) in self.is_told, "nobody asks the owner"


def _fits(need: Amount, after: Amount, limit: Limit) -> bool:
    has_money = limit.cost is None or (need.cost is not None and _known(after) <= limit.cost)
    return has_money and (limit.tokens is None or after.tokens <= limit.tokens)


def _key(account: Account) -> tuple[Scope, str]:
    return account.scope, account.key


def _known(amount: Amount) -> Decimal:
    return Decimal(0) if amount.cost is None else amount.cost


async def _both(*work: Awaitable[T]) -> T:
    """What each journal said, which must be the same."""
    first, second = [await each for each in work]
    assert first == second
    return first


async def _outcome(pen: Pen, reserved: Reserved) -> int | Short:
    try:
        return await pen.write(reserved)
    except OverBudget as over:
        return over.short


async def _balances(desk: Desk) -> tuple[Balance, ...]:
    return await desk.journal.balances(HOME_SPACE, ACCOUNTS)


async def _spending(desk: Desk, by: Grouping) -> tuple[Spending, ...]:
    return await desk.journal.spending(HOME_SPACE, by)
