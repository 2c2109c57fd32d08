"""Vectors from a server that speaks `/v1/embeddings`, as OpenAI's does and most others.

Texts go out in batches. What can pass (a limit, a server that is busy, a broken connection) is tried again, later each time, and as the
server says where it does; all else is `ToolFailed` at once. An answer counts as a whole: each text has its vector, found by its index and
not by its place, all of one dimension, the one that this server gave before; none with a NaN or without a direction.

The key is asked for at each request and shown to nobody else: redirects are not followed, and what a server says is repeated without it.
The words leave the process here; whoever sets this up decided that.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ValidationError

from daimon.abi.errors import ProviderFailed, ToolFailed
from daimon.abi.ports import Clock
from daimon.memory.embedding import unit

if TYPE_CHECKING:
    from httpx2 import AsyncClient

BATCH_TEXTS = 64
BATCH_CHARACTERS = 100_000
MOST_CHARACTERS = 8_000
"""Of one text: such models take some 8,000 pieces, and a piece may be one character."""
MOST_BYTES = 64 << 20
RETRIES_S = (0.5, 2.0, 8.0)
LONGEST_WAIT_S = 30.0
CONNECT_S = 10.0
ANSWER_S = 60.0
_OK, _TIMEOUT, _MANY, _BUSY = 200, 408, 429, 500


@dataclass(frozen=True, slots=True)
class Server:
    """Where, which model, and what is shown there."""

    address: str
    """Up to and without `/embeddings`."""
    model: str
    credentials: Callable[[], dict[str, str]]
    """Headers. Raises ProviderFailed where the key may not be shown."""
    hide: Callable[[str], str]
    """A text without the key."""
    is_near: bool = False
    """In the house: no proxy leads there."""


class RemoteEmbedder:
    """Implements `abi.memory.Embedder`. Whoever made it closes it."""

    def __init__(self, server: Server, clock: Clock) -> None:
        self._server, self._clock = server, clock
        self._opening = asyncio.Lock()
        self._client: AsyncClient | None = None
        self._dimension = 0

    @property
    def model(self) -> str:
        return self._server.model

    async def embed(self, texts: tuple[str, ...], what: Literal["query", "passage"]) -> tuple[bytes, ...]:
        vectors: list[bytes] = []
        for batch in batches(texts):
            vectors += await self._embed(batch)
        return tuple(vectors)

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _embed(self, texts: list[str]) -> list[bytes]:
        for delay_s in RETRIES_S:
            try:
                return self._read(await self._ask(texts), len(texts))
            except _Passing as passing:
                await self._clock.sleep(delay_s if passing.wait_s is None else min(passing.wait_s, LONGEST_WAIT_S))
        try:
            return self._read(await self._ask(texts), len(texts))
        except _Passing as passing:
            raise self._failed(str(passing), retryable=True) from None

    async def _opened(self) -> "AsyncClient":
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(_client, self._server.is_near)
            return self._client

    async def _ask(self, texts: list[str]) -> bytes:
        """The answer, if it is one. Raises _Passing, ToolFailed."""
        import httpx2

        client = await self._opened()
        asked = json.dumps({"model": self._server.model, "input": texts, "encoding_format": "float"}).encode()
        try:
            headers = {"content-type": "application/json", "user-agent": "daimon", **self._server.credentials()}
            async with (
                asyncio.timeout(ANSWER_S),
                client.stream("POST", f"{self._server.address}/embeddings", content=asked, headers=headers) as response,
            ):
                told = await _bounded(response.aiter_bytes())
                return self._checked(response.status_code, response.headers.get("retry-after", ""), told)
        except TimeoutError:
            raise _Passing(f"no answer within {ANSWER_S:g} s") from None
        except ProviderFailed as keyless:
            raise self._failed(str(keyless)) from None
        except httpx2.TransportError as error:
            raise _Passing(f"{type(error).__name__}: {error}") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, _TooLong) as error:
            raise self._failed(str(error)) from None

    def _checked(self, status: int, retry_after: str, told: bytes) -> bytes:
        if status == _OK:
            return told
        said = f"status {status}: {told[:300].decode('utf-8', 'replace')}"
        if status in (_TIMEOUT, _MANY) or status >= _BUSY:
            raise _Passing(said, float(retry_after) if retry_after.isdecimal() else None)
        raise self._failed(said)

    def _read(self, told: bytes, count: int) -> list[bytes]:
        try:
            rows = _Answer.model_validate_json(told).data
            vectors = {row.index: unit.pack(row.embedding) for row in rows}
        except ValidationError as bad:
            raise self._failed(f"its answer is not a list of vectors ({bad.error_count()} mistakes)") from None
        except (ValueError, OverflowError) as bad:
            raise self._failed(f"its answer holds {bad}") from None
        if len(rows) != count or set(vectors) != set(range(count)):
            raise self._failed(f"its answer has {len(rows)} vectors for {count} texts, or not one for each")
        self._measure([vectors[index] for index in range(count)])
        return [vectors[index] for index in range(count)]

    def _measure(self, vectors: Sequence[bytes]) -> None:
        expected = self._dimension or len(vectors[0]) // 4
        if wrong := next((fault for vector in vectors if (fault := unit.fault(vector, expected))), ""):
            raise self._failed(wrong)
        self._dimension = expected

    def _failed(self, why: str, retryable: bool = False) -> ToolFailed:
        text = self._server.hide(f"the embedding model {self._server.model} failed: {why}")
        return ToolFailed("embedding_failed", text, retryable=retryable)


def batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """In order, each of a bounded size. An empty text, which servers refuse, becomes a blank."""
    some: list[str] = []
    size = 0
    for text in texts:
        cut = text[:MOST_CHARACTERS].encode("utf-8", "replace").decode() or " "
        if some and (len(some) == BATCH_TEXTS or size + len(cut) > BATCH_CHARACTERS):
            yield some
            some, size = [], 0
        some.append(cut)
        size += len(cut)
    if some:
        yield some


class _Row(BaseModel):
    index: int
    embedding: list[float]


class _Answer(BaseModel):
    data: list[_Row]


class _Passing(Exception):
    def __init__(self, why: str, wait_s: float | None = None) -> None:
        super().__init__(why)
        self.wait_s = wait_s


class _TooLong(Exception):
    pass


def _client(is_near: bool) -> "AsyncClient":
    """Blocks: certificates are read."""
    import httpx2

    return httpx2.AsyncClient(timeout=httpx2.Timeout(None, connect=CONNECT_S), follow_redirects=False, trust_env=not is_near)


async def _bounded(parts: AsyncIterator[bytes]) -> bytes:
    told = bytearray()
    async for part in parts:
        told += part
        if len(told) > MOST_BYTES:
            raise _TooLong(f"its answer is longer than {MOST_BYTES} bytes")
    return bytes(told)
