"""New mail in any folder of the account, for an automation: what changed since the last look, and whose words it is.

The first look only takes stock. What is addressed to the agent is left to the channel. Everybody's words are a stranger's, verified or not:
`from` is a claim, and `verified` says whether the receiving server vouches for it.
"""

import asyncio

from pydantic import JsonValue

from daimon.abi.errors import DaimonError, WatchFailed
from daimon.abi.ids import OWNER
from daimon.abi.label import Author, Label, Origin
from daimon.abi.watch import Look
from daimon.gateway.mail.account import Account
from daimon.gateway.mail.imap import Imap, Selected, connect
from daimon.gateway.mail.letter import Letter, read

MOST_ITEMS = 50
"""The rest waits for the next look."""
MOST_MAIL = 1024 * 1024
MOST_TEXT = 20_000


async def new_mail(account: Account, folder: str, state: JsonValue) -> Look:
    """Raises WatchFailed."""
    try:
        imap = await connect(account)
        try:
            return await _look(imap, account, folder, state)
        finally:
            await imap.close()
    except (OSError, TimeoutError, DaimonError) as failure:
        raise WatchFailed(
            f"the folder {folder!r} on {account.imap} could not be looked at: {str(failure) or 'no answer in time'}"
        ) from failure


async def _look(imap: Imap, account: Account, folder: str, state: JsonValue) -> Look:
    selected = await imap.select(folder, "EXAMINE")
    last = _last(state, selected)
    if last is None:
        newest = selected.next_uid - 1 if selected.next_uid else max(await imap.search("ALL"), default=0)
        return Look(_state(selected, newest), note="first look" if state is None else "the server numbers its mail anew: as a first look")
    items: list[JsonValue] = []
    people: list[Origin] = []
    waiting = [uid for uid in await imap.search(f"UID {last + 1}:*") if uid > last]
    for uid in waiting[:MOST_ITEMS]:
        last = uid
        fetched = await imap.fetch(uid, MOST_MAIL)
        if fetched is None:
            continue
        is_cut = len(fetched.data) < fetched.size
        letter = await asyncio.to_thread(read, fetched.data, account.address, account.authserv_id, is_cut)
        if not letter.is_to(account.address):
            items.append(_item(letter))
            people.append(Origin(Author.STRANGER, f"mail:{letter.sender.address or 'unknown'}"))
    label = Label.of(*people, readers=(OWNER,)) if people else None
    return Look(_state(selected, last), items or None, label, f"{len(items)} new" if items else "nothing new")


def _last(state: JsonValue, selected: Selected) -> int | None:
    if isinstance(state, dict) and state.get("validity") == selected.validity and isinstance(uid := state.get("uid"), int):
        return uid
    return None


def _state(selected: Selected, uid: int) -> JsonValue:
    return {"validity": selected.validity, "uid": uid}


def _item(letter: Letter) -> JsonValue:
    return {
        "from": letter.sender.address or letter.sender.id,
        "verified": letter.sender.is_verified,
        "name": letter.sender.name,
        "to": list(letter.recipients[:20]),
        "subject": letter.subject,
        "date": letter.date.isoformat() if letter.date else "",
        "text": letter.text[:MOST_TEXT],
        "message_id": letter.message_id,
        "attachments": [*(enclosed.name for enclosed in letter.enclosed), *letter.left_out],
    }
