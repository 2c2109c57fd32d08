"""Short codes: of questions, for those who answer without buttons, and of invitations, to type from one screen into another.

A question's code follows from its name, so it is the same after a restart. Codes have no letters or digits that are mistaken for others,
and small letters do as well.
"""

import hashlib
import re
from datetime import timedelta

from daimon.abi.ids import StepRef
from daimon.abi.ports import Random

ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
DIGITS = "23456789"
LENGTH, PAIRING = 4, 8
VALID = timedelta(minutes=10)
"""So long an invitation waits for its code."""
_CHOICE = re.compile(rf"\s*([{ALPHABET}]{{{LENGTH}}})[\s-]+(\d{{1,2}})\s*", re.IGNORECASE)
_PAIR = re.compile(rf"\s*(?P<command>/(?:pair|start)\s+)?(?P<code>[{ALPHABET}]{{4}}[\s-]?[{ALPHABET}]{{4}})\s*", re.IGNORECASE)


def code_of(ref: StepRef) -> str:
    number = int.from_bytes(hashlib.sha256(str(ref).encode()).digest()[:8])
    return "".join(ALPHABET[number // len(ALPHABET) ** i % len(ALPHABET)] for i in range(LENGTH))


def choice_code(ref: StepRef, n: int) -> str:
    """Of an option, counted from 1."""
    return f"{code_of(ref)} {n}"


def parse(text: str) -> tuple[str, int] | None:
    found = _CHOICE.fullmatch(text)
    return None if found is None else (found[1].upper(), int(found[2]))


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
