"""`{vault:NAME}` in a request, and what it becomes on the way.

Whoever writes a request names a secret; it never holds a value. Here the name becomes the vault's own placeholder, which has the length
of the value, and the `Keyring` puts the value in for a site that the secret is for. Invariant: no placeholder leaves. Where one is wanted
and was not put in, the secret is not for this site, and then nothing is sent.
"""

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from daimon.abi.label import UNLABELLED
from daimon.abi.secret import FROM_VAULT, Injection
from daimon.net import forward
from daimon.net.head import Headers, Item, Request
from daimon.net.keyring import Keyring
from daimon.net.refusal import Refusal
from daimon.net.rules import Rules, span
from daimon.net.site import Site

_NAMED = re.compile(r"(?:\{|%7[Bb])" + FROM_VAULT.replace(":", "(?::|%3[Aa])") + r"([A-Za-z0-9._-]{1,128})(?:\}|%7[Dd])")
_BASIC = re.compile(r"(?i:basic) +([^\s:]*:.*)")
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_NOT_IN_VALUES = re.compile(r"[^\t\x20-\x7e\x80-\xff]")


@dataclass(frozen=True, slots=True)
class Filled:
    """A request as the site gets it, and what its answer is to be looked through with."""

    request: Request
    body: bytes
    keyring: Keyring
    secrets: tuple[str, ...]


class Standins:
    def __init__(self, injections: Sequence[Injection]) -> None:
        """Raises Misconfigured for a secret that cannot be put in."""
        self._placeholders = {each.name: each.placeholder for each in injections}
        self._rules = Rules()
        self._rules.add(span((), injections, UNLABELLED))

    def fill(self, request: Request, body: bytes, site: Site, is_tls: bool) -> Filled:
        """Raises Refusal."""
        wanted: set[str] = set()
        text = body.decode("latin-1")
        headers = Headers(tuple(self._header(item, wanted) for item in request.headers.items))
        placed = Request(request.method, self._text(request.target, wanted), request.minor, headers)
        body = self._text(text, wanted).encode("latin-1")
        if not wanted:
            return Filled(request, body, Keyring(()), ())
        keyring = self._rules.keyring(site, is_tls)
        swap = keyring.outward()
        filled, body = forward.uncovered(keyring.fill(placed)), swap.all(body)
        if missing := sorted(wanted - keyring.put_in - swap.found):
            raise Refusal(403, f"the secret {missing[0]} is not for {site}, or not without TLS; its owner says where it may go")
        return Filled(filled, body, keyring, tuple(sorted(wanted)))

    def named(self, data: bytes) -> bytes:
        """What came back, with names for placeholders."""
        for name, placeholder in self._placeholders.items():
            data = data.replace(placeholder, f"{{{FROM_VAULT}{name}}}".encode())
        return data

    def _header(self, item: Item, wanted: set[str]) -> Item:
        """`Basic user:{vault:NAME}` is packed as that scheme wants it: whoever has no value cannot do it."""
        name, value = item
        text = value.decode("latin-1")
        placed = self._text(text, wanted)
        plain = _BASIC.fullmatch(placed) if placed != text and name.lower() == b"authorization" else None
        return name, placed.encode("latin-1") if plain is None else b"Basic " + base64.b64encode(plain[1].encode("latin-1"))

    def _text(self, text: str, wanted: set[str]) -> str:
        def placed(found: re.Match[str]) -> str:
            name = found[1]
            if name not in self._placeholders:
                raise Refusal(403, f"the secret {name} stands in the request, but is not among those that it names; list it in secrets")
            wanted.add(name)
            return self._placeholders[name].decode("latin-1")

        return _NAMED.sub(placed, text)


def names_any(text: str) -> bool:
    return _NAMED.search(text) is not None


def headers_of(given: Mapping[str, str]) -> Headers:
    """Raises Refusal for what cannot stand in a head."""
    for name, value in given.items():
        if not _NAME.fullmatch(name) or _NOT_IN_VALUES.search(value):
            raise Refusal(400, f"{name[:40]!r} cannot be a header, or its value holds characters that may not stand in one")
    return Headers(tuple((name.encode("ascii"), value.encode("latin-1")) for name, value in given.items()))
