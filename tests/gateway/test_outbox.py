"""The postman: in order, each once, and one bad place is nobody else's trouble."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from tests.journal.world import MAIN, PINS, TTL_S, claimed, database, event, opened, outcome

from daimon.abi.channel import Channel, Piece, Receipt
from daimon.abi.errors import JournalStopped, LockedOut, NotSent, RetryLater
from daimon.abi.event import Address, Event, Said
from daimon.abi.ids import Key, TurnId
from daimon.abi.label import owned
from daimon.abi.message import Text
from daimon.abi.ports import Ended, Outgoing
from daimon.abi.tool import Rate, Send
from daimon.abi.turn import Ending, State
from daimon.gateway.answers import LineState
from daimon.gateway.delivery import MOST_ATTEMPTS
from daimon.gateway.delivery import Desk as Post
from daimon.gateway.outbox import Postman
from daimon.journal.sqlite import SqliteJournal
from daimon.kernel.feed import Changed, Feed, Spoken
from daimon.testing.channel import FakeChannel, FakeService, Repeat
from daimon.testing.clock import ManualClock
from daimon.testing.ids import CountingIds, SeededRandom
from daimon.testing.journal import MemoryJournal
from daimon.testing.redactor import PlainRedactor

DEADLINE_S = 60.0
BOB, EVE = Address("mail", "bob"), Address("mail", "eve")
Journals = MemoryJournal | SqliteJournal


class Nobody:
    async def accept(self, event: Event) -> object:
        raise AssertionError("no event is sent here")


class Desk:
    """A journal, a postman and the channels that he knows."""

    def __init__(self, journal: Journals, clock: ManualClock, *channels: Channel) -> None:
        self.journal = journal
        self.clock = clock
        self.feed = Feed()
        self.postman = Postman(Post(journal, clock, PlainRedactor()), channels, Nobody(), self.feed, SeededRandom())
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
        serving = asyncio.ensure_future(self.postman.serve())
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
    return [sent.piece.text for sent in channel.sent if to is None or sent.to == to.to]


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
    assert update == Spoken(MAIN, Key(mail.sent[0].key.removesuffix("/0")), Said((Text("hello"),)))


# -- trouble


@pytest.mark.parametrize("repeat", ["harmless", "findable", "never"])
async def test_a_failing_channel_is_tried_again_with_growing_pauses(tmp_path: Path, clock: ManualClock, repeat: Repeat) -> None:
    mail = FakeChannel("mail", repeat)
    mail.failures.extend([NotSent("no network")] * 5)
    async with opened(tmp_path / "journal.db", clock) as journal, Desk(journal, clock, mail).open() as desk:
        await desk.send((BOB, "one"), (BOB, "two"))
        pauses_s = []
        for tries in range(1, 6):
            await until(_is_postponed(tmp_path, clock, mail, tries))
            pauses_s.append(_retry_in_s(tmp_path, clock))
            await clock.advance(pauses_s[-1])
            desk.nudge()
        await desk.nothing_left()
    assert pauses_s == [1, 2, 4, 8, 16]
    assert said(mail) == ["one", "two"]


async def test_a_postponed_message_is_tried_again_when_its_time_comes_and_nobody_nudges(journal: Journals, clock: ManualClock) -> None:
    mail = FakeChannel("mail")
    mail.failures.append(NotSent("no network"))
    async with Desk(journal, clock, mail).open() as desk:
        await desk.send((BOB, "one"))

        async def has_failed() -> bool:
            return not mail.failures and (await journal.outgoing(1)) == ()

        async def is_sent() -> bool:
            return bool(mail.sent)

        await until(has_failed)
        await clock.advance(1)
        await until(is_sent)
    assert said(mail) == ["one"]


async def test_one_failing_place_does_not_hold_up_another(journal: Journals, clock: ManualClock) -> None:
    class Picky(FakeChannel):
        async def send(self, piece: Piece, to: str, key: str) -> Receipt:
            if to == "bob":
                raise NotSent("unknown address")
            return await super().send(piece, to, key)

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

        async def send(self, piece: Piece, to: str, key: str) -> Receipt:
            if to == "bob":
                await self.go.wait()
            return await super().send(piece, to, key)

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
    mail = FakeChannel("mail")
    mail.failures.extend([NotSent("no network")] * MOST_ATTEMPTS)
    async with opened(tmp_path / "journal.db", clock) as journal, Desk(journal, clock, mail).open() as desk:
        await desk.send((BOB, "one"), (BOB, "two"))
        for tries in range(1, MOST_ATTEMPTS):
            await until(_is_postponed(tmp_path, clock, mail, tries))
            await clock.advance(1_000)
            desk.nudge()
        await desk.nothing_left()
        assert states(tmp_path) == [("failed", "no network"), ("sent", "")]
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


async def test_a_service_that_says_when_to_come_back_is_asked_exactly_then_and_that_is_no_try(tmp_path: Path, clock: ManualClock) -> None:
    mail = FakeChannel("mail", "never")
    mail.failures.extend([RetryLater("slow down", 7.5)] * (MOST_ATTEMPTS + 3))
    async with opened(tmp_path / "journal.db", clock) as journal, Desk(journal, clock, mail).open() as desk:
        await desk.send((BOB, "one"), (BOB, "two"))
        for tries in range(1, MOST_ATTEMPTS + 4):
            await until(_is_postponed(tmp_path, clock, mail, tries, attempts=0))
            assert _retry_in_s(tmp_path, clock) == 7.5
            await clock.advance(7.5)
        await desk.nothing_left()
    assert said(mail) == ["one", "two"]


async def test_who_is_locked_out_keeps_all_messages_until_let_in_again(tmp_path: Path, clock: ManualClock) -> None:
    mail, chat = FakeChannel("mail"), FakeChannel("chat")
    mail.service.is_locked = True
    async with opened(tmp_path / "journal.db", clock) as journal, Desk(journal, clock, mail, chat).open() as desk:
        await desk.send((BOB, "one"), (EVE, "two"), (Address("chat", "bob"), "x"))
        await until(_has(chat, 1))
        await until(_tried(mail, 1))
        await desk.send((BOB, "three"), (Address("chat", "bob"), "y"))
        await until(_has(chat, 2))
        assert {state for state, _ in states(tmp_path) if state != "sent"} == {"queued"}
        mail.service.is_locked = False
        desk.postman.line_changed(LineState("mail", "up", clock.now()))
        await desk.nothing_left()
        assert {state for state, _ in states(tmp_path)} == {"sent"}
    assert said(mail, BOB) == ["one", "three"]
    assert said(mail, EVE) == ["two"]


async def test_who_is_locked_out_is_tried_again_after_a_long_time(journal: Journals, clock: ManualClock) -> None:
    mail = FakeChannel("mail")
    mail.service.is_locked = True
    async with Desk(journal, clock, mail).open() as desk:
        await desk.send((BOB, "one"))
        await until(_tried(mail, 1))
        mail.service.is_locked = False

        async def is_sent() -> bool:
            await clock.advance(60)
            return bool(mail.sent)

        await until(is_sent)
        await desk.nothing_left()


async def test_a_channel_that_fails_for_many_places_is_left_alone_and_then_tried_by_one(tmp_path: Path, clock: ManualClock) -> None:
    mail, chat = FakeChannel("mail"), FakeChannel("chat")
    mail.failures.extend([NotSent("no network")] * 500)
    places = [Address("mail", f"place-{n}") for n in range(200)]
    async with opened(tmp_path / "journal.db", clock) as journal, Desk(journal, clock, mail, chat).open() as desk:
        await desk.send(*((place, "hello") for place in places))
        await desk.send(*((Address("chat", "bob"), f"{n}") for n in range(5)))
        await until(_has(chat, 5))
        quiet = len(mail.tries)
        assert quiet < 100, "the others were not tried, so nobody waits for them"
        mail.failures.clear()

        async def is_left() -> bool:
            await clock.advance(30)
            return (await journal.count()).outgoing > 0

        async def is_all_sent() -> bool:
            return not await is_left()

        await until(is_all_sent)
    assert sorted(sent.to for sent in mail.sent) == sorted(place.to for place in places)


async def test_a_channel_that_pauses_says_why_and_until_when(journal: Journals, clock: ManualClock) -> None:
    mail = FakeChannel("mail")
    mail.failures.extend([NotSent("no network")] * 500)
    up = LineState("mail", "up", clock.now())
    async with Desk(journal, clock, mail).open() as desk:
        assert desk.postman.told(up) == up
        await desk.send(*((Address("mail", f"place-{n}"), "hello") for n in range(10)))

        async def is_told() -> bool:
            return bool(desk.postman.told(up).why)

        await until(is_told)
        told = desk.postman.told(up)
        assert told.why == "nothing is sent for a while: no network"
        assert told.next_try is not None
        assert told.next_try > clock.now()


async def test_a_service_that_does_not_take_single_messages_now_takes_the_others(journal: Journals, clock: ManualClock) -> None:
    """As where the servers of some recipients let senders wait on purpose."""

    class Greylisting(FakeChannel):
        waiting: set[str]

        async def send(self, piece: Piece, to: str, key: str) -> Receipt:
            if to.startswith("grey"):
                self.waiting.add(to)
                raise NotSent("451 come back later", is_alone=True)
            return await super().send(piece, to, key)

    mail = Greylisting("mail")
    mail.waiting = set()

    async def have_all_been_refused() -> bool:
        return len(mail.waiting) == 20

    async with Desk(journal, clock, mail).open() as desk:
        await desk.send(*((Address("mail", f"grey-{n}"), "hello") for n in range(20)))
        await until(have_all_been_refused)
        await desk.send((Address("mail", "bob"), "I am here"))
        await until(_has(mail, 1))
    assert said(mail) == ["I am here"]


async def test_a_dead_channel_with_many_messages_does_not_hold_up_another(journal: Journals, clock: ManualClock) -> None:
    class Dead(FakeChannel):
        async def send(self, piece: Piece, to: str, key: str) -> Receipt:
            return await asyncio.Future[Receipt]()

    dead, chat = Dead("mail"), FakeChannel("chat")
    async with Desk(journal, clock, dead, chat).open() as desk:
        await desk.send(*((Address("mail", f"place-{n}"), "hello") for n in range(300)))
        await desk.send((Address("chat", "bob"), "I am here"))
        await until(_has(chat, 1))
    assert said(chat) == ["I am here"]


async def test_no_more_are_sent_at_once_than_the_channel_bears(journal: Journals, clock: ManualClock) -> None:
    class Busy(FakeChannel):
        now = most = 0

        async def send(self, piece: Piece, to: str, key: str) -> Receipt:
            self.now += 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(0)
            self.now -= 1
            return await super().send(piece, to, key)

    mail = Busy("mail")
    mail.traits = replace(mail.traits, at_once=3)
    async with Desk(journal, clock, mail).open() as desk:
        await desk.send(*((Address("mail", f"place-{n}"), "hello") for n in range(40)))
        await desk.nothing_left()
    assert mail.most == 3


async def test_one_place_is_not_written_to_faster_than_the_channel_allows(journal: Journals, clock: ManualClock) -> None:
    mail = FakeChannel("mail")
    mail.traits = replace(mail.traits, place_rate=Rate(2, 10.0))
    async with Desk(journal, clock, mail).open() as desk:
        await desk.send(*((BOB, f"{n}") for n in range(4)), (EVE, "x"))
        await until(_has(mail, 3))
        await settled()
        assert said(mail, BOB) == ["0", "1"]
        await clock.advance(5)
        await until(_has(mail, 4))
        await settled()
        assert said(mail, BOB) == ["0", "1", "2"]
        await clock.advance(5)
        await desk.nothing_left()
    assert said(mail, BOB) == ["0", "1", "2", "3"]


async def test_a_channel_that_cannot_cut_a_message_fails_that_message_only(tmp_path: Path, clock: ManualClock) -> None:
    class Clumsy(FakeChannel):
        def pieces(self, message: Outgoing) -> tuple[Piece, ...]:
            if "bad" in str(message.content):
                raise ZeroDivisionError("oops")
            return super().pieces(message)

    mail = Clumsy("mail")
    async with opened(tmp_path / "journal.db", clock) as journal, Desk(journal, clock, mail).open() as desk:
        await desk.send((BOB, "bad"), (BOB, "good"))
        await desk.nothing_left()
        (first, note), second = states(tmp_path)
        assert (first, second) == ("failed", ("sent", ""))
        assert "ZeroDivisionError" in note
    assert said(mail) == ["good"]


async def test_people_can_see_what_became_of_each_message(journal: Journals, clock: ManualClock) -> None:
    mail = FakeChannel("mail", "never")
    mail.failures.append(ConnectionResetError("cut"))
    async with Desk(journal, clock, mail).open() as desk:
        await desk.send((BOB, "one"), (BOB, "two"), (Address("pigeon", "eve"), "three"))
        await desk.nothing_left()
    found = await journal.mailings(10)
    assert [(each.text, each.state) for each in found] == [("three", "failed"), ("two", "sent"), ("one", "unknown")]
    assert [each.text for each in await journal.mailings(10, channel="mail")] == ["two", "one"]
    assert [each.text for each in await journal.mailings(10, state="unknown")] == ["one"]
    assert [each.text for each in await journal.mailings(1)] == ["three"]


# -- a process that died while sending


class Endless(FakeChannel):
    """Shows a piece and never comes back, where it is told to."""

    at = 0

    async def send(self, piece: Piece, to: str, key: str) -> Receipt:
        receipt = await super().send(piece, to, key)
        if len(self.tries) > self.at:
            await asyncio.Event().wait()
        return receipt


async def _dies_while_sending(path: Path, clock: ManualClock, repeat: Repeat, at: int = 0, text: str = "one") -> FakeService:
    """Leaves two messages behind, the first of them on its way."""
    mail = Endless("mail", repeat)
    mail.at = at
    async with opened(path, clock) as journal, Desk(journal, clock, mail).open() as desk:
        await desk.send((BOB, text), (BOB, "two"))
        await until(_has(mail, at + 1))
    return mail.service


async def test_a_message_in_doubt_is_not_repeated_where_that_would_be_a_second_one(tmp_path: Path, clock: ManualClock) -> None:
    service = await _dies_while_sending(tmp_path / "journal.db", clock, "never")
    mail = FakeChannel("mail", "never", service)
    async with opened(tmp_path / "journal.db", clock) as journal, Desk(journal, clock, mail).open() as desk:
        await desk.nothing_left()
        (first, note), second = states(tmp_path)
        assert (first, second) == ("unknown", ("sent", ""))
        assert "is not repeated" in note
    assert said(mail) == ["one", "two"]


@pytest.mark.parametrize("repeat", ["harmless", "findable"])
async def test_a_message_in_doubt_is_read_once_where_the_channel_can_tell(tmp_path: Path, clock: ManualClock, repeat: Repeat) -> None:
    service = await _dies_while_sending(tmp_path / "journal.db", clock, repeat)
    mail = FakeChannel("mail", repeat, service)
    async with opened(tmp_path / "journal.db", clock) as journal, Desk(journal, clock, mail).open() as desk:
        await desk.nothing_left()
        assert [state for state, _ in states(tmp_path)] in (["sent", "sent"], ["confirmed", "sent"])
    assert said(mail) == ["one", "two"]


async def test_a_message_in_doubt_that_is_not_found_goes_out(tmp_path: Path, clock: ManualClock) -> None:
    service = await _dies_while_sending(tmp_path / "journal.db", clock, "findable")
    service.sent.clear()
    mail = FakeChannel("mail", "findable", service)
    async with opened(tmp_path / "journal.db", clock) as journal, Desk(journal, clock, mail).open() as desk:
        await desk.nothing_left()
    assert said(mail) == ["one", "two"]


@pytest.mark.parametrize("repeat", ["harmless", "findable", "never"])
@pytest.mark.parametrize("at", [0, 1, 2])
async def test_a_long_message_goes_on_where_it_was_cut_off(tmp_path: Path, clock: ManualClock, repeat: Repeat, at: int) -> None:
    text = " ".join(f"word{n}" for n in range(150))
    service = await _dies_while_sending(tmp_path / "journal.db", clock, repeat, at, text)
    mail = FakeChannel("mail", repeat, service)
    async with opened(tmp_path / "journal.db", clock) as journal, Desk(journal, clock, mail).open() as desk:
        await desk.nothing_left()
        (first, note), _ = states(tmp_path)
    assert "".join(said(mail)) == f"{text}two"
    assert first == ("unknown" if repeat == "never" else "confirmed" if (repeat, at) == ("findable", 2) else "sent")
    assert (f"piece {at + 1} of 3" in note) == (repeat == "never")


async def test_what_the_channel_calls_a_piece_leads_back_to_its_message(journal: Journals, clock: ManualClock) -> None:
    mail = FakeChannel("mail")
    async with Desk(journal, clock, mail).open() as desk:
        await desk.send((BOB, "word " * 100))
        await desk.nothing_left()
    first, second = mail.sent
    key = Key(first.key.removesuffix("/0"))
    assert await journal.sent_as("mail", "bob", f"ref-{first.key}") == await journal.sent_as("mail", "bob", f"ref-{second.key}") == key
    assert await journal.sent_as("mail", "eve", f"ref-{first.key}") is None


@pytest.mark.parametrize("failure", [TimeoutError(), RuntimeError("boom"), ConnectionResetError()])
async def test_a_send_that_broke_off_is_in_doubt_too(tmp_path: Path, clock: ManualClock, failure: Exception) -> None:
    mail = FakeChannel("mail", "never")
    mail.failures.append(failure)
    async with opened(tmp_path / "journal.db", clock) as journal, Desk(journal, clock, mail).open() as desk:
        await desk.send((BOB, "one"), (BOB, "two"))
        await desk.nothing_left()
        (first, _), second = states(tmp_path)
        assert (first, second) == ("unknown", ("sent", ""))
    assert said(mail) == ["two"]


async def test_a_journal_that_stops_ends_the_postman() -> None:
    class Broken(MemoryJournal):
        async def outgoing(self, limit: int, without: Collection[str] = ()) -> tuple[Outgoing, ...]:
            raise JournalStopped("the disk is gone")

    clock = ManualClock()
    desk = Post(Broken(clock, CountingIds()), clock, PlainRedactor())
    postman = Postman(desk, (), Nobody(), Feed(), SeededRandom())
    async with asyncio.timeout(DEADLINE_S):
        with pytest.RaisesGroup(JournalStopped):
            await postman.serve()


def _has(channel: FakeChannel, number: int) -> Callable[[], Awaitable[bool]]:
    async def has() -> bool:
        return len(channel.sent) >= number

    return has


async def settled() -> None:
    """Whatever can go on without time has gone on."""
    for _ in range(20):
        await asyncio.sleep(0.002)


def _tried(channel: FakeChannel, number: int) -> Callable[[], Awaitable[bool]]:
    async def tried() -> bool:
        return len(channel.tries) >= number

    return tried


def _is_postponed(
    home: Path, clock: ManualClock, channel: FakeChannel, tries: int, attempts: int | None = None
) -> Callable[[], Awaitable[bool]]:
    """Was it tried so often, and is the next try noted for later than now? What the last try noted is over."""

    async def is_postponed() -> bool:
        with database(home / "journal.db") as file:
            now_us = round(clock.now().timestamp() * 1e6)
            row = file.execute("SELECT state, attempts, retry_at > ? FROM outbox ORDER BY pos", (now_us,)).fetchone()
        return (len(channel.tries), row) == (tries, ("queued", tries if attempts is None else attempts, 1))

    return is_postponed


def _retry_in_s(home: Path, clock: ManualClock) -> float:
    with database(home / "journal.db") as file:
        us: int = file.execute("SELECT retry_at FROM outbox ORDER BY pos LIMIT 1").get
    return us / 1e6 - clock.now().timestamp()


def states(home: Path) -> list[tuple[str, str]]:
    with database(home / "journal.db") as file:
        return [(state, note) for state, note in file.execute("SELECT state, note FROM outbox ORDER BY pos")]


# -- when the world is away for longer


async def test_an_outage_of_a_day_costs_no_message(tmp_path: Path, clock: ManualClock) -> None:
    mail = FakeChannel("mail")
    mail.failures.extend([NotSent("no network")] * 100_000)
    async with opened(tmp_path / "journal.db", clock) as journal, Desk(journal, clock, mail).open() as desk:
        desk.postman.line_changed(LineState("mail", "down", clock.now()))
        await desk.send((BOB, "one"), (BOB, "two"))
        for tries in range(1, MOST_ATTEMPTS + 20):
            await until(_is_postponed(tmp_path, clock, mail, tries, attempts=0))
            await clock.advance(4_000)
            desk.nudge()
        mail.failures.clear()
        desk.postman.line_changed(LineState("mail", "up", clock.now()))
        await clock.advance(1_000)
        desk.nudge()
        await desk.nothing_left()
        assert states(tmp_path) == [("sent", ""), ("sent", "")]
    assert said(mail) == ["one", "two"]


async def test_places_that_must_go_slowly_do_not_hold_up_another(journal: Journals, clock: ManualClock) -> None:
    mail = FakeChannel("mail")
    mail.traits = replace(mail.traits, at_once=2, place_rate=Rate(1, 60.0))
    busy = [Address("mail", f"group-{n}") for n in range(2)]
    async with Desk(journal, clock, mail).open() as desk:
        await desk.send(*((place, text) for text in ("one", "two") for place in busy))
        await until(_has(mail, 2))
        await desk.send((EVE, "at once"))
        await until(_has(mail, 3))
        assert said(mail, EVE) == ["at once"]


async def test_one_message_that_is_refused_as_by_a_bad_key_does_not_hold_up_the_rest_for_ever(
    journal: Journals, clock: ManualClock
) -> None:
    class NoFiles(FakeChannel):
        async def send(self, piece: Piece, to: str, key: str) -> Receipt:
            if to == "bob":
                self.tries.append(key)
                raise LockedOut("the token may not do this")
            return await super().send(piece, to, key)

    mail = NoFiles("mail")
    async with Desk(journal, clock, mail).open() as desk:
        await desk.send((BOB, "x"))
        await until(_tried(mail, 1))
        await desk.send((EVE, "one"))

        async def is_sent() -> bool:
            await clock.advance(60)
            return bool(mail.sent)

        await until(is_sent)
    assert said(mail) == ["one"]


async def test_what_is_under_way_at_the_end_is_not_cut_off_and_nothing_more_is_begun(tmp_path: Path, clock: ManualClock) -> None:
    class Slow(FakeChannel):
        begun, go = asyncio.Event(), asyncio.Event()

        async def send(self, piece: Piece, to: str, key: str) -> Receipt:
            self.begun.set()
            await self.go.wait()
            return await super().send(piece, to, key)

    mail = Slow("mail", "never")
    async with opened(tmp_path / "journal.db", clock) as journal, Desk(journal, clock, mail).open() as desk:
        await desk.send((BOB, "one"), (BOB, "two"))
        async with asyncio.timeout(DEADLINE_S):
            await mail.begun.wait()
            draining = asyncio.ensure_future(desk.postman.drain(DEADLINE_S))
            await asyncio.sleep(0)
            mail.go.set()
            await draining
        assert states(tmp_path) == [("sent", ""), ("queued", "")]


async def test_what_does_not_end_in_time_is_not_waited_for(journal: Journals, clock: ManualClock) -> None:
    class Dead(FakeChannel):
        begun = asyncio.Event()

        async def send(self, piece: Piece, to: str, key: str) -> Receipt:
            self.begun.set()
            return await asyncio.Future[Receipt]()

    mail = Dead("mail", "never")
    async with Desk(journal, clock, mail).open() as desk:
        await desk.send((BOB, "one"))
        async with asyncio.timeout(DEADLINE_S):
            await mail.begun.wait()
            await desk.postman.drain(0.01)
