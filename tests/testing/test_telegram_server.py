"""That the loopback server is as strict as Telegram."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest
from pydantic import JsonValue

from daimon.testing.telegram.chats import ANNA
from daimon.testing.telegram.server import TOKEN, TelegramServer


class Asker:
    def __init__(self, server: TelegramServer, client: httpx2.AsyncClient) -> None:
        self.server = server
        self.client = client

    async def ask(self, method: str, **args: JsonValue) -> tuple[int, JsonValue]:
        response = await self.client.post(f"{self.server.url}/bot{TOKEN}/{method}", json=args)
        body = response.json()
        return response.status_code, body["result"] if body["ok"] else body["description"]

    async def numbers(self, **args: JsonValue) -> list[int]:
        _, found = await self.ask("getUpdates", **args)
        assert isinstance(found, list)
        return [update["update_id"] for update in found if isinstance(update, dict)]  # type: ignore[misc]


@asynccontextmanager
async def asker() -> AsyncIterator[Asker]:
    async with asyncio.timeout(60), TelegramServer() as server, httpx2.AsyncClient(trust_env=False, timeout=60) as client:
        yield Asker(server, client)


async def test_an_update_stays_until_a_higher_offset_is_asked_for() -> None:
    async with asker() as a:
        a.server.chats.says(ANNA, "one")
        a.server.chats.says(ANNA, "two")
        first, second = await a.numbers()
        assert await a.numbers(offset=first) == [first, second]
        assert await a.numbers(offset=second) == [second]
        assert await a.numbers() == [second]
        assert await a.numbers(offset=second + 1) == []


async def test_an_update_is_forgotten_after_a_day() -> None:
    async with asker() as a:
        a.server.chats.says(ANNA, "old")
        a.server.queue.now += 86_401
        assert await a.numbers() == []


async def test_who_fetches_waits_for_what_comes() -> None:
    async with asker() as a:
        waiting = asyncio.create_task(a.numbers(timeout=20))
        await a.server.called("getUpdates")
        a.server.chats.says(ANNA, "hello")
        assert len(await waiting) == 1


async def test_of_two_who_fetch_the_first_is_sent_away() -> None:
    async with asker() as a:
        first = asyncio.create_task(a.ask("getUpdates", timeout=20))
        await a.server.called("getUpdates")
        second = asyncio.create_task(a.numbers(timeout=20))
        assert (await first)[0] == 409
        a.server.chats.says(ANNA, "hello")
        assert len(await second) == 1


async def test_nobody_fetches_while_a_webhook_is_set() -> None:
    async with asker() as a:
        assert (await a.ask("setWebhook", url="http://plain.example/x"))[0] == 400
        assert (await a.ask("setWebhook", url="https://bot.example/x"))[0] == 200
        assert (await a.ask("getUpdates"))[0] == 409
        a.server.chats.says(ANNA, "kept")
        assert (await a.ask("deleteWebhook"))[0] == 200
        assert len(await a.numbers()) == 1


async def test_reactions_come_only_to_those_who_want_them() -> None:
    async with asker() as a:
        await a.ask("sendMessage", chat_id=ANNA.id, text="hi")
        shown = a.server.chats.seen(ANNA.id)[0]
        a.server.chats.reacts(ANNA, shown, "👍")
        assert await a.numbers() == []
        await a.numbers(allowed_updates=["message_reaction"])
        a.server.chats.reacts(ANNA, shown, "👍")
        assert len(await a.numbers()) == 1


@pytest.mark.parametrize(
    ("text", "mode", "status"),
    [
        ("x" * 4096, "", 200),
        ("x" * 4097, "", 400),
        ("🦊" * 2048, "", 200),
        ("🦊" * 2049, "", 400),
        (f"<b>{'x' * 4096}</b>", "HTML", 200),
        ("&lt;" * 4096, "HTML", 200),
        (" \n", "", 400),
        ("<b></b>", "HTML", 400),
        ("<u>x", "HTML", 400),
        ("*x*", "Markdown3", 400),
    ],
)
async def test_a_text_is_counted_after_its_markup_is_read(text: str, mode: str, status: int) -> None:
    async with asker() as a:
        assert (await a.ask("sendMessage", chat_id=ANNA.id, text=text, parse_mode=mode))[0] == status


@pytest.mark.parametrize(("data", "status"), [("x" * 64, 200), ("x" * 65, 400), ("ä" * 33, 400), ("", 400)])
async def test_a_button_says_at_most_64_bytes(data: str, status: int) -> None:
    async with asker() as a:
        keys: JsonValue = {"inline_keyboard": [[{"text": "yes", "callback_data": data}]]}
        assert (await a.ask("sendMessage", chat_id=ANNA.id, text="?", reply_markup=keys))[0] == status


async def test_messages_are_edited_and_signs_put_on_them() -> None:
    async with asker() as a:
        await a.ask("sendMessage", chat_id=ANNA.id, text="hi")
        number = a.server.chats.seen(ANNA.id)[0].id
        assert (await a.ask("editMessageText", chat_id=ANNA.id, message_id=number, text="ho"))[0] == 200
        assert a.server.chats.seen(ANNA.id)[0].text == "ho"
        assert (await a.ask("editMessageText", chat_id=ANNA.id, message_id=99, text="ho"))[0] == 400
        sign: JsonValue = [{"type": "emoji", "emoji": "👍"}]
        assert (await a.ask("setMessageReaction", chat_id=ANNA.id, message_id=number, reaction=sign))[0] == 200
        assert (await a.ask("setMessageReaction", chat_id=ANNA.id, message_id=number, reaction=[{"emoji": "x"}]))[0] == 400


async def test_a_wrong_token_is_unauthorized_and_no_token_is_not_found() -> None:
    async with asker() as a:
        assert (await a.client.get(f"{a.server.url}/bot1:x/getMe")).status_code == 401
        assert (await a.client.get(f"{a.server.url}/botx/getMe")).status_code == 404
        assert (await a.ask("noSuchMethod"))[0] == 404
