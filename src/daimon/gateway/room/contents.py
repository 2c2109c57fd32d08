"""What is in events and steps, as text and files for the page."""

import json
from collections.abc import Iterable

from pydantic import JsonValue

from daimon.abi.event import Answer, Erased, Event, Fired, FromAgent, Heartbeat, Late, Said, Stop, Webhook
from daimon.abi.message import Audio, File, Image, Part, Text
from daimon.abi.step import Happened, Intended, Replied, Step
from daimon.gateway.room.markdown import without_turning
from daimon.gateway.room.transcript import Attachment


def said(event: Event) -> str:
    """What an event brought, in words."""
    match event.body:
        case Said(parts=parts) | FromAgent(parts=parts):
            return text_of(parts)
        case Webhook(service=what, data=data, task=task) | Heartbeat(job=what, data=data, task=task):
            return "\n".join(filter(None, (task or what, "" if data is None else as_json(data))))
        case Fired(about=about):
            return about
        case Late(data=data):
            return as_json(data)
        case Answer(choice=choice, text=text):
            return f"{choice} {text}".strip()
        case Stop(reason=reason):
            return reason
        case Erased(reason=reason):
            return f"erased: {reason}"


def told_by(parts: Iterable[Part]) -> str:
    """What a tool returned, out of the form in which models get it."""
    text = text_of(parts)
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return as_json(unwrapped(told))


def unwrapped(told: JsonValue) -> JsonValue:
    """The data of an outcome that was good, the words of one that was not; anything else as it is."""
    match told:
        case {"data": data}:
            return data
        case {"ok": False, "error": {"message": str(message)}}:
            return message
        case _:
            return told


def whole(step: Step) -> str:
    """The text of a step of which a part is shown."""
    match step.body:
        case Happened(result=result):
            return told_by(result.parts)
        case Intended(arguments=arguments):
            return as_json(arguments)
        case Replied(parts=parts):
            return text_of(parts)
        case _:
            return ""


def as_json(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def text_of(parts: Iterable[Part]) -> str:
    return "".join(part.text for part in parts if isinstance(part, Text))


def files(parts: Iterable[Part]) -> tuple[Attachment, ...]:
    return tuple(_file(part) for part in parts if isinstance(part, Image | Audio | File))


def _file(part: Image | Audio | File) -> Attachment:
    match part:
        case File(blob=blob, name=name, media_type=media_type, size=size):
            return Attachment("file", blob, media_type, without_turning(name), size)
        case Image(blob=blob, media_type=media_type, description=description):
            return Attachment("image", blob, media_type, without_turning(description) or "image")
        case Audio(blob=blob, media_type=media_type):
            return Attachment("audio", blob, media_type, "audio")
