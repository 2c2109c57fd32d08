"""A channel that keeps what it was given, and fails when told to."""

from typing import Literal

from daimon.abi.ports import Outgoing


class FakeChannel:
    def __init__(self, name: str = "fake", may_repeat: bool = True) -> None:
        self.name = name
        self.may_repeat = may_repeat
        self.sent: list[Outgoing] = []
        self.failures: list[Exception] = []

    async def send(self, message: Outgoing) -> Literal["sent", "confirmed"]:
        if self.failures:
            raise self.failures.pop(0)
        self.sent.append(message)
        return "sent"
