"""Telegram, by its Bot API: updates are fetched, or posted to us.

An update is acknowledged only when `Reception.take` has returned: fetching, by a higher offset in the next question; posted to, by status
200. Killed at any moment in between, the same update comes again, and is recognised by its key, BOT/UPDATE. The offset is kept beside, so
that after a restart all but the one in work are not even fetched again; it is kept for each bot, and for a day, since Telegram forgets
updates after a day, and numbers them anew after a week without any: an older offset would skip what it does not mean. For the same reason
an offset that Telegram has heard is not said again.

Posted updates come one after another (`max_connections` 1), so in order. The secret that Telegram shows with them is made from the token:
there is nothing to keep, and it changes with the token.

What Telegram has and this does not know: who may speak, what a code means, and, since the Bot API has no key for a send, whether one
that broke in the middle went out (`repeat` is never; `telegram_api.py` says which failures are certain).
"""

import asyncio
import hashlib
import hmac
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NoReturn

from pydantic import JsonValue

from daimon.abi.channel import Piece, Receipt, Reception, Traits
from daimon.abi.errors import JournalFailed, LockedOut, NotSent
from daimon.abi.ports import Clock, Outgoing, Store
from daimon.abi.tool import Rate
from daimon.gateway.channels.telegram_api import BotApi, Line
from daimon.gateway.channels.telegram_desk import Desk
from daimon.gateway.channels.telegram_send import Sender, readable, split_place
from daimon.gateway.channels.telegram_wire import User
from daimon.gateway.notation.split import units
from daimon.gateway.notation.telegram import render
from daimon.gateway.pieces import Form, cut

_FORM = Form(4096, render, lambda html: units(readable(html)), has_buttons=True)
"""Telegram counts units of UTF-16, without the markup."""
SECRET_HEADER = "x-telegram-bot-api-secret-token"
_WANTED: list[JsonValue] = ["message", "edited_message", "callback_query", "message_reaction"]
_POLL_S = 50
_LOOK_S = 600.0
"""So often the webhook is set again: a token that was revoked shows, and so does a webhook that somebody else has set."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Bot:
    api: str = "https://api.telegram.org"
    by: Literal["polling", "webhook"] = "polling"
    public_url: str = ""
    """Where we are reached from outside; for `webhook`."""
    answer_s: float = 30.0
    """So long an answer is waited for; then it is not known whether what was asked was done."""


@dataclass(frozen=True, slots=True)
class _Open:
    """What posts are taken with, while somebody serves."""

    reception: Reception
    me: User
    secret: str


class TelegramChannel:
    name = "telegram"
    # A group takes 20 messages a minute; there Telegram itself asks for pauses, since a place does not show that it is a group.
    traits = Traits(repeat="never", has_buttons=True, rate=Rate(30, 1.0), place_rate=Rate(1, 1.0))

    def __init__(self, bot: Bot, token: Callable[[], str], clock: Clock, store: Store) -> None:
        self._bot = bot
        self._clock = clock
        self._api = BotApi(bot.api, token, bot.answer_s)
        self._sender = Sender(self._api, store)
        self._open: _Open | None = None
        self._one_by_one = asyncio.Lock()
        self._failed: dict[str, int] = {}
        """How often a file did not come, so that one which never does cannot stop all that is behind it."""

    # -- going out

    def pieces(self, message: Outgoing) -> tuple[Piece, ...]:
        return cut(message, _FORM)

    async def send(self, piece: Piece, to: str, key: str) -> Receipt:
        return await self._sender.send(piece, to)

    async def find(self, piece: Piece, to: str, key: str) -> Receipt | None:
        return None  # a bot cannot look at what it sent

    async def show(self, to: str, doing: Literal["thinking", "nothing"]) -> None:
        if doing == "nothing":
            return  # it ends by itself, after five seconds or with the answer
        try:
            chat, topic = split_place(to)
            await self._api.ask("sendChatAction", {"chat_id": chat, "action": "typing"} | ({"message_thread_id": topic} if topic else {}))
        except (NotSent, LockedOut, ConnectionError) as error:
            _log.debug("that somebody is at work was not shown: %s", error)

    # -- coming in

    async def serve(self, reception: Reception) -> None:
        if self._bot.by == "webhook" and not self._bot.public_url:
            raise LockedOut("it is set to be posted to (by = webhook), but gateway.public_url is not set; set it, or by = polling")
        async with self._api.line() as line:
            me = User.model_validate(await line.do("getMe", {}))
            if self._bot.by == "polling":
                await line.do("deleteWebhook", {"drop_pending_updates": False})
                await self._poll(line, Desk(line, reception, me, self._clock, self._failed))
            else:
                self._open = _Open(reception, me, _secret(self._api.token))
                try:
                    await self._stay(line, self._open.secret)
                finally:
                    self._open = None

    async def posted(self, headers: Mapping[str, str], body: bytes) -> int:
        """What Telegram posts to /hooks/telegram; the status to answer with. Anything but 200 makes Telegram post it again."""
        shown = next((value for name, value in headers.items() if name.lower() == SECRET_HEADER), "")
        if (opened := self._open) is None:
            return 503
        if not hmac.compare_digest(shown.encode(), opened.secret.encode()):
            return 403
        try:
            update = json.loads(body)
        except ValueError:
            return 400
        try:  # not on the line of `serve`, which may end while this is under way
            async with self._one_by_one, self._api.line() as line:
                await Desk(line, opened.reception, opened.me, self._clock, self._failed).handle(update)
        except (JournalFailed, NotSent, LockedOut, ConnectionError) as error:
            _log.warning("an update of Telegram was not taken in and will come again: %s", error)
            return 503
        return 200

    async def _poll(self, line: Line, desk: Desk) -> NoReturn:
        offset = await desk.recall()
        while True:
            args: dict[str, JsonValue] = {"timeout": _POLL_S, "allowed_updates": _WANTED}
            found = await line.do("getUpdates", args | ({"offset": offset} if offset else {}), answer_s=_POLL_S + 15)
            offset = 0
            for update in found if isinstance(found, list) else ():
                await desk.handle(update)
                if number := _number(update):
                    offset = number + 1
                    await desk.remember(offset)

    async def _stay(self, line: Line, secret: str) -> NoReturn:
        args: dict[str, JsonValue] = {
            "url": f"{self._bot.public_url.rstrip('/')}/hooks/telegram",
            "secret_token": secret,
            "allowed_updates": _WANTED,
            "max_connections": 1,
        }
        while True:
            await line.do("setWebhook", args)
            await self._clock.sleep(_LOOK_S)


def _secret(token: str) -> str:
    return hmac.new(token.encode(), b"webhook of daimon", hashlib.sha256).hexdigest()


def _number(update: JsonValue) -> int:
    match update:
        case {"update_id": int(number)}:
            return number
        case _:
            return 0
