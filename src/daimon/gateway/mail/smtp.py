"""Handing a mail in (SMTP submission), and what each way of failing means.

Until the last byte of the mail is out, nothing has been sent: all that fails before is `NotSent`. A refusal is a refusal at any time,
lasting if the server says so (5xx). One that passes (4xx) is about this mail, as where a recipient's server lets senders wait on purpose;
only 421 is the server's own. Once the mail itself is on its way and no answer comes, nobody knows: that error is passed on as it
is. All recipients or none: if one of several is refused, the mail is not given to the others.
"""

from collections.abc import Sequence
from contextlib import suppress

from aiosmtplib import SMTP, SMTPAuthenticationError, SMTPDataError, SMTPException, SMTPResponseException

from daimon.abi.errors import LockedOut, NotSent
from daimon.gateway.mail.account import Account

CONNECT_S = 20.0
COMMAND_S = 60.0
DATA_S = 300.0
CLOSING = 421
"""The server ends the line: it serves nobody now."""


async def submit(account: Account, recipients: Sequence[str], data: bytes) -> None:
    client = _client(account)
    try:
        await _prepare(client, account, recipients, len(data))
        try:
            await client.data(data, timeout=DATA_S)
        except SMTPDataError as refusal:
            raise _refused(refusal) from refusal
        with suppress(SMTPException, OSError):  # it is accepted; how we part does not matter
            await client.quit(timeout=2.0)
    finally:
        client.close()


async def enter(account: Account) -> bool:
    """Logs in and leaves. False: the server wants no password. Raises NotSent, LockedOut."""
    client = _client(account)
    try:
        await _prepare(client, account, (), None)
        has_password = client.supports_extension("auth")
        with suppress(SMTPException, OSError):
            await client.quit(timeout=2.0)
    finally:
        client.close()
    return has_password


def _client(account: Account) -> SMTP:
    server = account.server("smtp")
    context = account.tls() if server.security != "none" else None
    return SMTP(hostname=server.host, port=server.port, timeout=COMMAND_S, tls_context=context,
                use_tls=server.security == "tls", start_tls=server.security == "starttls")  # fmt: skip


async def _prepare(client: SMTP, account: Account, recipients: Sequence[str], size: int | None) -> None:
    """Up to the mail itself. Without a size: there is none, and only the password is shown."""
    try:
        await client.connect(timeout=CONNECT_S)
        await client.ehlo()
        if client.supports_extension("auth"):
            await client.login(account.login, account.password())
        if size is None:
            return
        await client.mail(account.address, options=[f"size={size}"] if client.supports_extension("size") else None)
        for recipient in recipients:
            await client.rcpt(recipient)
    except SMTPAuthenticationError as refusal:
        if refusal.code < 500:
            raise NotSent(f"the mail server does not check passwords right now: {refusal.code} {_said(refusal)}") from None
        said = f"{refusal.code} {_said(refusal)}"
        raise LockedOut(
            f"the mail server does not let {account.login} in: {said}; give the secret of channels.mail.password anew"
        ) from None
    except SMTPResponseException as refusal:
        raise _refused(refusal) from refusal
    except (SMTPException, OSError, ValueError) as failure:
        raise NotSent(f"the mail server {account.smtp} was not reached, or hung up: {type(failure).__name__}: {failure}") from failure


def _refused(refusal: SMTPResponseException) -> NotSent:
    why = f"the mail server refuses the mail: {refusal.code} {_said(refusal)}"
    return NotSent(why, is_lasting=refusal.code >= 500, is_alone=refusal.code != CLOSING)


def _said(refusal: SMTPResponseException) -> str:
    return " ".join(str(refusal.message).split())[:300]
