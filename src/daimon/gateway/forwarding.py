"""Where the owner is: found out when something is delivered, not when it is written.

What is for the owner wherever they are goes to the chat where they spoke to the agent alone last, or to their chat on the channel that the
settings name. Without a chat it stays at the owner's desk, which the terminal reads. Anything else goes where it is addressed to.
"""

from collections.abc import Callable
from dataclasses import dataclass

from daimon.abi.event import TO_OWNER, Address
from daimon.abi.ids import OWNER
from daimon.abi.people import Directory
from daimon.kernel.wall import OWNERS_DESK

FOR_OWNER = frozenset({OWNERS_DESK, TO_OWNER})


@dataclass(frozen=True, slots=True)
class Forwarding:
    directory: Directory
    preferred: Callable[[], str] = str
    """The channel on which the owner wants to be asked; empty: where they spoke last."""

    async def where(self, to: Address) -> Address:
        if to not in FOR_OWNER:
            return to
        return await self._on(self.preferred()) or await self.directory.reach(OWNER) or OWNERS_DESK

    async def _on(self, channel: str) -> Address | None:
        if not channel:
            return None
        contacts = [contact for person, contacts in await self.directory.people() if person.id == OWNER for contact in contacts]
        there = [contact for contact in contacts if contact.channel == channel and contact.place]
        last = max(there, key=lambda contact: contact.last_at or contact.paired_at, default=None)
        return None if last is None else Address(last.channel, last.place)
