"""A dialogue in a memory of its own, as Daimon keeps one: events in a journal, rows in the memory file, a vector for each."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.memory.writing import Written

from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.abi.memory import Embedder, Item, Query
from daimon.memory import unembedded
from daimon.memory.store import MemoryStore
from lab.dialogues import Dialogue
from lab.window import said

BATCH = 64


@dataclass(frozen=True, slots=True)
class Memory:
    store: MemoryStore

    async def recall(self, question: str, limit: int) -> tuple[Item, ...]:
        recalled = await self.store.recall(Query(space=HOME_SPACE, principal=OWNER, text=question, limit=limit))
        return tuple(hit.item for hit in recalled.hits)


@asynccontextmanager
async def remembered(dialogue: Dialogue, folder: Path, embedder: Embedder | None) -> AsyncIterator[Memory]:
    journal = Written()
    for line in dialogue.lines:
        journal.add(said(dialogue, line))
    store, _ = await MemoryStore.open(folder / f"{dialogue.name}.db", journal, embedder)
    try:
        if embedder:
            await _embed(store, embedder)
        yield Memory(store)
    finally:
        await store.close()


async def _embed(store: MemoryStore, embedder: Embedder) -> None:
    newest = await store.run(unembedded.newest)
    while items := await store.run(lambda connection: unembedded.within(connection, embedder.model, 0, newest, BATCH)):
        vectors = await embedder.embed(tuple(item.text for item in items), "passage")
        made = list(zip(items, vectors, strict=True))
        await store.run(lambda connection, made=made: unembedded.store(connection, embedder.model, made))
