"""What a provider answered, as a reply of ours.

Invariant: no half call. A stream without an end is a failure; a call whose arguments were cut off by the output limit, or that a
filter stopped, is left out. Ids of calls are unique within the conversation, since some servers count from zero every time.
Nor is a count or a sum believed that cannot be: the budget would be refilled by a negative one.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from pydantic import JsonValue

from daimon.abi.message import Part, Reasoning, Text, ToolCall
from daimon.abi.model import Delta, Reply, Request
from daimon.abi.money import NOTHING, Price, Usage, exact
from daimon.abi.plain import clean
from daimon.models import failures, text_calls
from daimon.models.endpoint import Endpoint
from daimon.models.opaque import Opaque, pack

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse, ModelResponsePart, ModelResponseStreamEvent, ThinkingPart, ToolCallPart
    from pydantic_ai.usage import RequestUsage

Finish = Literal["stop", "tools", "length", "filtered"]

_ENDED = frozenset({"finish_reason", "refusal", "block_reason"})
"""Details of a reply that has an end."""
_MADE_UP = "pyd_ai_"
"""How the library begins ids that the provider did not give."""
_SIGNATURE = "thought_signature"
_VARIANT = re.compile(r"(?:-preview-\d\d-\d{2,4}|[-@:]?(?:\d{4}-\d\d-\d\d|\d{3,}|latest|free|preview|exp|v\d+(?:[.:]\d+)*))++")
"""What may follow a model's name without making it another model. Possessive: a provider chooses the name, and must not choose the time."""
_MOST_TOKENS = 100_000_000
_MOST_DOLLARS = Decimal(10_000)
"""No single call takes so much: whoever says so errs, or lies."""
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Answered:
    """Everything that a reply is made of."""

    response: "ModelResponse"
    endpoint: Endpoint
    price: Price | None
    request: Request
    remarks: tuple[str, ...] = ()

    @property
    def details(self) -> dict[str, Any]:
        return self.response.provider_details or {}


def delta(event: "ModelResponseStreamEvent") -> Delta | None:
    """What is shown while the reply is under way."""
    from pydantic_ai import messages as m

    match event:
        case m.PartStartEvent(part=m.TextPart(content=text)) | m.PartDeltaEvent(delta=m.TextPartDelta(content_delta=text)):
            found = Delta(clean(text))
        case m.PartStartEvent(part=m.ThinkingPart(content=text)):
            found = Delta(clean(text), "reasoning")
        case m.PartDeltaEvent(delta=m.ThinkingPartDelta(content_delta=thought)):
            found = Delta(clean(thought or ""), "reasoning")
        case m.PartStartEvent(part=m.ToolCallPart(tool_name=tool, args=args)):
            found = Delta(clean(tool + _written(args)), "call")
        case m.PartDeltaEvent(delta=m.ToolCallPartDelta(args_delta=args)):
            found = Delta(clean(_written(args)), "call")
        case _:
            return None
    return found if found.text else None


def _written(args: object) -> str:
    return args if isinstance(args, str) else json.dumps(args, ensure_ascii=False) if args else ""


def reply(answered: Answered) -> Reply:
    """Raises ProviderFailed if the answer has no end."""
    response, endpoint = answered.response, answered.endpoint
    if not _ENDED & answered.details.keys() or response.state == "incomplete":
        raise failures.cut(endpoint) if response.parts else failures.empty(endpoint)
    finish = _finish(answered)
    parts = tuple(_parts(answered, finish))
    called = clean(response.model_name or "")[:_LONGEST_NAME]
    remarks = [*answered.remarks, *_about_model(endpoint, called)]
    if len(response.tool_calls) > len(_calls(parts)):
        remarks.append("a tool call that was not finished was left out")
    if finish == "stop" and endpoint.finds_text_calls and (found := _in_text(parts, answered)):
        parts = found
        remarks.append("a tool call was found in the text")
    if finish == "stop" and _calls(parts):
        finish = "tools"
    return Reply(
        parts=_unique(parts, answered.request),
        model=f"{endpoint.vendor}:{called or endpoint.model}",
        finish=finish,
        usage=_usage(answered),
        logprobs=_canonical(answered.details.get("logprobs")),
        remarks=tuple(remarks),
    )


def _calls(parts: Sequence[Part]) -> list[ToolCall]:
    return [part for part in parts if isinstance(part, ToolCall)]


def _finish(answered: Answered) -> Finish:
    match answered.response.finish_reason:
        case "length":
            return "length"
        case "content_filter":
            return "filtered"
        case "error":
            raise failures.broken(answered.endpoint, str(answered.details.get("finish_reason")))
        case _:
            return "stop"


def _parts(answered: Answered, finish: Finish) -> Iterator[Part]:
    for part in answered.response.parts:
        yield from _part(part, answered.endpoint, finish)
    told = answered.details.get("refusal") or answered.details.get("block_reason_message")
    if told and not any(getattr(part, "content", None) == told for part in answered.response.parts):
        yield Text(clean(str(told)))


def _part(part: "ModelResponsePart", endpoint: Endpoint, finish: Finish) -> Iterator[Part]:
    from pydantic_ai import messages as m

    match part:
        case m.TextPart():
            # Gemini signs texts too; the signature goes back on what follows it.
            if signature := (part.provider_details or {}).get(_SIGNATURE):
                yield Reasoning("", endpoint.provider, signature)
            if part.content:
                yield Text(clean(part.content))
        case m.ThinkingPart():
            if part.content.strip() or part.signature or part.provider_details:
                yield _reasoning(part, endpoint)
        case m.ToolCallPart():
            if finish == "stop" or (finish == "length" and _is_whole(part)):
                yield _call(part, endpoint)
        case _:
            pass  # files, and tools of the provider's own: none were asked for


def _reasoning(part: "ThinkingPart", endpoint: Endpoint) -> Reasoning:
    opaque = Opaque(signature=part.signature, id=part.id, details=part.provider_details)
    return Reasoning(clean(part.content), endpoint.provider, pack(opaque))


def _call(part: "ToolCallPart", endpoint: Endpoint) -> ToolCall:
    arguments = text_calls.arguments(part.args) if isinstance(part.args, str) else part.args or {}
    signature = pack(Opaque(details=part.provider_details, provider=endpoint.provider)) if part.provider_details else None
    return ToolCall(part.tool_call_id, part.tool_name, arguments, signature)


def _is_whole(part: "ToolCallPart") -> bool:
    """Of a reply that ran into its limit: nothing is closed for it."""
    if isinstance(part.args, dict):
        return True
    try:
        return isinstance(json.loads(part.args or ""), dict)
    except (ValueError, RecursionError):
        return False


def _in_text(parts: Sequence[Part], answered: Answered) -> tuple[Part, ...] | None:
    """The parts again, with the calls that their text holds. A model that called properly meant its text as text."""
    if _calls(parts):
        return None
    text = "".join(part.text for part in parts if isinstance(part, Text))
    found = text_calls.split(text, {tool.name for tool in answered.request.tools})
    if found is None:
        return None
    thoughts = (Reasoning(found.thoughts, answered.endpoint.provider),) if found.thoughts else ()
    calls = (ToolCall(_MADE_UP, call.tool, call.arguments) for call in found.calls)
    return (*(part for part in parts if not isinstance(part, Text)), *thoughts, *calls)


def _unique(parts: Sequence[Part], request: Request) -> tuple[Part, ...]:
    """A call without an id of its own gets one that depends on the conversation alone, so that a replay gives the same."""
    taken = {call.call for message in request.messages for call in message.calls}
    named: list[Part] = []
    for part in parts:
        if isinstance(part, ToolCall):
            if part.call.startswith(_MADE_UP) or part.call in taken or not part.call:
                part = replace(part, call=_fresh(taken))
            taken.add(part.call)
        named.append(part)
    return tuple(named)


def _fresh(taken: set[str]) -> str:
    number = len(taken) + 1
    while f"call_{number}" in taken:
        number += 1
    return f"call_{number}"


def _about_model(endpoint: Endpoint, answered: str) -> Iterator[str]:
    if answered and not _is_same(endpoint.model, answered):
        yield f"asked for {endpoint.model}, answered by {answered}"


def _is_same(asked: str, answered: str) -> bool:
    """A dated or numbered variant is the same model; so is whatever hides behind an alias that says so."""
    one, other = (name.lower().removeprefix("models/") for name in (asked, answered))
    if one.endswith("-latest") or one == other:
        return True
    short, long = sorted((one, other), key=len)
    return long.startswith(short) and _VARIANT.fullmatch(long[len(short) :]) is not None


def _usage(answered: Answered) -> Usage | None:
    told: RequestUsage = answered.response.usage
    counts = (told.input_tokens, told.output_tokens, told.cache_read_tokens, told.cache_write_tokens)
    if told.unmeasured_requests or not any(counts[:2]) or not all(map(_is_count, counts)):
        return None
    cached = min(told.cache_read_tokens, told.input_tokens)
    written = min(told.cache_write_tokens, told.input_tokens - cached)
    usage = Usage(told.input_tokens, told.output_tokens, cached, written)
    return replace(usage, cost=_billed(answered.details) or (answered.price.cost(usage) if answered.price else None))


def _is_count(told: object) -> bool:
    return isinstance(told, int) and 0 <= told < _MOST_TOKENS


def _billed(details: dict[str, Any]) -> Decimal | None:
    """What a gateway says that it charges; with a key of the owner's own for the vendor behind it, what that one charges too."""
    charged = _sum(details.get("cost", 0))
    behind = _sum(details.get("upstream_inference_cost")) if details.get("is_byok") else NOTHING
    return None if charged is None or behind is None else charged + behind


def _sum(told: object) -> Decimal | None:
    if isinstance(told, bool) or not isinstance(told, int | float) or not 0 <= told < _MOST_DOLLARS:
        return None
    return exact(Decimal(str(told)))


def _canonical(value: JsonValue) -> bytes | None:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode() if value else None
