"""Short names of open questions, for people who answer in words: `K7Q2M 1` is the first answer to the question `K7Q2M`.

A code is made of the question's name alone, so it is the same after a restart and nothing is kept. Letters and digits take turns and none
looks like another, so that hardly any word is a code and it can be read out. A code is no secret and gives no right: who may answer is
decided by who speaks (`reception.py`). Two open questions with one code are told apart by whoever looks them up.
"""

import hashlib
import re

from daimon.abi.ids import StepRef

LETTERS = "ACDEFGHJKMNPQRTVWXYZ"
DIGITS = "2346789"
PATTERN = "LDLDL"
_CODE = "".join(f"[{LETTERS if each == 'L' else DIGITS}]" for each in PATTERN)
_ANSWER = re.compile(rf"\W*({_CODE})[\s.:,#-]*(\d{{1,2}})\W*", re.IGNORECASE)


def code_of(ref: StepRef) -> str:
    number = int.from_bytes(hashlib.sha256(str(ref).encode()).digest()[:8], "big")
    code = ""
    for each in PATTERN:
        alphabet = LETTERS if each == "L" else DIGITS
        number, at = divmod(number, len(alphabet))
        code += alphabet[at]
    return code


def choice_code(ref: StepRef, n: int) -> str:
    """Of the n-th option, counted from 1."""
    return f"{code_of(ref)} {n}"


def parse(text: str) -> tuple[str, int] | None:
    """The code and the number of an option, where a text is just that."""
    found = _ANSWER.fullmatch(text.strip())
    return None if found is None else (found[1].upper(), int(found[2]))
