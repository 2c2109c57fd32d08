"""Copies of an ordinary user, who has no power over files beyond his own."""

import sys

from tests.sandbox.boxes import NOBODY, elsewhere, needs_root, place_of

WORK = """
import asyncio, os, sys
from pathlib import Path
from daimon.sandbox.workspace.store import Store
from daimon.testing.clock import ManualClock

async def main(top):
    base = top / "base"
    (base / "d").mkdir(parents=True)
    (base / "d/file").write_text("one")
    store = await Store.open(top / "store", ManualClock())
    id = (await store.new(str(base))).id
    ground = await store.copied(id, "work", 59001)
    tree = Path(ground.tree)
    assert ground.user is None
    (tree / "closed").mkdir()
    (tree / "closed/file").write_text("two")
    (tree / "closed").chmod(0)
    (tree / "d/file").unlink()
    first = await store.checkpoint(id, "one")
    (tree / "closed").chmod(0o700)
    (tree / "closed/file").write_text("three")
    await store.restore(id, first.id)
    (tree / "closed").chmod(0o700)
    assert (tree / "closed/file").read_text() == "two"
    await store.closed(id, ground)
    ground = await store.copied(id, "work", 59001)
    assert os.listdir(tree / "d") == []
    await store.closed(id, ground)
    await store.close()
    print("done")

asyncio.run(main(Path(sys.argv[1])))
"""


@needs_root
def test_what_an_ordinary_user_does_is_kept_and_gone_back_to() -> None:
    with place_of(NOBODY) as place:
        done = elsewhere([sys.executable, "-B", "-c", WORK, str(place)], uid=NOBODY)
    assert done.stdout == b"done\n", done
