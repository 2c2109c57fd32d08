"""From an endpoint to the library's model for it: which class speaks for which vendor, over one HTTP client of our own.

The libraries take seconds to import, so they are imported here, in a thread, when the first model is asked; `build` is the only way
in. Nothing is taken from the environment but proxies: an endpoint is what the owner set up, and a key or a header that happens to
lie around is sent to nobody; what the clients read there all the same, the wire leaves out. The key itself is none of theirs: the wire
puts it on each request as it goes out. Nothing is tried twice: that is the router's to decide.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from daimon.abi.money import Price
from daimon.models import prices
from daimon.models.endpoint import NO_KEY, Endpoint
from daimon.models.failures import failed, keyless
from daimon.models.traits import Traits, traits
from daimon.models.wire import Wire, certificates

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from openai import AsyncOpenAI
    from pydantic_ai.models import Model
    from pydantic_ai.profiles.openai import OpenAIModelProfile

_IMPORTING = threading.Lock()
"""One thread imports at a time: two that import the same libraries in different order would see half-made modules."""
_GOOGLE_VERSION = "v1"


@dataclass(frozen=True, slots=True)
class Library:
    """What is needed to ask, loaded."""

    model: "Model[Any]"
    traits: Traits
    wire: Wire
    price: Price | None
    context_tokens: int | None


def build(endpoint: Endpoint) -> Library:
    """Blocks for seconds the first time. Raises ProviderFailed."""
    if endpoint.served_by.needs_key and not endpoint.has_key:
        raise keyless(endpoint)
    with _IMPORTING:
        wire = Wire(endpoint)
        model, known = _made(endpoint, wire.client)
        context = endpoint.context_tokens or prices.context_tokens(endpoint.vendor, endpoint.model)
        return Library(model, known, wire, _price(endpoint), context)


def _made(endpoint: Endpoint, http: "AsyncClient") -> "tuple[Model[Any], Traits]":
    from pydantic_ai.exceptions import UserError

    try:
        model = _MAKERS.get(endpoint.vendor, _compatible)(endpoint, http)
        return model, traits(model, endpoint)
    except UserError as error:
        raise failed(error, endpoint, is_open=False) from error


def _price(endpoint: Endpoint) -> Price | None:
    if endpoint.price == "library":
        return prices.find(endpoint.vendor, endpoint.model)
    return None if endpoint.price == "unknown" else endpoint.price


def _openai_client(endpoint: Endpoint, http: "AsyncClient") -> "AsyncOpenAI":
    from openai import AsyncOpenAI

    return AsyncOpenAI(api_key=NO_KEY, base_url=endpoint.address, http_client=http, max_retries=0)


def _anthropic(endpoint: Endpoint, http: "AsyncClient") -> "Model[Any]":
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    class Plain(AsyncAnthropic):
        """The wire lets a header pass that names features: it must be of the request, not of a variable. Copies are made of this class."""

        def __init__(self, **given: Any) -> None:
            super().__init__(**given)
            self._custom_headers = {}

    client = Plain(api_key=NO_KEY, base_url=endpoint.address, http_client=http, max_retries=0)
    return AnthropicModel(endpoint.model, provider=AnthropicProvider(anthropic_client=client))


def _google(endpoint: Endpoint, http: "AsyncClient") -> "Model[Any]":
    from google.genai import Client
    from google.genai.client import DebugConfig
    from google.genai.types import HttpOptions
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    options = HttpOptions(
        base_url=endpoint.address, api_version=_GOOGLE_VERSION, httpx_async_client=http, client_args={"verify": certificates()}
    )
    live = DebugConfig(client_mode=None, replays_directory=None, replay_id=None)  # a variable could have calls recorded on disk
    client = Client(vertexai=False, api_key=NO_KEY, http_options=options, debug_config=live)
    return GoogleModel(endpoint.model, provider=GoogleProvider(client=client))


def _openai(endpoint: Endpoint, http: "AsyncClient") -> "Model[Any]":
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    return OpenAIChatModel(endpoint.model, provider=OpenAIProvider(openai_client=_openai_client(endpoint, http)))


def _deepseek(endpoint: Endpoint, http: "AsyncClient") -> "Model[Any]":
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.deepseek import DeepSeekProvider

    return OpenAIChatModel(endpoint.model, provider=DeepSeekProvider(openai_client=_openai_client(endpoint, http)), profile=_older())


def _openrouter(endpoint: Endpoint, http: "AsyncClient") -> "Model[Any]":
    from pydantic_ai.models.openrouter import OpenRouterModel
    from pydantic_ai.providers.openrouter import OpenRouterProvider

    return OpenRouterModel(endpoint.model, provider=OpenRouterProvider(openai_client=_openai_client(endpoint, http)))


def _ollama(endpoint: Endpoint, http: "AsyncClient") -> "Model[Any]":
    from pydantic_ai.models.ollama import OllamaModel
    from pydantic_ai.providers.ollama import OllamaProvider

    return OllamaModel(endpoint.model, provider=OllamaProvider(openai_client=_openai_client(endpoint, http)), profile=_older())


def _vllm(endpoint: Endpoint, http: "AsyncClient") -> "Model[Any]":
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.vllm import VLLMProvider

    return OpenAIChatModel(endpoint.model, provider=VLLMProvider(openai_client=_openai_client(endpoint, http)), profile=_older())


def _compatible(endpoint: Endpoint, http: "AsyncClient") -> "Model[Any]":
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    provider = OpenAICompatibleProvider(endpoint.vendor, openai_client=_openai_client(endpoint, http))
    return OpenAIChatModel(endpoint.model, provider=provider, profile=_plainest())


def _older() -> "OpenAIModelProfile":
    """The limit under the name that OpenAI gave up and everybody else kept: a server that ignores the other one writes without end."""
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    return OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)


def _plainest() -> "OpenAIModelProfile":
    """Nothing but what every such server knows."""
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    return OpenAIModelProfile(
        openai_chat_supports_max_completion_tokens=False,
        openai_chat_supports_multiple_system_messages=False,
        openai_supports_strict_tool_definition=False,
    )


_MAKERS: "dict[str, Callable[[Endpoint, AsyncClient], Model[Any]]]" = {
    "anthropic": _anthropic,
    "google": _google,
    "openai": _openai,
    "deepseek": _deepseek,
    "openrouter": _openrouter,
    "ollama": _ollama,
    "vllm": _vllm,
}
