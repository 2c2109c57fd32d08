"""What is known and who thinks: memory, whoever makes vectors for it, and the models."""

import os
from contextlib import AsyncExitStack
from dataclasses import dataclass

from daimon.boot.ground import Ground
from daimon.meaning import Meaning, meaning_of
from daimon.memory.store import MemoryStore
from daimon.mind import Mind


@dataclass(frozen=True, slots=True)
class Knowledge:
    meaning: Meaning
    memory: MemoryStore
    mind: Mind
    warnings: tuple[str, ...]


async def open_knowledge(stack: AsyncExitStack, ground: Ground) -> Knowledge:
    settings, clock = ground.settings, ground.clock
    meaning = meaning_of(settings, ground.vault, os.environ, clock)
    stack.push_async_callback(meaning.close)
    memory, warnings = await MemoryStore.open(ground.home.memory, ground.journal, meaning.embedder)
    stack.push_async_callback(memory.close)
    mind = Mind(ground.vault, ground.kit, ground.journal, clock, ground.random, settings, meaning.on_this_machine)
    stack.push_async_callback(mind.close)
    return Knowledge(meaning, memory, mind, tuple(warnings))
