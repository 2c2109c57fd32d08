"""Models as the page sets them up: which there are, which answer, adding one with its key, trying one live.

A key goes in and never comes out: an answer names where it is kept. Trying is a real call, so it says what it cost; what a provider said is
handed on as text, cut and without keys. The work itself is done by whoever stands behind `Models`.
"""

from dataclasses import dataclass, field
from typing import Annotated, Literal, Protocol

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as checked

from daimon.abi.access import Right
from daimon.gateway.entry import Call, Entry
from daimon.gateway.room.settings_changed import Changed

_CHECKED = ConfigDict(extra="forbid")
Short = Annotated[str, Field(max_length=200)]
Long = Annotated[str, Field(max_length=2_000)]
Key = Annotated[str, Field(max_length=10_000)]


@dataclass(frozen=True, slots=True)
class ModelRow:
    name: str
    place: int | None
    """In the order of use, from 1; None: not in use."""
    vendor: str
    model: str
    address: str
    price: str
    """In words; empty: nobody knows."""
    context_tokens: int | None
    is_local: bool
    key: str
    """Where it is kept; empty: none is needed, or none is there."""
    lacks_key: bool


@dataclass(frozen=True, slots=True)
class VendorRow:
    name: str
    title: str
    address: str
    """Empty: the owner must say it."""
    needs_key: bool
    is_local: bool
    model: str
    """A sensible first choice."""


@dataclass(frozen=True, slots=True)
class ModelsView:
    version: str
    """Of the settings; a change of the order is made against it."""
    models: tuple[ModelRow, ...]
    vendors: tuple[VendorRow, ...]
    overridden: str
    """The variable of the environment that says another order, and wins; empty: none."""


@dataclass(frozen=True, slots=True)
class FoundKey:
    vendor: str
    variable: str


@dataclass(frozen=True, slots=True)
class FoundServer:
    vendor: str
    title: str
    address: str
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoundHere:
    keys: tuple[FoundKey, ...]
    servers: tuple[FoundServer, ...]


@dataclass(frozen=True, slots=True)
class OfferRow:
    model: str
    context_tokens: int | None
    price: str


@dataclass(frozen=True, slots=True)
class Tried:
    """One small call: what came of it."""

    is_good: bool
    text: str
    """What it said, cut."""
    model: str
    """As it calls itself."""
    seconds: float
    input_tokens: int | None
    output_tokens: int | None
    cost: str
    """US dollars; empty: nobody knows."""
    remarks: tuple[str, ...]
    error: str
    """What failed, and what to do; empty: it works."""


@dataclass(frozen=True, slots=True)
class AddedModel:
    name: str
    use: tuple[str, ...]
    key: str
    price: str
    tried: Tried | None
    remarks: tuple[str, ...]
    changed: Changed


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class ModelWish:
    """A model as somebody wants it. The key is one of: typed, a variable of the gateway's environment, or what is kept already."""

    vendor: Short
    model: Short = ""
    name: Short = ""
    base_url: Long = ""
    key: Key = field(default="", repr=False)
    variable: Short = ""
    price: Literal["", "free", "unknown"] = ""
    """Empty: as the price list says, free on your own hardware, else unknown."""
    input_price: Short = ""
    output_price: Short = ""
    """Dollars a million tokens."""
    place: Literal["usual", "first", "last", "none"] = "usual"
    is_tested: bool = True


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class Order:
    use: tuple[Short, ...]
    version: Short


class Models(Protocol):
    async def view(self) -> ModelsView: ...

    async def found(self) -> FoundHere: ...

    async def offers(self, wish: ModelWish) -> tuple[OfferRow, ...]: ...

    async def try_out(self, name: str) -> Tried: ...

    async def add(self, wish: ModelWish) -> AddedModel: ...

    async def use(self, names: tuple[str, ...], version: str) -> Changed: ...

    async def remove(self, name: str) -> Changed: ...


@dataclass(frozen=True, slots=True)
class ModelRoutes:
    models: Models

    def all(self) -> tuple[Entry, ...]:
        path, admin = "/v1/settings/models", Right.ADMIN
        offers, one = tuple[OfferRow, ...], f"{path}/{{name}}"
        return (
            Entry("GET", path, self._view, ModelsView, "Models that are set up, in the order of their use, and vendors", Right.READ),
            Entry("GET", f"{path}/found", self._found, FoundHere, "Keys and model servers that are on this machine", admin),
            Entry("POST", f"{path}/offers", self._offers, offers, "What a provider has, asked live", admin, body=ModelWish, is_act=True),
            Entry("POST", path, self._add, AddedModel, "Try a model, then set it up with its key", admin, body=ModelWish, is_act=True),
            Entry("PUT", f"{path}/use", self._use, Changed, "Which models answer, in this order", admin, body=Order, is_act=True),
            Entry("POST", f"{one}/test", self._try, Tried, "One small call to a model that is set up", admin, is_act=True),
            Entry("DELETE", one, self._remove, Changed, "Take a model out, and its key if no other uses it", admin, is_act=True),
        )

    async def _view(self, call: Call[None, None]) -> ModelsView:
        return await self.models.view()

    async def _found(self, call: Call[None, None]) -> FoundHere:
        return await self.models.found()

    async def _offers(self, call: Call[None, ModelWish]) -> tuple[OfferRow, ...]:
        return await self.models.offers(call.body)

    async def _add(self, call: Call[None, ModelWish]) -> AddedModel:
        return await self.models.add(call.body)

    async def _use(self, call: Call[None, Order]) -> Changed:
        return await self.models.use(call.body.use, call.body.version)

    async def _try(self, call: Call[None, None]) -> Tried:
        return await self.models.try_out(call.path["name"])

    async def _remove(self, call: Call[None, None]) -> Changed:
        return await self.models.remove(call.path["name"])
