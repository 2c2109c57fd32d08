"""Codes of invitations: short, to be typed from one screen into another. They have no letters or digits that are mistaken for others."""

import re
from datetime import timedelta

from daimon.abi.ports import Random

ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
DIGITS = "23456789"
PAIRING = 8
VALID = timedelta(minutes=10)
"""So long an invitation waits for its code."""
_PAIR = re.compile(rf"\s*(?P<command>/(?:pair|start)\s+)?(?P<code>[{ALPHABET}]{{4}}[\s-]?[{ALPHABET}]{{4}})\s*", re.IGNORECASE)


def invitation(random: Random) -> str:
    """A new pairing code. One digit at least, so that no word is taken for one."""
    while True:
        code = "".join(ALPHABET[byte % len(ALPHABET)] for byte in random.bytes(4 * PAIRING) if byte < 256 - 256 % len(ALPHABET))[:PAIRING]
        if len(code) == PAIRING and not set(code).isdisjoint(DIGITS):
            return code


def shown(code: str) -> str:
    return f"{code[:4]}-{code[4:]}"


def pairing(text: str) -> str:
    """The pairing code that this says, alone or behind `/pair` or `/start`; empty if it says something else."""
    found = _PAIR.fullmatch(text)
    code = "" if found is None else re.sub(r"[\s-]", "", found["code"]).upper()
    return "" if set(code).isdisjoint(DIGITS) else code
