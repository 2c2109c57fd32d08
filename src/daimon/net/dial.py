"""Connections to sites.

A name is resolved once; all its addresses are checked; and it is one of these very addresses that is connected to. A second look at the
name could give another answer. What the owner mapped by hand is not looked up and not checked.
"""

import asyncio
import socket
import ssl
from collections.abc import Mapping, Sequence
from functools import cached_property
from ipaddress import ip_address

from daimon.abi.errors import Misconfigured
from daimon.abi.ports import Clock
from daimon.net import guard
from daimon.net.bounds import Bounds
from daimon.net.refusal import Refusal
from daimon.net.resolve import Resolver
from daimon.net.rest import Rest
from daimon.net.site import Site
from daimon.net.stream import Plain, Stream
from daimon.net.tls import Sealed

Local = Mapping[str, tuple[str, int]]
"""Names that the owner mapped by hand. Port 0: the one that was asked for."""


class Dialler:
    def __init__(self, resolver: Resolver, local: Local, clock: Clock, bounds: Bounds, context: ssl.SSLContext | None) -> None:
        self._resolver = resolver
        self._local = {host.lower(): (_plain(host, address), port) for host, (address, port) in local.items()}
        self._bounds = bounds
        self._rest = Rest(clock, bounds)
        self._given = context

    async def connect(self, site: Site) -> Plain:
        """Raises Refusal."""
        self._rest.check(site.host)
        addresses, port = await self._addresses(site)
        why: Exception | None = None
        for address in addresses[: self._bounds.addresses]:
            try:
                connection = await self._to(address, port)
            except OSError as error:
                why = error
                continue
            self._rest.succeeded(site.host)
            return await self._streamed(connection)
        self._rest.failed(site.host)
        if isinstance(why, TimeoutError):
            raise Refusal(504, f"{site} does not answer")
        raise Refusal(502, f"{site} cannot be reached: {_told(why)}")

    async def secure(self, plain: Stream, site: Site) -> Sealed:
        """Raises Refusal."""
        sealed = Sealed(plain, self._context, site.host)
        try:
            await sealed.handshake(b"", self._bounds.connect_s)
        except ssl.SSLCertVerificationError as error:
            raise Refusal(502, f"the certificate of {site} is not good: {error.verify_message}", "tls") from error
        except TimeoutError as error:
            raise Refusal(504, f"{site} does not finish the beginning of TLS") from error
        except OSError as error:
            raise Refusal(502, f"TLS with {site} failed: {_told(error)}", "tls") from error
        return sealed

    @cached_property
    def _context(self) -> ssl.SSLContext:
        context = self._given or ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        return context

    async def _addresses(self, site: Site) -> tuple[Sequence[str], int]:
        if site.host in self._local:
            address, port = self._local[site.host]
            return [address], port or site.port
        addresses = [site.host] if site.is_literal else await self._resolved(site.host)
        guard.check(site.host, addresses)
        return addresses, site.port

    async def _resolved(self, host: str) -> Sequence[str]:
        try:
            async with asyncio.timeout(self._bounds.resolve_s):
                addresses = await self._resolver.resolve(host)
        except TimeoutError as error:
            self._rest.failed(host)
            raise Refusal(504, f"the name {host} could not be looked up in time") from error
        except OSError as error:
            self._rest.failed(host)
            raise Refusal(502, f"the name {host} cannot be looked up: {_told(error)}", "unknown_host") from error
        if not addresses:
            raise Refusal(502, f"the name {host} has no address", "unknown_host")
        return addresses

    async def _to(self, address: str, port: int) -> socket.socket:
        connection = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
        connection.setblocking(False)
        try:
            async with asyncio.timeout(self._bounds.connect_s):
                await asyncio.get_running_loop().sock_connect(connection, (address, port))
        except BaseException:
            connection.close()
            raise
        return connection

    async def _streamed(self, connection: socket.socket) -> Plain:
        try:
            reader, writer = await asyncio.open_connection(sock=connection)
        except BaseException:
            connection.close()
            raise
        return Plain(reader, writer, self._bounds.idle_s)


def _plain(host: str, address: str) -> str:
    try:
        return str(ip_address(address))
    except ValueError as error:
        raise Misconfigured(f"{host} must be mapped to an address such as 192.168.1.4, not to {address}") from error


def _told(error: Exception | None) -> str:
    return (getattr(error, "reason", None) or getattr(error, "strerror", None) or type(error).__name__) if error else "it has no address"
