"""Whose mailbox, on which servers, and how the lines to them are protected."""

import ssl
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Literal

from daimon.abi.errors import Misconfigured

Security = Literal["tls", "starttls", "none"]
_PORTS: dict[tuple[str, Security], int] = {
    ("imap", "tls"): 993,
    ("imap", "starttls"): 143,
    ("imap", "none"): 143,
    ("smtp", "tls"): 465,
    ("smtp", "starttls"): 587,
    ("smtp", "none"): 25,
}
_STARTTLS_PORTS = (25, 143, 587)


@dataclass(frozen=True, slots=True)
class Account:
    """As the settings say it; the password is asked for at each login, so that a changed one counts."""

    address: str
    imap: str
    """HOST or HOST:PORT."""
    smtp: str
    password: Callable[[], str]
    user: str = ""
    """Empty: the address."""
    security: Security = "tls"
    inbox: str = "INBOX"
    sent: str = ""
    """Empty: the folder that the server calls so."""
    keeps_sent: bool = False
    """The server puts what it was given to send into that folder by itself."""
    name: str = ""
    authserv_id: str = ""
    """Who is believed about senders; empty: nobody."""
    takes_older: bool = False
    """What lies in the inbox before the very first look comes in too."""
    per_minute: int = 30
    """So many mails leave at most; a third of it to one place."""
    trust: ssl.SSLContext | None = None
    """None: the certificate authorities of this machine."""

    @property
    def login(self) -> str:
        return self.user or self.address

    @property
    def domain(self) -> str:
        return self.address.rpartition("@")[2].lower()

    def server(self, protocol: Literal["imap", "smtp"]) -> "Server":
        return _server(self.imap if protocol == "imap" else self.smtp, protocol, self.security)

    def tls(self) -> ssl.SSLContext:
        return self.trust or ssl.create_default_context()


@dataclass(frozen=True, slots=True)
class Server:
    host: str
    port: int
    security: Security


def _server(text: str, protocol: str, security: Security) -> Server:
    host, colon, digits = text.rpartition(":") if not text.endswith("]") else (text, "", "")
    if not colon or (":" in host and not host.startswith("[")):  # an IPv6 address without a port
        host, digits = text, ""
    host = host.strip("[]")
    if not host or (colon and digits and not digits.isdigit()):
        raise Misconfigured(f"channels.mail.{protocol} is {text!r}; it must be HOST or HOST:PORT, such as mail.example.org:993")
    port = int(digits) if digits else 0
    if security == "none" and not _is_here(host):
        raise Misconfigured(
            f'channels.mail.security is "none", and {host} is not this machine: the password would cross the network in clear'
        )
    if security == "tls" and port in _STARTTLS_PORTS:
        security = "starttls"  # these ports begin in clear; most providers take mail at 587 only
    return Server(host, port or _PORTS[protocol, security], security)


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
