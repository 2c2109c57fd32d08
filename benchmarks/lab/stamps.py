"""An extension whose model says the time: every token is the moment at which it was handed over, in milliseconds of the system clock.

`stamps N` says N of them, one each `PAUSE_S`; anything else is answered with a short line of its own.
"""

import asyncio
import time
from collections.abc import AsyncIterator

from daimon.abi.message import Text
from daimon.abi.model import Delta, Reply, Request, Unmetered
from daimon.extension import Kit

PAUSE_S = 0.01


def stamp() -> str:
    return f"<{time.time_ns() // 1000}> "


class Stamps(Unmetered):
    name = "stamps"

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        verb, _, rest = request.messages[-1].text.partition(" ")
        if verb != "stamps":
            yield Reply((Text(f"**Noted.** You said: {rest or verb}"),), self.name)
            return
        said = []
        for _ in range(int(rest)):
            said.append(stamp())
            yield Delta(said[-1])
            await asyncio.sleep(PAUSE_S)
        yield Reply((Text("".join(said)),), self.name)


def extend(kit: Kit) -> None:
    kit.models["stamps"] = Stamps()
