"""What Anthropic turns away, with its sentences."""

import base64
import binascii
from collections.abc import Sequence

from daimon.testing.provider.anthropic.body import Body, Content, Message
from daimon.testing.provider.prompt import Block
from daimon.testing.provider.shape import Rejected
from daimon.testing.provider.signature import is_ours, signs

_MOST_CACHE_BLOCKS = 4
_LEAST_BUDGET = 1_024


def check(body: Body) -> None:
    if not body.messages:
        raise Rejected("messages: at least one message is required")
    names = [tool.name for tool in body.tools or ()]
    if len(names) != len(set(names)):
        raise Rejected("tools: Tool names must be unique.")
    _check_roles(body.messages)
    _check_calls(body.messages)
    for index, message in enumerate(body.messages):
        _check_parts(f"messages.{index}", message)
    _check_thinking(body)
    _check_thoughts(body)
    _check_first_thought(body)


def _check_roles(messages: Sequence[Message]) -> None:
    """Two of the same role in a row are taken as one; only the first has to be the user's."""
    for message in messages:
        if message.role == "system":
            accepts = 'The Messages API accepts a top-level `system` parameter, not "system" as an input message role.'
            raise Rejected(f'messages: Unexpected role "system". {accepts}')
        if message.role not in {"user", "assistant"}:
            raise Rejected(f'messages: Unexpected role "{message.role}". Allowed roles are "user" or "assistant"')
    if messages[0].role != "user":
        raise Rejected('messages: first message must use the "user" role')


def _check_calls(messages: Sequence[Message]) -> None:
    """The message after a call begins with the results of all its calls, and a result stands nowhere else."""
    before: list[str] = []
    every: set[str] = set()
    for index, message in enumerate(messages):
        _check_results(index, message, before)
        before = [part.id for part in message.parts if part.type == "tool_use"]
        if len(set(before)) < len(before) or every & set(before):
            raise Rejected(f"messages.{index}: `tool_use` ids must be unique")
        every |= set(before)
    if before:
        raise _unanswered(len(messages) - 1, before)


def _check_results(index: int, message: Message, before: Sequence[str]) -> None:
    leading: list[str] = []
    for place, part in enumerate(message.parts):
        if part.type != "tool_result":
            continue
        if part.tool_use_id not in before:
            rule = "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
            found = f"unexpected `tool_use_id` found in `tool_result` blocks: {part.tool_use_id}"
            raise Rejected(f"messages.{index}.content.{place}: {found}. {rule}")
        if place == len(leading):
            leading.append(part.tool_use_id)
    if missing := [id_ for id_ in before if id_ not in leading]:
        raise _unanswered(index - 1, missing)


def _unanswered(index: int, ids: Sequence[str]) -> Rejected:
    rule = "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
    return Rejected(f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(ids)}. {rule}")


def _check_parts(place: str, message: Message) -> None:
    if not message.content:
        raise Rejected(f"{place}: all messages must have non-empty content except for the optional final assistant message")
    for index, part in enumerate(message.parts):
        if part.type == "text" and not part.text:
            raise Rejected("messages: text content blocks must be non-empty")
        for image in (part, *part.parts):
            _check_image(f"{place}.content.{index}", image)


def _check_image(place: str, part: Content) -> None:
    if part.type != "image" or (part.source and part.source.type != "base64"):
        return
    try:
        base64.b64decode(part.source.data if part.source else "", validate=True)
    except binascii.Error as error:
        raise Rejected(f"{place}.image.source.base64: invalid base64 data") from error


def _check_thinking(body: Body) -> None:
    if body.thinking is None or body.thinking.type != "enabled":
        return
    budget = body.thinking.budget_tokens
    if budget is None:
        raise Rejected("thinking.enabled.budget_tokens: Field required")
    if budget < _LEAST_BUDGET:
        raise Rejected(f"thinking.enabled.budget_tokens: Input should be greater than or equal to {_LEAST_BUDGET}")
    if budget >= body.max_tokens:
        raise Rejected("`max_tokens` must be greater than `thinking.budget_tokens`.")
    if body.temperature not in {None, 1}:
        raise Rejected("`temperature` may only be set to 1 when thinking is enabled.")


def _check_thoughts(body: Body) -> None:
    last = max((index for index, message in enumerate(body.messages) if message.role == "assistant"), default=-1)
    for index, message in enumerate(body.messages):
        for place, part in enumerate(message.parts):
            if part.type != "thinking":
                continue
            where = f"messages.{index}.content.{place}"
            if not is_ours(part.signature):
                raise Rejected(f"{where}: Invalid `signature` in `thinking` block")
            if index == last and not signs(part.signature, part.thinking):
                rule = "These blocks must remain as they were in the original response."
                raise Rejected(
                    f"{where}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. {rule}"
                )


def _check_first_thought(body: Body) -> None:
    """With a budget for thinking, a model that goes on after its tools wants to see what it thought when it called them."""
    in_tools = any(part.type == "tool_result" for part in body.messages[-1].parts)
    if not in_tools or body.thinking is None or body.thinking.type != "enabled":
        return
    index = max(index for index, message in enumerate(body.messages) if message.role == "assistant")
    found = body.messages[index].parts[0].type
    if found not in {"thinking", "redacted_thinking"}:
        rule = "When `thinking` is enabled, a final `assistant` message must start with a thinking block."
        raise Rejected(f"messages.{index}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{found}`. {rule}")


def check_marks(blocks: Sequence[Block]) -> None:
    found = sum(block.cache_ends_here for block in blocks)
    if found > _MOST_CACHE_BLOCKS:
        raise Rejected(f"A maximum of {_MOST_CACHE_BLOCKS} blocks with cache_control may be provided. Found {found}.")
