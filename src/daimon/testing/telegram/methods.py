"""The methods of the Bot API that an agent uses, with what they refuse and in whose words."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from pydantic import JsonValue

from daimon.testing.telegram.arguments import Arguments
from daimon.testing.telegram.chats import BOT, Chats, Shown
from daimon.testing.telegram.html import Entity, Unparsed, parse, units

_LONGEST, _LONGEST_CAPTION, _LONGEST_DATA = 4096, 1024, 64
_MOST_FILE_BYTES = 20_000_000
_SIGNS = ("👍", "👎", "❤", "🔥", "👀", "🎉", "🤔", "👌")


class Refusal(Exception):
    def __init__(self, status: int, why: str, parameters: Mapping[str, JsonValue] | None = None) -> None:
        super().__init__(why)
        self.status = status
        self.why = why
        self.parameters = parameters or {}


class Methods:
    def __init__(self, chats: Chats) -> None:
        self._chats = chats
        self._table: dict[str, Callable[[Arguments], JsonValue]] = {
            "getMe": lambda _: BOT.wire,
            "sendMessage": self._message,
            "sendPhoto": lambda a: self._file(a, "photo"),
            "sendDocument": lambda a: self._file(a, "document"),
            "sendVoice": lambda a: self._file(a, "voice"),
            "editMessageText": self._edit,
            "editMessageReplyMarkup": self._edit_keys,
            "answerCallbackQuery": self._answer,
            "sendChatAction": self._action,
            "setMessageReaction": self._react,
            "getFile": self._get_file,
        }

    def call(self, method: str, args: Arguments) -> JsonValue:
        """Raises Refusal."""
        if method not in self._table:
            raise Refusal(404, "Not Found: method not found")
        return self._table[method](args)

    def _message(self, args: Arguments) -> JsonValue:
        chat = self._chat(args)
        text, entities = _worded(args, "text", _LONGEST)
        if not text.strip():
            raise Refusal(400, "Bad Request: message text is empty")
        return self._show(args, Shown(chat, 0, text, entities))

    def _file(self, args: Arguments, kind: str) -> JsonValue:
        chat = self._chat(args)
        upload = args.files.get(kind)
        if upload is None:
            raise Refusal(400, f"Bad Request: there is no {kind} in the request")
        if kind == "photo" and not upload.data.startswith((b"\xff\xd8\xff", b"\x89PNG", b"RIFF")):
            raise Refusal(400, "Bad Request: IMAGE_PROCESS_FAILED")
        text, entities = _worded(args, "caption", _LONGEST_CAPTION)
        return self._show(args, Shown(chat, 0, text, entities, kind=kind, name=upload.name, data=upload.data))

    def _show(self, args: Arguments, shown: Shown) -> JsonValue:
        topic = args.number("message_thread_id") or None
        return self._chats.show(replace(shown, topic=topic, buttons=_keys(args))).wire

    def _edit(self, args: Arguments) -> JsonValue:
        shown = self._shown(args)
        text, entities = _worded(args, "text", _LONGEST)
        self._chats.change(replace(shown, text=text, entities=entities, buttons=_keys(args), is_edited=True))
        return shown.wire

    def _edit_keys(self, args: Arguments) -> JsonValue:
        shown = self._shown(args)
        if shown.buttons == (keys := _keys(args)):
            raise Refusal(400, "Bad Request: message is not modified")
        self._chats.change(replace(shown, buttons=keys))
        return shown.wire

    def _answer(self, args: Arguments) -> JsonValue:
        query = args.text("callback_query_id")
        if query in self._chats.answered:
            raise Refusal(400, "Bad Request: query is too old and response timeout expired or query ID is invalid")
        self._chats.answered[query] = args.text("text")
        return True

    def _action(self, args: Arguments) -> JsonValue:
        self._chats.actions.append((self._chat(args), args.text("action")))
        return True

    def _react(self, args: Arguments) -> JsonValue:
        self._shown(args)
        for sign in signs if isinstance(signs := args.json("reaction"), list) else ():
            if not isinstance(sign, dict) or sign.get("emoji") not in _SIGNS:
                raise Refusal(400, "Bad Request: REACTION_INVALID")
        return True

    def _get_file(self, args: Arguments) -> JsonValue:
        file_id = args.text("file_id")
        data = self._chats.files.get(file_id)
        if data is None:
            raise Refusal(400, "Bad Request: invalid file_id")
        if len(data) > _MOST_FILE_BYTES:
            raise Refusal(400, "Bad Request: file is too big")
        return {"file_id": file_id, "file_size": len(data), "file_path": f"documents/{file_id}"}

    def _chat(self, args: Arguments) -> int:
        given = args.text("chat_id")
        if not re.fullmatch(r"-?\d+", given):
            raise Refusal(400, "Bad Request: chat not found")
        chat = int(given)
        if chat in self._chats.blocked:
            raise Refusal(403, "Forbidden: bot was blocked by the user" if chat > 0 else "Forbidden: bot was kicked from the group chat")
        if chat in self._chats.moved:
            moved: dict[str, JsonValue] = {"migrate_to_chat_id": self._chats.moved[chat]}
            raise Refusal(400, "Bad Request: group chat was upgraded to a supergroup chat", moved)
        return chat

    def _shown(self, args: Arguments) -> Shown:
        shown = self._chats.shown.get((self._chat(args), args.number("message_id")))
        if shown is None:
            raise Refusal(400, "Bad Request: message to edit not found")
        return shown


def _worded(args: Arguments, name: str, longest: int) -> tuple[str, tuple[Entity, ...]]:
    written, mode = args.text(name), args.text("parse_mode")
    if mode not in ("", "HTML"):
        raise Refusal(400, "Bad Request: unsupported parse_mode")
    try:
        text, entities = parse(written) if mode else (written, ())
    except Unparsed as error:
        raise Refusal(400, f"Bad Request: can't parse entities: {error}") from None
    if units(text) > longest:
        raise Refusal(400, f"Bad Request: message {'caption ' if name == 'caption' else ''}is too long")
    return text.strip(), entities


def _keys(args: Arguments) -> tuple[tuple[str, str], ...]:
    match args.json("reply_markup"):
        case {"inline_keyboard": list(rows)}:
            keys = [_key(key) for row in rows if isinstance(row, list) for key in row]
            return tuple(keys)
        case None:
            return ()
        case _:
            raise Refusal(400, "Bad Request: object expected as reply markup")


def _key(key: JsonValue) -> tuple[str, str]:
    match key:
        case {"text": str(text), "callback_data": str(data)} if text and 0 < len(data.encode()) <= _LONGEST_DATA:
            return text, data
        case _:
            raise Refusal(400, "Bad Request: BUTTON_DATA_INVALID")
