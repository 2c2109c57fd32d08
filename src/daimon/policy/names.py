"""One thing under all its names: `Bob <BOB@x.org>`, `mailto:bob@x.org` and `bob@x.org` are one place; so is an account with spaces in it.

Only spellings are joined here, never things that merely look alike: what two names have in common must be all of what makes them work.
"""

import re

from daimon.policy.words import folded, one_line

_SHOWN_NAME = re.compile(r"^[^<>@,;:]*<([^<>\s@,;:]+@[^<>\s@,;:]+)>$")
"""What parts addresses in a list is no part of a name: `eve@x.org, <bob@x.org>` reaches two."""
_ACCOUNT = re.compile(r"[a-z]{2}\d{2}[a-z0-9]{8,}")
_SCHEME = re.compile(r"^(?:https?://)?(?:www\.)?", re.IGNORECASE)
_HOST_AND_REST = re.compile(r"^([^/:?#]*)(.*)$", re.DOTALL)
_HOST = re.compile(r"^(?:https?://)?[\w-]+(?:\.[\w-]+)+(?:[/:?#]\S*)?$")


def canonical(name: str) -> str:
    text = folded(name)
    if inner := _SHOWN_NAME.match(text):
        text = inner.group(1)
    text = text.removeprefix("mailto:").removeprefix("tel:")
    if _ACCOUNT.fullmatch(bare := re.sub(r"[\s-]", "", text)):
        return bare
    if "@" not in text and _HOST.match(text):
        host, path = _HOST_AND_REST.match(_SCHEME.sub("", one_line(name))).groups()  # type: ignore[union-attr]  # it matches any text
        return f"{host.lower()}{path}".rstrip("/")  # small and capital letters are two things in a path
    return text


def stands_for(words: str, name: str) -> bool:
    """Do the words hold an account number that is this one, however it is spaced?"""
    wanted = canonical(name)
    if not _ACCOUNT.fullmatch(wanted):
        return False
    spaced = r"[\s-]?".join(wanted)
    return re.search(rf"(?<![a-z0-9]){spaced}(?![a-z0-9])", folded(words)) is not None
