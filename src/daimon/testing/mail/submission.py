"""The way into the mailboxes: an SMTP server that delivers what it takes into dovecot, with faults on command.

It does what a receiving server does to the head of a mail: it says on top for whom it was, whether whoever handed it in had logged in, and
by which name it knows itself (`AUTHSERV_ID`). Faults are used up one by one, in order:

    auth 535, mail 451, rcpt 550, data 554    that answer, at that point
    mail cut                                  the line is cut before the mail is there
    cut before                                the line is cut when the mail is there, and it is forgotten
    cut after                                 it is delivered, and the line is cut instead of an answer
    slow 3                                    it is delivered, and the answer comes so many seconds later
"""

import asyncio
import logging
import ssl
from dataclasses import dataclass, field
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from daimon.testing.mail.dovecot import PASSWORD, Dovecot

AUTHSERV_ID = "mx.example.org"


@dataclass
class Submission:
    """`async with Submission(dovecot) as server`."""

    dovecot: Dovecot
    tls: ssl.SSLContext | None = None
    """TLS from the first byte."""
    starttls: ssl.SSLContext | None = None
    faults: list[str] = field(default_factory=list)
    accepted: list[Envelope] = field(default_factory=list)
    port: int = 0
    _server: asyncio.Server | None = None

    async def __aenter__(self) -> "Submission":
        loop = asyncio.get_running_loop()
        logging.getLogger("mail.log").setLevel(logging.ERROR)  # it warns of its own insides at each login

        def line() -> SMTP:
            return SMTP(self, loop=loop, hostname="localhost", tls_context=self.starttls, authenticator=self._authenticate,
                        auth_require_tls=False, data_size_limit=64 * 1024 * 1024)  # fmt: skip

        self._server = await loop.create_server(line, "127.0.0.1", 0, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
            await asyncio.sleep(0)

    def _authenticate(self, server: Any, session: Session, envelope: Envelope, mechanism: str, data: Any) -> AuthResult:
        del server, envelope, mechanism
        if self._fault("auth") or not isinstance(data, LoginPassword) or data.password != PASSWORD.encode():
            return AuthResult(success=False, handled=False)
        session.daimon_user = data.login.decode()  # type: ignore[attr-defined]
        return AuthResult(success=True)

    async def handle_MAIL(self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]) -> str:  # noqa: N802
        del session
        answer = self._fault("mail")
        if answer == "cut":
            _cut(server)
        elif answer:
            return f"{answer} not now"
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 OK"

    async def handle_RCPT(self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]) -> str:  # noqa: N802
        del server, session, options
        if answer := self._fault("rcpt"):
            return f"{answer} no such user here"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        if answer := self._fault("data"):
            return f"{answer} not this one"
        cut = self._fault("cut")
        if cut != "before":
            await self._deliver(session, envelope)
            await asyncio.sleep(float(self._fault("slow") or 0))
        if cut:
            _cut(server)
        return "250 OK"

    async def _deliver(self, session: Session, envelope: Envelope) -> None:
        self.accepted.append(envelope)
        user = getattr(session, "daimon_user", "")
        vouched = f"auth=pass smtp.auth={user}" if user else "none"
        for recipient in envelope.rcpt_tos:
            head = f"Delivered-To: {recipient}\r\nAuthentication-Results: {AUTHSERV_ID}; {vouched}\r\nReceived: by {AUTHSERV_ID}\r\n"
            mail = envelope.content if isinstance(envelope.content, bytes) else str(envelope.content).encode()
            await asyncio.to_thread(self.dovecot.deliver, recipient.lower(), head.encode() + mail)

    def _fault(self, point: str) -> str:
        """What is to go wrong here and now; it is used up."""
        if self.faults and self.faults[0].split()[0] == point:
            return self.faults.pop(0).split()[1]
        return ""


def _cut(server: SMTP) -> None:
    assert server.transport is not None
    server.transport.abort()  # type: ignore[attr-defined]
