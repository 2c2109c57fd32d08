"""The thread that an answer belongs to, as the mailbox has it: its newest mail gives the subject and what is answered."""

from daimon.gateway.mail.compose import Thread
from daimon.gateway.mail.headers import shown, split
from daimon.gateway.mail.imap import Imap, quoted
from daimon.gateway.mail.letter import ids


async def find(imap: Imap, folder: str, root: str) -> Thread:
    """Where the owner has moved it elsewhere, only what is known of it: its first mail."""
    await imap.select(folder, "EXAMINE")
    found = await imap.search(f"OR HEADER Message-ID {quoted(root)} HEADER References {quoted(root)}")
    if not found:
        return Thread("", (root,))
    headers, _ = split(await imap.headers(found[-1]))
    own = ids(headers.first("message-id"))[:1]
    chain = tuple(dict.fromkeys((root, *ids(headers.first("references")), *own)))
    return Thread(shown(headers.first("subject"), 300), chain)
