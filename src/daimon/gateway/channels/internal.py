"""From one conversation to another, inside."""

from typing import Literal

from daimon.abi.errors import NotSent
from daimon.abi.event import INTERNAL, Event
from daimon.abi.ports import Outgoing
from daimon.gateway.inbox import Inbox


class InternalChannel:
    """Between conversations: an event from one turn to another."""

    name = INTERNAL
    may_repeat = True

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox

    async def send(self, message: Outgoing) -> Literal["sent", "confirmed"]:
        if not isinstance(message.content, Event):
            raise NotSent("only events go from one conversation to another")
        await self._inbox.accept(message.content)
        return "confirmed"
