"""The model on this machine: an `Embedder` whose work is done in a process of its own. `child.py` is the inside.

The process is started with the first text and kept until nobody asked for a while; then it ends itself. Texts go to it a few at a time,
in turns, so a question waits for one slice of a long background job, never for all of it.

    the answer comes           it counts if every vector of it is one: right dimension, unit length
    the process died           asked once more if it had served before (it may just have gone idle), else: failed
    no answer in time          killed; failed
    garbage                    killed; failed

After a failure nobody starts it again for a while, longer each time (`BACKOFF_S`): a text that crashes it, or a missing package, costs a
refusal and not a process for each question. Failures are `ToolFailed` and say when it is tried again.

Invariant: a process with which anything went wrong is never asked again, so an answer always belongs to its question. Nothing here keeps
or logs a text; a question that several ask is answered once (`once.py`).
"""

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from daimon.abi.errors import ToolFailed
from daimon.abi.ports import Clock
from daimon.memory.embedding import unit
from daimon.memory.embedding.child import BAD, GOOD, framed
from daimon.memory.embedding.line import Broken, Gone, Line, start
from daimon.memory.embedding.once import Once
from daimon.memory.embedding.weights import DIMENSION, MODEL
from daimon.memory.embedding.wordpiece import MOST_CHARACTERS

IDLE_S = 60.0
START_S = 60.0
PATIENCE_S = 60.0
BACKOFF_S = (1.0, 5.0, 30.0, 120.0, 600.0)
PROGRAM = "from daimon.memory.embedding.child import main\nmain()"
SLICE_TEXTS = 16
SLICE_CHARACTERS = 2_500
"""Of what the model looks at: about a quarter of a second on one core."""
_LOOKED_AT = 1_000
_ROW = DIMENSION * 4
_MOST_WORDS = 64 << 10


@dataclass(frozen=True, slots=True)
class Limits:
    idle_s: float = IDLE_S
    """So long nobody asks until it ends itself."""
    start_s: float = START_S
    patience_s: float = PATIENCE_S
    """So long may a slice take."""


LIMITS = Limits()


class LocalEmbedder:
    """Implements `abi.memory.Embedder`. Whoever made it closes it."""

    def __init__(self, clock: Clock, limits: Limits = LIMITS, program: str = PROGRAM) -> None:
        """`program`: Python that ends in `daimon.memory.embedding.child.main`."""
        self._clock = clock
        self._limits = limits
        self._program = program
        self._turn = asyncio.Lock()
        self._answering: asyncio.Future[list[bytes]] | None = None
        self._child: Line | None = None
        self._stamp = ""
        self._failures = 0
        self._not_before = 0.0
        self._why = ""
        self._questions = Once()
        self._is_closed = False

    @property
    def model(self) -> str:
        return MODEL

    @property
    def pid(self) -> int | None:
        """Of the process, while one is there."""
        return self._child.pid if self._child else None

    async def embed(self, texts: tuple[str, ...], what: Literal["query", "passage"]) -> tuple[bytes, ...]:
        if what == "query" and len(texts) == 1:
            return (await self._questions.answer(texts[0], lambda: self._one(texts[0])),)
        return await self._all(texts)

    async def _one(self, text: str) -> bytes:
        (vector,) = await self._all((text,))
        return vector

    async def _all(self, texts: tuple[str, ...]) -> tuple[bytes, ...]:
        vectors: list[bytes] = []
        for some in slices(texts):
            await self._turn.acquire()
            if self._is_closed:
                self._turn.release()
                raise ToolFailed("embedding_failed", "the embedding model is closed: Daimon ends")
            self._answering = asyncio.ensure_future(self._answer(some))
            self._answering.add_done_callback(self._next)
            # Whoever cannot wait any longer leaves; the exchange is brought to its end, so that the process is there for the next one.
            vectors += await asyncio.shield(self._answering)
        return tuple(vectors)

    async def close(self) -> None:
        """Ends the process. Whoever waits for it is refused."""
        self._is_closed = True
        if self._answering is not None:
            self._answering.cancel()
        async with self._turn:
            await self._end()

    def _next(self, answered: "asyncio.Future[list[bytes]]") -> None:
        self._turn.release()
        if not answered.cancelled():
            answered.exception()  # whoever asked may have left: then nobody else looks at it

    async def _answer(self, texts: Sequence[str]) -> list[bytes]:
        if (wait_s := self._not_before - self._clock.monotonic()) > 0:
            text = f"the embedding model failed and is not asked for {wait_s:.0f} s: {self._why}"
            raise ToolFailed("embedding_failed", text, retryable=True)
        asked = framed(json.dumps(texts).encode())  # in ASCII, so half of a surrogate pair passes as it is
        try:
            vectors = await self._asked(asked, len(texts))
        except Broken as broken:
            raise self._failed(str(broken)) from None
        self._failures, self._why = 0, ""
        return vectors

    async def _asked(self, asked: bytes, count: int) -> list[bytes]:
        has_served = self._child is not None
        try:
            return await self._told(asked, count)
        except Gone:
            if not has_served:
                raise
        return await self._told(asked, count)

    async def _told(self, asked: bytes, count: int) -> list[bytes]:
        try:
            child = self._child or await self._started()
            return _vectors(await child.ask(asked, 1 + max(count * _ROW, _MOST_WORDS), self._limits.patience_s), count)
        except BaseException:  # a cancellation too: else the late answer would be taken for that of the next question
            await self._end()
            raise

    async def _started(self) -> "Line":
        child = self._child = await start(self._program, self._limits.idle_s, self._stamp)
        hello = await child.hear(1 + _MOST_WORDS, self._limits.start_s)
        self._stamp = _said(hello).decode("utf-8", "replace")
        return child

    async def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            await child.end()

    def _failed(self, why: str) -> ToolFailed:
        wait_s = BACKOFF_S[min(self._failures, len(BACKOFF_S) - 1)]
        self._failures += 1
        self._not_before = self._clock.monotonic() + wait_s
        self._why = why
        return ToolFailed("embedding_failed", f"the embedding model failed: {why}; it is tried again after {wait_s:.0f} s", retryable=True)


def slices(texts: Sequence[str]) -> Iterator[list[str]]:
    """In order, each of a bounded size."""
    some: list[str] = []
    size = 0
    for text in texts:
        cost = min(len(text), _LOOKED_AT)
        if some and (len(some) == SLICE_TEXTS or size + cost > SLICE_CHARACTERS):
            yield some
            some, size = [], 0
        some.append(text[:MOST_CHARACTERS])
        size += cost
    if some:
        yield some


def _said(answer: bytes) -> bytes:
    if answer[:1] == BAD:
        raise Broken(answer[1:].decode("utf-8", "replace"))
    if answer[:1] != GOOD:
        raise Broken("it answered with what is no answer")
    return answer[1:]


def _vectors(answer: bytes, count: int) -> list[bytes]:
    rows = _said(answer)
    if len(rows) != count * _ROW:
        raise Broken(f"it answered with {len(rows)} bytes for {count} texts, not {count * _ROW}")
    vectors = [rows[start : start + _ROW] for start in range(0, len(rows), _ROW)]
    if wrong := next((fault for vector in vectors if (fault := unit.fault(vector, DIMENSION))), ""):
        raise Broken(wrong)
    return vectors
