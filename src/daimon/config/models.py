"""`[model]`, `[models]`, `[[routes]]`: who answers, how each is reached, what it costs."""

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag

from daimon.config.branch import Branch, Cost, Tokens, as_list


def _amount(cost: Decimal) -> Decimal:
    if cost == 0:
        raise ValueError('a price of zero would spend without limit; if the model is really free (your own hardware), write price = "free"')
    return cost


class Price(Branch):
    """Dollars a million tokens."""

    input: Annotated[Decimal, Field(ge=0), AfterValidator(_amount)]
    output: Annotated[Decimal, Field(ge=0), AfterValidator(_amount)]
    cache_read: Annotated[Decimal, Field(ge=0)] | None = None
    """Left out: as input."""
    cache_write: Annotated[Decimal, Field(ge=0)] | None = None
    """Left out: as input; for models of Anthropic, a quarter more."""


WORD, TABLE = "a word", "a table"
OwnPrice = Annotated[Price, Tag(TABLE)]
KnownPrice = Annotated[Literal["library", "free", "unknown"], Tag(WORD)]


def _kind_of_price(value: object) -> str:
    return WORD if isinstance(value, str) else TABLE


class Model(Branch):
    use: Annotated[tuple[str, ...], BeforeValidator(as_list), Field(min_length=1)] = ("reflex",)
    """Which models answer, the first that can and may: `reflex`, names of `[models]`, names from extensions. The rest stand in for it."""
    first_token_s: Annotated[float, Field(gt=0)] = 120.0
    """How long a model may be silent before it says anything."""
    next_token_s: Annotated[float, Field(gt=0)] = 60.0
    """How long it may be silent in the middle of a reply."""
    whole_s: Annotated[float, Field(gt=0)] = 1_800.0
    """How long a whole reply may take."""
    max_output_tokens: Tokens = 8_192
    """The longest reply; it is also what is reserved for one."""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    seed: int | None = None
    logprobs: Annotated[int, Field(ge=0, le=20)] | None = None
    """How many alternatives of each token to keep, where the provider gives them."""


class ModelEntry(Branch):
    """A model of `[models]`. `daimon model add` writes it."""

    vendor: str
    """anthropic, openai, google, deepseek, openrouter, ollama, lmstudio, llamacpp, vllm, or compatible for any other such address."""
    model: str
    """As the vendor calls it."""
    base_url: str | None = None
    """Left out: the vendor's own."""
    key: str | None = None
    """`vault:NAME`, a secret of the vault, or `env:NAME`, a variable of the environment. Left out: the secret with the vendor's name."""
    price: Annotated[OwnPrice | KnownPrice, Discriminator(_kind_of_price)] = "library"
    """`library`: from the price list that comes with Daimon."""
    max_output_tokens: Tokens | None = None
    context_tokens: Tokens | None = None
    """How much it can read at once. Left out: what is known of it."""
    tools: bool = True
    images: bool | None = None
    local: bool | None = None
    """Do the words stay on your own hardware? Left out: as the address says."""
    thinking: Literal["off", "low", "medium", "high"] | None = None
    text_calls: bool | None = None
    """Look for tool calls in its text, as small local models write them. Left out: only for compatible servers."""
    per_minute: Annotated[int, Field(ge=1)] | None = None
    """At most so many calls."""


class Route(Branch):
    """An exception to `model.use`: the first that fits counts."""

    conversations: tuple[str, ...] = ()
    """Names with * and ?. Left out: all."""
    agents: tuple[str, ...] = ()
    use: Annotated[tuple[str, ...], BeforeValidator(as_list)] = ()
    """Left out: as `model.use`."""
    local_only: bool = False
    """Nothing leaves your hardware."""
    max_call_cost: Cost | None = None
    """A model that may cost more for one call is passed over."""
