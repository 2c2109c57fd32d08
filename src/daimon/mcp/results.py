"""What a server answered to a call, as a result of ours: text, structured content, and what is no text as blobs.

An answer that says of itself that it is an error becomes `ToolFailed`, in the server's own words. What is too long is cut and says so.
"""

import base64
import binascii
import json
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from daimon.abi.errors import ToolFailed
from daimon.abi.message import Audio, Content, File, Image
from daimon.abi.plain import clean, mended
from daimon.abi.ports import Store
from daimon.abi.tool import Result, Touched

if TYPE_CHECKING:
    import mcp_types as types

MOST_TEXT = 200_000
MOST_PARTS = 50


async def result_of(server: str, answer: "types.CallToolResult", blobs: Store, touched: tuple[Touched, ...]) -> Result:
    """Raises ToolFailed for an answer that is an error."""
    texts, attached, parts = await taken(answer.content, blobs)
    text = "\n".join(texts)
    if answer.is_error:
        raise ToolFailed("failed", f"the server {server} says: {clean(text)[:4_000] or 'nothing about why'}")
    data: dict[str, JsonValue] = {}
    if answer.structured_content is not None:
        data["structured"] = answer.structured_content
    if text and not _is_the_same(text, answer.structured_content):
        data["text"] = cut(text)
    if attached:
        data["attached"] = attached
    return Result(mended(data or {"text": ""}), parts, touched=touched)


async def taken(content: "list[Any]", blobs: Store) -> tuple[list[str], list[JsonValue], tuple[Content, ...]]:
    """Texts, a word on each thing besides, and those things."""
    texts: list[str] = []
    attached: list[JsonValue] = []
    parts: list[Content] = []
    for block in content[:MOST_PARTS]:
        match block.type:
            case "text":
                texts.append(block.text)
            case "image" | "audio":
                parts += await _kept(block.type, block.data, block.mime_type, attached, blobs)
            case "resource_link":
                attached.append({"resource": clean(str(block.uri))[:500], "name": clean(block.name)[:200]})
            case "resource":
                parts += await resource(block.resource, texts, attached, blobs)
            case _:
                attached.append(f"something of the kind {clean(str(block.type))[:40]}, which is not known here")
    if len(content) > MOST_PARTS:
        attached.append(f"{len(content) - MOST_PARTS} more parts were left out")
    return texts, attached, tuple(parts)


async def resource(found: Any, texts: list[str], attached: list[JsonValue], blobs: Store) -> list[Content]:
    """A text is a text; bytes are a file."""
    if (text := getattr(found, "text", None)) is not None:
        texts.append(text)
        return []
    return await _kept("file", found.blob, found.mime_type or "application/octet-stream", attached, blobs, clean(str(found.uri)))


def cut(text: str) -> str:
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}\n… {len(text) - MOST_TEXT:,} characters were left out"


async def _kept(kind: str, data: str, media_type: str, attached: list[JsonValue], blobs: Store, name: str = "") -> list[Content]:
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        attached.append(f"{kind}: it cannot be decoded")
        return []
    media = clean(media_type)[:100]
    attached.append(f"{kind}, {media}, {len(raw):,} bytes")
    blob = await blobs.put(raw)
    match kind:
        case "image":
            return [Image(blob, media)]
        case "audio":
            return [Audio(blob, media)]
        case _:
            return [File(blob, name.rpartition("/")[2][:200] or "file", media, len(raw))]


def _is_the_same(text: str, structured: Any) -> bool:
    """Servers say structured content once more as text, for who cannot read it."""
    if structured is None:
        return False
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return isinstance(structured, dict) and list(structured) == ["result"] and structured["result"] == text
    return bool(said == structured or (isinstance(structured, dict) and list(structured) == ["result"] and structured["result"] == said))
