"""What a tool's result looks like to a model: one JSON object, never too long, always valid text.

{"ok": true, "data": …}
{"ok": true, "data": "the first part of it", "truncated": true, "bytes": 104857600}
{"ok": false, "error": {"code": "timeout", "message": "…", "retryable": false}}
"""

import json

from pydantic import JsonValue

from daimon.abi.plain import clean


def success(data: JsonValue, most_bytes: int) -> tuple[str, str]:
    """The text, and an error code if the data cannot be shown at all."""
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
