"""What the delivery benchmark asks of a service: places to write to, people who speak, what is seen there, and trouble on command.

Places are numbered. In the upper ones people speak; the lower ones are only written to. A service outlives all lives of the gateway, so
what is seen in it is what really arrived.
"""

import random
from typing import Protocol


class Absent(Exception):
    """It cannot run on this machine; says why."""


class Service(Protocol):
    name: str
    long: int
    """So many paragraphs do not fit into one piece."""

    @property
    def settings(self) -> str:
        """For daimon.toml."""
        ...

    @property
    def environment(self) -> dict[str, str]:
        """Its secrets."""
        ...

    @property
    def senders(self) -> tuple[str, ...]:
        """Who is to be let in."""
        ...

    async def open(self, written: int, spoken: int) -> None:
        """Starts it, with so many places of each kind. Raises Absent."""
        ...

    async def joined(self) -> bool:
        """Is the agent in all places? Asked until it is."""
        ...

    def address(self, place: int) -> str:
        """What Daimon calls it."""
        ...

    async def say(self, place: int, text: str) -> None:
        """Somebody says something there."""
        ...

    async def seen(self, place: int) -> list[str]:
        """What the agent said there, in order: texts, and names of files."""
        ...

    def trouble(self, chance: random.Random, is_patient: bool) -> str:
        """Something goes wrong with the next send, or with the listening. What it is; `is_patient`: silence, which takes long, too."""
        ...

    async def close(self) -> None: ...
