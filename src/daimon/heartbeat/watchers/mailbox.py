"""New mail in a folder. Only an adapter: the mail channel reads its account, and says what is new and how far it has read."""

from collections.abc import Awaitable, Callable

from pydantic import JsonValue

from daimon.abi.watch import Look, Watch, WatchMailbox

NewMail = Callable[[str, JsonValue], Awaitable[Look]]
"""Of a folder, with what was kept of the last look. Raises WatchFailed."""


class MailboxWatcher:
    def __init__(self, new_mail: NewMail) -> None:
        self._new_mail = new_mail

    async def look(self, watch: Watch, state: JsonValue) -> Look:
        assert isinstance(watch, WatchMailbox)
        return await self._new_mail(watch.folder, state)
