"""What people and tools hand to a model, as far as this model can take it; the rest is named in brackets.

A model that cannot take a thing must still learn that it is there, and a request must not fail because of it: an image of a kind
that the provider refuses would make every later call of the conversation fail too.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from daimon.abi.errors import NotFound
from daimon.abi.ids import BlobHash
from daimon.abi.message import Audio, File, Image, Message, Part, Reasoning, Text, ToolCall, ToolResult
from daimon.abi.plain import clean
from daimon.abi.ports import Store

if TYPE_CHECKING:
    from pydantic_ai.messages import BinaryContent

MOST_CHARACTERS = 100_000
"""Of a text file."""
IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
"""What all providers with eyes take."""
SOUNDS = frozenset({"audio/wav", "audio/x-wav", "audio/mpeg", "audio/mp3"})
PDF = "application/pdf"
_TEXTS = frozenset(
    f"application/{kind}"
    for kind in ("csv", "ecmascript", "javascript", "json", "sql", "toml", "x-httpd-php", "x-ndjson", "x-sh", "x-yaml", "xml", "yaml")
)

Thing = Image | Audio | File


@dataclass(frozen=True, slots=True)
class Senses:
    """What a model takes besides text."""

    images: bool = False
    sounds: bool = False
    documents: bool = False

    def take(self, thing: Thing) -> bool:
        match thing:
            case Image():
                return self.images and thing.media_type in IMAGES
            case Audio():
                return self.sounds and thing.media_type in SOUNDS and not thing.transcript
            case File():
                return self.documents and thing.media_type == PDF
            case _:
                assert_never(thing)


async def fetched(messages: Iterable[Message], senses: Senses, store: Store) -> dict[BlobHash, bytes]:
    """The bytes of all that will be sent. What is gone is left out, and will be named instead."""
    blobs: dict[BlobHash, bytes] = {}
    for thing in _things(part for message in messages for part in message.parts):
        if thing.blob not in blobs and (senses.take(thing) or _is_text(thing)):
            try:
                blobs[thing.blob] = await store.get(thing.blob)
            except NotFound:
                continue
    return blobs


def _things(parts: Iterable[Part]) -> Iterator[Thing]:
    for part in parts:
        if isinstance(part, ToolResult):
            yield from _things(part.parts)
        elif isinstance(part, Image | Audio | File):
            yield part


def shown(parts: Sequence[Part], senses: Senses, blobs: Mapping[BlobHash, bytes]) -> "list[str | BinaryContent]":
    """For the wire. Reasoning and calls are the model's own and have no place here."""
    from pydantic_ai.messages import BinaryContent

    items: list[str | BinaryContent] = []
    for part in parts:
        match part:
            case Text():
                items.append(clean(part.text))
            case Image() | Audio() | File():
                data = blobs.get(part.blob) if senses.take(part) else None
                items.append(BinaryContent(data, media_type=part.media_type) if data else named(part, blobs))
            case Reasoning() | ToolCall() | ToolResult():
                pass
            case _:
                assert_never(part)
    return [item for item in items if item]


def named(thing: Thing, blobs: Mapping[BlobHash, bytes]) -> str:
    """In words: the text of it if it has one, else what it is."""
    match thing:
        case Image():
            return f"[image, {thing.media_type}{_colon(thing.description)}]"
        case Audio():
            return f"[spoken] {clean(thing.transcript)}" if thing.transcript else f"[audio, {thing.media_type}{_length(thing.duration_s)}]"
        case File():
            return _file(thing, blobs.get(thing.blob))
        case _:
            assert_never(thing)


def _colon(text: str) -> str:
    return f": {clean(text)}" if text else ""


def _length(seconds: float | None) -> str:
    return "" if seconds is None else f", {seconds:.0f} s"


def _file(file: File, data: bytes | None) -> str:
    name = clean(file.name)
    if data is None or not _is_text(file):
        return f"[file {name}, {file.media_type}, {file.size} bytes]"
    text = data.decode("utf-8", "replace")
    cut = f"\n[cut: the first {MOST_CHARACTERS} of {len(text)} characters]" if len(text) > MOST_CHARACTERS else ""
    return f"[file {name}]\n{text[:MOST_CHARACTERS]}{cut}\n[end of file {name}]"


def _is_text(thing: Thing) -> bool:
    kind = thing.media_type.partition(";")[0].strip().lower()
    return isinstance(thing, File) and (kind.startswith("text/") or kind in _TEXTS or kind.endswith(("+json", "+xml", "+yaml")))
