"""A mail, made: text and HTML of the same words, attachments, and what puts it into its thread.

Its Message-ID follows from the key of what is sent, so that it can be looked for after a crash. It says of itself that a machine wrote it
(RFC 3834), which keeps absence notes and other agents from answering.
"""

import hashlib
import mimetypes
from dataclasses import dataclass
from datetime import datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime

from daimon.abi.channel import Attachment
from daimon.abi.errors import NotSent
from daimon.abi.message import File
from daimon.gateway.mail.account import Account
from daimon.gateway.mail.headers import shown

LONGEST_SUBJECT = 78
_POLICY = SMTP.clone(max_line_length=200)


@dataclass(frozen=True, slots=True)
class Thread:
    """What an answer needs to know of the mail that it answers."""

    subject: str = ""
    references: tuple[str, ...] = ()
    """The last one is what is answered."""


@dataclass(frozen=True, slots=True)
class Draft:
    markdown: str
    attachments: tuple[tuple[Attachment, bytes], ...]
    recipients: tuple[str, ...]
    thread: Thread
    message_id: str
    at: datetime


def message_id(key: str, account: Account) -> str:
    return f"<{hashlib.sha256(key.encode()).hexdigest()[:40]}@{account.domain}>"


def compose(draft: Draft, account: Account) -> bytes:
    """Raises NotSent for what no mail can be made of."""
    from daimon.gateway.notation import html, plain

    mail = EmailMessage(policy=_POLICY)
    try:
        mail["From"] = Address(shown(account.name, 100), addr_spec=account.address)
        mail["To"] = [Address(addr_spec=recipient) for recipient in draft.recipients]
        mail["Subject"] = _subject(draft, plain.render(draft.markdown))
    except (ValueError, UnicodeError) as wrong:
        raise NotSent(f"no mail can be addressed to {', '.join(draft.recipients)}: {wrong}", is_lasting=True) from wrong
    mail["Date"] = format_datetime(draft.at)
    mail["Message-ID"] = draft.message_id
    if draft.thread.references:
        mail["In-Reply-To"] = draft.thread.references[-1]
        mail["References"] = " ".join(draft.thread.references)
    mail["Auto-Submitted"] = "auto-replied" if draft.thread.references else "auto-generated"
    mail.set_content(plain.render(draft.markdown) + "\n")
    mail.add_alternative(html.render(draft.markdown), subtype="html")
    for number, (attachment, data) in enumerate(draft.attachments, 1):
        main, _, sub = attachment.media_type.partition("/")
        name = attachment.name if isinstance(attachment, File) else f"{attachment.kind}-{number}{_ending(attachment.media_type)}"
        usable = main in ("application", "image", "audio", "video") and sub.isascii() and sub
        mail.add_attachment(
            data, maintype=main if usable else "application", subtype=sub if usable else "octet-stream", filename=shown(name, 120)
        )
    return mail.as_bytes()


def _subject(draft: Draft, text: str) -> str:
    if draft.thread.references:
        subject = draft.thread.subject or "your mail"
        return subject if subject.lower().startswith("re:") else f"Re: {subject}"
    first = shown(next((line for line in text.splitlines() if line.strip()), "A message").lstrip("#*> "), 300)
    return first if len(first) <= LONGEST_SUBJECT else first[:LONGEST_SUBJECT].rsplit(" ", 1)[0] + "…"


def _ending(media_type: str) -> str:
    return mimetypes.guess_extension(media_type) or ""
