"""From an entry of `[models]` to the endpoint that it stands for: with its key, its price and what the settings say for all."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from daimon import config
from daimon.abi import money
from daimon.abi.errors import Denied, Misconfigured, NotFound, ProviderFailed
from daimon.keeper import FROM_ENVIRONMENT, Vault, key_host, key_name
from daimon.models.credential import Credential, Given
from daimon.models.endpoint import Endpoint

_WRITTEN = Decimal("1.25")
"""Times the price of fresh input."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A key in the vault. Every time that it is shown counts as a use by the model."""

    vault: Vault
    name: str
    model: str
    host: str

    def is_set(self) -> bool:
        try:
            return self.vault.has(self.name)
        except Misconfigured:
            return True  # there is a vault; whoever wants the key hears what is wrong with it

    def show(self) -> str | None:
        try:
            return self.vault.reveal(self.name, f"model:{self.model}", self.host)
        except NotFound:
            return None
        except (Denied, Misconfigured) as error:
            raise ProviderFailed("auth", f"model {self.model}: {error}", is_lasting=True, was_sent=False) from None

    def hide(self, text: str) -> str:
        try:
            return self.vault.masked(self.name, text)
        except Misconfigured:
            return "(not repeated here: the vault cannot be read, so nobody knows whether it holds the key)"


def endpoint_of(name: str, settings: config.Settings, vault: Vault, environment: Mapping[str, str]) -> Endpoint:
    """Raises Misconfigured for a vendor that nobody knows."""
    entry = settings.models[name]
    return endpoint_for(name, entry, credential_of(name, entry, vault, environment), settings.model.max_output_tokens)


def credential_of(name: str, entry: config.ModelEntry, vault: Vault, environment: Mapping[str, str]) -> Credential | None:
    """None: it is to be in the environment, and is not."""
    secret = key_name(entry)
    if secret is not None:
        return Kept(vault, secret, name, key_host(entry))
    value = environment.get((entry.key or "").removeprefix(FROM_ENVIRONMENT), "").strip()
    return Given(value) if value else None


def endpoint_for(name: str, entry: config.ModelEntry, key: Credential | None, max_output_tokens: int) -> Endpoint:
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
