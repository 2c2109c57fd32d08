"""The agent's mailbox: IMAP in, SMTP out.

In: mail with a number above the last one that was taken, one after the other, each remembered when `take` has returned. Only what is
addressed to the agent, and was written by a person as far as can be seen, comes in; the rest is passed over (`mail/look.py` is for that).
The first time, the mailbox is taken as it is: nothing that lies there already comes in. If the server numbers its mails anew, those of the
last days are gone through again, and their keys tell which were taken.

Out: the folder of sent mail is asked and told before and after (`mail/sent.py`), so a try that was cut off can be looked for. The lines
of a send are opened for it and closed after it: mail is rare.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import timedelta
from typing import Literal

from daimon.abi.channel import Attachment, Message, Piece, Receipt, Reception, Traits
from daimon.abi.errors import BadInput, LockedOut, NotSent, TooLarge
from daimon.abi.event import Said
from daimon.abi.message import Audio, Content, File, Image, Text
from daimon.abi.ports import Clock, Outgoing, Store
from daimon.abi.tool import Rate
from daimon.gateway.mail import place, threads, words
from daimon.gateway.mail.account import Account
from daimon.gateway.mail.compose import Draft, Thread, compose, message_id
from daimon.gateway.mail.headers import has_whole_head
from daimon.gateway.mail.imap import Imap, connect
from daimon.gateway.mail.letter import Enclosed, Letter, read
from daimon.gateway.mail.sent import Sent

NAME = "mail"
IDLE_S = 540.0
"""Well below the 29 minutes after which servers hang up, and the quarter of an hour after which many routers forget a silent line."""
POLL_S = 60.0
MOST_MAIL = 25 * 1024 * 1024
"""Of a larger one, only the beginning is fetched: its text, and the names of what hangs on it."""
BEGINNING = 1024 * 1024
OF_STRANGERS = 64 * 1024
"""Of a mail so much is fetched and read until its sender is known: the time that some mails take grows with the square of their size."""
ANEW_DAYS = 7
LONGEST_CODE = 20
"""A text no longer than this may be a code or a command, and stands without the subject."""
UNVERIFIED_NOTE = "[nobody vouches for the sender of this mail]"
MOST_FILES = 10
"""In one mail."""


class MailChannel:
    name = NAME

    def __init__(self, account: Account, clock: Clock, store: Store, idle_s: float = IDLE_S) -> None:
        self._account = account
        self._clock = clock
        self._store = store
        self._idle_s = idle_s
        most = account.per_minute
        self.traits = Traits(repeat="findable", at_once=2, rate=Rate(most, 60.0), place_rate=Rate(max(1, most // 3), 60.0))

    # -- out

    def pieces(self, message: Outgoing) -> tuple[Piece, ...]:
        if not isinstance(message.content, Said):
            return ()
        text = "\n\n".join(part.text for part in message.content.parts if isinstance(part, Text))
        files = [part for part in message.content.parts if not isinstance(part, Text)]
        first, *rest = [tuple(files[at : at + MOST_FILES]) for at in range(0, max(1, len(files)), MOST_FILES)]
        return (_piece(text + _how_to_answer(message.content), first), *(_piece("", more) for more in rest))

    async def send(self, piece: Piece, to: str, key: str) -> Receipt:
        where = place.parse(to)
        mine = message_id(key, self._account)
        attachments = tuple([(one, await self._store.get(one.blob)) for one in _attachments(piece)])
        async with self._line_to_send() as imap:
            sent = Sent(imap, self._account, mine)
            with _nothing_out(self._account.imap):
                thread = await threads.find(imap, self._account.inbox, where.root) if where.root else Thread()
                data = compose(Draft(piece.text, attachments, where.recipients, thread, mine, self._clock.now()), self._account)
                if await sent.note(data):
                    return Receipt("confirmed", mine)
            await self._submit(sent, where.recipients, data)
        return Receipt("sent", mine)

    async def _submit(self, sent: Sent, recipients: tuple[str, ...], data: bytes) -> None:
        from daimon.gateway.mail.smtp import submit

        try:
            await submit(self._account, recipients, data)
        except (NotSent, LockedOut):
            with suppress(OSError, TimeoutError):  # a draft that stays is used by the next try
                await sent.withdraw()
            raise
        with suppress(OSError, TimeoutError):  # it was sent: that its copy still looks like a draft changes nothing
            await sent.confirm()

    async def find(self, piece: Piece, to: str, key: str) -> Receipt | None:
        mine = message_id(key, self._account)
        async with self._line() as imap:
            return Receipt("confirmed", mine) if await Sent(imap, self._account, mine).went_out() else None

    async def show(self, to: str, doing: Literal["thinking", "nothing"]) -> None:
        """Mail has no such thing."""

    # -- in

    async def serve(self, reception: Reception) -> None:
        async with self._line() as imap:
            selected = await imap.select(self._account.inbox)
            last = await self._begin(imap, reception, selected.validity, selected.next_uid)
            while True:
                for uid in await imap.search(f"UID {last + 1}:*"):
                    if uid > last:  # `n:*` names the newest mail even if its number is below n
                        await self._take(imap, reception, selected.validity, uid)
                        await _remember(reception, selected.validity, uid)
                        last = uid
                await self._wait(imap)

    async def _begin(self, imap: Imap, reception: Reception, validity: int, next_uid: int) -> int:
        """The number of the last mail that needs no look."""
        kept = await reception.recall(NAME, "inbox")
        known = json.loads(kept) if kept else {}
        if known.get("validity") == validity:
            return int(known["uid"])
        if known:
            since = (self._clock.now() - timedelta(days=ANEW_DAYS)).strftime("%d-%b-%Y")
            recent = await imap.search(f"SINCE {since}")
            last = (recent[0] if recent else await _newest(imap, next_uid) + 1) - 1
        else:
            last = 0 if self._account.takes_older else await _newest(imap, next_uid)
        await _remember(reception, validity, last)
        return last

    async def _wait(self, imap: Imap) -> None:
        if imap.has_news:
            return
        if "IDLE" in imap.capabilities:
            await imap.idle(self._idle_s)
        else:
            await self._clock.sleep(POLL_S)
            await imap.command("NOOP")

    async def _take(self, imap: Imap, reception: Reception, validity: int, uid: int) -> None:
        known = await imap.fetch(uid, 0)
        if known is None:
            return
        letter = await self._read(imap, uid, known.size, OF_STRANGERS)
        if letter is not None and known.size > OF_STRANGERS and await reception.is_known(letter.sender.id):
            letter = await self._read(imap, uid, known.size, MOST_MAIL if known.size <= MOST_MAIL else BEGINNING)
        if letter is None:
            return
        with suppress(BadInput):  # it stays in the mailbox; what cannot be taken in must not hold up the rest
            await reception.take(await self._message(letter, reception, validity, uid))

    async def _read(self, imap: Imap, uid: int, size: int, most: int) -> Letter | None:
        """None: it is not for the agent. A head that was not fetched to its end may go on with another sender."""
        fetched = await imap.fetch(uid, most)
        if fetched is None:
            return None
        is_cut = len(fetched.data) < size
        letter = await asyncio.to_thread(read, fetched.data, self._account.address, self._account.authserv_id, is_cut)
        if letter.automatic or not letter.is_to(self._account.address):
            return None
        letter = letter.as_read_by(self._account.address)
        return letter.doubted() if is_cut and most == OF_STRANGERS and not has_whole_head(fetched.data) else letter

    async def _message(self, letter: Letter, reception: Reception, validity: int, uid: int) -> Message:
        kept: list[Content] = []
        left_out = list(letter.left_out)
        is_known = await reception.is_known(letter.sender.id)
        for enclosed in letter.enclosed:
            if not is_known or len(enclosed.data) > reception.most_bytes:
                left_out.append(enclosed.name)
                continue
            try:
                kept.append(await _kept(enclosed, reception))
            except TooLarge:
                left_out.append(enclosed.name)
        return Message(
            key=letter.key(validity, uid),
            place=place.name(letter.sender.id, letter.root),
            sender=letter.sender.id,
            name=letter.sender.name,
            parts=(*_texts(letter, left_out), *kept),
            at=min(letter.date or self._clock.now(), self._clock.now()),
            ref=letter.message_id,
            answers=letter.references[-1] if letter.references else "",
            has_others_words=words.has_others(letter.subject, letter.fresh),
        )

    @asynccontextmanager
    async def _line(self) -> AsyncIterator[Imap]:
        imap = await connect(self._account)
        try:
            yield imap
        finally:
            await imap.close()

    @asynccontextmanager
    async def _line_to_send(self) -> AsyncIterator[Imap]:
        with _nothing_out(self._account.imap):
            imap = await connect(self._account)
        try:
            yield imap
        finally:
            await imap.close()


@contextmanager
def _nothing_out(server: str) -> Iterator[None]:
    """Whatever breaks in here, nothing has gone out."""
    try:
        yield
    except (OSError, TimeoutError) as failure:
        raise NotSent(f"the mailbox on {server} could not note what is to be sent: {str(failure) or 'no answer in time'}") from failure


async def _newest(imap: Imap, next_uid: int) -> int:
    return next_uid - 1 if next_uid else max(await imap.search("ALL"), default=0)


async def _remember(reception: Reception, validity: int, uid: int) -> None:
    await reception.remember(NAME, "inbox", json.dumps({"validity": validity, "uid": uid}))


async def _kept(enclosed: Enclosed, reception: Reception) -> Content:
    blob = await reception.keep(enclosed.data)
    match enclosed.media_type.partition("/")[0]:
        case "image":
            return Image(blob, enclosed.media_type, enclosed.name)
        case "audio":
            return Audio(blob, enclosed.media_type)
        case _:
            return File(blob, enclosed.name, enclosed.media_type, len(enclosed.data))


def _texts(letter: Letter, left_out: list[str]) -> tuple[Text, ...]:
    """What was written, and beside it what else is to be known. A code stands alone, so that it is seen as one.

    What an unverified sender wrote never does: no pairing code in it makes a contact of somebody whom anybody can claim to be.
    """
    from daimon.gateway.codes import parse

    said = letter.fresh or letter.subject
    first = said.split("\n", 1)[0]
    notes = [] if letter.sender.is_verified else [UNVERIFIED_NOTE]
    if not notes and parse(first) is not None:
        return (Text(first),)
    if letter.subject and letter.fresh and not letter.references and len(said) > LONGEST_CODE:
        notes.append(f"[subject: {letter.subject}]")
    if left_out:
        notes.append(f"[attachments that were not taken: {', '.join(left_out)}]")
    return tuple(Text(text) for text in (said, "\n".join(notes)) if text)


def _piece(text: str, files: tuple[Attachment, ...]) -> Piece:
    return Piece(text, files[0] if files else None, files[1:])


def _attachments(piece: Piece) -> tuple[Attachment, ...]:
    return () if piece.attachment is None else (piece.attachment, *piece.further)


def _how_to_answer(said: Said) -> str:
    if said.asks is None:
        return ""
    from daimon.gateway.codes import code_of

    code = code_of(said.asks.to)
    if not said.asks.options:
        return f"\n\nTo answer, begin your mail with `{code}`."
    ways = ", ".join(f"`{code} {number}` for {option}" for number, option in enumerate(said.asks.options, 1))
    return f"\n\nTo answer, begin your mail with {ways}."
