"""The postman: in order, each once, and one bad place is nobody else's trouble."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Literal

import pytest
from tests.journal.world import MAIN, PINS, TTL_S, claimed, database, event, opened, outcome

from daimon.abi.errors import JournalStopped, NotSent
from daimon.abi.event import Address, Said
from daimon.abi.ids import TurnId
from daimon.abi.label import owned
from daimon.abi.message import Text
from daimon.abi.ports import Channel, Ended, Outgoing
from daimon.abi.tool import Send
from daimon.abi.turn import Ending, State
from daimon.gateway.outbox import MOST_ATTEMPTS, Postman
from daimon.journal.sqlite import SqliteJournal
from daimon.kernel.feed import Changed, Feed, Spoken
from daimon.testing.channel import FakeChannel
from daimon.testing.clock import ManualClock
from daimon.testing.ids import CountingIds
from daimon.testing.journal import MemoryJournal
from daimon.testing.redactor import PlainRedactor

DEADLINE_S = 10.0
BOB, EVE = Address("mail", "bob"), Address("mail", "eve")
Journals = MemoryJournal | SqliteJournal


class Desk:
    """A journal, a postman and the channels that he knows."""

    def __init__(self, journal: Journals, clock: ManualClock, *channels: Channel) -> None:
        self.journal = journal
        self.clock = clock
        self.feed = Feed()
        self._postman = Postman(journal, channels, self.feed, clock, PlainRedactor())
        self._turns = 0

    async def send(self, *letters: tuple[Address, str]) -> TurnId:
        """A turn that sends these."""
        self._turns += 1
        await self.journal.accept(event(f"desk-{self._turns}"))
        claim = claimed(await self.journal.claim(MAIN, "w1", TTL_S, PINS))
        await self.journal.record(claim, [outcome(claim, 0, *(Send(to, (Text(text),)) for to, text in letters))])
        await self.journal.finish(claim, [], Ended(Ending.SILENT, owned("test")))
        self.nudge()
        return claim.turn.id

    def nudge(self) -> None:
        self.feed.publish(Changed(MAIN, TurnId("t"), State.DONE))

    @asynccontextmanager
    async def open(self) -> AsyncIterator["Desk"]:
        serving = asyncio.ensure_future(self._postman.serve())
        try:
            yield self
            assert not serving.done()
        finally:
            serving.cancel()
            with suppress(asyncio.CancelledError):
                await serving

    async def nothing_left(self) -> None:
        await until(self._nothing_is_left)

    async def _nothing_is_left(self) -> bool:
        return (await self.journal.count()).outgoing == 0


async def until(is_so: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while not await is_so():  # noqa: ASYNC110 - the truth is in the journal, which has no event to wait for
            await asyncio.sleep(0.002)


def said(channel: FakeChannel, to: Address | None = None) -> list[str]:
    return [m.content.parts[0].text for m in channel.sent if isinstance(m.content, Said) and to in (None, m.to)]  # type: ignore[union-attr]


@pytest.fixture(params=["memory", "file"])
async def journal(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Journals]:
    if request.param == "memory":
        yield MemoryJournal(clock, CountingIds())
        return
    async with opened(tmp_path / "journal.db", clock) as file:
        yield file


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


# -- in order, each once


async def test_messages_to_one_place_arrive_in_order_and_once(journal: Journals, clock: ManualClock) -> None:
    mail = FakeChannel("mail")
    async with Desk(journal, clock, mail).open() as desk:
        await desk.send(*((BOB, f"{n}") for n in range(5)))
        await desk.send(*((BOB, f"{n}") for n in range(5, 10)))
        await desk.nothing_left()
    assert said(mail) == [f"{n}" for n in range(10)]
    assert len({message.key for message in mail.sent}) == 10


async def test_what_waited_before_the_postman_came_is_sent(journal: Journals, clock: ManualClock) -> None:
    mail = FakeChannel("mail")
    desk = Desk(journal, clock, mail)
    await desk.send((BOB, "early"))
    async with desk.open():
        await desk.nothing_left()
    assert said(mail) == ["early"]


async def test_more_places_than_he_can_carry_at_once_are_all_served(journal: Journals, clock: ManualClock) -> None:
    mail = FakeChannel("mail")
    async with Desk(journal, clock, mail).open() as desk:
        await desk.send(*((Address("mail", f"place-{n}"), "hello") for n in range(150)))
        await desk.nothing_left()
    assert len({message.to for message in mail.sent}) == 150


async def test_whoever_listens_hears_what_was_said_after_it_arrived(journal: Journals, clock: ManualClock) -> None:
    mail = FakeChannel("mail")
    desk = Desk(journal, clock, mail)
    with desk.feed.subscribe() as updates:
        async with desk.open():
            await desk.send((BOB, "hello"))
            async with asyncio.timeout(DEADLINE_S):
                async for update in updates:
                    if isinstance(update, Spoken):
                        break
    assert update == Spoken(MAIN, mail.sent[0].key, Said((Text("hello"),)))


# -- trouble


class Counting(FakeChannel):
    """Fails when told to, and counts how often it was tried."""

    def __init__(self, may_repeat: bool) -> None:
        super().__init__("mail", may_repeat)
        self.tries = 0

    async def send(self, message: Outgoing) -> Literal["sent", "confirmed"]:
        self.tries += 1
        return await super().send(message)


@pytest.mark.parametrize("may_repeat", [True, False])
async def test_a_failing_channel_is_tried_again_with_growing_pauses(tmp_path: Path, clock: ManualClock, may_repeat: bool) -> None:
    mail = Counting(may_repeat)
    mail.failures = [NotSent("no network")] * 5
    async with opened(tmp_path / "journal.db", clock) as journal, Desk(journal, clock, mail).open() as desk:
        await desk.send((BOB, "one"), (BOB, "two"))
        pauses_s = []
        for tries in range(1, 6):
            await until(_is_postponed(tmp_path, mail, tries))
            pauses_s.append(_retry_in_s(tmp_path, clock))
            await clock.advance(pauses_s[-1])
            desk.nudge()
        await desk.nothing_left()
    assert pauses_s == [1, 2, 4, 8, 16]
    assert said(mail) == ["one", "two"]


async def test_a_postponed_message_is_tried_again_when_its_time_comes_and_nobody_nudges(journal: Journals, clock: ManualClock) -> None:
    mail = FakeChannel("mail")
    mail.failures = [NotSent("no network")]
    async with Desk(journal, clock, mail).open() as desk:
        await desk.send((BOB, "one"))

        async def has_failed() -> bool:
            return not mail.failures and (await journal.outgoing(1)) == ()

        async def is_sent() -> bool:
            await clock.advance(1)
            return bool(mail.sent)

        await until(has_failed)
        async with asyncio.timeout(0.5):
            await until(is_sent)
    assert said(mail) == ["one"]


async def test_one_failing_place_does_not_hold_up_another(journal: Journals, clock: ManualClock) -> None:
    class Picky(FakeChannel):
        async def send(self, message: Outgoing) -> Literal["sent", "confirmed"]:
            if message.to == BOB:
                raise NotSent("unknown address")
            return await super().send(message)

    mail = Picky("mail")
    async with Desk(journal, clock, mail).open() as desk:
        await desk.send((BOB, "x"), (EVE, "one"), (EVE, "two"))

        async def is_one_left() -> bool:
            return (await journal.count()).outgoing == 1

        await until(is_one_left)
        assert said(mail) == ["one", "two"]


async def test_one_slow_place_does_not_hold_up_another(journal: Journals, clock: ManualClock) -> None:
    class Slow(FakeChannel):
        def __init__(self) -> None:
            super().__init__("mail")
            self.go = asyncio.Event()

        async def send(self, message: Outgoing) -> Literal["sent", "confirmed"]:
            if message.to == BOB:
                await self.go.wait()
            return await super().send(message)

    mail = Slow()
    async with Desk(journal, clock, mail).open() as desk:
        await desk.send((BOB, "slow one"), (BOB, "slow two"), (EVE, "one"), (EVE, "two"))
        await until(_has(mail, 2))
        await desk.send((EVE, "three"))
        await until(_has(mail, 3))
        assert said(mail) == ["one", "two", "three"]
        mail.go.set()
        await desk.nothing_left()
    assert said(mail, BOB) == ["slow one", "slow two"]


async def test_he_gives_up_in_the_end_and_goes_on_with_the_next(tmp_path: Path, clock: ManualClock) -> None:
    mail = Counting(may_repeat=True)
    mail.failures = [NotSent("no network")] * MOST_ATTEMPTS
    async with opened(tmp_path / "journal.db", clock) as journal, Desk(journal, clock, mail).open() as desk:
        await desk.send((BOB, "one"), (BOB, "two"))
        for tries in range(1, MOST_ATTEMPTS):
            await until(_is_postponed(tmp_path, mail, tries))
            await clock.advance(1_000)
            desk.nudge()
        await desk.nothing_left()
        assert states(tmp_path) == [("failed", "NotSent: no network"), ("sent", "")]
    assert said(mail) == ["two"]


async def test_a_message_to_an_unknown_channel_fails_and_says_so(tmp_path: Path, clock: ManualClock) -> None:
    mail = FakeChannel("mail")
    async with opened(tmp_path / "journal.db", clock) as journal, Desk(journal, clock, mail).open() as desk:
        await desk.send((Address("pigeon", "bob"), "x"), (BOB, "one"))
        await desk.nothing_left()
        assert states(tmp_path) == [("failed", "there is no channel 'pigeon'"), ("sent", "")]
    assert said(mail) == ["one"]


async def test_an_erased_message_is_not_sent(tmp_path: Path, clock: ManualClock) -> None:
    mail = FakeChannel("mail")
    async with opened(tmp_path / "journal.db", clock) as journal:
        desk = Desk(journal, clock, mail)
        await journal.erase_turn(await desk.send((BOB, "a secret")), "the owner asked")
        async with desk.open():
            await desk.nothing_left()
        ((state, note),) = states(tmp_path)
        assert state == "failed"
        assert "erased" in note
    assert mail.sent == []


# -- a process that died while sending


async def _dies_while_sending(path: Path, clock: ManualClock, may_repeat: bool) -> FakeChannel:
    """Leaves two messages behind, the first of them on its way."""

    class Endless(FakeChannel):
        async def send(self, message: Outgoing) -> Literal["sent", "confirmed"]:
            self.sent.append(message)
            return await asyncio.Future[Literal["sent", "confirmed"]]()

    mail = Endless("mail", may_repeat)
    async with opened(path, clock) as journal, Desk(journal, clock, mail).open() as desk:
        await desk.send((BOB, "one"), (BOB, "two"))
        await until(_has(mail, 1))
    return mail


async def test_a_message_in_doubt_is_not_repeated_where_that_would_be_a_second_one(tmp_path: Path, clock: ManualClock) -> None:
    await _dies_while_sending(tmp_path / "journal.db", clock, may_repeat=False)
    mail = FakeChannel("mail", may_repeat=False)
    async with opened(tmp_path / "journal.db", clock) as journal, Desk(journal, clock, mail).open() as desk:
        await desk.nothing_left()
        (first, note), second = states(tmp_path)
        assert (first, second) == ("unknown", ("sent", ""))
        assert "is not repeated" in note
    assert said(mail) == ["two"]


async def test_a_message_in_doubt_is_repeated_under_its_key_where_that_is_harmless(tmp_path: Path, clock: ManualClock) -> None:
    before = await _dies_while_sending(tmp_path / "journal.db", clock, may_repeat=True)
    mail = FakeChannel("mail")
    async with opened(tmp_path / "journal.db", clock) as journal, Desk(journal, clock, mail).open() as desk:
        await desk.nothing_left()
    assert said(mail) == ["one", "two"]
    assert mail.sent[0].key == before.sent[0].key


@pytest.mark.parametrize("failure", [TimeoutError(), RuntimeError("boom"), ConnectionResetError()])
async def test_a_send_that_broke_off_is_in_doubt_too(tmp_path: Path, clock: ManualClock, failure: Exception) -> None:
    mail = FakeChannel("mail", may_repeat=False)
    mail.failures = [failure]
    async with opened(tmp_path / "journal.db", clock) as journal, Desk(journal, clock, mail).open() as desk:
        await desk.send((BOB, "one"), (BOB, "two"))
        await desk.nothing_left()
        (first, _), second = states(tmp_path)
        assert (first, second) == ("unknown", ("sent", ""))
    assert said(mail) == ["two"]


async def test_a_journal_that_stops_ends_the_postman() -> None:
    class Broken(MemoryJournal):
        async def outgoing(self, limit: int) -> tuple[Outgoing, ...]:
            raise JournalStopped("the disk is gone")

    clock = ManualClock()
    postman = Postman(Broken(clock, CountingIds()), (), Feed(), clock, PlainRedactor())
    async with asyncio.timeout(DEADLINE_S):
        with pytest.RaisesGroup(JournalStopped):
            await postman.serve()


def _has(channel: FakeChannel, number: int) -> Callable[[], Awaitable[bool]]:
    async def has() -> bool:
        return len(channel.sent) >= number

    return has


def _is_postponed(home: Path, channel: Counting, tries: int) -> Callable[[], Awaitable[bool]]:
    """Was it tried so often, and is the next try noted for later?"""

    async def is_postponed() -> bool:
        with database(home / "journal.db") as file:
            row = file.execute("SELECT state, attempts, retry_at IS NOT NULL FROM outbox ORDER BY pos").fetchone()
        return (channel.tries, row) == (tries, ("queued", tries, 1))

    return is_postponed


def _retry_in_s(home: Path, clock: ManualClock) -> float:
    with database(home / "journal.db") as file:
        us: int = file.execute("SELECT retry_at FROM outbox ORDER BY pos LIMIT 1").get
    return us / 1e6 - clock.now().timestamp()


def states(home: Path) -> list[tuple[str, str]]:
    with database(home / "journal.db") as file:
        return [(state, note) for state, note in file.execute("SELECT state, note FROM outbox ORDER BY pos")]


class Slow(FakeChannel):
    """Sends when it is let."""

    def __init__(self) -> None:
        super().__init__("mail", may_repeat=False)
        self.begun, self.let = asyncio.Event(), asyncio.Event()

    async def send(self, message: Outgoing) -> Literal["sent", "confirmed"]:
        self.begun.set()
        await self.let.wait()
        return await super().send(message)


async def test_what_is_being_sent_at_the_end_gets_its_receipt_and_nothing_new_is_begun(tmp_path: Path) -> None:
    mail = Slow()
    async with opened(tmp_path / "journal.db") as journal, asyncio.timeout(DEADLINE_S):
        desk = Desk(journal, ManualClock(), mail)
        async with desk.open():
            await desk.send((BOB, "one"), (BOB, "two"))
            await mail.begun.wait()
            resting = asyncio.ensure_future(desk._postman.drain(5.0))
            await asyncio.sleep(0)
            mail.let.set()
            while not resting.done():
                await desk.clock.advance(0.05)
                await asyncio.sleep(0.001)
            desk.nudge()
        states = [(message.attempts, message.in_doubt) for message in await journal.outgoing(10)]
    assert len(mail.sent) == 1
    assert states == [(0, False)]


async def test_a_receipt_that_does_not_come_is_not_waited_for_longer_than_that(tmp_path: Path) -> None:
    mail = Slow()
    async with opened(tmp_path / "journal.db") as journal, asyncio.timeout(DEADLINE_S):
        desk = Desk(journal, ManualClock(), mail)
        async with desk.open():
            await desk.send((BOB, "one"))
            await mail.begun.wait()
            resting = asyncio.ensure_future(desk._postman.drain(5.0))
            while not resting.done():
                await desk.clock.advance(1.0)
                await asyncio.sleep(0)
    assert mail.sent == []
