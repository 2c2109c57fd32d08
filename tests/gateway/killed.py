"""A process that sends messages by a channel whose service is a file, to be killed in the middle of it."""

import asyncio
import json
from pathlib import Path

from tests.journal.world import MAIN, PINS, TTL_S, claimed, event, fresh_ids, outcome

from daimon.abi.channel import Piece, Receipt
from daimon.abi.event import Address, Event
from daimon.abi.label import owned
from daimon.abi.message import Text
from daimon.abi.ports import Ended
from daimon.abi.tool import Send
from daimon.abi.turn import Ending
from daimon.gateway.delivery import Desk
from daimon.gateway.outbox import Postman
from daimon.journal.sqlite import SqliteJournal
from daimon.kernel.feed import Feed
from daimon.machine.chance import SystemRandom
from daimon.machine.clock import SystemClock
from daimon.testing.channel import FakeChannel, Repeat
from daimon.testing.redactor import PlainRedactor

PLACES, EACH, WORDS = 3, 4, 200


class FileChannel(FakeChannel):
    def __init__(self, file: Path, repeat: Repeat) -> None:
        super().__init__("mail", repeat)
        self._file = file

    async def send(self, piece: Piece, to: str, key: str) -> Receipt:
        if not (self.traits.repeat == "harmless" and key in shown(self._file)):
            with self._file.open("a") as out:
                out.write(json.dumps({"key": key, "to": to, "text": piece.text}) + "\n")
        await asyncio.sleep(0.003)
        return Receipt("sent", key)

    async def find(self, piece: Piece, to: str, key: str) -> Receipt | None:
        return Receipt("confirmed", key) if key in shown(self._file) else None


def shown(file: Path) -> dict[str, dict[str, str]]:
    lines = file.read_text().splitlines() if file.exists() else []
    return {line["key"]: line for line in map(json.loads, lines)}


def text_of(place: int, n: int) -> str:
    return " ".join(f"p{place}m{n}w{word}" for word in range(WORDS))


class Nobody:
    async def accept(self, event: Event) -> object:
        raise AssertionError("no event is sent here")


async def fill(path: Path) -> None:
    journal = await SqliteJournal.open(path, SystemClock(), fresh_ids())
    await journal.accept(event("k"))
    claim = claimed(await journal.claim(MAIN, "w", TTL_S, PINS))
    sends = [Send(Address("mail", f"{place}"), (Text(text_of(place, n)),)) for n in range(EACH) for place in range(PLACES)]
    await journal.record(claim, [outcome(claim, 0, *sends)])
    await journal.finish(claim, [], Ended(Ending.SILENT, owned("test")))
    await journal.close()


async def deliver(path: Path, file: Path, repeat: Repeat) -> None:
    """Until nothing is left."""
    clock = SystemClock()
    journal = await SqliteJournal.open(path, clock, fresh_ids())
    desk = Desk(journal, clock, PlainRedactor())
    postman = Postman(desk, (FileChannel(file, repeat),), Nobody(), Feed(), SystemRandom())
    serving = asyncio.ensure_future(postman.serve())
    while (await journal.count()).outgoing:  # noqa: ASYNC110 - the truth is in the journal, which has no event to wait for
        await asyncio.sleep(0.01)
    serving.cancel()
    await asyncio.wait({serving})
    await journal.close()
