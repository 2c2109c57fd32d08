"""uvicorn's protocol with an end to its patience: the head of a request must be there in time, and be small.

Left alone it waits for a head as long as somebody sends a byte now and then, and keeps all of it. Here a connection is closed when a head
that began is not complete after some seconds, or is longer than any honest one. A head begins with the first byte that is not part of a
request under way, be it an empty line, which the parser skips, or the rest of a body that nobody waits for: bytes that mean nothing keep no
connection open. What comes after the head is the application's to bound.
"""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

MOST_HEAD_BYTES = 64 * 1024


class PatientProtocol(HttpToolsProtocol):
    head_s = 10.0
    _head: asyncio.TimerHandle | None = None
    _head_bytes = 0
    _is_head = False

    def data_received(self, data: bytes) -> None:
        if self._is_head:
            self._head_bytes += len(data)
            if self._head_bytes > MOST_HEAD_BYTES:
                self._give_up()
                return
        cycle: RequestResponseCycle | None = self.cycle  # there is none before the first request, whatever its type says
        if cycle is None or cycle.response_complete:
            self._begin()
        super().data_received(data)

    def on_message_begin(self) -> None:
        self._head_bytes, self._is_head = 0, True
        self._begin()
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

    def _begin(self) -> None:
        if self._head is None:
            self._head = asyncio.get_running_loop().call_later(self.head_s, self._give_up)

    def _forget(self) -> None:
        self._is_head = False
        if self._head is not None:
            self._head.cancel()
            self._head = None
