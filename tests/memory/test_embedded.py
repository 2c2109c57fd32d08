"""Items get their vectors in the background, the newest first, and nothing runs while nothing is new."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal, TypeVar

import apsw
import pytest

from daimon.abi.errors import ToolFailed
from daimon.memory.embedded import BATCH, Embedding
from daimon.memory.embedding.unit import pack
from daimon.memory.schema import TABLES
from daimon.testing.clock import ManualClock

T = TypeVar("T")
PATIENCE_S = 60.0


@dataclass
class Plain:
    """An embedder whose vectors say how long the text is. Fails on what it is told to fail on."""

    model: str = "m"
    fails: Callable[[tuple[str, ...]], bool] = lambda texts: False
    asked: list[tuple[str, ...]] = field(default_factory=list)
    before: Callable[[], None] = lambda: None

    async def embed(self, texts: tuple[str, ...], what: Literal["query", "passage"]) -> tuple[bytes, ...]:
        self.asked.append(texts)
        self.before()
        await asyncio.sleep(0)
        if self.fails(texts):
            raise ToolFailed("embedding_failed", "the model is gone")
        return tuple(pack([1.0, float(len(text))]) for text in texts)


class File:
    def __init__(self) -> None:
        self.connection = apsw.Connection(":memory:")
        self.connection.execute(TABLES)
        self.jobs = 0

    async def run(self, work: Callable[[apsw.Connection], T]) -> T:
        self.jobs += 1
        await asyncio.sleep(0)
        return work(self.connection)

    def say(self, text: str, previous: int | None = None, ended: int | None = None) -> int:
        return int(
            self.connection.execute(
                """INSERT INTO items (id, space, principal, kind, text, at, label, is_trusted, source, turn, conversation, speaker,
                   previous, subject, about, confidence, supersedes, on_page, standing, recorded_at, ended_at, ended_by)
                   VALUES (hex(randomblob(8)), 'home', 'owner', 'message', ?, 0, '{}', 1, 's', 't', 'c', 'Anna', ?,
                   '', '', 1.0, '[]', 0, 'holds', 0, ?, '') RETURNING n""",
                (text, previous, ended),
            ).get
        )

    def vectors(self, model: str = "m") -> list[int]:
        return [n for (n,) in self.connection.execute("SELECT n FROM vectors WHERE model = ? AND aspect = 'own' ORDER BY n", (model,))]


@asynccontextmanager
async def working(file: File, plain: Plain) -> AsyncIterator[tuple[Embedding, ManualClock]]:
    clock = ManualClock()
    worker = Embedding(plain, file.run, clock)
    async with asyncio.timeout(PATIENCE_S):
        task = asyncio.ensure_future(worker.work())
        try:
            yield worker, clock
        finally:
            task.cancel()
            await asyncio.wait({task})


async def settled(condition: Callable[[], bool], clock: ManualClock | None = None) -> None:
    while not condition():
        await (clock.advance(1_000) if clock else asyncio.sleep(0))


async def quiet(file: File, embedding: Embedding) -> None:
    await settled(lambda: embedding.status().startswith("m: all items have vectors"))
    jobs = -1
    while jobs != file.jobs:
        jobs = file.jobs
        for _ in range(20):
            await asyncio.sleep(0)


async def test_all_items_that_hold_get_a_vector_the_newest_first() -> None:
    file, plain = File(), Plain()
    first = file.say("hello")
    second = file.say("hi there", previous=first)
    file.say("over", ended=5)
    file.say("")
    async with working(file, plain) as (embedding, _):
        await quiet(file, embedding)
        assert file.vectors() == [first, second]
        assert plain.asked[0] == ("hi there", "hello")
        assert file.connection.execute("SELECT count(*) FROM vectors").get == 2
        assert "2 embedded since the start" in embedding.status()


async def test_a_new_item_wakes_it_and_otherwise_nothing_runs() -> None:
    file, plain = File(), Plain()
    async with working(file, plain) as (embedding, _):
        await quiet(file, embedding)
        jobs = file.jobs
        for _ in range(200):
            await asyncio.sleep(0)
        assert file.jobs == jobs
        n = file.say("news")
        await settled(lambda: file.vectors() == [n])


async def test_a_large_backlog_is_done_in_small_batches() -> None:
    file, plain = File(), Plain()
    numbers = [file.say(f"text {n}") for n in range(5 * BATCH + 1)]
    async with working(file, plain) as (embedding, _):
        await quiet(file, embedding)
        assert file.vectors() == numbers
        assert max(len(texts) for texts in plain.asked) <= 2 * BATCH


async def test_after_a_change_of_model_all_is_embedded_again() -> None:
    file = File()
    n = file.say("hello")
    async with working(file, Plain()) as (embedding, _):
        await quiet(file, embedding)
    async with working(file, Plain("n")):
        await settled(lambda: file.vectors("n") == [n])
        assert file.vectors("m") == []


async def test_what_changed_while_it_was_embedded_gets_the_vector_of_what_it_says_now() -> None:
    file = File()
    n = file.say("before")
    plain = Plain()

    def change() -> None:
        plain.before = lambda: None
        file.connection.execute("UPDATE items SET text = 'afterwards' WHERE n = ?", (n,))

    plain.before = change
    async with working(file, plain) as (embedding, _):
        await quiet(file, embedding)
        assert plain.asked[-1] == ("afterwards",)
        own = plain.asked[-1][0]
        assert file.connection.execute("SELECT vector FROM vectors WHERE n = ? AND aspect = 'own'", (n,)).get == pack(
            [1.0, float(len(own))]
        )


async def test_what_was_deleted_while_it_was_embedded_gets_no_vector() -> None:
    file = File()
    n = file.say("secret")
    plain = Plain()
    plain.before = lambda: file.connection.execute("UPDATE items SET text = '', is_deleted = 1 WHERE n = ?", (n,)) and None
    async with working(file, plain) as (embedding, _):
        await quiet(file, embedding)
        assert file.connection.execute("SELECT count(*) FROM vectors").get == 0


async def test_a_model_that_comes_back_finds_nothing_lost() -> None:
    file = File()
    numbers = [file.say(f"text {n}") for n in range(3)]
    plain = Plain()
    plain.fails = lambda texts: len(plain.asked) <= 2
    async with working(file, plain) as (embedding, clock):
        await settled(lambda: "waiting, because the model is gone" in embedding.status())
        await settled(lambda: file.vectors() == numbers, clock)
        await quiet(file, embedding)
        assert "waiting" not in embedding.status()


async def test_one_text_that_fails_does_not_hold_up_the_others() -> None:
    file = File()
    numbers = [file.say(f"text {n}") for n in range(6)]
    bad = file.say("poison")
    plain = Plain(fails=lambda texts: any("poison" in text for text in texts))
    async with working(file, plain) as (embedding, clock):
        await settled(lambda: file.vectors() == numbers, clock)
        await settled(lambda: "1 items could not be embedded" in embedding.status(), clock)
        assert bad not in file.vectors()


@pytest.mark.parametrize("failing", [1, 2, 3])
async def test_a_file_that_cannot_be_read_for_a_while_is_tried_again(failing: int) -> None:
    file, plain = File(), Plain()
    n = file.say("hello")
    real, tries = file.run, 0

    async def run(work: Callable[[apsw.Connection], T]) -> T:
        nonlocal tries
        tries += 1
        if tries == failing:
            raise ToolFailed("memory_failed", "memory cannot be read now", retryable=True)
        return await real(work)

    clock = ManualClock()
    worker = Embedding(plain, run, clock)
    async with asyncio.timeout(PATIENCE_S):
        task = asyncio.ensure_future(worker.work())
        await settled(lambda: file.vectors() == [n], clock)
        task.cancel()
        await asyncio.wait({task})
