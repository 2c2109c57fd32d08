"""Claim: kill -9 at any moment loses nothing that was accepted, repeats no effect, and hides no doubt.

The real `./daimon up` serves HTTP and works through scripts with tools of every effect class, against a world in a process of its
own that counts. It is killed

    birth     at each of its first commits, on an empty home
    append    at every commit of a script, one after the other: before the commit, and after it when nobody has been told yet
    recovery  at each commit of the start that recovers from an earlier kill
    effect    by the world, in the middle of an effect or of a reply: before it is counted, and after
    load      at random moments under load
    files     at commits, in checkpoints and at random moments, while agents change files and have shells open (`lab/filing.py`)
    layers    whoever moves between layers, over a checkpoint, restore, fork, merge, apply or undo (`lab/quarry.py`)

and is started again each time. After each kill the stores of memory are compared with each other, and now and then with what the journal
says (`lab/memories.py`). Recovery is measured from exec until it is ready and every interrupted turn rests again, so it
contains the rest of their work.
"""

import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from lab import report
from lab.filing import Filing
from lab.fuse import AFTER, BEFORE
from lab.lives import Lives
from lab.process import Died
from lab.quarry import Quarry
from lab.subject import Subject
from lab.verdict import Verdict, judge
from lab.world import Remote

from daimon.sandbox.overlay import probe
from daimon.sandbox.plan import has_bwrap

FULL_KILLS, FULL_FILES, FULL_LAYERS = 300, 60, 120
QUICK_KILLS, QUICK_FILES, QUICK_LAYERS = 32, 4, 8
WISHES = ("pure", "idempotent", "verifiable", "unsafe", "gated", "ask", "remember")
SCRIPTS = (
    "pure; idempotent; verifiable; unsafe",
    "pure, idempotent, verifiable, unsafe",
    "unsafe; unsafe",
    "verifiable, verifiable; verifiable",
    "gated, idempotent",
    "ask; remember",
)
CONVERSATIONS = 6
BURST = 8


class Crash:
    def __init__(self, subject: Subject, chance: random.Random, is_quick: bool) -> None:
        self.subject = subject
        self.chance = chance
        self.is_quick = is_quick
        self.lives = Lives(subject, chance, CONVERSATIONS)
        self.settled: Counter[str] = Counter()
        """How the calls came to their outcomes: those that were in doubt were run again, verified, or asked about."""

    async def run(self, most: int) -> None:
        await self.birth()
        for script in SCRIPTS[:2] if self.is_quick else SCRIPTS:
            await self.appends(script, 6 if self.is_quick else 1)
        await self.recoveries()
        await self.effects()
        while self.subject.kills < most:
            await self.load()

    async def birth(self) -> None:
        """Nothing is there yet: the very first commits make the file."""
        for commits in (1,) if self.is_quick else (1, 2, 3):
            for when in (BEFORE, AFTER):
                self.subject.fuse.light(when, commits)
                if await self.subject.up():
                    self.subject.fuse.put_out()
                    await self.subject.kill()
                self.lives.kills["birth"] += 1

    async def appends(self, script: str, stride: int) -> None:
        """One commit later each time, until the script runs to its end."""
        commits = 1
        while True:
            for when in (BEFORE, AFTER):
                if not await self.killed_at(script, when, commits):
                    return
            commits += stride

    async def killed_at(self, script: str, when: int, commits: int) -> bool:
        await self.lives.alive()
        self.subject.fuse.light(when, commits)
        return await self.lives.dies("append", script)

    async def recoveries(self) -> None:
        """Killed in the middle, and again while it recovers from that."""
        for commits in (2, 4) if self.is_quick else range(1, 12):
            for when in (BEFORE, AFTER):
                await self.killed_at("idempotent, verifiable, unsafe; pure", AFTER, 4)
                self.subject.fuse.light(when, commits)
                if not await self.subject.up():
                    self.lives.kills["recovery"] += 1
                else:
                    self.subject.fuse.put_out()
                if self.is_quick:
                    break

    async def effects(self) -> None:
        kinds = ("idempotent", "verifiable", "unsafe", "gated", "reply")
        for _ in range(1 if self.is_quick else 3):
            for kind in kinds if self.is_quick else ("pure", *kinds):
                for when in ("before", "after"):
                    await self.lives.alive()
                    await self.subject.world.arm(self.subject.process.pid, kind, when)
                    await self.lives.dies("effect", "pure" if kind == "reply" else f"pure; {kind}, idempotent")

    async def load(self) -> None:
        """A burst in several conversations, and death after a random while."""
        await self.lives.alive()
        sayings = [asyncio.create_task(self._say()) for _ in range(BURST)]
        await asyncio.sleep(self.chance.uniform(0.0, 0.35))
        await self.subject.kill()
        self.lives.kills["load"] += 1
        await asyncio.gather(*sayings, return_exceptions=False)

    async def _say(self) -> None:
        try:
            for _ in range(self.chance.randint(1, 3)):
                wishes = [self.chance.choice(WISHES) for _ in range(self.chance.randint(1, 4))]
                if self.chance.random() < 0.3:
                    wishes.append(f"remind@{time.time() + 1.5:.3f}")
                await self.subject.say(self.chance.choice(("; ", ", ")).join(wishes), self.lives.place())
        except Died:
            pass

    async def verdict(self) -> Verdict:
        await self.lives.alive()
        await self.subject.redeliver(accepted=40)
        await self.subject.rest(with_timers=True)
        stories = await self.subject.stories()
        verdict = judge(self.subject.accepted, stories, await self.subject.world.ledger())
        verdict.repeated += self.subject.faults
        for intent in (intent for story in stories.values() for intent in story.intents):
            self.settled["asked the owner" if intent.is_asked else intent.outcome.how if intent.outcome else "waits for the owner"] += 1
        return verdict


class Trees:
    """The phases `files` and `layers`."""

    def __init__(self, place: Path, world: Remote, chance: random.Random, is_quick: bool) -> None:
        self.filing = Filing(place, world, chance)
        self.quarry = Quarry(place, chance)
        self.is_quick = is_quick
        self.refused = ""
        """Why nothing could be tried."""
        self._place = place

    async def run(self) -> Verdict:
        """What became of the events that were accepted meanwhile."""
        if not has_bwrap():
            self.refused = "bwrap is not installed: no box can be made"
        else:
            self.refused = await probe(self._place)
        if self.refused:
            return Verdict()
        await self.quarry.run(QUICK_LAYERS if self.is_quick else FULL_LAYERS)
        await self.filing.run(QUICK_FILES if self.is_quick else FULL_FILES)
        verdict = await self.filing.verdict()
        await self.filing.finish(2 if self.is_quick else 8)
        return verdict

    async def close(self) -> None:
        await self.quarry.close()
        await self.filing.subject.close()

    def tell(self) -> dict[str, int]:
        damage = self.filing.damage
        if self.refused:
            print(f"files, layers: NOT TRIED: {self.refused}\n")
        kills = Counter({f"files: {cause}": times for cause, times in self.filing.lives.kills.items()})
        kills.update({f"layers: {cause}": times for cause, times in self.quarry.kills.items()})
        report.table(("killed at", "times"), kills.most_common())
        told = Counter(f"{deed.tool}, {deed.how or 'waits'}, {deed.told}" for deed in self.filing.deeds)
        told["a shell came back without what its last command told it"] = self.filing.older
        report.table(("file calls", "times"), told.most_common())
        show(lost=damage.lost, repeated=damage.repeated, inconsistent=[*damage.inconsistent, *self.quarry.faults])
        return {
            "file_kills": self.filing.subject.kills + self.quarry.kills.total(),
            "file_lost": len(damage.lost),
            "file_repeated": len(damage.repeated),
            "tree_inconsistent": len(damage.inconsistent) + len(self.quarry.faults),
        }

    @property
    def is_kept(self) -> bool:
        return self.filing.damage.is_none and not self.quarry.faults


def show(**faults: list[str]) -> None:
    for name, each in faults.items():
        for fault in each[:20]:
            print(f"{name}: {fault}")


async def main() -> int:
    asked = report.options(__doc__)
    chance = random.Random(asked.seed)
    world = await Remote.start()
    with tempfile.TemporaryDirectory(prefix="daimon-crash-") as place:
        subject = Subject(Path(place) / "a", world, chance)
        crash = Crash(subject, chance, asked.quick)
        trees = Trees(Path(place), world, chance, asked.quick)
        try:
            await crash.run(QUICK_KILLS if asked.quick else FULL_KILLS)
            verdict = await crash.verdict()
            await subject.close()
            crash.lives.memories.look(is_last=True)
            verdict.add(await trees.run())
        finally:
            await trees.close()
            await subject.close()
            await world.close()
    report.table(("killed at", "times"), [*crash.lives.kills.items(), ("all", subject.kills)])
    report.table(("calls", "times"), crash.settled.most_common())
    memories = crash.lives.memories
    show(lost=verdict.lost, repeated=verdict.repeated, unreported=verdict.unreported, memory=memories.faults)
    fields = {
        "kills": subject.kills,
        "events": len(subject.accepted),
        "lost": len(verdict.lost),
        "repeated": len(verdict.repeated),
        "unknown_unreported": len(verdict.unreported),
        "recovery_p50_s": round(report.median(subject.recoveries_s), 3),
        "recovery_p99_s": round(report.percentile(subject.recoveries_s, 0.99), 3),
        "memory_looks": memories.looks,
        "memory_rebuilds": memories.rebuilds,
        "memory_disagreements": len(memories.faults),
        **trees.tell(),
    }
    return report.finish(asked, fields, verdict.is_kept and trees.is_kept and not memories.faults)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
