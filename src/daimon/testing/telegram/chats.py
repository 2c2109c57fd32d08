"""The people on the other side: what they see, and what they do.

    chats.says(ANNA, "hello")              a message in the chat of the two
    chats.says(ANNA, "@bot hi", GROUP)     one in a group; names and commands are marked as Telegram marks them
    chats.seen(ANNA.id)                    what the bot said there, in order, as it is shown

Whatever they do becomes an update in the queue.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count

from pydantic import JsonValue

from daimon.testing.telegram.html import Entity, units
from daimon.testing.telegram.queue import Queue

_MARKED = re.compile(r"(?P<bot_command>(?:^|(?<=\s))/\w+(?:@\w+)?)|(?P<mention>@\w{3,})")
STARTED = 1_770_000_000


@dataclass(frozen=True, slots=True)
class Person:
    id: int
    first_name: str
    is_bot: bool = False
    username: str = ""

    @property
    def wire(self) -> dict[str, JsonValue]:
        named: dict[str, JsonValue] = {"username": self.username} if self.username else {}
        base: dict[str, JsonValue] = {"id": self.id, "is_bot": self.is_bot, "first_name": self.first_name}
        return base | named


BOT = Person(4_242, "Daimon", is_bot=True, username="daimon_test_bot")
ANNA = Person(1_001, "Anna")
BEN = Person(1_002, "Ben", username="ben_the_guest")
GROUP = -5_005
SUPERGROUP = -1_001_234_567_890


@dataclass(frozen=True, slots=True)
class Shown:
    """A message of the bot, as people see it."""

    chat: int
    id: int
    text: str
    entities: tuple[Entity, ...] = ()
    buttons: tuple[tuple[str, str], ...] = ()
    """What stands on it, and what the bot is told."""
    topic: int | None = None
    kind: str = "text"
    name: str = ""
    data: bytes = b""
    is_edited: bool = False

    @property
    def wire(self) -> dict[str, JsonValue]:
        topic: dict[str, JsonValue] = {"message_thread_id": self.topic, "is_topic_message": True} if self.topic else {}
        base: dict[str, JsonValue] = {"message_id": self.id, "from": BOT.wire, "chat": chat_of(self.chat), "date": STARTED}
        return base | topic | {"text": self.text}


class Chats:
    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._ids = count(1)
        self._numbers = count(1)
        self.shown: dict[tuple[int, int], Shown] = {}
        self.files: dict[str, bytes] = {}
        self.answered: dict[str, str] = {}
        """What was told to whoever pressed, by query."""
        self.actions: list[tuple[int, str]] = []
        self.blocked: set[int] = set()
        self.moved: dict[int, int] = {}

    def seen(self, chat: int) -> tuple[Shown, ...]:
        return tuple(s for s in self.shown.values() if s.chat == chat)

    def show(self, shown: Shown) -> Shown:
        placed = replace(shown, id=next(self._ids))
        self.shown[placed.chat, placed.id] = placed
        return placed

    def change(self, shown: Shown) -> None:
        self.shown[shown.chat, shown.id] = shown

    def says(self, who: Person, text: str, chat: int | None = None, **more: JsonValue) -> int:
        """The number of the message. `more` is put into it as it is."""
        return self._tell("message", self._message(who, chat or who.id) | {"text": text} | _marks("entities", text) | more)

    def sends(self, who: Person, kind: str, data: bytes, caption: str = "", **more: JsonValue) -> int:
        """A file: `document`, `voice`, `audio`, `video`; a `photo` comes in two sizes."""
        file: dict[str, JsonValue] = {"file_id": self._file(data), "file_size": len(data), **more}
        small: dict[str, JsonValue] = {"file_id": self._file(data[:4]), "width": 90, "height": 90, "file_size": 4}
        media: JsonValue = [small, file | {"width": 800, "height": 800}] if kind == "photo" else file
        words: dict[str, JsonValue] = {"caption": caption, **_marks("caption_entities", caption)} if caption else {}
        return self._tell("message", self._message(who, who.id) | {kind: media} | words)

    def edits(self, who: Person, message: int, text: str, chat: int | None = None) -> None:
        edited = self._message(who, chat or who.id) | {"message_id": message, "text": text, "edit_date": STARTED + 60}
        self._queue.put("edited_message", edited)

    def presses(self, who: Person, shown: Shown, button: int) -> str:
        """The id of the query."""
        query = f"query-{next(self._numbers)}"
        said = self.shown[shown.chat, shown.id].buttons[button][1]
        self._queue.put("callback_query", {"id": query, "from": who.wire, "message": shown.wire, "chat_instance": "1", "data": said})
        return query

    def reacts(self, who: Person, shown: Shown, emoji: str, before: str = "") -> None:
        self._queue.put("message_reaction", {
            "chat": chat_of(shown.chat), "message_id": shown.id, "user": who.wire, "date": STARTED,
            "old_reaction": [{"type": "emoji", "emoji": before}] if before else [],
            "new_reaction": [{"type": "emoji", "emoji": emoji}] if emoji else [],
        })  # fmt: skip

    def _message(self, who: Person, chat: int) -> dict[str, JsonValue]:
        return {"message_id": next(self._ids), "from": who.wire, "chat": chat_of(chat), "date": STARTED}

    def _tell(self, kind: str, message: Mapping[str, JsonValue]) -> int:
        self._queue.put(kind, message)
        number = message["message_id"]
        assert isinstance(number, int)
        return number

    def _file(self, data: bytes) -> str:
        name = f"file-{next(self._numbers)}"
        self.files[name] = data
        return name


def chat_of(chat: int) -> dict[str, JsonValue]:
    if chat > 0:
        return {"id": chat, "type": "private"}
    return {"id": chat, "type": "supergroup" if chat < -1_000_000_000_000 else "group", "title": "Family"}


def _marks(name: str, text: str) -> dict[str, JsonValue]:
    marks: list[JsonValue] = [
        {"type": found.lastgroup, "offset": units(text[: found.start()]), "length": units(found[0])} for found in _MARKED.finditer(text)
    ]
    return {name: marks} if marks else {}
