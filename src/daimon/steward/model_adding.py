"""From what somebody wants of a model to a model that can be set up: the same for the command line and for the page.

Vendor, address, key, model, price, name, in this order, since each depends on those before it. What the flags say is not asked; the rest is
asked of a `Form`, behind which a person sits or nobody. Nothing is written here.
"""

import asyncio
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol
from urllib.parse import urlsplit

from daimon import setup
from daimon.abi.errors import BadInput, ProviderFailed
from daimon.config import ModelEntry, Price
from daimon.setup import FROM_ENVIRONMENT, Answer, Credential, Found, Given, Offer, Place, Setup, Vendor, Wanted, usable_key
from daimon.steward import model_words

OwnPrice = Price | Literal["free", "unknown"]
_LONG_NAME = 20
_PERHAPS_A_PROXY = (
    "a server that wants a key may be a proxy, so it counts neither as free nor as local; "
    "if it is your own hardware, say that it is free (`--free`), and write `local = true` into its entry of daimon.toml"
)


@dataclass(frozen=True, slots=True)
class GivenKey:
    """From a flag."""

    text: str = field(repr=False)
    of: Literal["flag", "typed", "variable", "stdin"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    name: str | None
    vendor: str | None
    model: str | None
    base_url: str | None
    key: GivenKey | None
    price: OwnPrice | None
    place: Place
    is_tested: bool


@dataclass(frozen=True, slots=True)
class Key:
    """What the provider is shown, and where it is from."""

    value: Credential | None = None
    of: str | None = None
    """As the entry names it. None: as the vendor is called."""
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class Picked:
    """A vendor, and what was found of it."""

    vendor: str
    base_url: str | None = None
    variable: str | None = None


class Form(Protocol):
    def vendor(self, found: Found) -> Picked: ...

    def base_url(self) -> str: ...

    def keeps_variable(self, variable: str) -> bool:
        """Shall the key stay in the environment, instead of being copied?"""
        ...

    def key(self, title: str, is_needed: bool) -> str:
        """Empty: none, where none is needed."""
        ...

    def another_key(self, title: str, failed: ProviderFailed) -> str: ...

    def another_address(self, address: str, failed: ProviderFailed) -> str:
        """The same again: one more try."""
        ...

    def model(self, offers: Sequence[Offer], usual: str) -> str: ...

    def price(self, model: str, usual: Literal["free", "unknown"]) -> OwnPrice: ...

    def name(self, usual: str) -> str: ...

    def object(self, bad: BadInput) -> None:
        """To an answer, so that it is given again."""
        ...


class Adding:
    def __init__(self, opened_setup: Setup, flags: Flags, form: Form, say: Callable[[str], None]) -> None:
        """`say` hears each remark at once; they are in `remarks` too."""
        self._setup = opened_setup
        self._flags = flags
        self._form = form
        self._tell = say
        self.remarks: list[str] = []

    def wanted(self) -> Wanted:
        picked = self._vendor()
        vendor = setup.vendor_of(picked.vendor)
        address = self._address(vendor, picked)
        entry = ModelEntry(vendor=vendor.name, model=self._flags.model or "", base_url=address)
        key = self._key(vendor, entry, picked.variable)
        if not entry.model:
            entry, key = self._model(vendor, entry, key)
        entry = self._priced(entry, key.value)
        name = self._name(entry)
        return Wanted(name, self._keyed(entry, name, key), key.value, key.is_new)

    def _vendor(self) -> Picked:
        if self._flags.vendor is not None:
            return Picked(self._flags.vendor)
        if self._flags.base_url is not None:
            return Picked("compatible")
        return self._form.vendor(asyncio.run(self._setup.found()))

    def _address(self, vendor: Vendor, picked: Picked) -> str | None:
        """None: the vendor's own."""
        given = self._flags.base_url or picked.base_url or self._setup.address_of(vendor)
        if given is None:
            return None if vendor.base_url else self._form.base_url()
        address = model_words.address(given)
        return None if address == vendor.base_url else address

    def _key(self, vendor: Vendor, entry: ModelEntry, variable: str | None) -> Key:
        if self._flags.key is not None:
            return self._given_key(self._flags.key, entry)
        if setup.is_vendors_own(entry):  # a key is for the one it was made for: no other address gets it unasked
            if kept := self._setup.key(vendor.name, entry):
                self.say(f"with the key {vendor.name!r} of the vault")
                return Key(kept)
            if variable := variable or self._setup.variable_of(vendor):
                return self._variable(variable, entry)
        if vendor.is_local or not (typed := self._form.key(vendor.title, vendor.needs_key)):
            return Key()
        return _typed(typed)

    def _given_key(self, given: GivenKey, entry: ModelEntry) -> Key:
        match given.of:
            case "variable":
                return self._from_variable(given.text, entry)
            case "stdin":
                return _typed(sys.stdin.readline())
            case "typed":
                return _typed(given.text)
            case "flag":
                self.say("a key given with --key stays in the history of your shell; --key-stdin and --key-env keep it out")
                return _typed(given.text)

    def _variable(self, variable: str, entry: ModelEntry) -> Key:
        if self._form.keeps_variable(variable):
            return self._from_variable(variable, entry)
        return Key(self._setup.key(f"{FROM_ENVIRONMENT}{variable}", entry), is_new=True)

    def _from_variable(self, variable: str, entry: ModelEntry) -> Key:
        name = f"{FROM_ENVIRONMENT}{variable}"
        value = self._setup.key(name, entry)
        if value is None:
            which = "what --key-env names" if _may_be_a_key(variable) else variable
            raise BadInput(
                f"{which} is not set in this environment; export it first, or give the key with --key-stdin "
                "(--key-env takes the name of a variable, not the key)"
            )
        self.say(f"with the key of {variable}; `daimon up` must see that variable too")
        return Key(Given(usable_key(value.show() or "")), name)

    def _model(self, vendor: Vendor, entry: ModelEntry, key: Key) -> tuple[ModelEntry, Key]:
        """Chosen from the live list, with another key if the first does not open it, and another address if it is not there."""
        while True:
            try:
                offers = asyncio.run(self._setup.offers(Wanted(vendor.name, entry, key.value)))
            except ProviderFailed as failed:
                entry, key = self._mended(vendor, entry, key, failed)
            else:
                return entry.model_copy(update={"model": self._form.model(offers, vendor.model)}), key

    def _mended(self, vendor: Vendor, entry: ModelEntry, key: Key, failed: ProviderFailed) -> tuple[ModelEntry, Key]:
        if failed.reason == "auth":
            return entry, _typed(self._form.another_key(vendor.title, failed))
        before = entry.base_url or vendor.base_url
        if before is None or (entry.base_url is None and vendor.needs_key):  # the vendor's own address is right
            raise failed
        address = model_words.address(self._form.another_address(before, failed))
        moved = entry.model_copy(update={"base_url": None if address == vendor.base_url else address})
        is_elsewhere = urlsplit(address).netloc != urlsplit(before).netloc
        return moved, self._key(vendor, moved, None) if is_elsewhere else key

    def _priced(self, entry: ModelEntry, key: Credential | None) -> ModelEntry:
        is_at_home = setup.is_at_home(entry, key)
        if setup.is_at_home(entry) and not is_at_home:
            self.say(_PERHAPS_A_PROXY)
        if self._flags.price is not None:
            return entry.model_copy(update={"price": self._flags.price})
        if setup.rate_of(entry) is not None:
            return entry
        usual: Literal["free", "unknown"] = "free" if is_at_home else "unknown"
        price = self._form.price(entry.model, usual)
        if price == "free":
            self.say("taken as free, since it runs on your own hardware; `daimon model price` says otherwise")
        elif price == "unknown":
            self.say(f"nobody knows what {entry.model} costs: where a limit in money stands, you are asked before each call")
        return entry.model_copy(update={"price": price})

    def _name(self, entry: ModelEntry) -> str:
        if self._flags.name is not None:
            self._setup.check_name(self._flags.name, entry.vendor, entry.model)
            return self._flags.name
        while True:
            name = self._form.name(self._setup.free_name(entry.model))
            try:
                self._setup.check_name(name, entry.vendor, entry.model)
            except BadInput as bad:
                self._form.object(bad)
            else:
                return name

    def _keyed(self, entry: ModelEntry, name: str, key: Key) -> ModelEntry:
        of = key.of
        if key.is_new and key.value is not None:
            kept_as = self._setup.key_name(entry, name, key.value.show() or "")
            of = None if kept_as == entry.vendor else kept_as
        if key.value and (entry.base_url or "").startswith("http://") and not setup.is_near(entry):
            self.say(f"the key goes to {entry.base_url} unencrypted")
        return entry.model_copy(update={"key": of})

    def price_words(self, entry: ModelEntry) -> str:
        return str(setup.rate_of(entry) or "unknown")

    def say(self, text: str) -> None:
        self.remarks.append(text)
        self._tell(text)


def answered_as(wanted: Wanted, answer: Answer) -> Wanted:
    """With a remark where the provider answered as another model than it was asked for."""
    called = answer.reply.model.partition(":")[2]
    is_other = called not in ("", wanted.entry.model)
    return replace(wanted, remark=f"answered as {called}" if is_other else "")


def _typed(text: str) -> Key:
    return Key(Given(usable_key(text)), is_new=True)


def _may_be_a_key(variable: str) -> bool:
    """A key where a name belongs: what is repeated on the screen stays there."""
    return len(variable) > _LONG_NAME or ("-" in variable and any(letter.isdigit() for letter in variable))
