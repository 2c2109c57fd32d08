"""TLS over a stream that is already there, on either side.

It is done by hand, in memory, because the first bytes of the box must be looked at before anybody decides what to do with them, and then
fed in again; asyncio's own way cannot take them back.
"""

import asyncio
import contextlib
import ssl

from daimon.net.stream import Stream

_RECORD = 16 * 1024
_PIECE = 64 * 1024


class Sealed:
    def __init__(self, under: Stream, context: ssl.SSLContext, server_name: str | None) -> None:
        """Without a server's name, this is the server."""
        self._under = under
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._in, self._out, server_side=server_name is None, server_hostname=server_name)
        self.sent = 0
        self.received = 0

    async def handshake(self, first: bytes, timeout_s: float) -> None:
        """`first` is what was read from the stream already. Raises ssl.SSLError, OSError, TimeoutError."""
        self._in.write(first)
        async with asyncio.timeout(timeout_s):
            while True:
                try:
                    self._tls.do_handshake()
                except ssl.SSLWantReadError:
                    await self._flush()
                    await self._feed()
                except ssl.SSLError:
                    await self._flush()  # the alert that says why
                    raise
                else:
                    return await self._flush()

    async def read(self) -> bytes:
        while True:
            data = self._decrypted()
            if data is not None:
                self.received += len(data)
                return data
            await self._flush()
            await self._feed()

    async def write(self, data: bytes) -> None:
        self.sent += len(data)
        self._tls.write(data)
        await self._flush()

    async def end(self) -> None:
        with contextlib.suppress(ssl.SSLError):
            self._tls.unwrap()  # says goodbye, and then wants to hear it too
        await self._flush()
        await self._under.end()

    def abort(self) -> None:
        self._under.abort()

    def close(self) -> None:
        self._under.close()

    @property
    def is_over(self) -> bool:
        return self._under.is_over

    def _decrypted(self) -> bytes | None:
        """None: more must come in first."""
        pieces = bytearray()
        while len(pieces) < _PIECE:
            try:
                piece = self._tls.read(_RECORD)
            except ssl.SSLWantReadError:
                return bytes(pieces) or None
            except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
                break
            if not piece:
                break
            pieces += piece
        return bytes(pieces)

    async def _feed(self) -> None:
        data = await self._under.read()
        if data:
            self._in.write(data)
        else:
            self._in.write_eof()

    async def _flush(self) -> None:
        if data := self._out.read():
            await self._under.write(data)
