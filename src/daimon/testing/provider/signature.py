"""Signatures of thoughts: a client must bring them back as they were given.

One is a digest of what it signs, and a mark that only this server makes. So it can tell a signature that was changed or came
from elsewhere from a thought that was changed under a good one, and needs to remember neither.
"""

import base64
import binascii
import hashlib
import hmac

_KEY = b"daimon provider server"
_HALF = 24


def sign(content: str) -> str:
    digest = _digest(content)
    return base64.b64encode(digest + _mark(digest)).decode()


def is_ours(signature: str) -> bool:
    raw = _decode(signature)
    return len(raw) == 2 * _HALF and hmac.compare_digest(raw[_HALF:], _mark(raw[:_HALF]))


def signs(signature: str, content: str) -> bool:
    return _decode(signature)[:_HALF] == _digest(content)


def _decode(signature: str) -> bytes:
    try:
        return base64.b64decode(signature, validate=True)
    except (binascii.Error, ValueError):
        return b""


def _digest(content: str) -> bytes:
    return hashlib.sha256(content.encode()).digest()[:_HALF]


def _mark(digest: bytes) -> bytes:
    return hmac.digest(_KEY, digest, "sha256")[:_HALF]
