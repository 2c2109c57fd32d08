"""Skills by meaning: vectors are made beside the work, and whatever fails there costs a suggestion and nothing else."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Literal

from daimon.abi.errors import ToolFailed
from daimon.library.nearness import Nearness
from daimon.skills.catalogue import Chooser
from daimon.testing.clock import ManualClock
from daimon.testing.embedder import WordEmbedder
from daimon.testing.skills import installed

SKILLS = (installed("sourdough", "Bake bread."), installed("wifi", "Mend networks."), installed("theirs", "Bake.", is_vouched=False))


@dataclass
class Flaky:
    """Fails until it is mended."""

    inner: WordEmbedder = field(default_factory=WordEmbedder)
    model: str = "flaky"
    is_broken: bool = True

    async def embed(self, texts: tuple[str, ...], what: Literal["query", "passage"]) -> tuple[bytes, ...]:
        if self.is_broken:
            raise ToolFailed("embedding_failed", "not now")
        return await self.inner.embed(texts, what)


@asynccontextmanager
async def working(nearness: Nearness) -> AsyncIterator[None]:
    task = asyncio.create_task(nearness.work())
    try:
        yield
    finally:
        task.cancel()


async def until_known(nearness: Nearness, question: str, count: int) -> dict[str, float]:
    async with asyncio.timeout(60):
        while len(found := dict(await nearness.near(question, SKILLS[:2]))) < count:  # noqa: ASYNC110 - it is made beside
            await asyncio.sleep(0)
    return found


async def test_the_first_question_is_answered_by_words_and_the_next_by_meaning() -> None:
    embedder = WordEmbedder()
    nearness = Nearness(embedder, ManualClock())
    async with working(nearness):
        assert await nearness.near("bake bread", SKILLS[:2]) == {}
        found = await until_known(nearness, "bake bread", 2)
        assert found["sourdough"] > found["wifi"]


async def test_only_skills_that_somebody_vouches_for_are_looked_at_and_a_greeting_asks_nobody() -> None:
    embedder = WordEmbedder()
    nearness = Nearness(embedder, ManualClock())
    chooser = Chooser(lambda: SKILLS, 3, nearness.near)
    async with working(nearness):
        await chooser.suggest("hello, how are you?")
        assert embedder.asked == []
        await chooser.suggest("bread")
        await until_known(nearness, "bread", 2)
        assert not any("theirs" in text for texts in embedder.asked for text in texts)


async def test_what_is_gone_or_has_changed_leaves_nothing() -> None:
    embedder = WordEmbedder()
    nearness = Nearness(embedder, ManualClock())
    changed = replace(SKILLS[0], version="v2")
    async with working(nearness):
        await until_known(nearness, "bread", 2)
        async with asyncio.timeout(60):
            while "sourdough" not in await nearness.near("bread", [changed]):  # noqa: ASYNC110 - it is made beside
                await asyncio.sleep(0)
        assert await nearness.near("bread", SKILLS[:2]) == {}


async def test_without_vectors_skills_are_chosen_by_words_and_it_is_tried_again() -> None:
    embedder, clock = Flaky(), ManualClock()
    nearness = Nearness(embedder, clock)
    chooser = Chooser(lambda: SKILLS, 3, nearness.near)
    async with working(nearness):
        assert [each.name for each in await chooser.suggest("bake some bread")] == ["sourdough"]
        for _ in range(20):
            await asyncio.sleep(0)
        embedder.is_broken = False
        await clock.advance(3_600)
        await until_known(nearness, "bread", 2)
        embedder.is_broken = True
        assert [each.name for each in await chooser.suggest("bake some bread")] == ["sourdough"]
