"""A home as it is after some weeks: a journal with words and blobs, memory, a vault, settings, and layers with all that they can hold."""

import os
from dataclasses import dataclass
from pathlib import Path

from tests.journal.world import DONE, begun, intent, opened, outcome
from tests.sandbox.workspace.hand import Hand, Tree

from daimon import keeper
from daimon.abi.ids import TurnId
from daimon.machine.home import Home
from daimon.memory import file
from daimon.sandbox.workspace.store import Store
from daimon.testing.clock import ManualClock

LARGE = os.urandom(5 << 20)
ODD = os.fsdecode(b"odd \xff name")


@dataclass(frozen=True, slots=True)
class Furnished:
    home: Home
    turns: tuple[TurnId, ...]
    seen: Tree
    """What the workspace shows."""
    blob: str


async def furnish(path: Path) -> Furnished:
    home = Home(path)
    home.ensure()
    home.token()
    home.config.write_text("# mine\n[owner]\nname = 'Ada'\n")
    (path / "outputs").mkdir()
    (path / "outputs" / "one").write_text("printed")
    (path / "services.json").write_text("[]")
    home.policies.mkdir(0o700)
    (home.policies / "own.cedar").write_text("// nothing yet\n")
    vault = keeper.opened(home, {})
    vault.keep("weather", "sk-weather-0123456789abcdef", "weather", ("weather.test",))
    vault.close()
    turns, blob = await journalled(home)
    for path in (home.journal, home.memory):
        path.chmod(0o600)  # as a gateway has them
    return Furnished(home, turns, await worked_on(home), blob)


async def journalled(home: Home) -> tuple[tuple[TurnId, ...], str]:
    turns = []
    async with opened(home.journal) as journal:
        for number in range(3):
            claim = await begun(journal, f"k{number}")
            text = f"an answer {number} " * 10_000
            await journal.finish(claim, [intent(claim, 0), outcome(claim, 1, text=text)], DONE)
            turns.append(claim.turn.id)
        blob = await journal.put(LARGE)
    remembered(home, 5)
    return tuple(turns), blob


def remembered(home: Home, position: int) -> None:
    """A memory that has read so far."""
    home.memory.unlink(missing_ok=True)
    connection = file.connect(home.memory)
    connection.execute("UPDATE position SET cursor = ?", (str(position),))
    connection.close()


async def worked_on(home: Home) -> Tree:
    base = home.path / "workspace"
    base.mkdir(0o700)
    (base / "kept").write_text("of the owner")
    (base / "removed").write_text("of the owner")
    (base / "dir").mkdir()
    (base / "dir" / "hidden").write_text("below")
    store = await Store.open(home.path / "workspaces", ManualClock())
    try:
        hand = Hand(store, (await store.new(str(base))).id, base)
        hand.delete("removed")
        hand.delete("dir")
        hand.write("dir/new", "over an opaque directory")
        hand.write(ODD, b"\0\1\2")
        hand.write("closed", "only root reads this", mode=0o000 if os.geteuid() == 0 else 0o400)
        hand.link("away", "/etc/passwd")
        hand.link("up", "../../../..")
        await store.checkpoint(hand.workspace, "one")
        hand.write("large", LARGE)
        os.link(hand.live / "large", hand.live / "twin")
        hand.fifo("pipe")
        seen = hand.seen()
        assert "removed" not in seen
        assert "dir/hidden" not in seen
    finally:
        await store.close()
    return seen


async def seen_in(home: Home) -> Tree:
    """What the workspace of a home shows that was put somewhere else."""
    store = await Store.open(home.path / "workspaces", ManualClock())
    try:
        return Hand(store, (await store.list())[0].id, home.path / "workspace").seen()
    finally:
        await store.close()


async def forget(home: Home, turn: TurnId) -> None:
    async with opened(home.journal) as journal:
        assert await journal.erase_turn(turn, "asked to")
