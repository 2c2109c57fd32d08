"""Host and port, in the one spelling that is compared.

Whatever could name a host in a second way is refused, not mended: other spellings of an IPv4 address (0x7f.1, 017700000001, 2130706433),
a trailing dot, user names, percent signs, zones, anything but ASCII. Upper case alone is folded, because DNS does the same. An
international name is compared as it goes over the wire, xn--; so one that only looks alike is another name.
"""

import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address

from daimon.abi.errors import Misconfigured
from daimon.net.refusal import Malformed

_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_SPLIT = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]@%\s]+)(?::([1-9][0-9]{0,4}))?")


@dataclass(frozen=True, slots=True)
class Site:
    host: str
    port: int

    @property
    def is_literal(self) -> bool:
        return ":" in self.host or self.host.rpartition(".")[2].isdigit()

    def spelled(self, usual: int) -> str:
        """As in a Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == usual else f"{host}:{self.port}"

    def __str__(self) -> str:
        return self.spelled(0)


def parse(text: str, usual: int) -> Site:
    """`host`, `host:port` or `[v6]:port`. Raises Malformed."""
    found = _SPLIT.fullmatch(text)
    if found is None:
        raise Malformed(f"{_shown(text)} is no host, or host:port, in its plain spelling")
    host, port = found[1], int(found[2] or usual)
    if port > 65_535:
        raise Malformed(f"there is no port {port}")
    return Site(_host(host), port)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A host, or `*.` and a name for every host below it; never an address below anything."""

    name: str
    is_wild: bool

    def covers(self, host: str) -> bool:
        return host.endswith(f".{self.name}") if self.is_wild else host == self.name


def pattern(text: str) -> Pattern:
    """Raises Misconfigured: it is the owner who wrote this."""
    is_wild = text.startswith("*.")
    name = text.removeprefix("*.")
    try:
        host = _host(name if ":" not in name or name.startswith("[") else f"[{name}]")
    except Malformed as fault:
        raise Misconfigured(f"a place must be a host such as example.org or *.example.org: {fault}") from fault
    if is_wild and Site(host, 0).is_literal:
        raise Misconfigured(f"{text}: there are no hosts below an address")
    return Pattern(host, is_wild)


def pattern_with_port(text: str) -> tuple[Pattern, int | None]:
    """As the hosts of a secret are written. None: it names no port."""
    found = re.fullmatch(r"(\[[^\]]*\]|[^:]*)(?::([1-9][0-9]{0,4}))?", text)
    if found is None:
        raise Misconfigured(f"the host of a secret must look like example.org or example.org:8443, not {_shown(text)}")
    return pattern(found[1]), int(found[2]) if found[2] else None


def _host(text: str) -> str:
    if not text.isascii():
        raise Malformed(f"{_shown(text)} is not ASCII; write it as xn--")
    if text.startswith("["):
        return _v6(text[1:-1])
    host = text.lower()
    if _NUMBER.fullmatch(host.rpartition(".")[2]):
        return _v4(host)
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in host.split(".")):
        raise Malformed(f"{_shown(text)} is no host name")
    return host


def _v4(text: str) -> str:
    try:
        return str(IPv4Address(text))
    except AddressValueError:
        raise Malformed(f"{_shown(text)} is an address in an odd spelling; write it as 192.0.2.1") from None


def _v6(text: str) -> str:
    try:
        return str(IPv6Address(text))
    except AddressValueError:
        raise Malformed(f"{_shown(text)} is no IPv6 address") from None


def _shown(text: str) -> str:
    return ascii(text[:80])
