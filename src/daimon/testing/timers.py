"""Timers without a database, for tests of whatever holds the port."""

from dataclasses import dataclass, field

from daimon.abi.ids import Conversation
from daimon.abi.ports import Reminder


@dataclass(slots=True)
class FakeTimers:
    reminders: list[Reminder] = field(default_factory=list)

    async def pending(self, conversation: Conversation) -> tuple[Reminder, ...]:
        return tuple(each for each in self.reminders if each.conversation == conversation)
