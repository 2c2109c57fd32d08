"""Kills of a mason: at commits of the index of his layers, and at random moments of whatever he is doing.

Another one opens the same layers, and what he sees must be what was there before the wish under way or after it (`masonry.py`). Nothing may
refer to a layer that is gone.
"""

import asyncio
import json
import os
import random
import signal
import sqlite3
import sys
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from lab.fuse import AFTER, BEFORE, Fuse
from lab.mason import read
from lab.masonry import BASE, Model, State, Wish
from lab.process import CHECKOUT

WAIT_S = 60.0
LARGEST = 1 << 24
DEADLY = 0.45
"""The share of wishes that he is killed over."""


class Ended(Exception):
    """The mason is dead."""


class Quarry:
    def __init__(self, place: Path, chance: random.Random) -> None:
        self.root, self.base = place / "layers", place / "owners"
        self.kills: Counter[str] = Counter()
        """By what was under way."""
        self.faults: list[str] = []
        self.wishes: Counter[str] = Counter()
        self.model = Model(chance)
        self._chance, self._dial = chance, place / "mason.index"
        self._fuse = Fuse(self._dial)
        self._child: asyncio.subprocess.Process | None = None
        self._took_s: dict[str, list[float]] = {}
        self._errors = place / "mason.stderr"
        for path, text in BASE.items():
            (self.base / path).parent.mkdir(parents=True, exist_ok=True)
            (self.base / path).write_text(text)

    async def run(self, kills: int) -> None:
        await self._opened()
        while self.kills.total() < kills:
            wish = self.model.wish(self._generations()[0])
            self.wishes[wish.name] += 1
            if self._chance.random() < DEADLY:
                await self._killed(wish)
            else:
                await self.carried_out(wish)

    async def close(self) -> None:
        if self._child is not None and self._child.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self._child.pid, signal.SIGKILL)  # the library's own way may reap one that died of itself, and forget how
            await self._child.wait()

    # -- one wish

    async def carried_out(self, wish: Wish) -> None:
        begun = time.monotonic()
        try:
            said = await self._asked(wish.words)
        except Ended:
            raise self._failed(f"a {wish.name} failed") from None
        self._took_s.setdefault(wish.name, []).append(time.monotonic() - begun)
        expected = self.model.done(wish, said)
        if (seen := await self._seen()) != expected:
            self._tell(f"after a {wish.name}", seen, expected)
            self.model.state = seen

    async def _killed(self, wish: Wish) -> None:
        before, said = self.model.state, await self._dying(wish)
        self.kills[wish.name] += 1
        await self._opened()
        seen = await self._seen()
        if said is not None:
            is_right = seen == (expected := self.model.done(wish, said))
            self.model.state = seen
        else:
            is_right, expected = self.model.killed(wish, seen), wish.after
        if not is_right:
            self._tell(f"killed in a {wish.name}{'' if said is None else ', done'}", seen, before, expected)

    async def _dying(self, wish: Wish) -> Any:
        """What he said before he died, if anything."""
        took_s = self._chance.choice(self._took_s.get(wish.name, [0.1]))
        by_fuse = wish.name != "write" and self._chance.random() < 0.4
        if by_fuse:
            self._fuse.light(self._chance.choice((BEFORE, AFTER)), self._chance.randint(1, 3))
        asked = asyncio.create_task(self._asked(wish.words))
        await asyncio.wait([asked], timeout=WAIT_S if by_fuse else self._chance.uniform(0.0, 1.1 * took_s))
        self._fuse.put_out()
        await self.close()
        with suppress(Ended):
            return await asked
        if self._died_by_itself():
            raise self._failed(f"a {wish.name} failed")
        return None

    # -- the mason

    async def _opened(self) -> None:
        """At times he dies over that too, at a commit."""
        if self._chance.random() < 0.3:
            self._fuse.light(self._chance.choice((BEFORE, AFTER)), self._chance.randint(1, 2))
        while True:
            try:
                await self._begun()
                break
            except Ended:
                await self.close()
                if self._fuse.is_lit or self._died_by_itself():
                    raise self._failed("the layers cannot be opened") from None
                self.kills["opening"] += 1
        self._fuse.put_out()
        self.faults += [fault for fault in missing(self.root) if fault not in self.faults]

    def _failed(self, what: str) -> RuntimeError:
        return RuntimeError(f"{what}: {self._errors.read_text()[-2000:]}")

    def _died_by_itself(self) -> bool:
        assert self._child is not None
        return self._child.returncode != -signal.SIGKILL

    async def _begun(self) -> None:
        with self._errors.open("ab") as sink:
            self._child = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "lab.mason", str(self.root), str(self.base), str(self._dial),
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=sink, env=_environment(), limit=LARGEST,
            )  # fmt: skip
        await self._heard()

    async def _asked(self, words: dict[str, Any]) -> Any:
        assert self._child is not None
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(json.dumps(words).encode() + b"\n")
            await self._child.stdin.drain()
        except ConnectionError:
            raise Ended from None
        return (await self._heard())["done"]

    async def _heard(self) -> dict[str, Any]:
        assert self._child is not None
        assert self._child.stdout is not None
        async with asyncio.timeout(WAIT_S):
            line = await self._child.stdout.readline()
        if not line.endswith(b"\n"):
            raise Ended
        found: dict[str, Any] = json.loads(line)
        return found

    async def _seen(self) -> State:
        looked = await self._asked({"do": "look"})
        state = State(looked["own"], read(self.base), looked["fork"])
        self.model.bases[self._generations()[1]] = state.base
        return state

    def _generations(self) -> tuple[int, int]:
        """Of the checkpoint that the tree lies on, and of the owner's directory now."""
        with closing(_index(self.root)) as index:
            ((head, family),) = index.execute("SELECT head, family FROM workspaces WHERE id = 'w1'")
            ((mine,),) = index.execute("SELECT generation FROM checkpoints WHERE number = ?", (int(head[1:]),))
            ((now,),) = index.execute("SELECT generation FROM families WHERE id = ?", (family,))
            return mine, now

    def _tell(self, when: str, seen: State, *expected: State) -> None:
        for part in ("own", "base", "fork"):
            trees = [getattr(each, part) or {} for each in expected]
            have = getattr(seen, part) or {}
            wrong = sorted(path for path in {*have}.union(*trees) if have.get(path) not in [tree.get(path) for tree in trees])
            self.faults += [f"{when}: {path} ({part}) is {str(have.get(path))[:40]!r}" for path in wrong[:3]]
        if not self.faults or not self.faults[-1].startswith(when):
            self.faults.append(f"{when}: some of it is as before, some as after")


def missing(root: Path) -> list[str]:
    """What the index refers to, and is not there."""
    with closing(_index(root)) as index:
        layers = dict(index.execute("SELECT name, family FROM layers"))
        points = {f"c{number}": json.loads(stack) for number, stack in index.execute("SELECT number, stack FROM checkpoints")}
        needs = [(point, name) for point, stack in points.items() for name in stack]
        needs += list(index.execute("SELECT 'generation ' || number, layer FROM generations"))
        needs += list(index.execute("SELECT id, live FROM workspaces"))
        needs += list(index.execute("SELECT 'change ' || number, layer FROM changes WHERE layer IS NOT NULL AND NOT undone"))
        heads = list(index.execute("SELECT id, head FROM workspaces"))
    faults = [f"{who} needs the layer {name}, which is not in the index" for who, name in needs if name not in layers]
    faults += [f"the layer {name} is not on disk" for name, family in layers.items() if not (root / family / name / "tree").is_dir()]
    return faults + [f"{who} lies on {head}, which is not there" for who, head in heads if head not in points]


def _index(root: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{root / 'index.db'}?mode=ro", uri=True)


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(CHECKOUT / "benchmarks"), str(CHECKOUT / "src")))}
