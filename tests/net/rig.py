"""A proxy on loopback with servers behind it and raw clients in front of it."""

import asyncio
import logging
import socket
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from daimon.abi.box import Place
from daimon.abi.label import Label, owned
from daimon.abi.secret import Injection
from daimon.machine.clock import SystemClock
from daimon.net.bounds import Bounds
from daimon.net.egress import Egress
from daimon.testing.certificates import Certificates
from daimon.testing.upstream import Upstream

DEADLINE_S = 60.0
LABEL = owned("terminal")
VALUE = b"sk-real/value+of=40bytes-0123456789abcdefg"
PLACEHOLDER = b"dmn_placeholder_0123456789abcdefghijklmnop"[: len(VALUE)].ljust(len(VALUE), b"x")
CERTIFICATES = Certificates()
"""Making keys takes longer than most tests."""
HOSTS = ("secure.test", "api.test", "other.test", "evil.test")
SERVING = CERTIFICATES.serving(*HOSTS)


class Mistakes(logging.Handler):
    """What the proxy says of itself. A test in which it says anything has failed."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


class Names:
    """A resolver that says what it is told to, and remembers who was asked for."""

    def __init__(self, names: Mapping[str, Sequence[str]] | None = None) -> None:
        self.names = dict(names or {})
        self.asked: list[str] = []

    async def resolve(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        if host not in self.names:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return self.names[host]


def key(*hosts: str, name: str = "api_key", placeholder: bytes = PLACEHOLDER, value: bytes = VALUE) -> Injection:
    return Injection(name, placeholder, value, hosts or ("api.test",))


@dataclass
class Rig:
    egress: Egress
    port: int
    plain: Upstream
    """open.test, other.test, evil.test on port 80."""
    secure: Upstream
    """The same and secure.test, api.test on port 443."""
    serving: asyncio.Task[None]
    names: Names
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    def open(self, *places: Place | str, secrets: Sequence[Injection] = (), label: Label = LABEL):
        return self.egress.open([Place(p) if isinstance(p, str) else p for p in places], secrets, label)

    async def connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        self.writers.append(writer)
        return reader, writer

    async def said(self, data: bytes, is_ended: bool = True) -> bytes:
        """What the proxy answers to these bytes until it ends the connection; empty too where it was reset."""
        reader, writer = await self.connected()
        writer.write(data)
        if is_ended:
            writer.write_eof()
        return await drained(reader)

    async def tunnelled(
        self, host: str, port: int = 443, *, name: str | None = None, trusted: ssl.SSLContext | None = None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A client inside of TLS inside of a tunnel. `trusted` is whom it believes; None: the proxy's own authority."""
        reader, writer = await self.connected()
        writer.write(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), DEADLINE_S)
        assert head.startswith(b"HTTP/1.1 200 "), head
        context = trusted or ssl.create_default_context(cadata=self.egress.authority_pem.decode())
        context.verify_flags |= ssl.VERIFY_X509_STRICT  # as later Pythons do by themselves
        await asyncio.wait_for(writer.start_tls(context, server_hostname=name or host), DEADLINE_S)
        return reader, writer

    async def inside(self, host: str, data: bytes, **options) -> bytes:
        """What comes back until the end for bytes that were said inside of TLS."""
        reader, writer = await self.tunnelled(host, **options)
        writer.write(data)
        return await drained(reader)


async def drained(reader: asyncio.StreamReader) -> bytes:
    kept = bytearray()
    async with asyncio.timeout(DEADLINE_S):
        try:
            while data := await reader.read(65536):
                kept += data
        except (ConnectionError, ssl.SSLError):
            pass
    return bytes(kept)


@asynccontextmanager
async def rigged(
    bounds: Bounds | None = None, names: Names | None = None, local: Mapping[str, tuple[str, int]] | None = None, clock=None
) -> AsyncIterator[Rig]:
    async with AsyncExitStack() as stack:
        plain = await stack.enter_async_context(Upstream())
        secure = await stack.enter_async_context(Upstream(SERVING))
        known = dict.fromkeys(HOSTS, ("127.0.0.1", secure.port)) | {
            "open.test": ("127.0.0.1", plain.port),
            "elsewhere.test": ("127.0.0.1", plain.port),
        }
        listener = socket.create_server(("127.0.0.1", 0))
        names = names or Names()
        egress = Egress(
            resolver=names,
            local={**known, **(local or {})},
            clock=clock or SystemClock(),
            bounds=bounds or Bounds(),
            context=CERTIFICATES.trusting(),
        )
        mistakes, log = Mistakes(), logging.getLogger("daimon.net")
        log.addHandler(mistakes)
        stack.callback(log.removeHandler, mistakes)
        serving = asyncio.create_task(egress.serve(listener))
        rig = Rig(egress, listener.getsockname()[1], plain, secure, serving, names)
        try:
            yield rig
        finally:
            for writer in rig.writers:
                writer.close()
            assert not serving.done(), "the way out ended by itself"
            serving.cancel()
            await asyncio.wait([serving])
            assert mistakes.said == []


async def until(claim, what: str) -> None:
    """Lets others run until the claim holds."""
    async with asyncio.timeout(DEADLINE_S):
        while not claim():  # noqa: ASYNC110 - what is waited for happens in another part, which tells nobody
            await asyncio.sleep(0.001)
    assert claim(), what
