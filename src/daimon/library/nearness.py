"""Which skills mean what was said: vectors of the skills that the owner vouches for, made by the model on this machine.

Vectors are made in the background (`work`), when a question was asked for which some were missing: so a start costs nothing, and the first
question is answered by words alone. They are kept in memory, by name and version, and go with the skill. A question has `PATIENCE_S` to
get its own; then it is answered by words. Whatever fails here is no more than a suggestion less.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from daimon.abi.errors import ToolFailed
from daimon.abi.memory import Embedder
from daimon.abi.ports import Clock
from daimon.abi.skill import Installed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PATIENCE_S = 1.0
AGAIN_S = 60.0
"""After a failure."""
MOST_TEXT = 1_200
"""Characters of a skill that have a meaning: the model looks at no more."""
_LOG = logging.getLogger(__name__)
Key = tuple[str, str]


class Nearness:
    def __init__(self, embedder: Embedder, clock: Clock) -> None:
        self._embedder, self._clock = embedder, clock
        self._known: dict[Key, bytes] = {}
        self._wanted: tuple[Installed, ...] = ()
        self._asked = asyncio.Event()
        self._rows: tuple[tuple[Key, ...], NDArray[np.float32]] | None = None

    async def near(self, question: str, skills: Sequence[Installed]) -> Mapping[str, float]:
        """The port `skills.catalogue.Near`."""
        if any(_key(each) not in self._known for each in skills):
            self._wanted = tuple(skills)
            self._asked.set()
        there = tuple(_key(each) for each in skills if _key(each) in self._known)
        if not there:
            return {}
        try:
            async with asyncio.timeout(PATIENCE_S):
                (vector,) = await self._embedder.embed((question,), "query")
        except (TimeoutError, ToolFailed):
            return {}
        return self._likeness(vector, there)

    async def work(self) -> None:
        """Until it is cancelled."""
        while True:
            await self._asked.wait()
            self._asked.clear()
            wanted = self._wanted
            missing = [each for each in wanted if _key(each) not in self._known]
            try:
                vectors = await self._embedder.embed(tuple(map(_text, missing)), "passage")
            except ToolFailed as failed:
                _LOG.info("skills are chosen by words: %s", failed)
                await self._clock.sleep(AGAIN_S)
                continue
            known = self._known | dict(zip(map(_key, missing), vectors, strict=True))
            self._known = {key: known[key] for key in map(_key, wanted)}  # of those that are gone nothing stays

    def _likeness(self, vector: bytes, keys: tuple[Key, ...]) -> Mapping[str, float]:
        import numpy as np  # with the first question that needs it

        if self._rows is None or self._rows[0] != keys:
            self._rows = keys, np.stack([np.frombuffer(self._known[key], "<f4") for key in keys])
        found = self._rows[1] @ np.frombuffer(vector, "<f4")
        return {name: float(likeness) for (name, _), likeness in zip(keys, found, strict=True)}


def _key(skill: Installed) -> Key:
    return skill.name, skill.version


def _text(skill: Installed) -> str:
    return f"{skill.name.replace('-', ' ')}: {skill.skill.description}"[:MOST_TEXT]
