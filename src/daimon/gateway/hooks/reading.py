"""A body as JSON. Only after its signature was right: what it says is a stranger's, its form is checked like anybody's.

`application/json` and anything `+json`, and forms as GitHub and Slack send them: the field `payload` holds the JSON; a form without it
is an object of its fields. Raises BadInput with the reason.
"""

from urllib.parse import parse_qsl

from pydantic import JsonValue
from pydantic_core import from_json

from daimon.abi.errors import BadInput
from daimon.abi.plain import fault
from daimon.gateway.hooks.signature import Heads

FORM = "application/x-www-form-urlencoded"
MOST_FIELDS = 100


def read(given: Heads, body: bytes) -> JsonValue:
    kind, _, more = given.get("content-type", "").partition(";")
    kind = kind.strip().lower()
    charset = more.partition("charset=")[2].strip().strip('"').lower()
    if charset not in ("", "utf-8", "utf8", "us-ascii"):
        raise BadInput(f"the charset {charset[:40]!r} is not read; send UTF-8")
    if kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json")):
        return _json(body)
    if kind == FORM:
        return _form(body)
    raise BadInput(f"the content type {kind[:80]!r} is not read; send application/json, or a form with the field `payload`")


def _json(body: bytes | str) -> JsonValue:
    try:
        data: JsonValue = from_json(body, allow_inf_nan=False)
    except ValueError as bad:
        raise BadInput(f"the body is no JSON: {str(bad)[:200]}") from None
    if wrong := fault(data):
        raise BadInput(f"the body cannot be kept: {wrong}")
    return data


def _form(body: bytes) -> JsonValue:
    try:
        fields = parse_qsl(body.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    except ValueError as bad:
        raise BadInput(f"the form cannot be read: {str(bad)[:200]}") from None
    payloads = [value for name, value in fields if name == "payload"]
    if len(payloads) > 1:
        raise BadInput("the form has the field `payload` more than once")
    found: JsonValue = dict(fields)
    if not payloads and (wrong := fault(found)):
        raise BadInput(f"the form cannot be kept: {wrong}")
    return _json(payloads[0]) if payloads else found
