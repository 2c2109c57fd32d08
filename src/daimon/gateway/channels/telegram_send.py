"""One piece to one chat of Telegram.

A piece goes out in one call. Where Telegram refuses the call, nothing went out: so the same piece may be tried in a plainer way (text whose
HTML it cannot read as plain text, a picture that it cannot show as a file) or at the group's new address, and is still sent once.
"""

import re
from html import unescape

from pydantic import JsonValue

from daimon.abi.channel import Attachment, Piece, Receipt
from daimon.abi.errors import NotFound, NotSent
from daimon.abi.message import Audio, File, Image
from daimon.abi.ports import Store
from daimon.gateway.channels.telegram_api import BotApi, Done, Refused, Upload

MOST_BYTES = 50_000_000
"""Of a file, as Telegram lets bots send."""
_MOST_PHOTO_BYTES = 10_000_000
_PHOTOS = ("image/jpeg", "image/png", "image/webp")
_VOICES = ("audio/ogg", "audio/opus")
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")


class Sender:
    def __init__(self, api: BotApi, store: Store) -> None:
        self._api = api
        self._store = store
        self._moved: dict[str, str] = {}
        """Groups that have another id now. Forgotten by a restart: then Telegram says it once more."""

    async def send(self, piece: Piece, to: str) -> Receipt:
        chat, topic = split_place(to)
        args: dict[str, JsonValue] = {"chat_id": self._moved.get(chat, chat)}
        if topic:
            args["message_thread_id"] = topic
        if piece.choices:
            rows: list[JsonValue] = [[{"text": c.text, "callback_data": c.code}] for c in piece.choices]
            args["reply_markup"] = {"inline_keyboard": rows}
        upload = await self._upload(piece.attachment) if piece.attachment else None
        answer = await self._ask(args | _worded(piece), upload)
        if isinstance(answer, Refused) and answer.moved_to is not None:
            self._moved[chat] = args["chat_id"] = str(answer.moved_to)
            answer = await self._ask(args | _worded(piece), upload)
        match answer:
            case Refused():
                raise _not_sent(answer, to)
            case Done(result):
                return Receipt("sent", _ref(result))

    async def _ask(self, args: dict[str, JsonValue], upload: Upload | None) -> Done | Refused:
        answer = await self._api.ask(f"send{upload.field.title()}" if upload else "sendMessage", args, upload)
        if not isinstance(answer, Refused) or answer.status != 400 or answer.moved_to is not None:
            return answer
        if "can't parse entities" in answer.why.lower() and "parse_mode" in args:
            return await self._ask(_plain(args), upload)
        if upload and upload.field != "document" and "chat not found" not in answer.why.lower():
            return await self._ask(args, Upload("document", upload.name, upload.media_type, upload.data))
        return answer

    async def _upload(self, attachment: Attachment) -> Upload:
        try:
            data = await self._store.get(attachment.blob)
        except NotFound as error:
            raise NotSent(f"a file to send is not there any more: {error}", is_lasting=True) from error
        name = _name(attachment)
        if len(data) > MOST_BYTES:
            raise NotSent(f"{name} has {len(data)} bytes; Telegram takes at most {MOST_BYTES} of a bot", is_lasting=True)
        return Upload(_field(attachment, len(data)), name, attachment.media_type, data)


def split_place(place: str) -> tuple[str, int | None]:
    found = re.fullmatch(r"(-?\d+)(?:/(\d+))?", place, re.ASCII)
    if found is None:
        raise NotSent(f"{place!r} is no chat of Telegram; it is a number such as 123456 or -100123/7", is_lasting=True)
    return found[1], int(found[2]) if found[2] else None


def _worded(piece: Piece) -> dict[str, JsonValue]:
    if not piece.text:
        return {}
    if piece.attachment:
        return {"caption": piece.text, "parse_mode": "HTML"}
    return {"text": piece.text, "parse_mode": "HTML", "link_preview_options": {"is_disabled": True}}


def readable(html: str) -> str:
    """What people see of it."""
    return unescape(_TAG.sub("", html))


def _plain(args: dict[str, JsonValue]) -> dict[str, JsonValue]:
    kept = {name: value for name, value in args.items() if name != "parse_mode"}
    for name in ("text", "caption"):
        if isinstance(written := kept.get(name), str):
            kept[name] = readable(written)
    return kept


def _field(attachment: Attachment, size: int) -> str:
    if isinstance(attachment, Image) and attachment.media_type in _PHOTOS and size <= _MOST_PHOTO_BYTES:
        return "photo"
    if isinstance(attachment, Audio) and attachment.media_type in _VOICES:
        return "voice"
    return "document"


def _name(attachment: Attachment) -> str:
    if isinstance(attachment, File):
        return attachment.name
    kind, _, form = attachment.media_type.partition("/")
    return f"{kind}.{form.partition(';')[0].partition('+')[0] or 'bin'}"


def _not_sent(refused: Refused, to: str) -> NotSent:
    if refused.status == 403:
        return NotSent(f"the chat {to} is closed to the bot, until somebody there opens it again: {refused.why}", is_lasting=True)
    return NotSent(f"Telegram refused a message to {to} ({refused.status}): {refused.why}", is_lasting=True)


def _ref(result: JsonValue) -> str:
    match result:
        case {"message_id": int(number), "chat": {"id": int(chat)}}:
            return f"{chat}/{number}"
        case _:
            return ""
