"""Short codes of open questions. A stand-in."""

from base64 import b32encode
from hashlib import sha256

from daimon.abi.ids import StepRef


def code_of(step: StepRef) -> str:
    return b32encode(sha256(str(step).encode()).digest())[:4].decode()
