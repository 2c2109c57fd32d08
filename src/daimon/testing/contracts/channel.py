"""What every channel must do.

    class TestMyChannel(ChannelContract):
        @asynccontextmanager
        async def open(self) -> AsyncIterator[ChannelRig]:
            async with my_loopback_server() as server:
                yield MyRig(server)

Each test opens a fresh rig: a service on loopback with one person in it (`rig.sender`, who speaks at `rig.place`, and in a group at
`rig.group`), and channels that speak to it. `rig.channel()` makes a new one each time, as a restarted process would. What the service
shows to people is what counts, not what the channel says of itself.

A rig whose service has no groups, no files, or no way to revoke a token leaves that out by raising `unittest.SkipTest` with the reason.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Protocol, TypeVar
from unittest import SkipTest

from daimon.abi.channel import Arrival, Channel, Message, Piece, Pressed, Receipt
from daimon.abi.errors import JournalFull, LockedOut, NotSent, RetryLater
from daimon.abi.event import Address, Asks, Said
from daimon.abi.ids import HOME_SPACE, BlobHash, Conversation, Key, StepRef, TurnId
from daimon.abi.label import owned
from daimon.abi.message import Content, File, Text
from daimon.abi.ports import Outgoing, Store
from daimon.testing.reception import MemoryReception

T = TypeVar("T")
DEADLINE_S = 60.0
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)


class ChannelRig(Protocol):
    """Drives the service behind a channel, as people and networks do."""

    sender: str
    """The service's own id of a person."""
    place: str
    """Where that person and the agent are alone."""
    group: str
    """Where others read too; empty: the service has none."""
    store: Store
    """What channels read attachments from."""

    async def channel(self) -> Channel:
        """A new one, of the same account."""
        ...

    async def say_as(self, sender: str, place: str, text: str) -> None:
        """Somebody writes, without naming the agent."""
        ...

    async def say_to_agent(self, sender: str, place: str, text: str) -> None:
        """The same, to the agent: by its name, or as an answer to it."""
        ...

    async def attach_as(self, sender: str, place: str, name: str, data: bytes) -> None: ...

    async def press_as(self, sender: str, place: str, text: str) -> None:
        """Takes the choice that says this, on the newest message there that has it."""
        ...

    async def seen(self, place: str) -> Sequence[str]:
        """What the agent said there, as people read it, the oldest first."""
        ...

    async def attached(self, place: str) -> Sequence[bytes]:
        """The files that the agent sent there."""
        ...

    async def cut_before_act(self) -> None:
        """The connection of the next send breaks off before the service acts."""
        ...

    async def cut_after_act(self) -> None:
        """The same, when it has acted and has not answered."""
        ...

    async def retry_after(self, seconds: float) -> None:
        """The next send is refused: come back after so long."""
        ...

    async def revoke(self) -> None:
        """The credential is refused from now on."""
        ...

    async def redeliver(self) -> None:
        """What was said last comes once more, as after an acknowledgement that was lost."""
        ...


class ChannelContract:
    def open(self) -> AbstractAsyncContextManager[ChannelRig]:
        raise NotImplementedError

    # -- going out

    async def test_what_is_said_is_read(self) -> None:
        async with self.open() as rig:
            await sent(await rig.channel(), message(rig.place, Text("Hello there, **friend**")))
            (said,) = await rig.seen(rig.place)
            assert "Hello there" in said
            assert "friend" in said

    async def test_a_long_answer_is_read_in_order_and_nothing_of_it_is_lost(self) -> None:
        words = [f"word{n}" for n in range(4_000)]
        async with self.open() as rig:
            channel = await rig.channel()
            text = "\n\n".join(" ".join(words[at : at + 50]) for at in range(0, len(words), 50))
            await sent(channel, message(rig.place, Text(text)))
            assert re.findall(r"word\d+", "\n".join(await rig.seen(rig.place))) == words

    async def test_the_pieces_of_a_message_are_the_same_each_time(self) -> None:
        async with self.open() as rig:
            long = message(rig.place, Text("A line of it.\n" * 2_000), asks=ASKS)
            assert (await rig.channel()).pieces(long) == (await rig.channel()).pieces(long)

    async def test_a_file_arrives_as_it_was(self) -> None:
        data = bytes(range(256)) * 64
        async with self.open() as rig:
            blob = await rig.store.put(data)
            await sent(await rig.channel(), message(rig.place, Text("here"), _file(blob, len(data))))
            assert list(await rig.attached(rig.place)) == [data]
            assert "here" in "\n".join(await rig.seen(rig.place))

    async def test_a_question_shows_its_options(self) -> None:
        async with self.open() as rig:
            channel = await rig.channel()
            asked = message(rig.place, Text("May I?"), asks=ASKS)
            await sent(channel, asked)
            assert "May I?" in "\n".join(await rig.seen(rig.place))
            choices = [choice.text for piece in channel.pieces(asked) for choice in piece.choices]
            told = choices if channel.traits.has_buttons else "\n".join(await rig.seen(rig.place))
            assert all(option in told for option in ASKS.options)

    async def test_a_choice_that_is_taken_comes_back_with_its_code(self) -> None:
        async with self.open() as rig:
            channel = await rig.channel()
            if not channel.traits.has_buttons:
                raise SkipTest("this channel has no buttons")
            asked = message(rig.place, Text("May I?"), asks=ASKS)
            receipts = await sent(channel, asked)
            codes = {choice.text: choice.code for piece in channel.pieces(asked) for choice in piece.choices}
            async with serving(channel) as reception:
                await rig.press_as(rig.sender, rig.place, "deny")
                (pressed,) = await reception.until(bool, DEADLINE_S)
            assert isinstance(pressed, Pressed)
            assert (pressed.code, pressed.sender, pressed.place) == (codes["deny"], rig.sender, rig.place)
            assert pressed.ref in ("", receipts[-1].ref)

    async def test_places_are_kept_apart(self) -> None:
        async with self.open() as rig:
            if not rig.group:
                raise SkipTest("this service has no groups")
            channel = await rig.channel()
            await sent(channel, message(rig.place, Text("for you")), "a")
            await sent(channel, message(rig.group, Text("for all")), "b")
            (mine,), (ours,) = await rig.seen(rig.place), await rig.seen(rig.group)
            assert "for you" in mine
            assert "for all" in ours

    # -- once

    async def test_a_send_that_broke_off_before_the_act_can_be_done_again(self) -> None:
        async with self.open() as rig:
            channel = await rig.channel()
            piece = _only_piece(channel, rig.place, "once")
            await rig.cut_before_act()
            failure = await failed(channel.send(piece, rig.place, "k/0"))
            if channel.traits.repeat == "never" and not isinstance(failure, NotSent):
                raise SkipTest("a channel that cannot tell does not try again")
            again = await rig.channel()
            if channel.traits.repeat == "findable":
                assert await within(again.find(piece, rig.place, "k/0")) is None
            await within(again.send(piece, rig.place, "k/0"))
            assert len(await rig.seen(rig.place)) == 1

    async def test_a_send_that_broke_off_after_the_act_is_never_read_twice(self) -> None:
        async with self.open() as rig:
            channel = await rig.channel()
            piece = _only_piece(channel, rig.place, "once")
            await rig.cut_after_act()
            failure = await failed(channel.send(piece, rig.place, "k/0"))
            assert not isinstance(failure, NotSent), "it may have gone out, and it did"
            again = await rig.channel()
            if channel.traits.repeat == "harmless":
                await within(again.send(piece, rig.place, "k/0"))
            if channel.traits.repeat == "findable":
                assert await within(again.find(piece, rig.place, "k/0")) is not None
            assert len(await rig.seen(rig.place)) == 1

    async def test_the_same_words_under_another_key_are_another_message(self) -> None:
        async with self.open() as rig:
            channel = await rig.channel()
            piece = _only_piece(channel, rig.place, "the same")
            await within(channel.send(piece, rig.place, "k/0"))
            if channel.traits.repeat == "findable":
                assert await within(channel.find(piece, rig.place, "l/0")) is None
            await within(channel.send(piece, rig.place, "l/0"))
            assert len(await rig.seen(rig.place)) == 2

    async def test_a_service_that_says_when_to_come_back_is_quoted(self) -> None:
        async with self.open() as rig:
            channel = await rig.channel()
            await rig.retry_after(7)
            failure = await failed(channel.send(_only_piece(channel, rig.place, "later"), rig.place, "k/0"))
            assert isinstance(failure, RetryLater)
            assert 7 <= failure.after_s < 9
            assert list(await rig.seen(rig.place)) == []
            await within(channel.send(_only_piece(channel, rig.place, "later"), rig.place, "k/0"))
            assert len(await rig.seen(rig.place)) == 1

    async def test_a_revoked_credential_locks_out_whoever_sends_and_whoever_listens(self) -> None:
        async with self.open() as rig:
            channel = await rig.channel()
            await rig.revoke()
            failure = await failed(channel.send(_only_piece(channel, rig.place, "x"), rig.place, "k/0"))
            assert isinstance(failure, LockedOut)
            assert isinstance(await failed(channel.serve(MemoryReception())), LockedOut)

    async def test_a_credential_that_is_revoked_while_it_listens_locks_it_out(self) -> None:
        async with self.open() as rig:
            channel, reception = await rig.channel(), MemoryReception()
            listening = asyncio.ensure_future(channel.serve(reception))
            try:
                await rig.say_as(rig.sender, rig.place, "hello")
                await reception.until(bool, DEADLINE_S)
                await rig.revoke()
                assert isinstance(await failed(listening), LockedOut)
            finally:
                await ended(listening)

    async def test_showing_that_it_thinks_harms_nobody(self) -> None:
        async with self.open() as rig:
            channel = await rig.channel()
            await within(channel.show(rig.place, "thinking"))
            await within(channel.show(rig.place, "nothing"))
            assert list(await rig.seen(rig.place)) == []
            await rig.revoke()
            await within(channel.show(rig.place, "thinking"))

    # -- coming in

    async def test_what_somebody_says_comes_in(self) -> None:
        async with self.open() as rig, serving(await rig.channel()) as reception:
            await rig.say_as(rig.sender, rig.place, "good morning")
            (came,) = messages(await reception.until(bool, DEADLINE_S))
            assert (came.sender, came.place, came.is_group, came.is_direct) == (rig.sender, rig.place, False, True)
            assert "good morning" in words(came)
            assert came.key
            assert came.at.tzinfo is not None

    async def test_several_come_in_the_order_in_which_they_were_said(self) -> None:
        async with self.open() as rig, serving(await rig.channel()) as reception:
            for n in range(8):
                await rig.say_as(rig.sender, rig.place, f"number {n}")
            came = messages(await reception.until(lambda took: len(distinct(took)) == 8, DEADLINE_S))
            assert [_number(each) for each in came] == [f"number {n}" for n in range(8)]

    async def test_what_is_delivered_again_has_the_same_key(self) -> None:
        async with self.open() as rig:
            async with serving(await rig.channel()) as reception:
                await rig.say_as(rig.sender, rig.place, "once")
                await reception.until(bool, DEADLINE_S)
            await rig.redeliver()
            async with serving(await rig.channel(), reception):
                await rig.say_as(rig.sender, rig.place, "and on")
                took = messages(await reception.until(lambda took: any("and on" in words(each) for each in messages(took)), DEADLINE_S))
            assert {each.key for each in took if "once" in words(each)} == {took[0].key}
            assert len({each.key for each in took}) == 2

    async def test_what_could_not_be_written_down_is_not_acknowledged(self) -> None:
        async with self.open() as rig:
            reception = MemoryReception()
            reception.failures = [JournalFull("the disk is full")]
            async with serving(await rig.channel(), reception):
                await rig.say_as(rig.sender, rig.place, "keep this")
                (came, *_) = messages(await reception.until(bool, DEADLINE_S))
            assert "keep this" in words(came)

    async def test_what_is_said_while_nobody_listens_comes_in_later(self) -> None:
        async with self.open() as rig:
            async with serving(await rig.channel()) as reception:
                await rig.say_as(rig.sender, rig.place, "first")
                await reception.until(bool, DEADLINE_S)
            await rig.say_as(rig.sender, rig.place, "second")
            async with serving(await rig.channel(), reception):
                took = await reception.until(lambda took: len(distinct(took)) == 2, DEADLINE_S)
            assert [word for each in distinct(took) for word in ("first", "second") if word in words(each)] == ["first", "second"]

    async def test_listening_can_be_ended_at_any_moment_and_nothing_is_lost(self) -> None:
        async with self.open() as rig:
            channel, reception = await rig.channel(), MemoryReception()
            for n in range(12):
                listening = asyncio.ensure_future(channel.serve(reception))
                for _ in range(3 * n):
                    await asyncio.sleep(0)
                await rig.say_as(rig.sender, rig.place, f"number {n}")
                await ended(listening)
            async with serving(channel, reception):
                took = await reception.until(lambda took: len(distinct(took)) == 12, DEADLINE_S)
            assert [_number(each) for each in distinct(took)] == [f"number {n}" for n in range(12)]

    async def test_a_file_comes_in_as_it_was(self) -> None:
        data = bytes(range(256)) * 16
        async with self.open() as rig, serving(await rig.channel()) as reception:
            await rig.attach_as(rig.sender, rig.place, "table.bin", data)
            (came,) = messages(await reception.until(bool, DEADLINE_S))
            (blob,) = [part.blob for part in came.parts if not isinstance(part, Text)]
            assert reception.blobs[blob] == data

    async def test_a_file_that_is_too_large_is_named_and_not_taken(self) -> None:
        async with self.open() as rig, serving(await rig.channel(), MemoryReception(most_bytes=1_000)) as reception:
            await rig.attach_as(rig.sender, rig.place, "table.bin", b"x" * 5_000)
            (came,) = messages(await reception.until(bool, DEADLINE_S))
            assert all(isinstance(part, Text) for part in came.parts)
            assert "table.bin" in words(came)

    async def test_in_a_group_only_what_is_said_to_the_agent_is_direct(self) -> None:
        async with self.open() as rig:
            if not rig.group:
                raise SkipTest("this service has no groups")
            async with serving(await rig.channel()) as reception:
                await rig.say_as(rig.sender, rig.group, "among us")
                await rig.say_to_agent(rig.sender, rig.group, "tell us")
                took = messages(await reception.until(lambda took: any("tell us" in words(each) for each in messages(took)), DEADLINE_S))
            assert all(each.is_group and each.place.partition("/")[0] == rig.group.partition("/")[0] for each in took)
            assert [each.is_direct for each in took] == ["tell us" in words(each) for each in took]


ASKS = Asks(StepRef(TurnId("t1"), 4), ("allow", "deny"))


def message(place: str, *parts: Content, asks: Asks | None = None, key: str = "k") -> Outgoing:
    where = Conversation(HOME_SPACE, "main")
    said = Said(parts, asks=asks)
    return Outgoing(key=Key(key), conversation=where, to=Address("it", place), content=said, label=owned("test"), created_at=AT)


async def sent(channel: Channel, outgoing: Outgoing, key: str = "k") -> list[Receipt]:
    """All of it, as the postman does."""
    pieces = channel.pieces(outgoing)
    assert pieces
    return [await within(channel.send(piece, outgoing.to.to, f"{key}/{n}")) for n, piece in enumerate(pieces)]


@asynccontextmanager
async def serving(channel: Channel, reception: MemoryReception | None = None) -> AsyncIterator[MemoryReception]:
    """Called again when it breaks, as the supervisor does."""
    reception = reception or MemoryReception()

    async def on_and_on() -> None:
        while True:
            with suppress(Exception):
                await channel.serve(reception)
            await asyncio.sleep(0.01)

    listening = asyncio.ensure_future(on_and_on())
    try:
        yield reception
        assert not listening.done()
    finally:
        await ended(listening)


async def ended(task: "asyncio.Future[None]") -> None:
    task.cancel()
    with suppress(asyncio.CancelledError, Exception):
        async with asyncio.timeout(DEADLINE_S):
            await task


async def within(work: Awaitable[T]) -> T:
    async with asyncio.timeout(DEADLINE_S):
        return await work


async def failed(work: Awaitable[object]) -> Exception:
    try:
        await within(work)
    except Exception as failure:  # noqa: BLE001 - which one it is, is what the test asks
        return failure
    raise AssertionError("it should have failed")


def messages(took: Sequence[Arrival]) -> list[Message]:
    return [each for each in took if isinstance(each, Message)]


def distinct(took: Sequence[Arrival]) -> list[Message]:
    """By their keys, as the inbox tells them apart."""
    return list({each.key: each for each in reversed(messages(took))}.values())[::-1]


def words(came: Message) -> str:
    return "\n".join(part.text for part in came.parts if isinstance(part, Text))


def _number(came: Message) -> str:
    return next(line for line in words(came).splitlines() if line.startswith("number")).strip()


def _only_piece(channel: Channel, place: str, text: str) -> Piece:
    (piece,) = channel.pieces(message(place, Text(text)))
    return piece


def _file(blob: BlobHash, size: int) -> File:
    return File(blob, "table.bin", "application/octet-stream", size)
