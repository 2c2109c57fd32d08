"""Telegram: a chat of two for each place. Nobody can look whether a message went out, so what was cut off stays unknown."""

import random

from daimon.testing.telegram.chats import Person
from daimon.testing.telegram.faults import Fault, What
from daimon.testing.telegram.server import TelegramServer

FIRST = 2_000
SENDS = ("sendMessage",) * 30 + ("sendDocument",)
"""About as often as each is used: a trouble that nobody meets waits, and many of them would meet one letter."""
TROUBLES: tuple[What, ...] = ("429", "500", "500 after", "cut", "cut after", "garbage after", "slow after")
SILENCES: tuple[What, ...] = ("silent", "silent after")


class Telegram:
    name = "telegram"
    long = 120

    def __init__(self) -> None:
        self._server = TelegramServer()
        self._people: list[Person] = []

    @property
    def settings(self) -> str:
        return f'[channels.telegram]\ntoken = "env:LAB_TELEGRAM"\napi = "{self._server.url}"\n'

    @property
    def environment(self) -> dict[str, str]:
        return {"LAB_TELEGRAM": self._server.token}

    @property
    def senders(self) -> tuple[str, ...]:
        return tuple(str(person.id) for person in self._people)

    async def open(self, written: int, spoken: int) -> None:
        await self._server.__aenter__()
        self._people = [Person(FIRST + place, f"Person {place}") for place in range(written + spoken)]

    async def joined(self) -> bool:
        return True

    def address(self, place: int) -> str:
        return str(FIRST + place)

    async def say(self, place: int, text: str) -> None:
        self._server.chats.says(self._people[place], text)

    async def seen(self, place: int) -> list[str]:
        return [f"{shown.text} {shown.name}" for shown in self._server.chats.seen(FIRST + place)]

    def trouble(self, chance: random.Random, is_patient: bool) -> str:
        what = chance.choice(SILENCES if is_patient and chance.random() < 0.03 else TROUBLES)
        listens = what in ("429", "500", "cut", "cut after") and chance.random() < 0.2
        method = "getUpdates" if listens else chance.choice(SENDS)
        self._server.fail(Fault(what, method))
        return f"{method}: {what}"

    async def close(self) -> None:
        await self._server.__aexit__(None, None, None)
