"""Works in a store until it is killed: victim.py ROOT BASE SEED. Says `ready` when it has begun, and each step that is done."""

import asyncio
import random
import sys
from contextlib import suppress
from pathlib import Path

from tests.sandbox.workspace.hand import Hand
from tests.sandbox.workspace.holders import Holder

from daimon.abi.errors import BadInput
from daimon.sandbox.workspace.store import Store
from daimon.testing.clock import ManualClock


async def main(root: Path, base: Path, seed: int) -> None:
    chance = random.Random(seed)
    store = await Store.open(root, ManualClock())
    hand = Hand(store, (await store.new(str(base))).id, base)
    say("ready")
    for number in range(10_000):
        for _ in range(4):
            path = f"d{chance.randrange(3)}/f{chance.randrange(6)}"
            hand.write(path, f"{number}\n" * 50) if chance.random() < 0.7 or path not in hand.seen() else hand.delete(path)
        if chance.random() < 0.3:
            await store.detach(hand.workspace)
            store.attach(hand.workspace, Holder(chance.random() < 0.7))
        match chance.randrange(6):
            case 0:
                points = await store.checkpoints(hand.workspace)
                await store.restore(hand.workspace, chance.choice(points[:10]).id)
            case 1:
                fork = Hand(store, (await store.fork(hand.workspace)).id, base)
                fork.write("forked", str(number))
                await store.merge(fork.workspace, hand.workspace)
                await store.discard(fork.workspace)
            case 2 | 3:
                await store.apply(hand.workspace)
            case 4:
                with suppress(BadInput):
                    await store.undo(hand.workspace)
            case 5:
                await store.checkpoint(hand.workspace, str(number))
        say(str(number))


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
