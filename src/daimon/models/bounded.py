"""An end to what a provider may send, so that no answer fills the memory.

Counted is what is there after decompression, piece by piece as it comes: a small body may unpack to a large one. An event of a
stream has bounds of its own, in bytes and in lines, since the libraries put it together in memory, the more slowly the more lines it
has. What exceeds a bound ends as `ProviderFailed`, whoever is reading.
"""

import re
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

from daimon.models.endpoint import Endpoint
from daimon.models.failures import too_much

if TYPE_CHECKING:
    from httpx2 import Response

MEGABYTE = 1024 * 1024
MOST_ERROR_BYTES = MEGABYTE
MOST_LIST_BYTES = 16 * MEGABYTE
MOST_STREAM_BYTES = 64 * MEGABYTE
MOST_EVENT_BYTES = 8 * MEGABYTE
MOST_EVENT_LINES = 1_000
_OK = 200
_BLANK = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_LINE_ENDS = b"\r\n"


def bound(response: "Response", counted: "Callable[[Response], AsyncIterator[bytes]]") -> None:
    """Before anybody reads it: from now on its body is unpacked and counted."""
    import httpx2

    packed = httpx2.Response(response.status_code, headers=response.headers, stream=response.stream, request=response.request)

    class Unpacked(httpx2.AsyncByteStream):
        def __aiter__(self) -> AsyncIterator[bytes]:
            return counted(packed)

        async def aclose(self) -> None:
            await packed.aclose()

    response.headers.pop("content-encoding", None)
    response.stream = Unpacked()


def answer(response: "Response", endpoint: Endpoint) -> AsyncIterator[bytes]:
    """The pieces of what comes for a request: a stream of events, or an error."""
    return events(response, endpoint) if response.status_code == _OK else at_most(response, endpoint, MOST_ERROR_BYTES)


async def events(response: "Response", endpoint: Endpoint) -> AsyncIterator[bytes]:
    """The pieces of a stream of events."""
    size = lines = 0
    end = b""  # a blank line may begin in one piece and end in the next
    async for piece in at_most(response, endpoint, MOST_STREAM_BYTES):
        text = end + piece
        for n, event in enumerate(_BLANK.split(text)):
            size, lines = (size, lines) if n == 0 else (0, 0)
            size += len(event)
            lines += event.count(b"\n") + event.count(b"\r")
            if size > MOST_EVENT_BYTES or lines > MOST_EVENT_LINES:
                raise too_much(endpoint, f"an event of more than {MOST_EVENT_BYTES // MEGABYTE} MB or {MOST_EVENT_LINES} lines")
        end = text[len(text.rstrip(_LINE_ENDS)) :][-3:]
        yield piece


async def at_most(response: "Response", endpoint: Endpoint, most_bytes: int) -> AsyncIterator[bytes]:
    """The pieces of a body. An error is not billed, however long."""
    size = 0
    async for piece in response.aiter_bytes():
        size += len(piece)
        if max(size, response.num_bytes_downloaded) > most_bytes:
            raise too_much(endpoint, f"more than {most_bytes // MEGABYTE} MB", was_sent=response.status_code == _OK)
        yield piece
