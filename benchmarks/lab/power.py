"""Power cuts, many and cheap: a journal in a forked child works on the failing disk (`disk.py`) until that cuts the power, and then
the file is read again.

The child says on a pipe what it was promised: every event, step and ending for which the journal returned. What it said must be
there afterwards, the file must be whole, and the next child goes on with it. Run as a program it prints one line of JSON: cuts,
promises, faults.
"""

import asyncio
import json
import os
import random
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import apsw

from daimon.abi.event import Event, Said
from daimon.abi.ids import OWNER, EventId, Key, TurnId
from daimon.abi.label import owned
from daimon.abi.message import Text
from daimon.abi.ports import Claim, Ended
from daimon.abi.step import Continue, Decided, Step
from daimon.abi.turn import Ending, Pins
from daimon.journal.sqlite import SqliteJournal
from daimon.machine.chance import SystemRandom
from daimon.machine.clock import SystemClock
from daimon.machine.ids import SortableIds
from lab import disk
from lab.dial import Dial

LIVES = 4
"""Cuts that one file goes through."""
LONGEST = 500
"""Writes and syncs until the cut, at most."""
CONVERSATIONS = 4


def main(cuts: int, seed: int) -> None:
    chance = random.Random(seed)
    done, promises, faults = 0, 0, []
    while done < cuts:
        with tempfile.TemporaryDirectory(prefix="daimon-power-") as place:
            promised: list[str] = []
            for life in range(LIVES):
                fault = chance.choice((disk.CUT, disk.TEAR))
                promised += _live(Path(place), fault, chance.randint(1, LONGEST), chance.getrandbits(32))
                faults += [
                    f"seed {seed}, cut {done}, life {life}: {fault_}"
                    for fault_ in asyncio.run(_missing(Path(place) / "journal.db", promised))
                ]
                done += 1
            promises += len(promised)
    print(json.dumps({"cuts": done, "promises": promises, "faults": faults}))


def _live(place: Path, fault: int, operations: int, seed: int) -> list[str]:
    """One child, until its power is cut. What it was promised."""
    dial = Dial(place / "dial")
    dial.set(fault, operations, seed)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            disk.mount(dial.path)
            asyncio.run(_work(place / "journal.db", writing, seed))
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading) as told:
        promised = told.read().split("\n")[:-1]
    _, status = os.waitpid(child, 0)
    return promised if os.WIFSIGNALED(status) else [*promised, "child ended by itself"]


async def _work(path: Path, told: int, seed: int) -> None:
    journal = await _open(path)
    checkpointing = asyncio.create_task(_checkpoint(path, random.Random(seed)))
    await asyncio.gather(checkpointing, *(_converse(journal, f"c{i}", told) for i in range(CONVERSATIONS)))


async def _converse(journal: SqliteJournal, conversation: str, told: int) -> None:
    ids = SortableIds(SystemClock(), SystemRandom())
    while True:
        now, event = datetime.now(UTC), EventId(ids.new("e"))
        body = Said((Text("words " * 50),))
        whole = Event(id=event, source="lab", key=Key(event), conversation=conversation, principal=OWNER, body=body, label=owned("lab"),
                      occurred_at=now, received_at=now)  # fmt: skip
        await journal.accept(whole)
        _promise(told, "event", event)
        claim = await journal.claim(whole.where, "lab", 30.0, Pins())
        while isinstance(claim, Claim):
            n = len(claim.steps)
            await journal.record(claim, (_step(claim, n), _step(claim, n + 1)))
            _promise(told, "step", claim.turn.id, n + 1)
            await journal.finish(claim, (), Ended(Ending.SILENT, claim.event.label))
            _promise(told, "end", claim.turn.id)
            claim = await journal.claim(whole.where, "lab", 30.0, Pins())


def _step(claim: Claim, n: int) -> Step:
    turn = claim.turn
    return Step(
        turn=turn.id,
        n=n,
        body=Decided(Continue(), "lab", {"n": n}),
        at=turn.created_at,
        space=turn.space,
        principal=OWNER,
        agent=turn.agent,
    )


async def _checkpoint(path: Path, chance: random.Random) -> None:
    """The journal checkpoints every 16 MB; here it must happen between two cuts."""
    connection = apsw.Connection(str(path))
    while True:
        await asyncio.sleep(chance.uniform(0, 0.05))
        connection.wal_checkpoint(mode=chance.choice((apsw.SQLITE_CHECKPOINT_PASSIVE, apsw.SQLITE_CHECKPOINT_PASSIVE)))


def _promise(told: int, *words: object) -> None:
    os.write(told, (" ".join(map(str, words)) + "\n").encode())


async def _missing(path: Path, promised: list[str]) -> list[str]:
    journal = await _open(path)
    faults = []
    for words in map(str.split, promised):
        match words:
            case ["event", event]:
                present = (await journal.event(EventId(event))).id == event
            case ["step", turn, n]:
                present = len(await journal.steps(TurnId(turn))) > int(n)
            case ["end", turn]:
                present = (await journal.turn(TurnId(turn))).ended_at is not None
            case _:
                present = False
        if not present:
            faults.append(f"promised and gone: {' '.join(words)}")
    await journal.close()
    whole = apsw.Connection(str(path)).pragma("integrity_check")
    return faults if whole == "ok" else [*faults, f"integrity: {whole}"]


async def _open(path: Path) -> SqliteJournal:
    clock = SystemClock()
    return await SqliteJournal.open(path, clock, SortableIds(clock, SystemRandom()))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
