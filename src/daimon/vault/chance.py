"""Does a text look as if chance had made it, or as if a person had?

Words of a person come in pieces of some length (`camelCase`, `my-app-2024`); chance changes between small and large letters and digits
all the time. Placeholders and what documentations use for keys are told by their words.
"""

import math
import re
from collections import Counter

_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^A-Za-z0-9]")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_SHORT_HEX = re.compile(r"[0-9a-f]{1,23}|[0-9A-F]{1,23}")  # checksums, ids
_NUMBERED = re.compile(r"[0-9.,:_/+-]+|[0-9.]+[a-z]{1,3}", re.IGNORECASE)
_PRETENDED = (
    "xxx", "your", "example", "changeme", "change_me", "change-me", "placeholder", "dummy", "sample", "redacted", "insert", "replace",
    "***", "...", "…", "${", "$(", "{{", "%(", "<", ">", "environ", "getenv", "1234567", "abcdefg", "abcd1234", "abc123", "deadbeef",
    "0000000", "aaaaaa", "foobar", "todo", "fake", "mock",
)  # fmt: skip
_SPOKEN = (
    "passw",
    "secret",
    "token",
    "test",
    "hunter2",
    "qwerty",
    "letmein",
    "admin",
    "root",
    "user",
    "pass",
    "mypw",
    "key",
    "none",
    "null",
)
LEAST_RANDOM = 10
PIECE = 2.7
"""Characters of a piece on average: chance makes pieces of about two, people of four and more."""
LOOSE = 4.5
"""For what has no separators, such as `-`, that people put between words: letters only, or hex."""
LEAST_BITS = 2.9


def is_placeholder(text: str) -> bool:
    lower = text.lower()
    return text.startswith("$") or any(word in lower for word in _PRETENDED) or (len(text) < 24 and any(word in lower for word in _SPOKEN))


def is_random(text: str) -> bool:
    """Long enough, with letters and digits, and changing all the time."""
    core = text.rstrip("=")
    if len(core) < LEAST_RANDOM or is_placeholder(core) or any(usual.fullmatch(core) for usual in (_UUID, _SHORT_HEX, _NUMBERED)):
        return False
    if not any(map(str.isdigit, core)) or not any(map(str.isalpha, core)) or not core.isascii():
        return False
    return is_mixed(core, LOOSE if _HEX.fullmatch(core) else PIECE) and bits(core) >= LEAST_BITS


def is_mixed(text: str, most: float = PIECE) -> bool:
    pieces = [piece for piece in _PIECE.findall(text) if piece.isalnum()]
    return bool(pieces) and sum(map(len, pieces)) / len(pieces) <= most


def bits(text: str) -> float:
    """Of information, for each character."""
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values())
