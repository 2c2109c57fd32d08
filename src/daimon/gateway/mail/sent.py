"""The folder of sent mail as a memory of what went out.

In this order, for one Message-ID:

    note       a copy is put into the folder, flagged as a draft
    (SMTP)     the mail is handed in
    confirm    the flag is taken off: from now on it is what it looks like, a sent mail
    withdraw   instead, where the mail was surely not taken: the copy is deleted

So after a crash the folder tells: no copy, it was never handed in; a copy without the flag, it was sent; a draft, the process died in
between, and that is the one case in which nobody knows. Where the server itself keeps what it sends (`keeps_sent`), a copy says that it was
sent, and none says nothing.
"""

from daimon.abi.errors import InDoubt, Misconfigured
from daimon.gateway.mail.account import Account
from daimon.gateway.mail.imap import Imap, quoted

DRAFT = "\\draft"


class Sent:
    """On a line that is open, for one mail."""

    def __init__(self, imap: Imap, account: Account, message_id: str) -> None:
        self._imap, self._account, self._id = imap, account, message_id
        self._folder = ""

    async def went_out(self) -> bool:
        """Raises InDoubt."""
        copies = await self._copies()
        if await self._is_sent(copies):
            return True
        if copies:
            raise InDoubt(f"the mail {self._id} was being handed in when the process died; {self._folder!r} has it as a draft")
        if self._account.keeps_sent:
            raise InDoubt(f"the mail {self._id} is not in {self._folder!r}, and the server may not have put it there yet")
        return False

    async def note(self, data: bytes) -> bool:
        """True: there is nothing to do, it was sent before."""
        copies = await self._copies()
        if not copies and not self._account.keeps_sent:
            await self._imap.append(self._folder, data, "\\Seen \\Draft")
        return await self._is_sent(copies)

    async def _is_sent(self, copies: tuple[int, ...]) -> bool:
        found = [await self._imap.fetch(uid, 0) for uid in copies]
        return any(copy is not None and DRAFT not in copy.flags for copy in found)

    async def confirm(self) -> None:
        if not self._account.keeps_sent:
            await self._store("-FLAGS.SILENT (\\Draft)")

    async def withdraw(self) -> None:
        if not self._account.keeps_sent:
            await self._store("+FLAGS.SILENT (\\Deleted)", and_expunge=True)

    async def _store(self, change: str, and_expunge: bool = False) -> None:
        for uid in await self._copies():
            await self._imap.command(f"UID STORE {uid} {change}")
            if and_expunge and "UIDPLUS" in self._imap.capabilities:
                await self._imap.command(f"UID EXPUNGE {uid}")

    async def _copies(self) -> tuple[int, ...]:
        await self._open()
        return await self._imap.search(f"UNDELETED HEADER Message-ID {quoted(self._id)}")

    async def _open(self) -> None:
        if self._folder:
            return
        folder = self._account.sent or await self._imap.sent_folder()
        if not folder:
            raise Misconfigured("the mail server names no folder for sent mail; set channels.mail.sent to one that exists")
        await self._imap.select(folder)
        self._folder = folder
