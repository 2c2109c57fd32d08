"""From an entry of `[models]` to the endpoint that it stands for: with its key, its price and what the settings say for all."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Literal

from daimon import config
from daimon.abi import money
from daimon.machine.keys import FROM_ENVIRONMENT, Keys
from daimon.models.endpoint import Endpoint

_WRITTEN = Decimal("1.25")
"""Times the price of fresh input."""


def endpoint_of(name: str, settings: config.Settings, keys: Keys, environment: Mapping[str, str]) -> Endpoint:
    """Raises Misconfigured for a vendor that nobody knows and for a key file that cannot be used. A missing key is None."""
    entry = settings.models[name]
    return endpoint_for(name, entry, keys.resolve(entry.key or entry.vendor, environment), settings.model.max_output_tokens)


def endpoint_for(name: str, entry: config.ModelEntry, key: str | None, max_output_tokens: int) -> Endpoint:
    return Endpoint(
        name=name,
        vendor=entry.vendor,
        model=entry.model,
        base_url=entry.base_url,
        key=key,
        key_variable=_variable(entry),
        price=price_of(entry),
        max_output_tokens=entry.max_output_tokens or max_output_tokens,
        context_tokens=entry.context_tokens,
        has_tools=entry.tools,
        has_images=entry.images,
        is_local=entry.local,
        thinking=entry.thinking,
        reads_text_calls=entry.text_calls,
    )


def _variable(entry: config.ModelEntry) -> str | None:
    named = entry.key or ""
    return named.removeprefix(FROM_ENVIRONMENT) if named.startswith(FROM_ENVIRONMENT) else None


def price_of(entry: config.ModelEntry) -> money.Price | Literal["library", "unknown"]:
    match entry.price:
        case "free":
            return money.FREE
        case "library" | "unknown":
            return entry.price
        case own:
            written = _written(entry, own.input) if own.cache_write is None else own.cache_write
            return money.FixedPrice(own.input, own.output, own.cache_read, written)


def _written(entry: config.ModelEntry, fresh: Decimal) -> Decimal | None:
    """Anthropic asks more for what its cache is to keep, and we always ask it to. Others ask nothing."""
    is_anthropics = entry.vendor == "anthropic" or (entry.vendor == "openrouter" and entry.model.startswith("anthropic/"))
    return fresh * _WRITTEN if is_anthropics else None
