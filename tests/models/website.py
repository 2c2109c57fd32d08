"""A web server that is no model provider, or not quite one: fixed answers by path."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from pydantic import JsonValue

HOST = "127.0.0.1"


@dataclass(frozen=True)
class Page:
    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


def said(value: JsonValue, status: int = 200) -> Page:
    return Page(json.dumps(value).encode(), status, {"Content-Type": "application/json"})


WELCOME = Page(b"<html><body>Welcome</body></html>", 200, {"Content-Type": "text/html"})


def events(*pieces: bytes) -> Page:
    return Page(b"".join(pieces), 200, {"Content-Type": "text/event-stream"})


def chunk(delta: Mapping[str, JsonValue], finish: str | None = None, **more: JsonValue) -> bytes:
    """An event of OpenAI's chat."""
    choice: JsonValue = {"index": 0, "delta": dict(delta), "finish_reason": finish}
    return (
        b"data: "
        + json.dumps({"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice], **more}).encode()
        + b"\n\n"
    )


NOWHERE = said({"error": "no such path"}, 404)


@dataclass
class Website:
    port: int = 0
    paths: list[str] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    """Of the requests, with their headers as they came."""

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"


@asynccontextmanager
async def website(pages: Mapping[str, Page], other: Page = NOWHERE) -> AsyncIterator[Website]:
    site = Website()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = (await reader.readuntil(b"\r\n\r\n")).decode()
        sizes = [line.partition(":")[2] for line in request.lower().split("\r\n") if line.startswith("content-length:")]
        await reader.readexactly(int(sizes[0]) if sizes else 0)
        path = request.split(" ")[1].partition("?")[0]
        site.paths.append(path)
        site.heads.append(request)
        page = pages.get(path, other)
        head = [f"HTTP/1.1 {page.status} Said", f"Content-Length: {len(page.body)}", "Connection: close"]
        head += [f"{name}: {value}" for name, value in page.headers.items()]
        writer.write("\r\n".join([*head, "", ""]).encode() + page.body)
        with suppress(ConnectionError):  # who has enough hangs up
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, HOST, 0)
    site.port = server.sockets[0].getsockname()[1]
    async with server:
        yield site
