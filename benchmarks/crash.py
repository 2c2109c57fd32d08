"""Claim: kill -9 at any moment loses nothing that was accepted, repeats no effect, and hides no doubt.

The real `./daimon up` serves HTTP and works through scripts with tools of every effect class, against a world in a process of its
own that counts. It is killed

    birth     at each of its first commits, on an empty home
    append    at every commit of a script, one after the other: before the commit, and after it when nobody has been told yet
    recovery  at each commit of the start that recovers from an earlier kill
    effect    by the world, in the middle of an effect or of a reply: before it is counted, and after
    load      at random moments under load

and is started again each time. Recovery is measured from exec until it is ready and every interrupted turn rests again, so it
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
from lab.fuse import AFTER, BEFORE
from lab.lives import Lives
from lab.process import Died
from lab.subject import Subject
from lab.verdict import Verdict, judge
from lab.world import Remote

FULL_KILLS = 300
QUICK_KILLS = 32
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


async def main() -> int:
    asked = report.options(__doc__)
    chance = random.Random(asked.seed)
    world = await Remote.start()
    with tempfile.TemporaryDirectory(prefix="daimon-crash-") as place:
        subject = Subject(Path(place) / "a", world, chance)
        crash = Crash(subject, chance, asked.quick)
        try:
            await crash.run(QUICK_KILLS if asked.quick else FULL_KILLS)
            verdict = await crash.verdict()
        finally:
            await subject.close()
            await world.close()
    report.table(("killed at", "times"), [*crash.lives.kills.items(), ("all", subject.kills)])
    report.table(("calls", "times"), crash.settled.most_common())
    for name, faults in (("lost", verdict.lost), ("repeated", verdict.repeated), ("unreported", verdict.unreported)):
        for fault in faults[:20]:
            print(f"{name}: {fault}")
    fields = {
        "kills": subject.kills,
        "events": len(subject.accepted),
        "lost": len(verdict.lost),
        "repeated": len(verdict.repeated),
        "unknown_unreported": len(verdict.unreported),
        "recovery_p50_s": round(report.median(subject.recoveries_s), 3),
        "recovery_p99_s": round(report.percentile(subject.recoveries_s, 0.99), 3),
    }
    return report.finish(asked, fields, verdict.is_kept)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
