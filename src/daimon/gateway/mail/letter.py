"""A mail, read. Nothing in it can make the reading fail: what cannot be read is named, or left out.

Limits, not trust: so many parts, so deep, so many attachments, so much text. Archives and other containers are never opened. Python's
parser gives up on a mail that is nested some hundred times; its head and its raw beginning are then all that is read of it.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email import message_from_bytes
from email.message import Message
from email.policy import compat32
from email.utils import parsedate_to_datetime

from daimon.gateway.mail import automatic, words
from daimon.gateway.mail.authentic import Sender, addresses, sender
from daimon.gateway.mail.headers import Headers, decode, shown, split

MOST_ATTACHMENTS = 20
MOST_NAMED = 50
MOST_PARTS = 2_000
MOST_DEPTH = 30
_ID = re.compile(r"<([!-;=?-~]{3,250})>")


@dataclass(frozen=True, slots=True)
class Enclosed:
    name: str
    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    sender: Sender
    recipients: tuple[str, ...]
    """To, Cc, and for whom it was delivered."""
    written_to: tuple[str, ...]
    """To and Cc, which a signature covers; none where there are several of one of them."""
    subject: str
    date: datetime | None
    message_id: str
    """Empty: none, or none that makes sense."""
    references: tuple[str, ...]
    """What it answers, the first mail of the thread first."""
    text: str
    fresh: str
    """Of the text, what its sender wrote now."""
    enclosed: tuple[Enclosed, ...]
    left_out: tuple[str, ...]
    """Names of attachments that were not taken."""
    automatic: str
    """Why it is taken for a machine's; empty: a person's."""
    digest: str
    """Of all but the head: the same for a mail that came on two ways."""

    @property
    def root(self) -> str:
        return self.references[0] if self.references else self.message_id

    def is_to(self, address: str) -> bool:
        return _has(self.recipients, address)

    def as_read_by(self, address: str) -> "Letter":
        """A signed mail can be handed on by anybody who has it. So its sender speaks only to those whom it is written to."""
        return self if _has(self.written_to, address) else self.doubted()

    def doubted(self) -> "Letter":
        return replace(self, sender=self.sender.doubted())

    def key(self, validity: int, uid: int) -> str:
        """The same for one mail that comes twice; never that of somebody else's, whatever id they put on it."""
        if not self.message_id:
            return f"{validity}:{uid}"
        return hashlib.sha256("\0".join([self.message_id, self.sender.id, self.digest]).encode()).hexdigest()[:40]


def _has(recipients: tuple[str, ...], address: str) -> bool:
    local, _, domain = address.lower().rpartition("@")
    return any(to == address.lower() or (to.startswith(f"{local}+") and to.endswith(f"@{domain}")) for to in recipients)


def read(raw: bytes, own: str, authserv_id: str, is_cut: bool = False) -> Letter:
    """`is_cut`: these are not all of its bytes, so no attachment is whole."""
    headers, body = split(raw)
    who = sender(headers, authserv_id)
    answered = ids(headers.first("references")) or ids(headers.first("in-reply-to"))[:1]
    text, enclosed, left_out = _contents(raw, body, bool(answered), is_cut)
    mine = ids(headers.first("message-id"))
    return Letter(
        sender=who,
        recipients=addresses(tuple(value for name in ("to", "cc", "delivered-to", "x-original-to") for value in headers.all(name))),
        written_to=() if any(len(headers.all(name)) > 1 for name in ("to", "cc")) else addresses(headers.all("to") + headers.all("cc")),
        subject=shown(headers.first("subject"), 300),
        date=_date(headers),
        message_id=mine[0] if len(headers.all("message-id")) == 1 and mine else "",
        references=answered,
        text=text,
        fresh=words.fresh(text, bool(answered)),
        enclosed=enclosed,
        left_out=left_out,
        automatic=automatic.why(headers, who.address, own),
        digest=hashlib.sha256(body.replace(b"\r\n", b"\n").rstrip()).hexdigest(),
    )


def ids(value: str) -> tuple[str, ...]:
    """Message-IDs with their angle brackets, at most 20: the first one and the last ones."""
    found = tuple(f"<{inner}>" for inner in _ID.findall(value[:20_000]))
    return found if len(found) <= 20 else (found[0], *found[-19:])


def _date(headers: Headers) -> datetime | None:
    try:
        date = parsedate_to_datetime(headers.first("date"))
        return date.replace(tzinfo=UTC) if date.tzinfo is None else date.astimezone(UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _contents(raw: bytes, body: bytes, is_answer: bool, is_cut: bool) -> tuple[str, tuple[Enclosed, ...], tuple[str, ...]]:
    plain: list[str] = []
    html: list[str] = []
    enclosed: list[Enclosed] = []
    left_out: list[str] = []
    try:
        for part in _leaves(message_from_bytes(raw, policy=compat32)):
            kind = part.get_content_type()
            if kind in ("text/plain", "text/html") and not _is_attached(part):
                (plain if kind == "text/plain" else html).append(decode(_data(part), str(part.get_param("charset", "") or "")))
            elif is_cut or len(enclosed) >= MOST_ATTACHMENTS:
                left_out.append(_name(part))
            else:
                enclosed.append(Enclosed(_name(part), kind, _data(part)))
    except Exception:  # noqa: BLE001 - RecursionError and whatever else the library's parser meets in what strangers send
        plain.append(decode(body[: words.MOST_TEXT], ""))
    text = words.tidy("\n\n".join(plain)) or words.from_html("\n".join(html), is_answer)
    named = left_out if len(left_out) <= MOST_NAMED else [*left_out[:MOST_NAMED], f"and {len(left_out) - MOST_NAMED} more"]
    return text, tuple(enclosed), tuple(named)


def _leaves(top: "Message[str, str]") -> Iterator["Message[str, str]"]:
    """In order. A mail inside a mail is an attachment and is not looked into."""
    waiting: list[tuple[Message[str, str], int]] = [(top, 0)]
    count = 0
    while waiting and count < MOST_PARTS:
        part, depth = waiting.pop()
        count += 1
        inner = part.get_payload() if part.get_content_maintype() == "multipart" else None
        if isinstance(inner, list) and depth < MOST_DEPTH:
            waiting.extend((child, depth + 1) for child in reversed(inner) if isinstance(child, Message))
        else:
            yield part


def _is_attached(part: "Message[str, str]") -> bool:
    return part.get_content_disposition() == "attachment" or bool(part.get_filename())


def _data(part: "Message[str, str]") -> bytes:
    inner = part.get_payload()
    if isinstance(inner, list):
        return b"\n".join(child.as_bytes() for child in inner if isinstance(child, Message))
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def _name(part: "Message[str, str]") -> str:
    name = shown(str(part.get_filename() or ""), 200).replace("\\", "/").rpartition("/")[2].strip(". ")
    return name[-120:] or f"unnamed ({part.get_content_type()[:60]})"
