from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from tests.gateway.channels.telegram_rig import Shelf

from daimon.abi.channel import Channel
from daimon.gateway.channels.telegram import Bot, TelegramChannel
from daimon.testing.clock import ManualClock
from daimon.testing.contracts.channel import ChannelContract, ChannelRig
from daimon.testing.telegram.chats import ANNA, BOT, GROUP
from daimon.testing.telegram.faults import Fault
from daimon.testing.telegram.server import TelegramServer


class TelegramRig:
    sender = str(ANNA.id)
    place = str(ANNA.id)
    group = str(GROUP)

    def __init__(self, server: TelegramServer) -> None:
        self.store = Shelf()
        self._server = server
        self._chats = server.chats

    async def channel(self) -> Channel:
        return TelegramChannel(Bot(self._server.url), lambda: self._server.token, ManualClock(), self.store)

    async def say_as(self, sender: str, place: str, text: str) -> None:
        self._chats.says(ANNA, text, int(place))

    async def say_to_agent(self, sender: str, place: str, text: str) -> None:
        self._chats.says(ANNA, f"@{BOT.username} {text}", int(place))

    async def attach_as(self, sender: str, place: str, name: str, data: bytes) -> None:
        self._chats.sends(ANNA, "document", data, file_name=name)

    async def press_as(self, sender: str, place: str, text: str) -> None:
        shown = [s for s in self._chats.seen(int(place)) if s.buttons][-1]
        self._chats.presses(ANNA, shown, [said for said, _ in shown.buttons].index(text))

    async def seen(self, place: str) -> Sequence[str]:
        return [s.text for s in self._chats.seen(int(place)) if s.kind == "text"]

    async def attached(self, place: str) -> Sequence[bytes]:
        return [s.data for s in self._chats.seen(int(place)) if s.kind != "text"]

    async def cut_before_act(self) -> None:
        self._server.fail(Fault("cut", "sendMessage"))

    async def cut_after_act(self) -> None:
        self._server.fail(Fault("cut after", "sendMessage"))

    async def retry_after(self, seconds: float) -> None:
        self._server.fail(Fault("429", "sendMessage", int(seconds)))

    async def revoke(self) -> None:
        self._server.revoke()

    async def redeliver(self) -> None:
        self._server.queue.again()


class TestTelegram(ChannelContract):
    @asynccontextmanager
    async def open(self) -> AsyncIterator[ChannelRig]:
        async with TelegramServer() as server:
            yield TelegramRig(server)
