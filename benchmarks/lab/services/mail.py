"""Mail: an address for each place that is written to, and a thread of one person for each in which somebody speaks. The mailboxes are
those of a real dovecot, and what is seen there was fetched from it.
"""

import asyncio
import random
from email import message_from_bytes, policy
from email.message import EmailMessage

from daimon.testing.mail import dovecot
from daimon.testing.mail.submission import AUTHSERV_ID, Submission
from lab.services.service import Absent

AGENT, ALICE = "agent@example.org", "alice@example.org"
TROUBLES = ("mail 451", "mail cut", "rcpt 451", "data 451", "data 554", "cut before", "cut after", "slow 3")

MOST_TROUBLES = 4
"""That wait for a mail to meet. Where mails come slower than troubles, those would pile up to an outage of hours: another story."""
MAILS_A_MINUTE = 100_000
"""Of all limits only this one is raised."""


class Mail:
    name = "mail"
    long = 200

    def __init__(self) -> None:
        self._dovecot = dovecot.Dovecot()
        self._submission = Submission(self._dovecot)
        self._written = 0
        self._said = 0

    @property
    def settings(self) -> str:
        lines = (f"127.0.0.1:{self._dovecot.port}", f"127.0.0.1:{self._submission.port}")
        return (
            f'[channels.mail]\naddress = "{AGENT}"\nimap = "{lines[0]}"\nsmtp = "{lines[1]}"\n'
            f'password = "env:LAB_MAIL"\nsecurity = "none"\nauthserv_id = "{AUTHSERV_ID}"\nper_minute = {MAILS_A_MINUTE}\n'
        )

    @property
    def environment(self) -> dict[str, str]:
        return {"LAB_MAIL": dovecot.PASSWORD}

    @property
    def senders(self) -> tuple[str, ...]:
        return (ALICE,)

    async def open(self, written: int, spoken: int) -> None:
        if why := dovecot.obstacle():
            raise Absent(why)
        self._written = written
        await asyncio.to_thread(self._dovecot.__enter__)
        await self._submission.__aenter__()

    async def joined(self) -> bool:
        return True

    def address(self, place: int) -> str:
        return f"p{place}@example.org" if place < self._written else f"{ALICE} {_root(place)}"

    async def say(self, place: int, text: str) -> None:
        self._said += 1
        mail = EmailMessage(policy.SMTP)
        mail["Authentication-Results"] = f"{AUTHSERV_ID}; auth=pass smtp.auth={ALICE}"
        mail["From"], mail["To"], mail["Subject"] = ALICE, AGENT, "An order"
        mail["Message-ID"] = f"<said-{self._said}@example.org>"
        mail["References"] = _root(place)
        mail.set_content(text)
        await asyncio.to_thread(self._dovecot.deliver, AGENT, bytes(mail))

    async def seen(self, place: int) -> list[str]:
        who = f"p{place}@example.org" if place < self._written else ALICE
        mails = [_parsed(data) for _, data in await asyncio.to_thread(self._dovecot.mails, who)]
        return [_shown(mail) for mail in mails if place < self._written or _root(place) in str(mail["References"])]

    def trouble(self, chance: random.Random, is_patient: bool) -> str:
        what = "slow 90" if is_patient and chance.random() < 0.01 else chance.choice(TROUBLES)
        if len(self._submission.faults) >= MOST_TROUBLES:
            return ""
        self._submission.faults.append(what)
        return what

    async def close(self) -> None:
        await self._submission.__aexit__(None, None, None)
        await asyncio.to_thread(self._dovecot.__exit__)


def _root(place: int) -> str:
    return f"<root-{place}@example.org>"


def _parsed(data: bytes) -> EmailMessage:
    mail = message_from_bytes(data, policy=policy.default)
    assert isinstance(mail, EmailMessage)
    return mail


def _shown(mail: EmailMessage) -> str:
    body = mail.get_body(("plain",))
    names = [str(part.get_filename()) for part in mail.iter_attachments()]
    return f"{body.get_content() if body is not None else ''} {' '.join(names)}"
