"""Where the owner is: found out when something is delivered, not when it is written.

What is for the owner wherever they are goes to the chat where they spoke to the agent alone last, or to their chat on the channel that the
settings name. A chat on a channel that is not set up any more is none: nothing would reach the owner there. Without a chat it stays at the
owner's desk, which the terminal reads. Anything else goes where it is addressed to.
"""

from collections.abc import Callable
from dataclasses import dataclass

from daimon.abi.event import TO_OWNER, Address
from daimon.abi.ids import OWNER, PrincipalId
from daimon.abi.people import Directory, group
from daimon.gateway.channels.local import LocalChannel
from daimon.kernel.wall import OWNERS_DESK

FOR_OWNER = frozenset({OWNERS_DESK, TO_OWNER})


@dataclass(frozen=True, slots=True)
class Forwarding:
    directory: Directory
    preferred: Callable[[], str] = str
    """The channel on which the owner wants to be asked; empty: where they spoke last."""

    is_set_up: Callable[[str], bool] = bool
    """Is there such a channel?"""

    async def where(self, to: Address) -> Address:
        if to not in FOR_OWNER:
            return to
        preferred, last = self.preferred(), await self.directory.reach(OWNER)
        if preferred and (found := await self._among(lambda channel: channel == preferred)):
            return found
        if last is not None and self.is_set_up(last.channel):
            return last
        return await self._among(self.is_set_up) or OWNERS_DESK

    async def whom(self, to: Address | None) -> PrincipalId:
        """Who reads there. A place of which nothing is known is a group: nothing of the owner's goes there by itself."""
        if to is None or to in FOR_OWNER or to.channel == LocalChannel.name:
            return OWNER
        known = await self.directory.people()
        alone = (person.id for person, contacts in known for contact in contacts if Address(contact.channel, contact.place) == to)
        return next(alone, group(to.channel, to.to))

    async def _among(self, fits: Callable[[str], bool]) -> Address | None:
        contacts = [contact for person, contacts in await self.directory.people() if person.id == OWNER for contact in contacts]
        there = [each for each in contacts if each.place and self.is_set_up(each.channel) and fits(each.channel)]
        last = max(there, key=lambda contact: contact.last_at or contact.paired_at, default=None)
        return None if last is None else Address(last.channel, last.place)
