import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from tests.gateway.channels.telegram_rig import Rig, words

from daimon.abi.channel import Message
from daimon.abi.errors import JournalFull, LockedOut
from daimon.gateway.channels.telegram import SECRET_HEADER, Bot, TelegramChannel
from daimon.testing.provider.wire import Connection, Reply
from daimon.testing.telegram.chats import ANNA
from daimon.testing.telegram.faults import Fault
from daimon.testing.telegram.server import TOKEN, TelegramServer


class Door:
    """What stands before the channel: a route that is open to the world."""

    def __init__(self) -> None:
        self.rig: Rig | None = None
        self.url = ""
        self.statuses: list[int] = []
        self.turned_away = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = Connection(reader, writer)
        try:
            while asked := await connection.read():
                assert self.rig is not None
                assert asked.path == "/hooks/telegram"
                self.statuses.append(await self.rig.channel.posted(asked.headers, asked.body))
                if self.statuses[-1] == 503:
                    self.turned_away.set()
                await connection.send(Reply(self.statuses[-1], {}, (), 0))
        except (ConnectionError, asyncio.CancelledError):
            return
        finally:
            writer.close()


@asynccontextmanager
async def hooked() -> AsyncIterator[tuple[Rig, Door]]:
    door = Door()
    async with asyncio.timeout(60), TelegramServer() as telegram:
        server = await asyncio.start_server(door.serve, "127.0.0.1", 0)
        door.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        door.rig = Rig(telegram, Bot(telegram.url, "webhook", door.url))
        try:
            yield door.rig, door
        finally:
            server.close()


async def test_updates_are_posted_and_arrive_in_order() -> None:
    async with hooked() as (r, door):
        for n in range(20):
            r.chats.says(ANNA, str(n))
        async with r.serving():
            arrivals = await r.book.arrivals(20)
        assert [words(a) for a in arrivals if isinstance(a, Message)] == [str(n) for n in range(20)]
        assert r.server.delivery.webhook == f"{door.url}/hooks/telegram"


async def test_a_file_in_a_posted_update_is_fetched() -> None:
    async with hooked() as (r, _), r.serving():
        r.chats.sends(ANNA, "document", b"x", caption="see", file_name="x.txt")
        assert len((await r.book.message()).parts) == 2


@pytest.mark.parametrize("secret", ["", "wrong", "ä"])
async def test_a_post_without_the_secret_is_refused_and_not_read(secret: str) -> None:
    async with hooked() as (r, _), r.serving():
        await r.server.called("setWebhook")
        assert await r.channel.posted({SECRET_HEADER: secret}, b'{"update_id": 1}') == 403
        assert await r.channel.posted({}, b"") == 403
        assert r.book.tries == []


async def test_a_post_with_the_secret_is_read_whatever_its_headers_look_like() -> None:
    async with hooked() as (r, _), r.serving():
        await r.server.called("setWebhook")
        headers = {SECRET_HEADER.upper(): r.server.delivery.secret}
        assert await r.channel.posted(headers, b'{"update_id": 1}') == 200
        assert await r.channel.posted(headers, b"{") == 400
        assert await r.channel.posted(headers, b'{"update_id": "no number"}') == 200  # it would come for ever


async def test_the_secret_is_not_the_token_and_of_the_letters_that_telegram_allows() -> None:
    async with hooked() as (r, _), r.serving():
        await r.server.called("setWebhook")
        secret = r.server.delivery.secret
        assert secret.isalnum()
        assert 32 <= len(secret) <= 256
        assert TOKEN.partition(":")[2] not in secret


async def test_a_post_while_nobody_serves_comes_again() -> None:
    async with hooked() as (r, door):
        async with r.serving():
            await r.server.called("setWebhook")
        r.chats.says(ANNA, "hello")
        await door.turned_away.wait()
        async with r.serving():
            assert words(await r.book.message()) == "hello"


async def test_what_could_not_be_written_is_posted_again() -> None:
    async with hooked() as (r, door), r.serving():
        r.book.failures = [JournalFull("no space")]
        r.chats.says(ANNA, "hello")
        assert words(await r.book.message()) == "hello"
        assert 503 in door.statuses


async def test_a_file_that_did_not_come_is_posted_again() -> None:
    async with hooked() as (r, _), r.serving():
        r.server.fail(Fault("cut", "file"))
        r.chats.sends(ANNA, "document", b"x", caption="see", file_name="x.txt")
        assert len((await r.book.message()).parts) == 2


async def test_a_revoked_token_shows_when_the_webhook_is_looked_after() -> None:
    async with hooked() as (r, _), r.serving() as task:
        await r.server.called("setWebhook")
        r.server.revoke()
        while not task.done():
            await r.clock.advance(700)
            await asyncio.sleep(0.01)
        with pytest.raises(LockedOut):
            await task


async def test_killed_at_any_moment_no_posted_update_is_lost_or_doubled() -> None:
    for kill_at in range(1, 6):
        async with hooked() as (r, _):
            r.book.kill_at = kill_at
            for n in range(3):
                r.chats.says(ANNA, str(n))
            async with r.serving():
                await r.book.killed.wait()
            r.book.released.set()
            async with r.serving():
                arrivals = await r.book.arrivals(3)
            assert [words(a) for a in arrivals if isinstance(a, Message)] == ["0", "1", "2"]


async def test_a_post_while_the_token_is_unusable_comes_again() -> None:
    async with hooked() as (r, _), r.serving():
        await r.server.called("setWebhook")
        headers = {SECRET_HEADER: r.server.delivery.secret}
        r.server.token = "no token"
        assert await r.channel.posted(headers, b'{"update_id": 1}') == 503
        r.server.token = TOKEN
        assert await r.channel.posted(headers, b'{"update_id": 1}') == 200


async def test_without_an_address_of_ours_a_webhook_is_locked_out_and_says_why() -> None:
    channel = TelegramChannel(Bot(by="webhook"), lambda: TOKEN, None, None)  # type: ignore[arg-type]  # neither is asked
    with pytest.raises(LockedOut, match="public_url"):
        await channel.serve(None)  # type: ignore[arg-type]  # not asked either
