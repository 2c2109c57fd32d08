"""Slack: a direct message for each place, all with the same person."""

import random
import time

from daimon.testing.slack.server import SlackServer
from daimon.testing.slack.workspace import ANNA, Conversation
from daimon.testing.telegram.faults import Fault, What

SENDS = ("chat.postMessage",) * 30 + ("files.completeUploadExternal", "conversations.history")
TROUBLES: tuple[What, ...] = ("429", "500", "500 after", "cut", "cut after", "garbage after", "slow after")
SILENCES: tuple[What, ...] = ("silent", "silent after")


class Slack:
    name = "slack"
    long = 90

    def __init__(self) -> None:
        self._server = SlackServer(first=int(time.time()))  # who comes late reads what was said since a moment of its own clock

    @property
    def settings(self) -> str:
        tokens = 'bot_token = "env:LAB_SLACK_BOT"\napp_token = "env:LAB_SLACK_APP"'
        return f'[channels.slack]\n{tokens}\napi = "{self._server.url}"\n'

    @property
    def environment(self) -> dict[str, str]:
        return {"LAB_SLACK_BOT": self._server.bot_token, "LAB_SLACK_APP": self._server.app_token}

    @property
    def senders(self) -> tuple[str, ...]:
        return (ANNA,)

    async def open(self, written: int, spoken: int) -> None:
        await self._server.__aenter__()
        rooms = {self.address(place): Conversation(self.address(place), True) for place in range(written + spoken)}
        self._server.workspace.conversations |= rooms

    async def joined(self) -> bool:
        return True

    def address(self, place: int) -> str:
        return f"D{place:04}"

    async def say(self, place: int, text: str) -> None:
        self._server.workspace.says(ANNA, self.address(place), text)

    async def seen(self, place: int) -> list[str]:
        shown = self._server.workspace.seen(self.address(place))
        return [f"{each.get('text', '')} {' '.join(_titles(each.get('files')))}" for each in shown]

    def trouble(self, chance: random.Random, is_patient: bool) -> str:
        if chance.random() < 0.1:
            self._server.cut()
            return "the socket is cut"
        what = chance.choice(SILENCES if is_patient and chance.random() < 0.03 else TROUBLES)
        method = chance.choice(SENDS)
        self._server.fail(Fault(what, method))
        return f"{method}: {what}"

    async def close(self) -> None:
        await self._server.__aexit__(None, None, None)


def _titles(files: object) -> list[str]:
    return [str(file["title"]) for file in files] if isinstance(files, list) else []
