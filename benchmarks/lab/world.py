"""The outside world, in a process of its own: effects happen here and are counted here, whoever dies meanwhile.

    POST /act       {kind, key, what}   an effect arrives. An idempotent one with a known key changes nothing more, any other one does
    GET  /happened  ?key                did it?
    POST /reply     {key, text, to}     a message for a person; one with a known key is recognised, as a channel that takes keys does
    POST /arm       {pid, kind, when}   kill that process at its next effect of this kind, `before` it is counted or `after`
    GET  /ledger                        everything that was counted
    GET  /quiet                         waits until no effect is under way, such as one that a dead process had begun

What arrived, what took effect and what was sent are counted apart: a call that the world recognised is no repetition, a second
transfer of money is one.
"""

import asyncio
import os
import signal
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from lab import wire


@dataclass(slots=True)
class Ledger:
    """What the world knows, by key."""

    kind: dict[str, str] = field(default_factory=dict)
    what: dict[str, str] = field(default_factory=dict)
    """Which wish of the script the key stands for: two keys for one wish are a repetition as well."""
    arrived: Counter[str] = field(default_factory=Counter)
    applied: Counter[str] = field(default_factory=Counter)
    replies: dict[str, str] = field(default_factory=dict)
    sent: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, data: dict[str, Any]) -> "Ledger":
        counters = {name: Counter(data[name]) for name in ("arrived", "applied", "sent")}
        return cls(data["kind"], data["what"], counters["arrived"], counters["applied"], data["replies"], counters["sent"])

    def of_home(self, name: str) -> "Ledger":
        """What the Daimon of that home caused: its marks begin with the name."""
        keys = {key for key, what in self.what.items() if what.startswith(f"{name}x")}
        mine = {k: text for k, text in self.replies.items() if text.startswith(f"done {name}x")}
        only = lambda counts: Counter({key: n for key, n in counts.items() if key in keys})  # noqa: E731
        return Ledger(
            {k: self.kind[k] for k in keys}, {k: self.what[k] for k in keys}, only(self.arrived), only(self.applied), mine, Counter(mine)
        )

    def arrive(self, kind: str, key: str, what: str) -> None:
        self.kind[key], self.what[key] = kind, what
        self.arrived[key] += 1

    def apply(self, key: str) -> None:
        if self.kind[key] != "idempotent" or not self.applied[key]:
            self.applied[key] += 1

    def reply(self, key: str, text: str) -> None:
        self.replies.setdefault(key, text)
        self.sent[key] += 1


@dataclass(frozen=True, slots=True)
class Trap:
    pid: int
    kind: str
    when: str


class World:
    def __init__(self) -> None:
        self.ledger = Ledger()
        self._trap: Trap | None = None
        self._acting = 0
        self._ended = asyncio.Condition()

    async def handle(self, asked: wire.Asked) -> wire.Answer | None:
        place = urlsplit(asked.path)
        match asked.method, place.path:
            case "POST", "/act":
                return await self._act(asked.data)
            case "POST", "/reply":
                return self._reply(asked.data)
            case "GET", "/happened":
                return wire.answer(self.ledger.applied[parse_qs(place.query)["key"][0]] > 0)
            case "POST", "/arm":
                self._trap = Trap(**asked.data) if asked.data else None
                return wire.answer("armed")
            case "GET", "/ledger":
                return wire.answer({name: getattr(self.ledger, name) for name in self.ledger.__slots__})
            case "GET", "/quiet":
                async with self._ended:
                    await self._ended.wait_for(lambda: not self._acting)
                return wire.answer("quiet")
            case _:
                return wire.answer("no such place", 404)

    async def _act(self, act: dict[str, str]) -> wire.Answer | None:
        self._acting += 1
        try:
            kind, key = act["kind"], act["key"]
            self.ledger.arrive(kind, key, act["what"])
            if self._kills(kind, "before"):
                return None
            await asyncio.sleep(0)  # effects of one moment overlap
            self.ledger.apply(key)
            return None if self._kills(kind, "after") else wire.answer({"done": act["what"]})
        finally:
            self._acting -= 1
            async with self._ended:
                self._ended.notify_all()

    def _reply(self, said: dict[str, str]) -> wire.Answer | None:
        if self._kills("reply", "before"):
            return None
        self.ledger.reply(said["key"], said["text"])
        return None if self._kills("reply", "after") else wire.answer("heard")

    def _kills(self, kind: str, when: str) -> bool:
        trap = self._trap
        if trap is None or (trap.kind, trap.when) != (kind, when):
            return False
        self._trap = None
        os.kill(trap.pid, signal.SIGKILL)
        return True


class Remote:
    """The world as seen from another process."""

    def __init__(self, port: int, process: asyncio.subprocess.Process) -> None:
        self.port = port
        self._process = process

    @classmethod
    async def start(cls) -> "Remote":
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "lab.world", stdout=asyncio.subprocess.PIPE, env=_environment()
        )
        assert process.stdout is not None
        return cls(int(await process.stdout.readline()), process)

    async def arm(self, pid: int, kind: str, when: str) -> None:
        await wire.call(self.port, "POST", "/arm", {"pid": pid, "kind": kind, "when": when})

    async def disarm(self) -> None:
        await wire.call(self.port, "POST", "/arm", {})

    async def quiet(self) -> None:
        await wire.call(self.port, "GET", "/quiet")

    async def ledger(self) -> Ledger:
        return Ledger.of((await wire.call(self.port, "GET", "/ledger")).data)

    async def close(self) -> None:
        self._process.kill()
        await self._process.wait()


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}


async def main() -> None:
    server = await wire.serve(World().handle)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
