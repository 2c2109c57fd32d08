"""Kills of a Daimon whose agents change files, with shells open.

It dies at commits of its journal, at commits of the index of its layers (in the middle of a checkpoint, then), and at random moments: in
the middle of commands, of checkpoints, of its start. After each start its tree is compared with what its journal says (`leavings.py`); at
the end so is every checkpoint that the journal names, and some of them are gone back to.
"""

import asyncio
import random
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from lab.deed import BASE, Deed, Mark, deeds_of, marks_of
from lab.desk import Desk, sum_of
from lab.fuse import AFTER, BEFORE, Fuse
from lab.leavings import Damage, judge_mark, judge_shells, judge_tree
from lab.lives import Lives
from lab.process import Died
from lab.subject import POLL_S, Subject
from lab.verdict import Verdict, judge
from lab.world import Remote

CONVERSATIONS, AT_ONCE = 2, 2
"""How many there are, and how many of them work at the same time, on the same files."""
SCRIPTS = ("write; edit; run; run", "edit, edit, write; run", "run; write, edit; edit", "run; run; edit")
LONGEST_S = 1.5
"""About as long as a script takes when nothing kills it."""


class Filing:
    def __init__(self, place: Path, world: Remote, chance: random.Random) -> None:
        project = laid_out(place / "project")
        settings = f'[sandbox]\nworkspace = "{project}"\n'
        self.subject = Subject(place / "f", world, chance, ("fuse", "index"), settings)
        self.lives = Lives(self.subject, chance, CONVERSATIONS)
        self.desk = Desk(self.subject)
        self.damage = Damage()
        self.deeds: list[Deed] = []
        self.marks: list[Mark] = []
        self.older = 0
        """How often a shell came back knowing less than its last command, which no checkpoint had come after."""
        self._index = Fuse(place / "f.index")
        self._chance = chance
        self._deaths: list[datetime] = []

    async def run(self, kills: int) -> None:
        ways = (self._at_random, self._at_a_commit, self._at_random, self._in_a_checkpoint)
        turn = 0
        while self.subject.kills < kills:
            await ways[turn % len(ways)](SCRIPTS[turn // len(ways) % len(SCRIPTS)])
            turn += 1

    async def _at_a_commit(self, script: str) -> None:
        await self.look()
        self.subject.fuse.light(self._chance.choice((BEFORE, AFTER)), self._chance.randint(1, 25))
        await self._dies("commit", script)

    async def _in_a_checkpoint(self, script: str) -> None:
        await self.look()
        self._index.light(self._chance.choice((BEFORE, AFTER)), self._chance.randint(1, 4))
        await self._dies("checkpoint", script)
        self._index.put_out()

    async def _dies(self, cause: str, script: str) -> None:
        if await self.lives.dies(cause, script):
            self._deaths.append(datetime.now(UTC))

    async def _at_random(self, script: str) -> None:
        """Death after a while; at times again, while it recovers."""
        await self.look()
        scripts = (script, *self._chance.choices(SCRIPTS, k=AT_ONCE - 1))
        sayings = [asyncio.create_task(self._say(each)) for each in scripts]
        await self._killed_after(self._chance.uniform(0.0, LONGEST_S))
        await asyncio.gather(*sayings)
        if self._chance.random() < 0.3:
            await self._killed_in_its_start()

    async def _killed_in_its_start(self) -> None:
        dead = self.subject.process
        rising = asyncio.create_task(self.subject.up())
        while self.subject.process is dead and not rising.done():  # noqa: ASYNC110 - it is begun when it is another
            await asyncio.sleep(POLL_S)
        await asyncio.sleep(self._chance.uniform(0.3, LONGEST_S))
        self.subject.process.kill()
        if await rising:
            await self.subject.bury()
        self._died("recovery")

    async def _killed_after(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        await self.subject.kill()
        self._died("random")

    def _died(self, cause: str) -> None:
        self.lives.kills[cause] += 1
        self._deaths.append(datetime.now(UTC))

    async def _say(self, script: str) -> None:
        with suppress(Died):
            await self.subject.say(script, self.lives.place())

    # -- what is there

    async def look(self) -> None:
        """Alive and at rest: the tree is as the journal says, and every checkpoint that it names is there."""
        await self.lives.alive()
        traces = (await self.subject.traces()).values()
        self.deeds = [deed for trace in traces for deed in deeds_of(trace)]
        self.marks = [mark for trace in traces for mark in marks_of(trace)]
        if not await self.desk.is_there():
            return
        tree, faults = await self.desk.tree()
        self.damage.add(judge_tree(self.deeds, tree))
        self.damage.add(Damage(inconsistent=faults))
        missing = {mark.ref for mark in self.marks} - await self.desk.checkpoints()
        self.damage.add(Damage(inconsistent=[f"{ref} is in the journal, and not there" for ref in sorted(missing)]))
        damage, self.older = judge_shells(self.deeds, self.marks, self._deaths)
        self.damage.add(damage)

    async def verdict(self) -> Verdict:
        """On the events, as in every other phase."""
        await self.lives.alive()
        ledger = (await self.subject.world.ledger()).of_home(self.subject.home.name)
        verdict = judge(self.subject.accepted, await self.subject.stories(), ledger)
        verdict.repeated += self.subject.faults
        return verdict

    async def finish(self, restores: int) -> None:
        """At the end, what takes longer: the tree from inside a box, every checkpoint, and going back to some."""
        await self.look()
        tree, _ = await self.desk.tree()
        await self._same_in_a_box({path: sum_of(text) for path, text in tree.items()}, "now")
        for mark in self.marks:
            tree, faults = await self.desk.tree(mark.ref)
            self.damage.add(judge_mark(mark, self.deeds, tree), f"{mark.ref}: ")
            self.damage.add(Damage(inconsistent=faults), f"{mark.ref}: ")
        await self._gone_back(self._chance.sample(self.marks, min(restores, len(self.marks))))

    async def _gone_back(self, marks: Sequence[Mark]) -> None:
        for mark in marks:
            await self.desk.restore(mark.ref)
            tree, faults = await self.desk.tree()
            self.damage.add(judge_mark(mark, self.deeds, tree), f"back at {mark.ref}: ")
            self.damage.add(Damage(inconsistent=faults), f"back at {mark.ref}: ")
            await self._same_in_a_box({path: sum_of(text) for path, text in tree.items()}, f"back at {mark.ref}")

    async def _same_in_a_box(self, sums: dict[str, str], when: str) -> None:
        seen = await self.desk.seen_in_a_box()
        different = sorted(path for path in {*sums, *seen} if sums.get(path) != seen.get(path))
        self.damage.add(Damage(inconsistent=[f"{when}: {path} is different in a box" for path in different]))


def laid_out(project: Path) -> Path:
    for path, text in BASE.items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(text)
    return project
