"""What is there already: keys in the environment, and model servers on this machine.

A server is recognised by what it answers, not by its port alone: half the world's web servers sit on 8080 and 8000. All ports are
asked at once, over plain sockets, so that a look loads no library. Where nobody listens the system says so at once; who listens may be
busy with a model and gets seconds, so that the same look finds the same server on a machine under load. Nothing is sent but a GET for the
list of models, and nothing leaves the machine.
"""

import asyncio
import ipaddress
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from pydantic import JsonValue

from daimon.models.vendors import VENDORS

WAIT_S = 5.0
MOST_BYTES = 4 * 1024 * 1024
OLLAMA, ANY = "ollama", "compatible"
_OWNERS = {"organization_owner": "lmstudio", "organization-owner": "lmstudio", "llamacpp": "llamacpp", "vllm": "vllm", "library": OLLAMA}
"""How servers sign the models in an OpenAI list."""
_EVERY_ADDRESS = ("", "0.0.0.0", "localhost")  # noqa: S104 - where a server listens, not where we do


@dataclass(frozen=True, slots=True)
class Place:
    vendor: str
    """Who usually listens there."""
    host: str
    port: int

    @property
    def netloc(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.netloc}/v1"


@dataclass(frozen=True, slots=True)
class Key:
    vendor: str
    variable: str


@dataclass(frozen=True, slots=True)
class Server:
    vendor: str
    base_url: str
    models: tuple[str, ...]


def keys(environment: Mapping[str, str]) -> tuple[Key, ...]:
    """The first variable of each vendor that holds something, in the order of the table."""
    found = []
    for name, vendor in VENDORS.items():
        if not vendor.needs_key:
            continue  # a key is no sign of a server
        variable = next((variable for variable in vendor.variables if environment.get(variable, "").strip()), None)
        if variable is not None:
            found.append(Key(name, variable))
    return tuple(found)


def places(environment: Mapping[str, str]) -> tuple[Place, ...]:
    """Where servers of this machine usually listen, or where the owner's variables say that they do. Other machines are not asked."""
    found = []
    for vendor in VENDORS.values():
        said = next((environment[name] for name in vendor.address_variables if environment.get(name)), None)
        place = _place(vendor.name, said or vendor.base_url or "") if vendor.is_local else None
        if place is not None:
            found.append(place)
    return tuple(found)


def _place(vendor: str, address: str) -> Place | None:
    """`http://127.0.0.1:8000/v1`, `0.0.0.0:11434`, `:11434`. None: elsewhere, or no address."""
    try:
        parts = urlsplit(address if "//" in address else f"//{address}")
        host, port = parts.hostname or "", parts.port
        if host in _EVERY_ADDRESS:
            host = "127.0.0.1"
        usual = urlsplit(VENDORS[vendor].base_url or "").port
        return Place(vendor, host, port or usual or 80) if ipaddress.ip_address(host).is_loopback else None
    except ValueError:
        return None


async def servers(places: Sequence[Place], wait_s: float = WAIT_S) -> tuple[Server, ...]:
    async with asyncio.TaskGroup() as tasks:
        asked = [tasks.create_task(_look(place, wait_s)) for place in places]
    return tuple(server for task in asked if (server := task.result()) is not None)


async def _look(place: Place, wait_s: float) -> Server | None:
    path = "/api/tags" if place.vendor == OLLAMA else "/v1/models"
    try:
        async with asyncio.timeout(wait_s):
            listed = json.loads(await _get(place, path))
    except (TimeoutError, OSError, ValueError, asyncio.IncompleteReadError, RecursionError):
        return None
    named = _ollama(listed) if place.vendor == OLLAMA else _openai(listed, place.vendor)
    return None if named is None else Server(named[0], place.url, named[1])


async def _get(place: Place, path: str) -> bytes:
    """The body of a plain answer. HTTP/1.0, so that nobody answers in chunks. Raises ValueError for anything but 200."""
    reader, writer = await asyncio.open_connection(place.host, place.port)
    try:
        writer.write(f"GET {path} HTTP/1.0\r\nHost: {place.netloc}\r\nAccept: application/json\r\n\r\n".encode())
        status, *lines = (await _head(reader)).split("\r\n")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if status.split(" ")[1:2] != ["200"]:
            raise ValueError(status)
        return await _body(reader, headers.get("content-length"))
    finally:
        writer.close()


async def _head(reader: asyncio.StreamReader) -> str:
    try:
        return (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.LimitOverrunError:
        raise ValueError("a head without an end") from None


async def _body(reader: asyncio.StreamReader, length: str | None) -> bytes:
    if length is not None:
        return await reader.readexactly(min(int(length), MOST_BYTES))
    body = b""
    while len(body) < MOST_BYTES and (more := await reader.read(65_536)):
        body += more
    return body


def _ollama(listed: JsonValue) -> tuple[str, tuple[str, ...]] | None:
    rows = listed.get("models") if isinstance(listed, dict) else None
    return None if (models := _names(rows, "name")) is None else (OLLAMA, models)


def _openai(listed: JsonValue, usual: str) -> tuple[str, tuple[str, ...]] | None:
    """Who it is and what it has. An empty list is signed by nobody: then the port speaks."""
    if not isinstance(listed, dict) or listed.get("object") != "list":
        return None
    rows = listed.get("data")
    models = _names(rows, "id")
    if models is None or not isinstance(rows, list):
        return None
    owners = {row.get("owned_by") for row in rows if isinstance(row, dict)}
    known = [vendor for owner, vendor in _OWNERS.items() if owner in owners]
    return (known[0] if known else ANY if models else usual), models


def _names(rows: JsonValue, field: str) -> tuple[str, ...] | None:
    if not isinstance(rows, list):
        return None
    names = [row.get(field) if isinstance(row, dict) else None for row in rows]
    return tuple(name for name in names if isinstance(name, str)) if all(isinstance(name, str) for name in names) else None
