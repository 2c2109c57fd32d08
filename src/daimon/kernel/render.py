"""What a tool's result looks like to a model: one JSON object, never too long, always valid text.

{"ok": true, "data": …}
{"ok": true, "data": "the first part of it", "truncated": true, "bytes": 104857600}
{"ok": false, "error": {"code": "timeout", "message": "…", "retryable": false}}

It is cleaned of secrets twice: text by text, and then as a whole, where a name may tell what its value is, or a secret go over several
texts.
"""

import json

from pydantic import JsonValue

from daimon.abi.cleaning import Clean, cleaned
from daimon.abi.plain import clean


def success(data: JsonValue, most_bytes: int, redact: Clean) -> tuple[str, str]:
    """The text, and an error code if the data cannot be shown at all."""
    try:
        text, code = _written(cleaned(data, redact), most_bytes)
    except RecursionError:
        text, code = _written(data, most_bytes)
    whole = redact(text)
    return (whole if whole == text or _is_json(whole) else _written(whole, most_bytes)[0]), code


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _written(data: JsonValue, most_bytes: int) -> tuple[str, str]:
    try:
        whole = json.dumps({"ok": True, "data": data}, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as bad:
        return failure("bad_result", f"the tool returned something that is not JSON: {bad}"), "bad_result"
    size = len(whole.encode("utf-8", "replace"))
    if size <= most_bytes:
        return clean(whole), ""
    shown = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    part = clean(shown[:most_bytes].encode("utf-8", "replace")[:most_bytes].decode("utf-8", "ignore"))
    return json.dumps({"ok": True, "data": part, "truncated": True, "bytes": size}, ensure_ascii=False), ""


def failure(code: str, message: str, retryable: bool = False) -> str:
    return json.dumps({"ok": False, "error": {"code": code, "message": clean(message), "retryable": retryable}}, ensure_ascii=False)
