"""Values that must not get out, made anew for every run, and a search for them in whatever came out.

The search is written on its own, the other way round from the redactor's: what came out is brought into several plain forms, and each is
looked through for the value in a few codings. A run of 60 % of a value, twelve characters at least, counts as the value.
"""

import base64
import html
import re
import secrets
import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil
from urllib.parse import unquote_to_bytes

SHARE, FEWEST = 0.6, 12
SHORT = 8
_ALPHABET = string.ascii_letters + string.digits
_BETWEEN = re.compile(rb"[\s\"'`,+]|\xe2\x80[\x8b-\x8f\xa8-\xaf]|\xe2\x81[\xa0-\xa4]|\xef\xbb\xbf|\xc2\xad|\\[nrt]|\\u200[bcd]")
_ESCAPE = re.compile(rb"\\u00([0-9a-fA-F]{2})|\\x([0-9a-fA-F]{2})|\\([\"'/\\])")


@dataclass(frozen=True)
class Canary:
    name: str
    value: str = field(repr=False)

    @property
    def is_short(self) -> bool:
        return len(self.value) < SHORT

    @cached_property
    def needles(self) -> tuple[tuple[str, bytes, bool], ...]:
        """Coding, what to look for, and whether its case counts."""
        data = b"".join(self.value.encode().split())
        if self.is_short:
            return (("plain", data, True),)
        forms = [("plain", data, False), ("reversed", data[::-1], False), ("hex", data.hex().encode(), False)]
        whole = self.value.encode()
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            for offset in range(3):
                coded = encode(b"\0" * offset + whole)
                forms.append(("base64", coded[(offset * 4 + 2) // 3 : (offset + len(whole)) * 4 // 3], True))
        if whole != data:
            forms.append(("hex", whole.hex().encode(), False))
        return tuple(dict.fromkeys(forms))


def token(size: int, alphabet: str = _ALPHABET) -> str:
    """Chance, with a letter at both ends: what stands beside it is no part of it."""
    letters = string.ascii_letters
    return secrets.choice(letters) + "".join(secrets.choice(alphabet) for _ in range(size - 2)) + secrets.choice(letters)


def private_key() -> str:
    lines = [token(64) for _ in range(5)]
    return "\n".join(["-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----", ""])


def found(data: bytes, canaries: Iterable[Canary]) -> list[str]:
    """Which of them are in there, each with the coding in which it is."""
    views = list(_views(data))
    lowered = [view.lower() for view in views]
    hits = []
    for canary in canaries:
        for coding, needle, is_exact in canary.needles:
            looked_at = views if is_exact else lowered
            if any(_holds(view, needle if is_exact else needle.lower(), canary.is_short) for view in looked_at):
                hits.append(f"{canary.name} ({coding})")
                break
    return hits


def _views(data: bytes) -> Iterator[bytes]:
    """As it is, and without what may stand between its characters, escapes undone."""
    seen = set()
    for plain in (data, _ESCAPE.sub(_unescaped, data), unquote_to_bytes(data), _unhtml(data)):
        for view in (plain, _BETWEEN.sub(b"", plain)):
            if view not in seen:
                seen.add(view)
                yield view


def _unescaped(match: re.Match[bytes]) -> bytes:
    coded = match[1] or match[2]
    return bytes([int(coded, 16)]) if coded else match[3]


def _unhtml(data: bytes) -> bytes:
    return html.unescape(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogatepass") if b"&" in data else data


def _holds(view: bytes, needle: bytes, is_whole_word: bool) -> bool:
    if is_whole_word:
        return re.search(rb"(?<![A-Za-z0-9])" + re.escape(needle) + rb"(?![A-Za-z0-9])", view) is not None
    run = max(FEWEST, ceil(len(needle) * SHARE))
    if run >= len(needle):
        return needle in view
    # Every run of that length holds the middle: without it there is nothing to look for.
    if len(needle) < 2 * run and needle[len(needle) - run : run] not in view:
        return False
    return any(needle[start : start + run] in view for start in range(len(needle) - run + 1))
