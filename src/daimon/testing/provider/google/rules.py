"""What Gemini turns away, with its sentences."""

import base64
import binascii
from collections.abc import Sequence

from daimon.testing.provider.google.body import Body, Content, Part
from daimon.testing.provider.shape import Rejected
from daimon.testing.provider.signature import is_ours

_PASSES = frozenset({b"skip_thought_signature_validator", b"context_engineering_is_the_way_to_go"})
"""Google's documented stand-ins for calls that another model made."""
_CHECKS_SIGNATURES = "gemini-3"


def check(model: str, body: Body) -> None:
    if not body.contents:
        raise Rejected("* GenerateContentRequest.contents: contents is not specified\n")
    for index, content in enumerate(body.contents):
        if content.role not in {"user", "model"}:
            raise Rejected("Please use a valid role: user, model.")
        if not content.parts:
            raise Rejected(f"* GenerateContentRequest.contents[{index}].parts: contents.parts must not be empty.\n")
        for place, part in enumerate(content.parts):
            _check_data(f"contents[{index}].parts[{place}]", part)
    _check_calls(body.contents)
    _check_signatures(model, body.contents)


def _check_data(place: str, part: Part) -> None:
    if part.inline_data is None:
        return
    data = part.inline_data.data
    try:
        base64.b64decode(data.replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError) as error:
        shown = f'Base64 decoding failed for "{data[:40]}"'
        raise Rejected(f"Invalid value at '{place}.inline_data.data' (TYPE_BYTES), {shown}") from error


def _check_calls(contents: Sequence[Content]) -> None:
    """A turn with calls is followed by one with as many responses, and responses stand nowhere else."""
    open_calls = 0
    for index, content in enumerate(contents):
        answers = len(content.responses)
        if answers and not open_calls:
            raise Rejected("Please ensure that function response turn comes immediately after a function call turn.")
        if answers != open_calls:
            rule = "the number of function response parts is equal to the number of function call parts of the function call turn."
            raise Rejected(f"Please ensure that {rule}")
        open_calls = len(content.calls)
        if open_calls and (index == 0 or contents[index - 1].role != "user"):
            raise Rejected("Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
    if open_calls:
        raise Rejected("Please ensure that a function call turn is followed by a function response turn.")


def _check_signatures(model: str, contents: Sequence[Content]) -> None:
    """Of the running turn only: what came before the last text of the user is past."""
    start = max((index for index, content in enumerate(contents) if content.role == "user" and content.text), default=0)
    for index, content in enumerate(contents):
        for place, part in enumerate(part for part in content.parts if part.function_call):
            if part.thought_signature and not _is_good(part.thought_signature):
                raise Rejected("Thought signature is not valid.")
            if index > start and place == 0 and not part.thought_signature and model.startswith(_CHECKS_SIGNATURES):
                assert part.function_call is not None
                missing = "Function call is missing a thought_signature in functionCall parts."
                raise Rejected(f"{missing} This is required for tools to work correctly: {part.function_call.name}, position {index}.")


def _is_good(signature: str) -> bool:
    """Bytes come in either alphabet of base64."""
    standard = signature.replace("-", "+").replace("_", "/")
    try:
        raw = base64.b64decode(standard, validate=True)
    except (binascii.Error, ValueError):
        return signature.encode() in _PASSES
    return raw in _PASSES or signature.encode() in _PASSES or is_ours(standard)
