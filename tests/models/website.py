"""A web server that is no model provider, or not quite one: fixed answers by path."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
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
NOWHERE = said({"error": "no such path"}, 404)


@dataclass
class Website:
    port: int = 0
    paths: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"


@asynccontextmanager
async def website(pages: Mapping[str, Page], other: Page = NOWHERE) -> AsyncIterator[Website]:
    site = Website()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = (await reader.readuntil(b"\r\n\r\n")).decode()
        path = request.split(" ")[1].partition("?")[0]
        site.paths.append(path)
        page = pages.get(path, other)
        head = [f"HTTP/1.1 {page.status} Said", f"Content-Length: {len(page.body)}", "Connection: close"]
        head += [f"{name}: {value}" for name, value in page.headers.items()]
        writer.write("\r\n".join([*head, "", ""]).encode() + page.body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, HOST, 0)
    site.port = server.sockets[0].getsockname()[1]
    async with server:
        yield site
