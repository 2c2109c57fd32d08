"""The Matrix channel does what every channel must do, on a real homeserver."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from unittest import SkipTest

import pytest
from tests.gateway.channels.matrix_rig import Blobs

from daimon.gateway.channels.matrix import Account, MatrixChannel
from daimon.testing.clock import ManualClock
from daimon.testing.matrix.homeserver import Homeserver
from daimon.testing.matrix.person import Person
from daimon.testing.matrix.proxy import Answer, Cut, FaultProxy

contract = pytest.importorskip("daimon.testing.contracts.channel")


class MatrixRig:
    def __init__(self, agent: Person, people: dict[str, Person], proxy: FaultProxy, place: str, group: str) -> None:
        self.agent = agent
        self.people = people
        self.proxy = proxy
        self.place = place
        self.group = group
        self.sender = next(iter(people))
        self.store = Blobs()
        self.started_at = datetime.now(UTC)
        self.channels: list[MatrixChannel] = []

    async def channel(self) -> MatrixChannel:
        account, clock = Account(self.proxy.url, self.agent.user), ManualClock(self.started_at - timedelta(milliseconds=1))
        self.channels.append(made := MatrixChannel(account, lambda: self.agent.token, clock, self.store))
        return made

    async def say_as(self, sender: str, place: str, text: str) -> None:
        await self.people[sender].say(place, text)

    async def say_to_agent(self, sender: str, place: str, text: str) -> None:
        await self.people[sender].say(place, text, **{"m.mentions": {"user_ids": [self.agent.user]}})

    async def attach_as(self, sender: str, place: str, name: str, data: bytes) -> None:
        uri = await self.people[sender].upload(data, "application/octet-stream")
        await self.people[sender].say(place, name, msgtype="m.file", url=uri)

    async def press_as(self, sender: str, place: str, text: str) -> None:
        raise SkipTest("Matrix has no buttons")

    async def seen(self, place: str) -> Sequence[str]:
        return [said.body for said in await self.people[self.sender].shown(place, by=self.agent.user) if "url" not in said.content]

    async def attached(self, place: str) -> Sequence[bytes]:
        person = self.people[self.sender]
        return [await person.download(said.content["url"]) for said in await person.shown(place, self.agent.user) if "url" in said.content]

    async def cut_before_act(self) -> None:
        self.proxy.break_next("/send/", Cut())

    async def cut_after_act(self) -> None:
        self.proxy.break_next("/send/", Cut(after=True))

    async def retry_after(self, seconds: float) -> None:
        self.proxy.break_next("/send/", Answer(429, "M_LIMIT_EXCEEDED", retry_after_ms=int(seconds * 1_000)))

    async def revoke(self) -> None:
        await self.agent.ask("POST", "/logout", {})

    async def redeliver(self) -> None:
        raise SkipTest("a homeserver gives what follows a token; that a batch comes again is tested in test_matrix_in.py")


class TestMatrixChannel(contract.ChannelContract):  # type: ignore[misc, name-defined, unused-ignore]
    @pytest.fixture(autouse=True)
    def _on(self, synapse: Homeserver) -> None:
        self.server = synapse

    @asynccontextmanager
    async def open(self) -> AsyncIterator[MatrixRig]:
        agent, owner, guest = [await Person.new(self.server, name) for name in ("agent", "owner", "guest")]
        place = await owner.room(agent.user)
        group = await owner.room(agent.user, guest.user)
        for member, room in ((agent, place), (agent, group), (guest, group)):
            await member.join(room)
        async with FaultProxy(self.server.url) as proxy:
            rig = MatrixRig(agent, {owner.user: owner, guest.user: guest}, proxy, place, group)
            try:
                yield rig
            finally:
                for closing in (*rig.channels, agent, owner, guest):
                    await closing.close()
