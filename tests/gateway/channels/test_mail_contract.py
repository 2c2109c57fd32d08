"""Mail does what every channel does, with real servers behind it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP, default
from itertools import count
from typing import cast
from unittest import SkipTest

import pytest
from tests.gateway.channels.post import AGENT, ALICE, Post, Values, WallClock, post

from daimon.abi.errors import InDoubt, NotSent
from daimon.gateway.channels.mail import MailChannel
from daimon.testing.mail.dovecot import PASSWORD, Dovecot, obstacle
from daimon.testing.mail.submission import AUTHSERV_ID

contract = pytest.importorskip("daimon.testing.contracts.channel", reason="the contract suite of channels is not here yet")
pytestmark = [pytest.mark.anyio, pytest.mark.skipif(bool(obstacle()), reason=obstacle() or "it runs")]
ROOT = "<root@example.org>"


class MailRig:
    sender = ALICE
    place = f"{ALICE} {ROOT}"
    group = ""

    def __init__(self, mail: Post) -> None:
        self.store = Values()
        self._mail = mail
        self._password = PASSWORD
        self._numbers = count()
        self._last = b""

    async def channel(self) -> MailChannel:
        account = replace(self._mail.account, takes_older=True, password=lambda: self._password)
        return MailChannel(account, WallClock(), self.store)

    async def say_as(self, sender: str, place: str, text: str) -> None:
        await self._deliver(_written(sender, text, next(self._numbers)))

    say_to_agent = say_as

    async def attach_as(self, sender: str, place: str, name: str, data: bytes) -> None:
        mail = _written(sender, "see the file that comes with this", next(self._numbers))
        mail.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
        await self._deliver(mail)

    async def press_as(self, sender: str, place: str, text: str) -> None:
        raise SkipTest("mail has no buttons")

    async def seen(self, place: str) -> Sequence[str]:
        return ["" if (body := mail.get_body(("plain",))) is None else body.get_content() for mail in await self._got()]

    async def attached(self, place: str) -> Sequence[bytes]:
        parts = [part for mail in await self._got() for part in mail.iter_attachments()]
        return [cast("bytes", part.get_payload(decode=True)) for part in parts]

    async def cut_before_act(self) -> None:
        self._mail.submission.faults.append("mail cut")

    async def cut_after_act(self) -> None:
        self._mail.submission.faults.append("cut after")

    async def retry_after(self, seconds: float) -> None:
        raise SkipTest("no mail server says when to come back")

    async def revoke(self) -> None:
        self._password = "another-one"

    async def redeliver(self) -> None:
        await asyncio.to_thread(self._mail.dovecot.deliver, AGENT, self._last)

    async def _deliver(self, mail: EmailMessage) -> None:
        self._last = mail.as_bytes(policy=SMTP)
        await asyncio.to_thread(self._mail.dovecot.deliver, AGENT, self._last)

    async def _got(self) -> list[EmailMessage]:
        found = await asyncio.to_thread(self._mail.dovecot.mails, ALICE)
        return [message_from_bytes(raw, policy=default) for _, raw in found]


class TestMail(contract.ChannelContract):  # type: ignore[misc, name-defined]
    @asynccontextmanager
    async def open(self) -> AsyncIterator[MailRig]:
        with Dovecot() as dovecot:
            async with post(dovecot) as mail:
                yield MailRig(mail)

    async def test_a_send_that_broke_off_after_the_act_is_never_read_twice(self) -> None:
        """Where other channels find it, mail says that it cannot know."""
        async with self.open() as rig:
            channel = await rig.channel()
            (piece,) = channel.pieces(contract.message(rig.place, contract.Text("once")))
            await rig.cut_after_act()
            failure = await contract.failed(channel.send(piece, rig.place, "k/0"))
            assert not isinstance(failure, NotSent)
            assert isinstance(await contract.failed((await rig.channel()).find(piece, rig.place, "k/0")), InDoubt)
            assert len(await rig.seen(rig.place)) == 1

    async def test_a_credential_that_is_revoked_while_it_listens_locks_it_out(self) -> None:
        raise SkipTest("a mail server lets an open line stand; the next one is refused")


def _written(sender: str, text: str, number: int) -> EmailMessage:
    mail = EmailMessage()
    domain = sender.rpartition("@")[2]
    mail["Authentication-Results"] = f"{AUTHSERV_ID}; dkim=pass header.d={domain}"
    mail["From"], mail["To"], mail["Subject"] = sender, AGENT, "Re: talk"
    mail["Message-ID"], mail["References"] = f"<{number}@{domain}>", ROOT
    mail.set_content(text)
    return mail
