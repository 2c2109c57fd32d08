"""What a provider wants back byte for byte, as one string that nobody else needs to understand.

A bare signature stays as it is. When more belongs to it (an id, details, who gave it), it is JSON; no signature begins with a
brace, so the two cannot be taken for each other.
"""

import json
from dataclasses import dataclass

from pydantic import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Opaque:
    signature: str | None = None
    id: str | None = None
    details: dict[str, JsonValue] | None = None
    provider: str = ""
    """Empty: whoever keeps the string knows it."""


def pack(opaque: Opaque) -> str | None:
    if not (opaque.id or opaque.details):
        return opaque.signature
    given = {"provider": opaque.provider, "id": opaque.id, "signature": opaque.signature, "details": opaque.details}
    return json.dumps({name: value for name, value in given.items() if value}, ensure_ascii=False, separators=(",", ":"), default=str)


def unpack(text: str | None) -> Opaque:
    if text is None or not text.startswith("{"):
        return Opaque(signature=text)
    given = json.loads(text)
    return Opaque(signature=given.get("signature"), id=given.get("id"), details=given.get("details"), provider=given.get("provider", ""))
