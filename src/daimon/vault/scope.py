"""Where a secret may go, and whose box may hold its stand-in.

A pattern is a host's name, `*.` before one for all below it, and a port where it is not the usual one of the scheme. `*.example.org`
is a.example.org and b.a.example.org, not example.org. Nothing stands for every host: a secret that may go everywhere is none.
"""

import ipaddress
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from daimon.abi.errors import BadInput

EVERYBODY = "*"
_AGENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_USUAL_PORTS = {"http": 80, "https": 443}
_MOST_PORT = 65_535


def host_pattern(text: str) -> str:
    """As it is kept: in small letters, without the dot at the end. Raises BadInput."""
    given = text.strip().lower()
    name, port = _parts(given)
    below = name.removeprefix("*.").rstrip(".")
    is_wild = name.startswith("*.")
    if not _is_host(below) or not _is_port(port):
        raise BadInput(f"{text!r} is no host; say it such as api.example.org, *.example.org or 127.0.0.1:8000, without https://")
    if is_wild and ("." not in below or _is_address(below)):
        raise BadInput(f"{text!r} is too wide for a secret; name the hosts, or all below one, such as *.example.org")
    return f"{'*.' if is_wild else ''}{below}{f':{port}' if port else ''}"


def agent(text: str) -> str:
    """Raises BadInput."""
    if text != EVERYBODY and not _AGENT.fullmatch(text):
        raise BadInput(f"{text!r} cannot be an agent's name; use a name of [agents], or * for all")
    return text


def host_of(url: str) -> str:
    """Of an address, as patterns name it: with its port where that is not the usual one."""
    parts = urlsplit(url)
    name = (parts.hostname or "").rstrip(".")
    shown = f"[{name}]" if ":" in name else name
    is_usual = parts.port is None or parts.port == _USUAL_PORTS.get(parts.scheme)
    return shown if is_usual else f"{shown}:{parts.port}"


def holds(patterns: Iterable[str], host: str) -> bool:
    """Is this host one of those?"""
    name, port = _parts(host.lower())
    name = name.rstrip(".")
    for pattern in patterns:
        allowed, allowed_port = _parts(pattern)
        is_named = name.endswith(allowed[1:]) and name != allowed[2:] if allowed.startswith("*.") else name == allowed
        if is_named and port == allowed_port:
            return True
    return False


def admits(agents: Iterable[str], who: str) -> bool:
    return any(name in (EVERYBODY, who) for name in agents)


def _parts(text: str) -> tuple[str, str]:
    """Name and port; an IPv6 address stands in brackets."""
    if text.startswith("["):
        name, _, port = text.partition("]")
        return f"{name}]", port.removeprefix(":")
    name, _, port = text.partition(":")
    return name, port


def _is_host(name: str) -> bool:
    if name.startswith("["):
        return _is_address(name.strip("[]"))
    return len(name) <= 253 and _NAME.fullmatch(name) is not None


def _is_port(port: str) -> bool:
    return not port or (port.isascii() and port.isdecimal() and 0 < int(port) <= _MOST_PORT)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
