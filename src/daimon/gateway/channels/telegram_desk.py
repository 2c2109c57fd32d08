"""One update of Telegram after another, taken in.

An update may be acknowledged when `handle` has returned; when it raises, it must come again. What cannot be read is left out with a word in
the log, since it would come again for ever. So is a file that did not come for the third time: it is named in the text instead.
"""

import logging
from datetime import UTC, datetime, timedelta

from pydantic import JsonValue, ValidationError

from daimon.abi.channel import Arrival, Reception
from daimon.abi.errors import NotSent, TooLarge
from daimon.abi.ports import Clock
from daimon.gateway.channels import telegram_updates as updates
from daimon.gateway.channels.telegram_api import Done, Line, Refused
from daimon.gateway.channels.telegram_wire import Media, Query, Update, User

_FETCH_TRIES = 3
_MOST_SHOWN = 200
"""Characters that Telegram shows to whoever pressed a button."""
_log = logging.getLogger(__name__)


class Desk:
    """Updates, while somebody serves."""

    def __init__(self, line: Line, reception: Reception, me: User, clock: Clock, failed: dict[str, int]) -> None:
        self._line = line
        self._reception = reception
        self._me = me
        self._clock = clock
        self._failed = failed

    async def recall(self) -> int:
        number, _, at = (await self._reception.recall("telegram", self._slot)).partition(" ")
        is_young = bool(at) and self._clock.now() - datetime.fromtimestamp(int(at), UTC) < timedelta(days=1)
        return int(number) if is_young else 0

    async def remember(self, offset: int) -> None:
        await self._reception.remember("telegram", self._slot, f"{offset} {int(self._clock.now().timestamp())}")

    @property
    def _slot(self) -> str:
        return f"offset/{self._me.id}"

    async def handle(self, raw: JsonValue) -> None:
        """Returns when it may be acknowledged."""
        try:
            update = Update.model_validate(raw)
        except ValidationError as error:
            _log.warning(
                "an update of Telegram cannot be read and is left out: %d faults, the first at %s", error.error_count(), _where(error)
            )
            return
        key = f"{self._me.id}/{update.update_id}"
        if update.callback_query:
            await self._press(key, update.callback_query)
            return
        for arrival in await self._arrivals(key, update):
            await self._reception.take(arrival)

    async def _arrivals(self, key: str, update: Update) -> tuple[Arrival, ...]:
        if update.message_reaction:
            return updates.reacted(key, update.message_reaction)
        note = update.message or update.edited_message
        arrival = await updates.message(key, note, self._me, self._fetch) if note else None
        return (arrival,) if arrival else ()

    async def _press(self, key: str, query: Query) -> None:
        arrival = updates.pressed(key, query, self._clock.now())
        answer = await self._reception.take(arrival) if arrival else ""
        shown: dict[str, JsonValue] = {"callback_query_id": query.id}
        await self._try("answerCallbackQuery", shown | ({"text": answer[:_MOST_SHOWN]} if answer else {}))
        if answer and query.message:  # a stranger's finger changes nothing
            keyless: JsonValue = {"inline_keyboard": []}
            where: dict[str, JsonValue] = {"chat_id": query.message.chat.id, "message_id": query.message.message_id}
            await self._try("editMessageReplyMarkup", where | {"reply_markup": keyless})

    async def _try(self, method: str, args: dict[str, JsonValue]) -> None:
        """What may fail without harm: a query that is too old, a message that is gone."""
        try:
            await self._line.ask(method, args, answer_s=10)
        except (NotSent, ConnectionError) as error:
            _log.debug("%s", error)

    async def _fetch(self, sender: str, media: Media) -> updates.Kept | str:
        if not await self._reception.is_known(sender):
            return "not fetched"
        most = self._reception.most_bytes
        if media.file_size > most:
            return "too large to be fetched"
        try:
            data = await self._bytes(media.file_id, most)
            return "could not be fetched" if data is None else updates.Kept(await self._reception.keep(data), len(data))
        except TooLarge:
            return "too large to be kept"
        except (NotSent, ConnectionError):
            self._failed[media.file_id] = self._failed.get(media.file_id, 0) + 1
            if self._failed[media.file_id] < _FETCH_TRIES:
                raise
            del self._failed[media.file_id]
            return "could not be fetched"

    async def _bytes(self, file_id: str, most: int) -> bytes | None:
        match await self._line.ask("getFile", {"file_id": file_id}):
            case Done({"file_path": str(path)}):
                return await self._line.fetch(path, most)
            case Done() | Refused():
                return None


def _where(error: ValidationError) -> str:
    return ".".join(str(part) for part in error.errors()[0]["loc"])
