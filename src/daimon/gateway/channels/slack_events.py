"""What Slack tells, as arrivals. Pure, but for the files that a message brings.

A message is named by its channel and `ts` wherever it comes from: an event, a second event (`app_mention` beside `message`), or the
history that is read after a long absence. So each is taken in once. In a channel the answer goes to the thread of the message; in a
chat of two to the chat itself, or to the thread that the other side opened.
"""

import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from html import unescape

from pydantic import JsonValue

from daimon.abi.channel import Message, Pressed, Reacted
from daimon.abi.message import Content, Text

Event = dict[str, JsonValue]
Keep = Callable[[Event], Awaitable[Content]]
SIGNS = {
    "+1": "👍", "thumbsup": "👍", "white_check_mark": "✅", "heavy_check_mark": "✅", "ok_hand": "👌",
    "-1": "👎", "thumbsdown": "👎", "x": "❌", "no_entry": "⛔", "octagonal_sign": "🛑",
}  # fmt: skip
WORDS = frozenset({None, "file_share", "thread_broadcast", "me_message"})
"""Kinds of messages that somebody says; the rest tells who joined, what was pinned and the like."""
MOST_FILES = 20


def place_of(channel: str, thread: str) -> str:
    return f"{channel}/{thread}" if thread else channel


def split_place(place: str) -> tuple[str, str]:
    channel, _, thread = place.partition("/")
    return channel, thread


async def message_of(event: Event, bot: str, keep: Keep, *, is_chat: bool) -> Message | None:
    """`is_chat`: of two. None: nobody said anything, or the bot itself did."""
    match event:
        case {"subtype": "message_changed", "message": dict(inner), "channel": str(channel)}:
            earlier = event.get("previous_message")
            if isinstance(earlier, dict) and earlier.get("text") == inner.get("text"):
                return None  # a link was unfurled
            made = await message_of({**inner, "channel": channel, "subtype": None}, bot, keep, is_chat=is_chat)
            edited = inner.get("edited")
            when = str(edited.get("ts", "")) if isinstance(edited, dict) else str(event.get("ts", ""))
            return made and _replaced(made, when)
        case {"user": str(user), "ts": str(ts), "channel": str(channel)} if user != bot and _is_words(event):
            return await _said(event, (channel, ts, user), bot, keep, is_chat)
        case _:
            return None


def _is_words(event: Event) -> bool:
    return event.get("subtype") in WORDS and "bot_id" not in event


async def _said(event: Event, names: tuple[str, str, str], bot: str, keep: Keep, is_chat: bool) -> Message:
    channel, ts, user = names
    thread, text = str(event.get("thread_ts") or ""), str(event.get("text") or "")
    is_to_bot = is_chat or f"<@{bot}>" in text or event.get("parent_user_id") == bot
    files = event.get("files")
    named: list[Content] = []
    if is_to_bot and isinstance(files, list):
        named = [await keep(file) for file in files[:MOST_FILES] if isinstance(file, dict)]
        if len(files) > MOST_FILES:
            named.append(Text(f"[{len(files) - MOST_FILES} more files are not shown]"))
    words = readable(text, bot)
    return Message(
        key=f"{channel}:{ts}", place=place_of(channel, thread or ("" if is_chat else ts)), sender=user, at=moment(ts),
        parts=((Text(words),) if words else ()) + tuple(named), ref=ts, answers=thread if thread != ts else "",
        is_group=not is_chat, is_direct=is_to_bot,
    )  # fmt: skip


def _replaced(made: Message, when: str) -> Message:
    return Message(
        key=f"{made.key}:{when}", place=made.place, sender=made.sender, at=made.at, parts=made.parts, ref=made.ref, answers=made.answers,
        is_group=made.is_group, is_direct=made.is_direct, replaces=made.ref,
    )  # fmt: skip


def reaction_of(event: Event, bot: str) -> Reacted | None:
    match event:
        case {
            "user": str(user),
            "reaction": str(name),
            "event_ts": str(at),
            "item": {"channel": str(channel), "ts": str(ts)},
        }:
            sign = SIGNS.get(name.partition("::")[0], "")
            if user == bot or not sign:
                return None
            return Reacted(key=f"{channel}:{ts}:{user}:{at}", place=channel, sender=user, at=moment(at), sign=sign, ref=ts)
        case _:
            return None


def press_of(payload: Event) -> Pressed | None:
    match payload:
        case {
            "type": "block_actions", "user": {"id": str(user)}, "channel": {"id": str(channel)}, "message": {"ts": str(ts), **message},
            "actions": [{"value": str(code), "action_ts": str(at)}, *_],
        }:  # fmt: skip
            thread = message.get("thread_ts")
            place = place_of(channel, thread if isinstance(thread, str) else "")
            return Pressed(key=f"{channel}:{ts}:{user}:{at}", place=place, sender=user, at=moment(at), code=code, ref=ts)
        case _:
            return None


def readable(text: str, bot: str) -> str:
    """Slack's notation as people read it; the bot's own name is taken out."""
    text = re.sub(rf"<@{re.escape(bot)}(\|[^>]*)?>[:,]?\s*", "", text)
    return unescape(re.sub(r"<([^<>|]*)(?:\|([^<>]*))?>", _link, text)).strip()


def _link(found: re.Match[str]) -> str:
    target, shown = found[1], found[2] or ""
    if target.startswith(("@", "#", "!")):
        return f"{target[0].replace('!', '@')}{shown.lstrip('@#') or target[1:].partition('^')[0]}"
    target = target.removeprefix("mailto:")
    return f"{shown} ({target})" if shown and shown != target else target


def moment(ts: str) -> datetime:
    try:
        return datetime.fromtimestamp(float(ts), UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)
