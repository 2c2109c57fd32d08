"""New mail in a folder. Only an adapter: the mail channel reads its account, and gives what it found and how far it has read."""

from collections.abc import Awaitable, Callable, Sequence

from pydantic import JsonValue

from daimon.abi.ids import OWNER
from daimon.abi.label import Author, Label, Origin
from daimon.abi.watch import Look, Watch, WatchMailbox

NewMail = Callable[[str, JsonValue], Awaitable[tuple[Sequence[dict[str, JsonValue]], JsonValue]]]
"""Folder and what was kept; new mails, each with `from`, and what to keep. Raises WatchFailed."""
MOST_NAMED = 20


class MailboxWatcher:
    def __init__(self, new_mail: NewMail) -> None:
        self._new_mail = new_mail

    async def look(self, watch: Watch, state: JsonValue) -> Look:
        assert isinstance(watch, WatchMailbox)
        found, kept = await self._new_mail(watch.folder, state)
        if state is None:
            return Look(kept, note=f"first look at {watch.folder}")
        if not found:
            return Look(kept, note="no new mail")
        senders = list(dict.fromkeys(str(each.get("from") or "unknown") for each in found))
        named = senders[:MOST_NAMED] + (["others"] if len(senders) > MOST_NAMED else [])
        label = Label.of(*(Origin(Author.STRANGER, f"mail:{name}") for name in named), readers=(OWNER,))
        return Look(kept, {"folder": watch.folder, "mails": [*found]}, label, f"{len(found)} new mails")
