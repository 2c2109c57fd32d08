"""What is open, and for whom.

A span is what one command may reach while it runs: its places, its secrets, its label. Spans overlap, and then the box has what any of
them gives: the commands of a box share its one network, so no finer line could be held. Outside of all spans nothing is open.

Whether TLS must be opened follows from this too. It is, where a secret belongs to the site, or where every place that covers it has rules
about methods or paths, which could not be held otherwise. In all other cases it stays closed to us.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from daimon.abi.box import Place
from daimon.abi.label import UNLABELLED, Label, join
from daimon.abi.secret import Injection
from daimon.net.keyring import Armed, Keyring, arm
from daimon.net.path import is_below, normal
from daimon.net.refusal import Malformed, Refusal, closed
from daimon.net.site import Pattern, Site, pattern, pattern_with_port

_TLS = 443


@dataclass(frozen=True, slots=True)
class _Opening:
    pattern: Pattern
    place: Place

    def covers(self, site: Site) -> bool:
        return site.port in self.place.ports and self.pattern.covers(site.host)

    @property
    def is_free(self) -> bool:
        return not self.place.methods and not self.place.paths


@dataclass(frozen=True, slots=True)
class _Home:
    """Where a secret may go."""

    pattern: Pattern
    port: int | None
    secret: Armed

    def covers(self, site: Site, is_tls: bool) -> bool:
        """A secret goes out in the clear only where the owner named its port, and that is not the one of TLS."""
        port = self.port or _TLS
        return site.port == port and (is_tls or port != _TLS) and self.pattern.covers(site.host)


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    openings: tuple[_Opening, ...]
    homes: tuple[_Home, ...]
    label: Label


def span(places: Sequence[Place], injections: Sequence[Injection], label: Label) -> Span:
    """Raises Misconfigured."""
    armed = [(arm(injection), injection.hosts) for injection in injections]
    homes = tuple(_Home(*pattern_with_port(host), secret) for secret, hosts in armed for host in hosts)
    return Span(tuple(_Opening(pattern(place.host), place) for place in places), homes, label)


class Rules:
    def __init__(self) -> None:
        self.spans: list[Span] = []

    @property
    def label(self) -> Label:
        return join(span.label for span in self.spans) if self.spans else UNLABELLED

    def check_site(self, site: Site) -> None:
        """Raises Refusal."""
        if not self.spans:
            raise Refusal(403, f"no host is open now, so {site.host} is not. A command opens hosts for as long as it runs.")
        if not self._covering(site):
            if any(opening.pattern.covers(site.host) for opening in self._openings()):
                raise Refusal(403, f"{site.host} is open, but not its port {site.port}. Ports are part of a place in the box's role.")
            raise closed(site.host)

    def check_request(self, site: Site, method: str, path: str) -> str:
        """The path as it may go out. Raises Refusal."""
        self.check_site(site)
        covering = self._covering(site)
        if any(opening.is_free for opening in covering):
            return path
        covering = [opening for opening in covering if not opening.place.methods or method in opening.place.methods]
        if not covering:
            raise Refusal(403, f"{method} is not allowed at {site.host}. Methods are part of a place in the box's role.")
        if any(not opening.place.paths for opening in covering):
            return path
        return _allowed_path(site, path, [beginning for opening in covering for beginning in opening.place.paths])

    def may_stay(self, site: Site, method: str, path: str) -> bool:
        """May what is under way go on? CONNECT is a tunnel that nobody looks into; no method, a connection without a request."""
        covering = self._covering(site)
        if method == "CONNECT":
            return any(opening.is_free for opening in covering)
        if not method:
            return bool(covering)
        try:
            self.check_request(site, method, path)
        except Refusal:
            return False
        return True

    def must_open_tls(self, site: Site) -> bool:
        return bool(self._secrets(site, True)) or not any(opening.is_free for opening in self._covering(site))

    def keyring(self, site: Site, is_tls: bool) -> Keyring:
        return Keyring(self._secrets(site, is_tls))

    def _secrets(self, site: Site, is_tls: bool) -> list[Armed]:
        homes = (home for span in self.spans for home in span.homes if home.covers(site, is_tls))
        return list({home.secret.placeholder: home.secret for home in homes}.values())

    def _openings(self) -> list[_Opening]:
        return [opening for span in self.spans for opening in span.openings]

    def _covering(self, site: Site) -> list[_Opening]:
        return [opening for opening in self._openings() if opening.covers(site)]


def _allowed_path(site: Site, path: str, beginnings: list[str]) -> str:
    try:
        plain = normal(path)
    except Malformed as fault:
        raise Refusal(403, f"{site.host} is open for some paths only, and {fault}") from fault
    if not any(is_below(plain, beginning) for beginning in beginnings):
        raise Refusal(403, f"this path is not open at {site.host}. Paths are part of a place in the box's role.")
    return plain
