"""Matrix: a room of two for each place, on a real synapse, reached through a proxy that breaks what synapse would not."""

import asyncio
import random
import tempfile
from contextlib import ExitStack
from pathlib import Path

from daimon.testing.matrix.homeserver import NoHomeserver, homeserver, install
from daimon.testing.matrix.person import Person
from daimon.testing.matrix.proxy import BROKEN, Answer, Cut, Fault, FaultProxy, Late
from lab.process import CHECKOUT
from lab.services.service import Absent

LIMITED = Answer(429, "M_LIMIT_EXCEEDED", retry_after_ms=1_000)
TROUBLES: tuple[Fault, ...] = (LIMITED, BROKEN, Answer(500, "M_UNKNOWN", after=True), Cut(), Cut(after=True), Late(2.0))
SILENCE = Late(90.0)
WHERE = ("/send/m.room.message/",) * 30 + ("/sync",) * 4 + ("/upload",)


class Matrix:
    name = "matrix"
    long = 400

    def __init__(self) -> None:
        self._held = ExitStack()
        self._proxy: FaultProxy | None = None
        self._agent: Person | None = None
        self._alice: Person | None = None
        self._rooms: list[str] = []

    @property
    def proxy(self) -> FaultProxy:
        assert self._proxy is not None
        return self._proxy

    @property
    def agent(self) -> Person:
        assert self._agent is not None
        return self._agent

    @property
    def alice(self) -> Person:
        assert self._alice is not None
        return self._alice

    @property
    def settings(self) -> str:
        return f'[channels.matrix]\nhomeserver = "{self.proxy.url}"\nuser = "{self.agent.user}"\ntoken = "env:LAB_MATRIX"\n'

    @property
    def environment(self) -> dict[str, str]:
        return {"LAB_MATRIX": self.agent.token}

    @property
    def senders(self) -> tuple[str, ...]:
        return (self.alice.user,)

    async def open(self, written: int, spoken: int) -> None:
        place = Path(self._held.enter_context(tempfile.TemporaryDirectory(prefix="daimon-synapse-", ignore_cleanup_errors=True)))
        try:
            python = await asyncio.to_thread(install, CHECKOUT)
            server = await asyncio.to_thread(self._held.enter_context, homeserver(python, place))
        except NoHomeserver as error:
            raise Absent(str(error)) from error
        self._proxy = await FaultProxy(server.url).__aenter__()
        self._agent, self._alice = await Person.new(server, "agent"), await Person.new(server, "alice")
        self._rooms = [await self.alice.room(self.agent.user) for _ in range(written + spoken)]

    async def joined(self) -> bool:
        members = await asyncio.gather(*(self.alice.members(room) for room in self._rooms))
        return all(self.agent.user in each for each in members)

    def address(self, place: int) -> str:
        return self._rooms[place]

    async def say(self, place: int, text: str) -> None:
        await self.alice.say(self._rooms[place], text)

    async def seen(self, place: int) -> list[str]:
        return [shown.body for shown in await self.alice.shown(self._rooms[place], self.agent.user)]

    def trouble(self, chance: random.Random, is_patient: bool) -> str:
        fault = SILENCE if is_patient and chance.random() < 0.01 else chance.choice(TROUBLES)
        where = chance.choice(WHERE)
        self.proxy.break_next(where, fault)
        return f"{where}: {fault}"

    async def close(self) -> None:
        for person in (self._agent, self._alice):
            if person is not None:
                await person.close()
        if self._proxy is not None:
            await self._proxy.__aexit__(None, None, None)
        await asyncio.to_thread(self._held.close)
