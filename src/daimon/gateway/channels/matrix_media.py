"""Attachments, between the content of a Matrix event and parts of a message."""

from collections import Counter
from typing import assert_never

import httpx2

from daimon.abi.channel import Attachment, Reception
from daimon.abi.errors import NotSent, RetryLater
from daimon.abi.message import Audio, Content, File, Image, Text
from daimon.gateway.channels.matrix_line import Line
from daimon.gateway.channels.matrix_wire import Json, inner, number, text

KINDS = ("m.image", "m.audio", "m.video", "m.file")
_TRIES = 3
"""A file that its server cannot hand out must not hold up everything that was said after it."""


class Media:
    def __init__(self, line: Line) -> None:
        self._line = line
        self._failed: Counter[str] = Counter()

    async def parts(self, content: Json, reception: Reception) -> tuple[Content, ...]:
        """What cannot be had is named in words instead."""
        name = text(content, "filename") or text(content, "body") or "file"
        caption = text(content, "body") if text(content, "filename") not in ("", text(content, "body")) else ""
        words = (Text(caption),) if caption else ()
        size, most = number(inner(content, "info"), "size") or 0, reception.most_bytes
        if size > most:
            return (*words, Text(f"[file {name!r} of {size} bytes was not taken: no file may be larger than {most} bytes]"))
        if not text(content, "url"):
            return (*words, Text(f"[file {name!r} is encrypted and cannot be read here]"))
        data = await self._fetch(text(content, "url"), most)
        if isinstance(data, str):
            return (*words, Text(f"[file {name!r} was not taken: {data}]"))
        return (*words, await self._part(content, name, data, reception))

    async def _fetch(self, uri: str, most: int) -> bytes | str:
        """The bytes, or why there are none."""
        try:
            data = await self._line.download(uri, most)
        except RetryLater:
            raise
        except NotSent as error:
            return str(error)
        except httpx2.HTTPStatusError as error:
            self._failed[uri] += 1
            if self._failed[uri] < _TRIES:
                raise
            return f"the homeserver answered {error.response.status_code}, {_TRIES} times"
        return f"it is larger than {most} bytes" if data is None else data

    async def _part(self, content: Json, name: str, data: bytes, reception: Reception) -> Content:
        info = inner(content, "info")
        media_type = text(info, "mimetype") or "application/octet-stream"
        blob = await reception.keep(data)
        match text(content, "msgtype"):
            case "m.image":
                return Image(blob, media_type, name)
            case "m.audio":
                duration = number(info, "duration")
                return Audio(blob, media_type, None if duration is None else duration / 1_000)
            case _:
                return File(blob, name, media_type, len(data))


def named(attachment: Attachment) -> str:
    match attachment:
        case Image(_, media_type, description):
            return description or f"image.{_suffix(media_type, 'png')}"
        case Audio(_, media_type):
            return f"voice.{_suffix(media_type, 'ogg')}"
        case File(_, name):
            return name
    assert_never(attachment)


def content_of(attachment: Attachment, uri: str, size: int) -> Json:
    """Of the event that shows it."""
    info: Json = {"mimetype": attachment.media_type, "size": size}
    shown: Json = {"body": named(attachment), "url": uri, "info": info}
    match attachment:
        case Image():
            return {"msgtype": "m.image", **shown}
        case Audio(duration_s=duration):
            if duration is not None:
                info["duration"] = round(duration * 1_000)
            voice = {"org.matrix.msc3245.voice": {}, "org.matrix.msc1767.audio": {"duration": info.get("duration", 0)}}
            return {"msgtype": "m.audio", **shown, **voice}
        case File(name=name):
            return {"msgtype": "m.video" if attachment.media_type.startswith("video/") else "m.file", "filename": name, **shown}
    assert_never(attachment)


def _suffix(media_type: str, otherwise: str) -> str:
    end = media_type.partition("/")[2].partition(";")[0]
    return end if end.isalnum() else otherwise
