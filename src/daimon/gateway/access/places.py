"""The names under which the gateway is reached, and the origin of a page that was loaded under each.

A name that is none of these is refused (421), so a page of somebody else that makes its own name point here (DNS rebinding) gets nothing.
Loopback names hold for every port: a tunnel (`ssh -L 8000:127.0.0.1:7310`) changes the port and nobody can make `localhost` their own.
Any other name stands in the settings (`gateway.origins`) with its scheme and port, exactly.

What cookies are called depends on the place. Cookies do not know ports: two Daimons on one machine must not take each other's away.
"""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
_HOST = re.compile(r"(?P<name>[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::(?P<port>\d{1,5}))?")
_LAST_PORT = 65_535
_USUAL = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Place:
    origin: str
    """As browsers write it: scheme, name, and the port if it is not the usual one."""
    is_local: bool

    @property
    def is_secure(self) -> bool:
        return self.origin.startswith("https:")

    @property
    def tells_sites(self) -> bool:
        """Do browsers say here which site a request comes from (`Sec-Fetch-Site`)? They do over TLS and on loopback only."""
        return self.is_secure or self.is_local

    @property
    def cookie(self) -> str:
        return "__Host-daimon" if self.is_secure else f"daimon-{_split(self.origin)[2]}"


class Places:
    def __init__(self, origins: tuple[str, ...] = ()) -> None:
        self._others = {_split(origin)[1:]: Place(written(origin), is_local=False) for origin in origins}
        self.origins = tuple(place.origin for place in self._others.values())

    def find(self, host: str) -> Place | None:
        """The place that a `Host` header names."""
        found = _HOST.fullmatch(host.lower())
        if found is None:
            return None
        name, port = found["name"], found["port"]
        if port and not 0 < int(port) <= _LAST_PORT:
            return None
        if name in LOOPBACK:
            return Place(written(f"http://{host.lower()}"), is_local=True)
        for usual in (int(port),) if port else _USUAL.values():
            if (place := self._others.get((name, usual))) is not None and (port or usual == _USUAL[place.origin.split(":")[0]]):
                return place
        return None


def written(origin: str) -> str:
    """An origin as browsers write it."""
    scheme, name, port = _split(origin)
    return f"{scheme}://{name}" if port == _USUAL[scheme] else f"{scheme}://{name}:{port}"


def _split(origin: str) -> tuple[str, str, int]:
    parts = urlsplit(origin.lower())
    name = f"[{parts.hostname}]" if parts.hostname and ":" in parts.hostname else parts.hostname or ""
    return parts.scheme, name, parts.port or _USUAL[parts.scheme]
