"""Paths, in the one form that is compared with a rule.

Servers differ in what they make of dots, doubled slashes and coded ones. So a path under a rule is brought into a form in which there is
nothing to differ about, and it is that form which goes out. What has no such form is refused.
"""

import re

from daimon.net.refusal import Malformed

_PLAIN = re.compile(r"/[A-Za-z0-9!$&'()*+,;=:@._~%/-]*")
_CODED = re.compile(r"%(..?)?")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def normal(path: str) -> str:
    """Without dot segments, coded letters or doubled slashes. Raises Malformed for slashes in code, `..;` and the like."""
    if not _PLAIN.fullmatch(path):
        raise Malformed("the path holds a character that must be percent-encoded")
    decoded = _CODED.sub(lambda found: _decode(found[0]), path)
    kept: list[str] = []
    *inner, last = decoded.split("/")[1:]
    for segment in [*inner, last]:
        if segment.partition(";")[0] in (".", "..") and ";" in segment:
            raise Malformed("the path hides a dot segment behind a semicolon")
        if segment == "..":
            del kept[-1:]
        elif segment not in (".", ""):
            kept.append(segment)
    is_directory = last in ("", ".", "..") and bool(kept)
    return "/" + "/".join(kept) + ("/" if is_directory else "")


def is_below(path: str, beginning: str) -> bool:
    """`/a` and `/a/` cover /a/b; neither covers /ab. `/a/` does not cover /a itself."""
    return path == beginning or path.startswith(beginning.removesuffix("/") + "/")


def _decode(code: str) -> str:
    if not re.fullmatch(r"%[0-9A-Fa-f]{2}", code):
        raise Malformed("the path has a percent sign that codes nothing")
    character = chr(int(code[1:], 16))
    if character in "/\\\0%":
        raise Malformed("the path holds a slash, a backslash, a percent sign or a NUL in code")
    return character if character in _UNRESERVED else code.upper()
