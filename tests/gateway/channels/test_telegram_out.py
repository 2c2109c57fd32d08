import asyncio
import logging
import socket
import traceback
from random import Random

import pytest
from tests.gateway.channels.telegram_rig import Rig, outgoing, rig

from daimon.abi.channel import Piece
from daimon.abi.errors import LockedOut, NotSent, RetryLater
from daimon.abi.event import Asks
from daimon.abi.ids import StepRef, TurnId
from daimon.abi.message import Audio, File, Image, Text
from daimon.gateway.channels.telegram import Bot, TelegramChannel
from daimon.testing.certificates import Certificates
from daimon.testing.telegram.chats import ANNA, GROUP, SUPERGROUP
from daimon.testing.telegram.faults import Fault, What
from daimon.testing.telegram.html import Unparsed, parse
from daimon.testing.telegram.server import TOKEN

PNG = b"\x89PNG" + bytes(60)


async def test_a_text_is_shown_as_it_was_said() -> None:
    async with rig() as r:
        await r.send(Text("1 < 2 & 3"))
        assert [s.text for s in r.chats.seen(ANNA.id)] == ["1 < 2 & 3"]


async def test_a_receipt_names_the_message_by_chat_and_number() -> None:
    async with rig() as r:
        receipt = await r.channel.send(Piece("hi"), "1001", "k/0")
        assert receipt.ref == f"1001/{r.chats.seen(ANNA.id)[0].id}"


async def test_a_long_answer_goes_out_in_order_in_pieces_that_telegram_takes() -> None:
    async with rig() as r:
        text = "\n".join(f"line {n} with 🦊 and 1 < 2" for n in range(600))
        await r.send(Text(text))
        seen = r.chats.seen(ANNA.id)
        assert len(seen) > 2
        assert "\n".join(s.text for s in seen).split() == text.split()


def test_the_same_message_gives_the_same_pieces() -> None:
    channel = TelegramChannel(Bot(), lambda: TOKEN, None, None)  # type: ignore[arg-type]  # pure: neither is asked
    message = outgoing(Text("a" * 9000), Text("b"))
    assert channel.pieces(message) == channel.pieces(message)
    assert "".join(p.text for p in channel.pieces(message)).replace("\n", "") == "a" * 9000 + "b"


async def test_html_that_telegram_cannot_read_goes_out_as_plain_text_once() -> None:
    async with rig() as r:
        await r.channel.send(Piece("<b>bold</i> &amp; <made-up>more</made-up>"), "1001", "k/0")
        assert [s.text for s in r.chats.seen(ANNA.id)] == ["bold & more"]


async def test_good_html_is_shown_in_its_style() -> None:
    async with rig() as r:
        await r.channel.send(Piece("<b>bold</b> and <code>x</code>"), "1001", "k/0")
        assert [e.type for e in r.chats.seen(ANNA.id)[0].entities] == ["bold", "code"]


@pytest.mark.parametrize("bad", ["<b>x", "x</b>", "<b><i>x</b></i>", "<h1>x</h1>", "a < b", "<br>", "<span>x</span>"])
def test_the_server_refuses_html_that_telegram_refuses(bad: str) -> None:
    with pytest.raises(Unparsed):
        parse(bad)


async def test_a_photo_is_a_photo_a_voice_note_a_voice_note_and_all_else_a_document() -> None:
    async with rig() as r:
        kinds = [
            Image(await r.shelf.put(PNG), "image/png"),
            Audio(await r.shelf.put(b"OggS"), "audio/ogg"),
            Audio(await r.shelf.put(b"ID3"), "audio/mpeg"),
            File(await r.shelf.put(b"a,b"), "täble.csv", "text/csv", 3),
        ]
        await r.send(*kinds)
        seen = r.chats.seen(ANNA.id)
        assert [s.kind for s in seen] == ["photo", "voice", "document", "document"]
        assert [s.data for s in seen] == [PNG, b"OggS", b"ID3", b"a,b"]
        assert seen[3].name.endswith("ble.csv")


async def test_a_picture_that_telegram_cannot_show_goes_out_as_a_file() -> None:
    async with rig() as r:
        await r.send(Image(await r.shelf.put(b"no picture"), "image/png"))
        assert [(s.kind, s.data) for s in r.chats.seen(ANNA.id)] == [("document", b"no picture")]


async def test_a_file_that_is_gone_is_known_not_to_be_sent() -> None:
    async with rig() as r:
        blob = await r.shelf.put(b"x")
        r.shelf.blobs.clear()
        with pytest.raises(NotSent):
            await r.send(File(blob, "x", "text/plain", 1))


async def test_a_question_has_a_button_for_each_answer_under_its_last_words() -> None:
    async with rig() as r:
        await r.send(Text("x" * 5000), asks=Asks(StepRef(TurnId("t"), 1), ("allow", "deny")))
        first, last = r.chats.seen(ANNA.id)
        assert first.buttons == ()
        assert [b[0] for b in last.buttons] == ["allow", "deny"]
        assert [b[1].split()[1] for b in last.buttons] == ["1", "2"]
        assert all(len(b[1].encode()) <= 64 for b in last.buttons)


async def test_an_answer_to_a_topic_stays_in_it() -> None:
    async with rig() as r:
        await r.send(Text("here"), to=f"{SUPERGROUP}/7")
        assert [s.topic for s in r.chats.seen(SUPERGROUP)] == [7]


async def test_a_group_that_moved_is_found_at_its_new_address() -> None:
    async with rig() as r:
        r.chats.moved[GROUP] = SUPERGROUP
        await r.send(Text("one"), to=str(GROUP))
        await r.send(Text("two"), to=str(GROUP))
        assert [s.text for s in r.chats.seen(SUPERGROUP)] == ["one", "two"]
        assert len(r.server.calls) == 3


async def test_typing_is_shown_and_its_failure_is_nobodys() -> None:
    async with rig() as r:
        await r.channel.show("1001", "thinking")
        assert r.chats.actions == [(1001, "typing")]
        r.server.fail(Fault("500"), Fault("cut"), Fault("429"))
        for _ in range(3):
            await r.channel.show("1001", "thinking")
        r.server.revoke()
        await r.channel.show("1001", "thinking")
        await r.channel.show("nowhere", "thinking")
        await r.channel.show("1001", "nothing")


async def test_a_pause_that_telegram_asks_for_is_told_to_the_second() -> None:
    async with rig() as r:
        r.server.fail(Fault("429", retry_after=37))
        with pytest.raises(RetryLater) as caught:
            await r.send(Text("hi"))
        assert caught.value.after_s == 37
        assert r.chats.seen(ANNA.id) == ()


async def test_who_blocked_the_bot_is_said_to_have() -> None:
    async with rig() as r:
        r.chats.blocked.add(ANNA.id)
        with pytest.raises(NotSent, match="blocked by the user") as caught:
            await r.send(Text("hi"))
        assert caught.value.is_lasting


@pytest.mark.parametrize("token", ["", "no token", "4242:another_one", "9:x"])
async def test_a_token_that_telegram_does_not_take_locks_out(token: str) -> None:
    async with rig() as r:
        channel = TelegramChannel(Bot(r.server.url), lambda: token, r.clock, r.shelf)
        with pytest.raises(LockedOut):
            await channel.send(Piece("hi"), "1001", "k/0")


async def test_a_token_that_is_changed_counts_from_the_next_send() -> None:
    async with rig() as r:
        tokens = ["4242:old", TOKEN]
        channel = TelegramChannel(Bot(r.server.url), lambda: tokens[0], r.clock, r.shelf)
        with pytest.raises(LockedOut):
            await channel.send(Piece("hi"), "1001", "k/0")
        tokens.pop(0)
        await channel.send(Piece("hi"), "1001", "k/0")
        assert len(r.chats.seen(ANNA.id)) == 1


@pytest.mark.parametrize("place", ["", "anna", "@anna", "12/x", "1/2/3"])
async def test_what_is_no_chat_is_known_not_to_be_sent(place: str) -> None:
    async with rig() as r:
        with pytest.raises(NotSent):
            await r.channel.send(Piece("hi"), place, "k/0")


async def test_nobody_listening_is_known_not_to_be_sent() -> None:
    async with rig() as r:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            channel = TelegramChannel(Bot(f"http://127.0.0.1:{free.getsockname()[1]}"), lambda: TOKEN, r.clock, r.shelf)
            with pytest.raises(NotSent):
                await channel.send(Piece("hi"), "1001", "k/0")


async def test_a_name_that_does_not_exist_is_known_not_to_be_sent() -> None:
    async with rig() as r:
        channel = TelegramChannel(Bot("http://no-such-host.invalid"), lambda: TOKEN, r.clock, r.shelf)
        with pytest.raises(NotSent):
            await channel.send(Piece("hi"), "1001", "k/0")


async def test_a_failed_tls_handshake_is_known_not_to_be_sent() -> None:
    def leave(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with rig() as r, await asyncio.start_server(leave, "127.0.0.1", 0) as server:
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        channel = TelegramChannel(Bot(url), lambda: TOKEN, r.clock, r.shelf)
        with pytest.raises(NotSent):
            await channel.send(Piece("hi"), "1001", "k/0")


@pytest.mark.parametrize(("what", "seen"), [("silent", 0), ("silent after", 1)])
async def test_an_answer_that_does_not_come_leaves_a_send_in_doubt(what: What, seen: int) -> None:
    async with rig() as r:
        r.server.fail(Fault(what, "sendMessage"))
        hasty = TelegramChannel(Bot(r.server.url, answer_s=1.5), lambda: TOKEN, r.clock, r.shelf)
        with pytest.raises(ConnectionError):
            await hasty.send(Piece("hi"), "1001", "k/0")
        await r.server.called("sendMessage")  # it may be even slower than who lost patience
        assert len(r.chats.seen(ANNA.id)) == seen


@pytest.mark.parametrize(("what", "seen"), [("cut", 0), ("500", 0), ("cut after", 1), ("500 after", 1), ("garbage after", 1)])
async def test_a_send_that_broke_in_the_middle_is_in_doubt(what: What, seen: int) -> None:
    async with rig() as r:
        r.server.fail(Fault(what, "sendMessage"))
        with pytest.raises(ConnectionError) as caught:
            await r.send(Text("hi"))
        assert not isinstance(caught.value, NotSent)
        assert len(r.chats.seen(ANNA.id)) == seen
        assert len(r.server.calls) == 1  # and was not tried again


async def test_an_upload_that_broke_in_the_middle_is_in_doubt() -> None:
    async def half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(100_000)
        writer.transport.abort()

    async with rig() as r, await asyncio.start_server(half, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        channel = TelegramChannel(Bot(url), lambda: TOKEN, r.clock, r.shelf)
        file = File(await r.shelf.put(bytes(20_000_000)), "big.bin", "application/octet-stream", 20_000_000)
        with pytest.raises(ConnectionError):
            await channel.send(Piece(attachment=file), "1001", "k/0")


async def test_under_faults_each_message_is_read_once_in_order_or_reported_in_doubt() -> None:
    chance = Random(7)
    kinds: tuple[What, ...] = ("429", "500", "500 after", "cut", "cut after", "garbage after")
    doubtful: set[int] = set()
    async with rig() as r:
        for n in range(200):
            if chance.random() < 0.4:
                r.server.fail(Fault(chance.choice(kinds), "sendMessage"))
            await _until_known(r, n, doubtful)
        seen = [int(s.text) for s in r.chats.seen(ANNA.id)]
    assert seen == sorted(set(seen))
    assert set(range(200)) - set(seen) <= doubtful
    assert 0 < len(doubtful) < 100


async def _until_known(r: Rig, n: int, doubtful: set[int]) -> None:
    """As the postman does: again only after what is known not to have gone out."""
    while True:
        try:
            await r.channel.send(Piece(str(n)), "1001", f"k/{n}")
        except NotSent:
            continue
        except ConnectionError:
            doubtful.add(n)
        return


async def test_a_certificate_of_nobody_is_known_not_to_be_sent() -> None:
    def ignore(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    tls = Certificates().serving("127.0.0.1")
    async with rig() as r, await asyncio.start_server(ignore, "127.0.0.1", 0, ssl=tls) as server:
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        channel = TelegramChannel(Bot(url), lambda: TOKEN, r.clock, r.shelf)
        with pytest.raises(NotSent, match="certificate"):
            await channel.send(Piece("hi"), "1001", "k/0")


async def test_a_send_that_is_cancelled_ends_at_once() -> None:
    async with rig() as r:
        r.server.fail(Fault("silent after", "sendMessage"))
        task = asyncio.create_task(r.send(Text("hi")))
        await r.server.called("sendMessage")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def _all_failures(r: Rig) -> list[BaseException]:
    r.server.fail(*(Fault(what, "sendMessage") for what in ("429", "500", "cut", "garbage after")))
    failures: list[BaseException] = []
    for _ in range(4):
        with pytest.raises(Exception, match="Telegram") as caught:
            await r.send(Text("hi"))
        failures.append(caught.value)
    r.server.revoke()
    with pytest.raises(LockedOut) as locked:
        await r.send(Text("hi"))
    nobody = TelegramChannel(Bot("http://127.0.0.1:1"), lambda: TOKEN, r.clock, r.shelf)
    with pytest.raises(NotSent) as unsent:
        await nobody.send(Piece("hi"), "1001", "k/0")
    return [*failures, locked.value, unsent.value]


async def test_the_token_is_in_no_log_and_no_error(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        async with rig() as r:
            r.chats.sends(ANNA, "document", b"x", file_name="x.txt")
            async with r.serving():
                await r.book.arrivals(1)
                await r.send(Text("hi"))
            failures = await _all_failures(r)
    assert any("bot~/sendMessage" in record.getMessage() for record in caplog.records)  # the requests are logged
    secret = TOKEN.partition(":")[2]
    assert [record for record in caplog.records if secret in record.getMessage() or secret in str(record.args)] == []
    for failure in failures:
        assert secret not in "".join(traceback.format_exception(failure))
        context: BaseException | None = failure
        while context:
            assert secret not in repr(context)
            assert secret not in str(getattr(context, "_request", ""))
            context = context.__context__
