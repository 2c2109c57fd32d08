"""How one Daimon is brought to death and back: what every phase of killing does between two kills."""

import random
from collections import Counter

from lab.memories import Memories
from lab.process import Died
from lab.subject import Subject


class Lives:
    def __init__(self, subject: Subject, chance: random.Random, conversations: int) -> None:
        self.subject = subject
        self.chance = chance
        self.kills: Counter[str] = Counter()
        """By what it died of."""
        self._conversations = conversations
        self.memories = Memories(subject.home)

    async def alive(self) -> None:
        """Up, and at rest but for what it asks."""
        if not self.subject.is_alive:
            self.memories.look()
        while True:
            try:
                if not self.subject.is_alive and not await self.subject.up():
                    continue
                await self._rested()
                return
            except Died:
                await self.subject.bury()

    async def dies(self, cause: str, script: str) -> bool:
        """Says something, answers what is asked, and waits for death. False if it lives on."""
        try:
            await self.subject.say(script, self.place())
            await self._rested()
        except Died:
            await self.subject.bury()
            self.kills[cause] += 1
            return True
        self.subject.fuse.put_out()
        await self.subject.world.disarm()
        return False

    async def _rested(self) -> None:
        await self.subject.rest()
        while await self.subject.answer_some():
            await self.subject.rest()

    def place(self) -> str:
        """Conversations are left behind after a while, so that histories stay short."""
        return f"c{self.subject.kills // 20}.{self.chance.randrange(self._conversations)}"
