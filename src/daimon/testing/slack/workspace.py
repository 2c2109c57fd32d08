"""People, conversations and messages of a workspace, as its members see them, and the events that an app is told of."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

from pydantic import JsonValue

Event = dict[str, JsonValue]
BOT, ANNA, BEN = "U0BOT", "U1ANNA", "U2BEN"
CHAT, CHANNEL = "D1ANNA", "C1TEAM"
FIRST = 1_780_000_000


@dataclass
class Conversation:
    id: str
    is_im: bool
    messages: list[Event] = field(default_factory=list)


class Workspace:
    def __init__(self, tell: Callable[[str, Event], None], first: int = FIRST) -> None:
        """`first`: the time of the first message, in seconds."""
        self._tell = tell
        self._moments = count(first * 1_000_000, 1_500_000)
        self.conversations = {CHAT: Conversation(CHAT, True), CHANNEL: Conversation(CHANNEL, False)}
        self.files: dict[str, bytes] = {}
        self.titles: dict[str, str] = {}

    def ts(self) -> str:
        moment = next(self._moments)
        return f"{moment // 1_000_000}.{moment % 1_000_000:06d}"

    # -- what people do

    def says(self, user: str, channel: str, text: str, thread: str = "", **more: JsonValue) -> str:
        event = self._put(channel, {"type": "message", "user": user, "text": text, **_thread(thread), **more})
        kind = "im" if self.conversations[channel].is_im else "channel"
        told: Event = {**event, "channel": channel, "channel_type": kind}
        if thread and (parent := self.find(channel, thread)):
            told["parent_user_id"] = parent["user"]
        self._tell("events_api", told)
        if f"<@{BOT}>" in text and kind != "im":
            self._tell("events_api", {**told, "type": "app_mention"})
        return str(event["ts"])

    def attaches(self, user: str, channel: str, name: str, data: bytes, url: str) -> str:
        id_ = f"F{len(self.files)}"
        self.files[id_] = data
        file: Event = {"id": id_, "name": name, "mimetype": "application/octet-stream", "size": len(data)}
        return self.says(user, channel, "", subtype="file_share", files=[{**file, "url_private_download": f"{url}/{id_}"}])

    def edits(self, user: str, channel: str, ts: str, text: str) -> None:
        message = self.find(channel, ts)
        assert message is not None
        before, when = dict(message), self.ts()
        message |= {"text": text, "edited": {"user": user, "ts": when}}
        self._tell(
            "events_api",
            {"type": "message", "subtype": "message_changed", "channel": channel, "ts": when, "message": dict(message),
             "previous_message": before, "channel_type": "im" if self.conversations[channel].is_im else "channel"},
        )  # fmt: skip

    def reacts(self, user: str, channel: str, ts: str, name: str) -> None:
        item: Event = {"type": "message", "channel": channel, "ts": ts}
        self._tell("events_api", {"type": "reaction_added", "user": user, "reaction": name, "item": item, "event_ts": self.ts()})

    def presses(self, user: str, channel: str, text: str) -> None:
        for message in reversed(self.conversations[channel].messages):
            for button in buttons(message):
                if button.get("text") == {"type": "plain_text", "text": text}:
                    action: Event = {"action_id": button["action_id"], "value": button["value"], "action_ts": self.ts()}
                    shown: Event = {"type": "block_actions", "user": {"id": user}, "channel": {"id": channel}}
                    self._tell("interactive", {**shown, "message": dict(message), "actions": [action]})
                    return
        raise AssertionError(f"no button says {text!r}")

    # -- what the bot did

    def posts(self, channel: str, said: Event) -> Event:
        return self._put(channel, {"type": "message", "user": BOT, "bot_id": "B0", **said})

    def seen(self, channel: str) -> list[Event]:
        return [message for message in self.conversations[channel].messages if message.get("user") == BOT]

    def find(self, channel: str, ts: str) -> Event | None:
        return next((message for message in self.conversations[channel].messages if message["ts"] == ts), None)

    def _put(self, channel: str, said: Event) -> Event:
        event: Event = {**said, "ts": self.ts()}
        self.conversations[channel].messages.append(event)
        return event


def buttons(message: Event) -> list[Event]:
    found: list[Event] = []
    blocks = message.get("blocks")
    for block in blocks if isinstance(blocks, list) else ():
        match block:
            case {"type": "actions", "elements": list(elements)}:
                found += [each for each in elements if isinstance(each, dict)]
            case _:
                pass
    return found


def _thread(thread: str) -> Event:
    return {"thread_ts": thread} if thread else {}
