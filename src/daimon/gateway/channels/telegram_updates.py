"""Updates of Telegram as arrivals: who, where, to whom, and what.

Pure, except for the files that a message names: they are asked of a `Fetch`. Who hides behind a chat (an anonymous admin, a linked channel)
has that chat's id as sender, with `chat:` before it: nobody's contact, so a stranger. What bots say is dropped, so that two of them never
talk to each other without end. In a group it is said to the agent when it names the agent, answers it, or is a command with its name; the
name is then taken out. Files of what was not said to the agent are not fetched.

A place is CHAT, or CHAT/TOPIC in a group with topics. A `ref` is CHAT/MESSAGE, since numbers of messages are unique only within a chat.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from daimon.abi.channel import Message, Pressed, Reacted
from daimon.abi.ids import BlobHash
from daimon.abi.message import Audio, Content, File, Image, Text
from daimon.gateway.channels.telegram_wire import Chat, Entity, Media, Note, Query, Reaction, User


@dataclass(frozen=True, slots=True)
class Kept:
    blob: BlobHash
    size: int


Fetch = Callable[[str, Media], Awaitable[Kept | str]]
"""The file that this sender attached, on disk; or why it is not."""


def place_of(note: Note) -> str:
    # Any answer in a supergroup has a thread id; only in a topic is it a place.
    topic = f"/{note.message_thread_id}" if note.is_topic_message and note.message_thread_id else ""
    return f"{note.chat.id}{topic}"


def ref_of(chat: Chat, message_id: int) -> str:
    return f"{chat.id}/{message_id}"


async def message(key: str, note: Note, me: User, fetch: Fetch) -> Message | None:
    """None: nobody said anything."""
    sender = _who(note.sender, note.sender_chat)
    is_walking = note.location is not None and note.edit_date  # a shared place is said anew at every step
    if sender is None or is_walking:
        return None
    is_group = note.chat.type != "private"
    answered = _answered(note)
    words, is_named = _words(note, me)
    is_direct = not is_group or is_named or bool(answered and answered.sender and answered.sender.id == me.id)
    parts = await _parts(note, words, partial(fetch, sender) if is_direct else _not_fetched)
    if not parts:
        return None
    ref = ref_of(note.chat, note.message_id)
    return Message(
        key=key,
        place=place_of(note),
        sender=sender,
        parts=parts,
        at=_at(note.edit_date or note.date),
        name=note.sender_chat.title if note.sender_chat else note.sender.name if note.sender else "",
        ref=ref,
        answers=ref_of(answered.chat, answered.message_id) if answered else "",
        is_group=is_group,
        is_direct=is_direct,
        replaces=ref if note.edit_date else "",
        has_others_words=note.forward_origin is not None,
    )


def pressed(key: str, query: Query, now: datetime) -> Pressed | None:
    if query.message is None or not query.data:
        return None
    ref = ref_of(query.message.chat, query.message.message_id)
    return Pressed(
        key=key, place=place_of(query.message), sender=str(query.sender.id), at=now, code=query.data, ref=ref, name=query.sender.name
    )


def reacted(key: str, reaction: Reaction) -> tuple[Reacted, ...]:
    """Signs that were put on; one that was taken away says nothing."""
    sender = _who(reaction.user, reaction.actor_chat)
    if sender is None:
        return ()
    before = {sign.emoji for sign in reaction.old_reaction}
    return tuple(
        Reacted(
            key=f"{key}/{n}" if n else key,
            place=str(reaction.chat.id),
            sender=sender,
            at=_at(reaction.date),
            sign=emoji,
            ref=ref_of(reaction.chat, reaction.message_id),
            name=reaction.user.name if reaction.user else "",
        )
        for n, emoji in enumerate(s.emoji for s in reaction.new_reaction if s.type == "emoji" and s.emoji not in before)
    )


def _who(user: User | None, chat: Chat | None) -> str | None:
    if chat:
        return f"chat:{chat.id}"
    return None if user is None or user.is_bot else str(user.id)


def _answered(note: Note) -> Note | None:
    """In a topic all messages that answer nothing answer the message that opened it."""
    answered = note.reply_to_message
    is_opening = answered is not None and note.is_topic_message and answered.message_id == note.message_thread_id
    return None if is_opening else answered


def _words(note: Note, me: User) -> tuple[str, bool]:
    """What was said without the agent's name, and whether that was in it."""
    raw = (note.text or note.caption).encode("utf-16-le")
    mine = [cut for e in (note.entities or note.caption_entities) if (cut := _naming(e, raw, me))]
    for start, end in sorted(mine, reverse=True):
        raw = raw[: 2 * start] + raw[2 * end :]
    words = raw.decode("utf-16-le", errors="replace")
    return (words.strip() if mine else words), bool(mine)


def _naming(entity: Entity, raw: bytes, me: User) -> tuple[int, int] | None:
    """From where to where the entity names the agent."""
    start, end = entity.offset, entity.offset + entity.length
    text = raw[2 * start : 2 * end].decode("utf-16-le", errors="replace")
    name = f"@{me.username}".lower()
    match entity.type:
        case "mention" if text.lower() == name:
            return start, end
        case "text_mention" if entity.user and entity.user.id == me.id:
            return start, end
        case "bot_command" if text.lower().endswith(name):
            return end - len(name), end
        case _:
            return None


async def _parts(note: Note, words: str, fetch: Callable[[Media], Awaitable[Kept | str]]) -> tuple[Content, ...]:
    lines = [_forwarded(note), words, *_told(note)]
    files: list[Content] = []
    for media, kind, name in _media(note):
        got = await fetch(media)
        if isinstance(got, str):
            lines.append(f"[{name}, {_size(media.file_size)}: {got}]")
        else:
            files.append(_file(media, kind, name, got))
    text = "\n".join(line for line in lines if line)
    return (*((Text(text),) if text.strip() else ()), *files)


def _media(note: Note) -> list[tuple[Media, str, str]]:
    found: list[tuple[Media, str, str]] = []
    if note.photo:
        found.append((max(note.photo, key=lambda p: (p.width * p.height, p.file_size)), "image/jpeg", "photo.jpg"))
    if note.voice:
        found.append((note.voice, "audio/ogg", "voice.ogg"))
    if note.audio:
        found.append((note.audio, "audio/mpeg", note.audio.file_name or "audio"))
    moving = note.animation or note.video or note.video_note
    if moving:
        found.append((moving, "video/mp4", moving.file_name or "video.mp4"))
    if note.document and not note.animation:  # an animation is given as a document, too
        found.append((note.document, "application/octet-stream", note.document.file_name or "file"))
    return found


def _file(media: Media, kind: str, name: str, kept: Kept) -> Content:
    media_type = media.mime_type or kind
    if kind == "image/jpeg":
        return Image(kept.blob, media_type)
    if kind.startswith("audio/"):
        return Audio(kept.blob, media_type, media.duration)
    return File(kept.blob, name, media_type, kept.size)


def _told(note: Note) -> list[str]:
    """What is neither text nor file."""
    told: list[str] = []
    if note.sticker:
        told.append(f"[sticker {note.sticker.emoji}]".replace(" ]", "]"))
    if note.venue:
        told.append(f"[place {note.venue.title}, {note.venue.address}]")
    if note.location:
        told.append(f"[location {note.location.latitude}, {note.location.longitude}]")
    if note.contact:
        told.append(f"[contact {note.contact.first_name} {note.contact.last_name}, {note.contact.phone_number}]".replace(" ,", ","))
    if note.poll:
        told.append(f"[poll {note.poll.question}]")
    return told


def _forwarded(note: Note) -> str:
    return f"[forwarded from {note.forward_origin.name or 'somebody'}]" if note.forward_origin else ""


async def _not_fetched(_: Media) -> str:
    return "not fetched"


def _size(count: int) -> str:
    return f"{count / 1_000_000:.1f} MB" if count else "of unknown size"


def _at(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
