"""How a model is asked: sampling, thinking and caching, in the words of the provider.

What a model does not take is left out and said so, because the libraries would either warn on the side or let the call fail.
"""

from typing import TYPE_CHECKING, Any, cast

from daimon.abi.message import Reasoning, Role
from daimon.abi.model import Request
from daimon.abi.step import Sampling
from daimon.models.endpoint import Endpoint
from daimon.models.traits import Traits

if TYPE_CHECKING:
    from pydantic_ai.settings import ModelSettings

_SAMPLING = ("temperature", "top_p", "logprobs")
_SHARE = {"low": 0.25, "medium": 0.5, "high": 0.75}
"""Of the output, for thinking, where a provider wants it in tokens."""
_LEAST_BUDGET = 1_024


def settings(endpoint: Endpoint, traits: Traits, request: Request) -> "tuple[ModelSettings, tuple[str, ...]]":
    """With what must be remarked about it."""
    asked = request.sampling
    wanted = _asked_for(asked)
    taken = [name for name in wanted if _takes(name, endpoint, traits)]
    chosen: dict[str, Any] = {
        "max_tokens": min(asked.max_output_tokens or endpoint.max_output_tokens, endpoint.max_output_tokens),
        "max_retries": 0,
        "cache": True,
        **{name: getattr(asked, name) for name in taken if name != "logprobs"},
    }
    if "logprobs" in taken:
        chosen |= {"openai_logprobs": True, **({"openai_top_logprobs": asked.logprobs} if asked.logprobs else {})}
    if endpoint.vendor == "openai" and request.thread:
        chosen["openai_prompt_cache_key"] = request.thread
    if endpoint.vendor == "openrouter":
        chosen["openrouter_usage"] = {"include": True}
    chosen |= _thinking(endpoint, traits, chosen["max_tokens"], _follows_another(request, endpoint))
    remarks = tuple(f"{endpoint.model} does not take {name}: it was left out" for name in wanted if name not in taken)
    return cast("ModelSettings", chosen), remarks


def _asked_for(sampling: Sampling) -> list[str]:
    return [name for name in (*_SAMPLING, "seed") if getattr(sampling, name) is not None]


def _takes(name: str, endpoint: Endpoint, traits: Traits) -> bool:
    """Log probabilities of a stream reach us in one protocol only; seeds are unknown to another."""
    shape = endpoint.served_by.shape
    if (name == "logprobs" and shape != "openai") or (name == "seed" and shape == "anthropic"):
        return False
    if name not in _SAMPLING:
        return True
    return not (traits.refuses_sampling or (traits.samples_only_unthinking and _thinks(endpoint, traits)))


def _thinks(endpoint: Endpoint, traits: Traits) -> bool:
    return traits.thinks_always or (traits.thinks_unasked if endpoint.thinking is None else endpoint.thinking != "off")


def _follows_another(request: Request, endpoint: Endpoint) -> bool:
    """The model is to go on after tools that another one called."""
    if not request.messages or request.messages[-1].role is not Role.TOOL:
        return False
    called = next((message for message in reversed(request.messages) if message.role is Role.ASSISTANT), None)
    return called is None or not any(isinstance(part, Reasoning) and part.provider == endpoint.provider for part in called.parts)


def _thinking(endpoint: Endpoint, traits: Traits, max_tokens: int, follows_another: bool) -> dict[str, Any]:
    if endpoint.thinking is None:
        return {}
    if endpoint.thinking == "off":
        return {"thinking": False}
    if traits.thinks_adaptively:
        return {"thinking": endpoint.thinking}
    # Such models refuse a budget larger than the output, as the library's are, and thinking after tools that they did not think about.
    budget = max(_LEAST_BUDGET, int(max_tokens * _SHARE[endpoint.thinking]))
    is_taken = budget < max_tokens and not follows_another
    return {"anthropic_thinking": {"type": "enabled", "budget_tokens": budget}} if is_taken else {}
