"""Mail: both servers let us in, the folders are there, and whose word about senders could be believed.

The name in `Authentication-Results` is only suggested, with how many of the newest mails have it on top: whoever sends mail to a server
that writes no such header can write one, so the owner decides.
"""

from collections import Counter

from daimon.abi.errors import LockedOut
from daimon.gateway.checks.found import Checked
from daimon.gateway.mail.account import Account
from daimon.gateway.mail.authentic import believable
from daimon.gateway.mail.headers import split
from daimon.gateway.mail.imap import Imap, ImapFailed, connect
from daimon.gateway.mail.smtp import enter

MOST_LOOKED_AT = 20


async def check(account: Account) -> Checked:
    """Raises LockedOut, NotSent, Misconfigured, OSError, TimeoutError."""
    imap = await connect(account)
    try:
        inbox = await _folder(imap, account.inbox, "inbox")
        sent = account.sent or await imap.sent_folder()
        folders = (inbox, await _folder(imap, sent, "sent") if sent else "")
        seen, vouching = await _vouching(imap, account)
        keeps = "X-GM-EXT-1" in imap.capabilities and not account.keeps_sent
    finally:
        await imap.close()
    has_password = await enter(account)
    facts = (*filter(None, folders), "" if has_password else "the SMTP server asks for no password", _seen(seen, vouching))
    warnings: tuple[str, ...] = () if sent else ("the server names no folder for sent mail: set `sent` to one that exists",)
    advised = {"keeps_sent": "true"} if keeps else {}
    if vouching and not account.authserv_id:
        advised["authserv_id"] = vouching.most_common(1)[0][0]
    warnings += _doubts(account, vouching)
    return Checked(account.address, tuple(filter(None, facts)), warnings, advised, pair_at=f"a mail to {account.address}")


async def _folder(imap: Imap, name: str, setting: str) -> str:
    try:
        await imap.select(name, "EXAMINE")
    except ImapFailed as refusal:
        raise LockedOut(f"the folder {name!r} cannot be opened ({refusal}); set channels.mail.{setting} to one that exists") from None
    return f"{setting} is {name}"


async def _vouching(imap: Imap, account: Account) -> tuple[int, Counter[str]]:
    """How many mails were looked at, and whose name stands on top of how many."""
    await imap.select(account.inbox, "EXAMINE")
    newest = (await imap.search("ALL"))[-MOST_LOOKED_AT:]
    names = [believable(split(await imap.headers(uid))[0]) for uid in newest]
    return len(newest), Counter(name for name in names if name)


def _seen(seen: int, vouching: Counter[str]) -> str:
    if not vouching:
        return f"none of the newest {seen} mails has Authentication-Results" if seen else "the inbox is empty"
    name, times = vouching.most_common(1)[0]
    return f"{times} of the newest {seen} mails have Authentication-Results of {name} on top"


def _doubts(account: Account, vouching: Counter[str]) -> tuple[str, ...]:
    if not account.authserv_id:
        return ("authserv_id is not set: nobody is believed to be who they say, so nobody can pair or talk by mail yet",)
    if vouching and account.authserv_id.lower() not in vouching:
        return (f"none of the newest mails has Authentication-Results of {account.authserv_id} on top; is that name right?",)
    return ()
