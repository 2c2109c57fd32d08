"""Web addresses: one reading, or none.

`http` and `https` only; the host in the one spelling that `site` knows; no user names, no control characters, no backslash where a host
ends. What a path may not hold as it is goes out percent-encoded. What stands behind `#` never leaves.
"""

import re
from dataclasses import dataclass
from urllib.parse import quote, urljoin

from daimon.net.refusal import Malformed
from daimon.net.site import Site, parse

_URL = re.compile(r"(?i:(https?))://([^/?#\\]*)([/?][^#]*)?(?:#.*)?")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SAFE = "/?:@!$&'()*+,;=-._~%[]"
LONGEST = 8_192
PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Address:
    site: Site
    is_tls: bool
    target: str
    """Path and query, as they go over the wire."""

    @property
    def scheme(self) -> str:
        return "https" if self.is_tls else "http"

    @property
    def path(self) -> str:
        """Without the query: that may hold words that nobody needs to keep."""
        return self.target.partition("?")[0]

    def __str__(self) -> str:
        return f"{self.scheme}://{self.site.spelled(PORTS[self.scheme])}{self.target}"


def read(url: str) -> Address:
    """Raises Malformed."""
    if len(url) > LONGEST:
        raise Malformed(f"the address has {len(url):,} characters, {LONGEST:,} may be")
    if _CONTROL.search(url):
        raise Malformed("the address holds a line break or another control character")
    found = _URL.fullmatch(url.strip(" "))
    if found is None:
        raise Malformed(f"{url[:80]!r} is no address; write it as https://example.org/path, only http and https are spoken")
    scheme, authority = found[1].lower(), found[2]
    if "@" in authority:
        raise Malformed("the address holds a user name; pass credentials in a header, as a placeholder")
    target = quote(found[3] or "/", safe=_SAFE)
    return Address(parse(authority, PORTS[scheme]), scheme == "https", target if target.startswith("/") else f"/{target}")


def joined(base: Address, location: str) -> Address:
    """Where a redirect leads. Raises Malformed."""
    if _CONTROL.search(location):
        raise Malformed("the redirect holds a control character")
    return read(urljoin(str(base), location.strip(" ")))
