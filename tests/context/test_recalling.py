"""What is recalled by itself over a long conversation: each thing once, and ever less."""

import itertools
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.journal.world import MAIN, PINS, TTL_S, claimed, event, step
from tests.memory.writing import Written

from daimon.abi.context import Prompt, Scene
from daimon.abi.event import Said
from daimon.abi.ids import SELF
from daimon.abi.label import owned
from daimon.abi.message import Text
from daimon.abi.ports import Ended
from daimon.abi.step import Replied
from daimon.abi.turn import Ending
from daimon.context.assemble import LEAST_SHARE, MOST_SHARES, Pager, Paging, Sources
from daimon.context.budget import TokenBudget
from daimon.context.tokens import estimate
from daimon.memory.store import MemoryStore
from daimon.testing.clock import ManualClock
from daimon.testing.ids import CountingIds
from daimon.testing.journal import MemoryJournal
from daimon.testing.redactor import PlainRedactor

RECALL = 400


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[MemoryStore]:
    written = Written()
    for n in range(200):
        written.remember(f"tea number {n} grows on hill {n}")
    store, _ = await MemoryStore.open(tmp_path / "memory.db", written)
    yield store
    await store.close()


async def talked(journal: MemoryJournal, pager: Pager, turns: int) -> list[Prompt]:
    made = []
    for n in range(turns):
        await journal.accept(event(f"k{n}", Said((Text("which tea grows on a hill?"),)), "main"))
        claim = claimed(await journal.claim(replace(MAIN, name="main"), "w1", TTL_S, PINS))
        scene = Scene(claim.turn, claim.event, SELF, ())
        made.append(pager.assemble(scene, await pager.prepare(scene), ()))
        for chunk in made[-1].chunks:
            await journal.put(chunk)
        replied = Replied("m", (Text("all of them"),), "stop", context=made[-1].request.context)
        await journal.finish(claim, [step(claim, 0, replied)], Ended(Ending.ANSWERED, owned("test")))
    return made


def pager(journal: MemoryJournal, memory: MemoryStore, window: int) -> Pager:
    paging = Paging(TokenBudget(window, 0, 0, 0), RECALL, patience_s=60.0)
    return Pager(Sources(journal, journal, memory), "You are a test.", paging, PlainRedactor())


def blocks(made: Prompt) -> list[str]:
    return [message.text for message in made.request.messages if message.text.startswith("[memory]")]


def lines(made: Prompt) -> list[str]:
    return [line for text in blocks(made) for line in text.split("\n") if line.startswith("- ")]


async def test_what_stands_in_the_window_is_not_recalled_again_and_what_is_recalled_gets_less(memory: MemoryStore) -> None:
    journal = MemoryJournal(ManualClock(), CountingIds())
    made = await talked(journal, pager(journal, memory, 32_000), 12)
    last = made[-1]
    assert len(blocks(last)) == 12
    assert len(set(lines(last))) == len(lines(last))
    total = sum(estimate(message) for message in last.request.messages if message.text.startswith("[memory]"))
    assert RECALL < total <= MOST_SHARES * RECALL + 12 * RECALL // LEAST_SHARE
    for before, after in itertools.pairwise(made):
        assert after.chunks[: len(before.chunks)] == before.chunks


async def test_what_a_cut_took_from_the_window_is_recalled_again(memory: MemoryStore) -> None:
    journal = MemoryJournal(ManualClock(), CountingIds())
    made = await talked(journal, pager(journal, memory, 1_200), 16)
    told = [set(lines(each)) for each in made]
    assert any(line in told[0] for each in told[8:] for line in each)
    assert all(len(set(lines(each))) == len(lines(each)) for each in made)
