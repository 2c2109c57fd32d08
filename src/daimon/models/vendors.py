"""Who serves models, and what it takes to reach them: the table behind `daimon model add`.

Everything here is known without a library and without a network. A new vendor of a known shape is one row; `clients.py` says
which class of the library speaks for it.
"""

from dataclasses import dataclass
from typing import Literal

Shape = Literal["openai", "anthropic", "google"]
"""Which protocol is spoken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor:
    name: str
    title: str
    """For people."""
    shape: Shape
    base_url: str | None
    """None: there is no usual one, the owner must say it."""
    variables: tuple[str, ...] = ()
    """Environment variables in which a key is usually found, the most usual first."""
    address_variables: tuple[str, ...] = ()
    """Environment variables in which an address is usually found; it may lack scheme and path."""
    needs_key: bool = True
    is_local: bool = False
    """It usually runs on the owner's own hardware."""
    prices: str | None = None
    """Its name in genai-prices; None: nobody knows what it costs."""
    model: str = ""
    """A sensible first choice; empty: whatever is installed there."""
    has_images: bool = False
    """Its models usually take images."""


_ROWS = (
    Vendor(
        name="anthropic",
        title="Anthropic",
        shape="anthropic",
        base_url="https://api.anthropic.com",
        variables=("ANTHROPIC_API_KEY",),
        prices="anthropic",
        model="claude-sonnet-5-5",
        has_images=True,
    ),
    Vendor(
        name="openai",
        title="OpenAI",
        shape="openai",
        base_url="https://api.openai.com/v1",
        variables=("OPENAI_API_KEY",),
        prices="openai",
        model="gpt-6.1-terra",
        has_images=True,
    ),
    Vendor(
        name="google",
        title="Google Gemini",
        shape="google",
        base_url="https://generativelanguage.googleapis.com",
        variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        prices="google",
        model="gemini-3.8-flash",
        has_images=True,
    ),
    Vendor(
        name="deepseek",
        title="DeepSeek",
        shape="openai",
        base_url="https://api.deepseek.com",
        variables=("DEEPSEEK_API_KEY",),
        prices="deepseek",
        model="deepseek-flash",
    ),
    Vendor(
        name="openrouter",
        title="OpenRouter",
        shape="openai",
        base_url="https://openrouter.ai/api/v1",
        variables=("OPENROUTER_API_KEY",),
        prices="openrouter",
        model="anthropic/claude-sonnet-5.5",
    ),
    Vendor(
        name="ollama",
        title="Ollama",
        shape="openai",
        base_url="http://127.0.0.1:11434/v1",
        variables=("OLLAMA_API_KEY",),
        address_variables=("OLLAMA_HOST",),
        needs_key=False,
        is_local=True,
    ),
    Vendor(name="lmstudio", title="LM Studio", shape="openai", base_url="http://127.0.0.1:1234/v1", needs_key=False, is_local=True),
    Vendor(name="llamacpp", title="llama.cpp", shape="openai", base_url="http://127.0.0.1:8080/v1", needs_key=False, is_local=True),
    Vendor(
        name="vllm",
        title="vLLM",
        shape="openai",
        base_url="http://127.0.0.1:8000/v1",
        variables=("VLLM_API_KEY",),
        address_variables=("VLLM_BASE_URL",),
        needs_key=False,
        is_local=True,
    ),
    Vendor(name="compatible", title="an OpenAI-compatible server", shape="openai", base_url=None, needs_key=False),
)

VENDORS: dict[str, Vendor] = {vendor.name: vendor for vendor in _ROWS}
