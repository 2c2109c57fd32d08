"""The short code of a question, for channels without buttons."""

import hashlib
import re

from daimon.abi.ids import StepRef

_SIGNS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"


_CHOICE = re.compile(rf"\s*([{_SIGNS}]{{4}})[\s-]+(\d{{1,2}})\s*", re.IGNORECASE)


def code_of(step: StepRef) -> str:
    digest = hashlib.sha256(str(step).encode()).digest()
    return "".join(_SIGNS[byte % len(_SIGNS)] for byte in digest[:4])


def parse(text: str) -> tuple[str, int] | None:
    found = _CHOICE.fullmatch(text)
    return None if found is None else (found[1].upper(), int(found[2]))
