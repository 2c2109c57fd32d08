"""The short code of a question, for channels without buttons."""

import hashlib

from daimon.abi.ids import StepRef

_SIGNS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"


def code_of(step: StepRef) -> str:
    digest = hashlib.sha256(str(step).encode()).digest()
    return "".join(_SIGNS[byte % len(_SIGNS)] for byte in digest[:4])
