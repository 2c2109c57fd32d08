"""What memory says, in one line."""

from pathlib import Path
from typing import Any

from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.abi.label import Author, Label, Origin
from daimon.abi.memory import Item, Kind, Query
from daimon.memory.agreement import content, disagreements
from daimon.memory.store import Changes, MemoryStore

EVE = Label.of(Origin(Author.STRANGER, "mail:eve@example.org"), readers=(OWNER,))


async def items(store: MemoryStore, *kinds: Kind) -> list[Item]:
    """All that hold, the newest first."""
    return [hit.item for hit in (await store.recall(Query(space=HOME_SPACE, principal=OWNER, text="", limit=1000, kinds=kinds))).hits]


async def texts(store: MemoryStore, *kinds: Kind) -> list[str]:
    return [item.text for item in await items(store, *kinds)]


async def found(store: MemoryStore, text: str, **more: Any) -> list[str]:
    return [hit.item.id for hit in (await store.recall(Query(space=HOME_SPACE, principal=OWNER, text=text, limit=100, **more))).hits]


async def item(store: MemoryStore, id_: str) -> Item:
    return await store.item(HOME_SPACE, OWNER, id_)


async def told(store: MemoryStore) -> list[tuple[Any, ...]]:
    """Everything in the file; that it agrees with itself is checked on the way."""
    assert await store.run(disagreements) == []
    return await store.run(content)


async def rebuilt(tmp_path: Path, changes: Changes) -> list[tuple[Any, ...]]:
    """The same, of a file that is made from the start."""
    path = tmp_path / "rebuilt.db"
    store, warnings = await MemoryStore.open(path, changes)
    try:
        assert warnings == []
        return await told(store)
    finally:
        await store.close()
        path.unlink()


def bytes_of(path: Path) -> bytes:
    """All that is on disk of a memory file."""
    return b"".join(part.read_bytes() for suffix in ("", "-wal") if (part := Path(f"{path}{suffix}")).exists())
