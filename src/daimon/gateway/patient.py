"""uvicorn's protocol with an end to its patience: the head of a request must be there in time, and be small.

Left alone it waits for a head as long as somebody sends a byte now and then, and keeps all of it. Here a connection is closed when a head
that began is not complete after some seconds, or is longer than any honest one. What comes after the head is the application's to bound.
"""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD_BYTES = 64 * 1024


class PatientProtocol(HttpToolsProtocol):
    head_s = 10.0
    _head: asyncio.TimerHandle | None = None
    _head_bytes = 0

    def data_received(self, data: bytes) -> None:
        if self._head is not None:
            self._head_bytes += len(data)
            if self._head_bytes > MOST_HEAD_BYTES:
                self._give_up()
                return
        super().data_received(data)

    def on_message_begin(self) -> None:
        self._head_bytes = 0
        if self._head is None:
            self._head = asyncio.get_running_loop().call_later(self.head_s, self._give_up)
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._forget()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def _give_up(self) -> None:
        self._forget()
        self.transport.close()

    def _forget(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None
