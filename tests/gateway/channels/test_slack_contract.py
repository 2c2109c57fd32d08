from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from tests.gateway.channels.telegram_rig import Shelf

from daimon.abi.channel import Channel
from daimon.gateway.channels.slack import SlackChannel, Tokens, Workspace
from daimon.testing.clock import ManualClock
from daimon.testing.contracts.channel import ChannelContract, ChannelRig
from daimon.testing.slack.server import SlackServer
from daimon.testing.slack.workspace import ANNA, BOT, CHANNEL, CHAT
from daimon.testing.telegram.faults import Fault


class SlackRig:
    sender = ANNA
    place = CHAT
    group = CHANNEL

    def __init__(self, server: SlackServer) -> None:
        self.store = Shelf()
        self._server = server
        self._workspace = server.workspace

    async def channel(self) -> Channel:
        tokens = Tokens(lambda: self._server.bot_token, lambda: self._server.app_token)
        return SlackChannel(Workspace(self._server.url), tokens, ManualClock(), self.store)

    async def say_as(self, sender: str, place: str, text: str) -> None:
        self._workspace.says(sender, place, text)

    async def say_to_agent(self, sender: str, place: str, text: str) -> None:
        self._workspace.says(sender, place, f"<@{BOT}> {text}")

    async def attach_as(self, sender: str, place: str, name: str, data: bytes) -> None:
        self._workspace.attaches(sender, place, name, data, self._server.file_url)

    async def press_as(self, sender: str, place: str, text: str) -> None:
        self._workspace.presses(sender, place, text)

    async def seen(self, place: str) -> Sequence[str]:
        return [str(each["text"]) for each in self._workspace.seen(place) if each["text"]]

    async def attached(self, place: str) -> Sequence[bytes]:
        return [self._workspace.files[str(file["id"])] for each in self._workspace.seen(place) for file in each.get("files", [])]  # type: ignore[union-attr, index, call-overload]

    async def cut_before_act(self) -> None:
        self._server.fail(Fault("cut", "chat.postMessage"))

    async def cut_after_act(self) -> None:
        self._server.fail(Fault("cut after", "chat.postMessage"))

    async def retry_after(self, seconds: float) -> None:
        self._server.fail(Fault("429", "chat.postMessage", int(seconds)))

    async def revoke(self) -> None:
        self._server.revoke()

    async def redeliver(self) -> None:
        self._server.again()


class TestSlack(ChannelContract):
    @asynccontextmanager
    async def open(self) -> AsyncIterator[ChannelRig]:
        async with SlackServer() as server:
            yield SlackRig(server)
