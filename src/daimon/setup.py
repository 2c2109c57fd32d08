"""Setting models up: all that `daimon model` does, without the screen.

A model is an entry of `[models]` in daimon.toml, a place in `model.use`, and mostly a key in the vault. The key is written first and
taken back if the settings cannot be, so that no entry ever waits for a key that is not there. Keys leave this module in one
direction only: to the provider that they belong to.
"""

import difflib
import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from daimon import config, settings_file
from daimon.abi.cleaning import cleaned
from daimon.abi.errors import BadInput, DaimonError, NotFound, ProviderFailed
from daimon.abi.ids import BlobHash
from daimon.abi.money import MILLION, Price, Usage
from daimon.abi.secret import FROM_VAULT
from daimon.endpoints import credential_of, endpoint_for, price_of
from daimon.keeper import FROM_ENVIRONMENT as FROM_ENVIRONMENT
from daimon.keeper import Ask, Vault, key_host, key_name, nobody, opened, referring
from daimon.keeper import usable_key as usable_key
from daimon.models import found, prices, probe
from daimon.models.advice import advised
from daimon.models.credential import Credential as Credential
from daimon.models.credential import Given as Given
from daimon.models.endpoint import Endpoint
from daimon.models.probe import Answer as Answer
from daimon.models.vendors import VENDORS as VENDORS
from daimon.models.vendors import Vendor as Vendor
from daimon.vault.redact import Known, SecretRedactor

REFLEX = "reflex"
Place = Literal["usual", "first", "last", "none"]
"""Where in `model.use`. Usual: in front of the others, behind `reflex`."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_PLAIN = re.compile(r"[\w./:@+-]+")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A model that is to be set up."""

    name: str
    entry: config.ModelEntry
    key: Credential | None = None
    """What the provider is shown."""
    is_new_key: bool = False
    """It is to be kept in the vault."""
    remark: str = ""
    """Kept as a comment in daimon.toml."""


@dataclass(frozen=True, slots=True)
class Found:
    keys: tuple[found.Key, ...]
    servers: tuple[found.Server, ...]


@dataclass(frozen=True, slots=True)
class Rate:
    """Dollars a million tokens, as a list shows them: of a short call, where a long one costs more."""

    price: Price

    @property
    def input(self) -> str:
        return _short(self.price, Usage(input_tokens=1_000))

    @property
    def output(self) -> str:
        return _short(self.price, Usage(output_tokens=1_000))

    def __str__(self) -> str:
        return "free" if self.price.source == "free" else f"${self.input} in, ${self.output} out"


@dataclass(frozen=True, slots=True)
class Offer:
    """A model of a provider's own list."""

    model: str
    context_tokens: int | None
    rate: Rate | None


@dataclass(frozen=True, slots=True)
class Row:
    """A model that is set up, or one in use that nobody had to set up."""

    name: str
    place: int | None
    """In the order of use, from 1; None: not in use."""
    vendor: str
    model: str = ""
    address: str = ""
    rate: Rate | None = None
    context_tokens: int | None = None
    is_local: bool = True
    key: str = ""
    """Where it is; empty: none is needed, or none is there."""
    lacks_key: bool = False


class Setup:
    """The models of one home."""

    def __init__(self, home: config.Home, environment: Mapping[str, str], ask: Ask = nobody, vault: Vault | None = None) -> None:
        """`ask`: for the passphrase of the vault, where it needs one. `vault`: one that is open already."""
        self.home = home
        self.settings = config.load(home.config, {})
        """What the file says: variables of the environment are not to be written into it."""
        self._environment = environment
        self._vault = vault or opened(home, environment, ask)

    async def found(self) -> Found:
        return await look(self._environment)

    def key(self, name: str, entry: config.ModelEntry) -> Credential | None:
        """What an entry with this key would show to its provider. None: there is none."""
        return self._credential(entry.model or entry.vendor, entry.model_copy(update={"key": name}))

    def entry(self, name: str) -> config.ModelEntry:
        if name in self.settings.models:
            return self.settings.models[name]
        raise NotFound(f"no model is called {name!r}{_nearest(name, self.settings.models)}; `daimon model list` shows all")

    def wanted(self, name: str) -> Wanted:
        """One that is set up already."""
        entry = self.entry(name)
        return Wanted(name, entry, self._credential(name, entry))

    def _credential(self, name: str, entry: config.ModelEntry) -> Credential | None:
        self._vault.entries()  # one that cannot be opened is told now
        key = credential_of(name, entry, self._vault, self._environment)
        return key if key is not None and key.is_set() else None

    def at(self, text: str, base_url: str | None = None) -> Wanted:
        """The provider of a model that is set up, or a vendor by itself. The vendor's key goes to the vendor's own address only."""
        if text in self.settings.models:
            if base_url is not None:
                raise BadInput(f"{text} has its address already; --base-url goes with a vendor")
            return self.wanted(text)
        vendor = vendor_of(text)
        address = base_url or self.address_of(vendor)
        if address is None and vendor.base_url is None:
            raise BadInput(f"--base-url is missing: where {vendor.title} is, such as http://127.0.0.1:8000/v1")
        entry = config.ModelEntry(vendor=vendor.name, model="", base_url=address)
        variable = self.variable_of(vendor)
        key = self.key(vendor.name, entry) or (self.key(f"{FROM_ENVIRONMENT}{variable}", entry) if variable else None)
        return Wanted(vendor.name, entry, key if is_vendors_own(entry) else None)

    def variable_of(self, vendor: Vendor) -> str | None:
        """The variable of the environment that holds this vendor's key, if there is one."""
        return next((key.variable for key in found.keys(self._environment) if key.vendor == vendor.name), None)

    def address_of(self, vendor: Vendor) -> str | None:
        """Where the owner's variables say that the vendor's server of this machine is. None: where it usually is."""
        here = next((place for place in found.places(self._environment) if place.vendor == vendor.name), None)
        return None if here is None or here.url == vendor.base_url else here.url

    def rows(self) -> tuple[Row, ...]:
        use, own = self.settings.model.use, self.settings.models
        others = [Row(name, n, "built in" if name == REFLEX else "extension") for n, name in enumerate(use, 1) if name not in own]
        rows = [self._row(name, use.index(name) + 1 if name in use else None) for name in own]
        return tuple(sorted([*others, *rows], key=lambda row: (row.place is None, row.place, row.name)))

    def _row(self, name: str, place: int | None) -> Row:
        wanted = self.wanted(name)
        entry, endpoint = wanted.entry, _endpoint(wanted)
        return Row(
            name,
            place,
            entry.vendor,
            entry.model,
            endpoint.place,
            rate_of(entry),
            entry.context_tokens or prices.context_tokens(entry.vendor, entry.model),
            endpoint.stays_home,
            (entry.key or entry.vendor) if wanted.key else "",
            wanted.key is None and endpoint.served_by.needs_key,
        )

    async def offers(self, wanted: Wanted) -> tuple[Offer, ...]:
        """The provider's own list. Raises ProviderFailed."""
        endpoint = _endpoint(wanted)
        try:
            listed = await probe.models(endpoint)
        except ProviderFailed as failed:
            raise await advised(failed, endpoint) from None
        return tuple(Offer(row.model, row.context_tokens, rate_of(_of(wanted, row.model))) for row in listed)

    async def test(self, wanted: Wanted) -> Answer:
        """One small call. Raises ProviderFailed, with what to do about it where that can be found out."""
        from daimon.models.provider import ProviderModel

        endpoint = replace(_endpoint(wanted), thinking=None)  # there is no room for thoughts in a few tokens
        model = ProviderModel(endpoint, _NoBlobs())
        try:
            return cleaned(await probe.call(model, endpoint.place), self._without_keys(wanted.key))
        except ProviderFailed as failed:
            raise await advised(failed, endpoint, self._listing(wanted)) from None
        finally:
            await model.close()

    def _without_keys(self, key: Credential | None) -> Callable[[str], str]:
        """For what a provider says: it may repeat the key that it was shown, one that is kept nowhere yet too."""
        shown = (Known("key", key.value),) if isinstance(key, Given) else ()
        return SecretRedactor(lambda: (*self._vault.known(), *shown)).clean

    def _listing(self, wanted: Wanted) -> str:
        """The command that shows what the provider has. Empty: none would, since the key is not kept anywhere yet."""
        entry, command = wanted.entry, _command(self.home, "list")
        if self.settings.models.get(wanted.name) == entry:
            return f"{command} --at {shlex.quote(wanted.name)}"
        if entry.vendor in self.settings.models or self.at(entry.vendor, entry.base_url).key != wanted.key:
            return ""
        place = f" --base-url {shlex.quote(entry.base_url)}" if entry.base_url else ""
        return f"{command} --at {entry.vendor}{place}"

    def add(self, wanted: Wanted, place: Place) -> None:
        """Key first, then the entry and its place in one step. Raises Misconfigured, and then nothing has changed."""
        self.home.ensure()
        undo = self._keep(wanted)
        order = placed(self.settings.model.use, wanted.name, place)
        try:
            self._edit(settings_file.use_models(order), settings_file.put_model(wanted.name, wanted.entry, wanted.remark))
        except DaimonError:
            undo()
            raise

    def _keep(self, wanted: Wanted) -> Callable[[], None]:
        """A new key goes into the vault, for the vendor's host. Returns what takes it back."""
        name = key_name(wanted.entry)
        if not wanted.is_new_key or wanted.key is None or name is None:
            return lambda: None
        undo = self._vault.undoing(name)
        self._vault.keep(name, usable_key(wanted.key.show() or ""), wanted.entry.vendor, (key_host(wanted.entry),))
        return undo

    def use(self, names: Sequence[str], version: str | None = None) -> None:
        """`version`: of the file as somebody read it. Raises Outdated where it is another by now."""
        for name in names:
            if name != REFLEX and not self.settings.extensions:
                self.entry(name)
        if len(set(names)) != len(names):
            raise BadInput(f"a name stands twice in {' '.join(names)}")
        self.settings = settings_file.edit(self.home.config, settings_file.use_models(names), version=version)

    def price(self, name: str, price: config.Price | Literal["library", "free", "unknown"]) -> None:
        entry = self.entry(name)
        said = config.ModelEntry(vendor=entry.vendor, model=entry.model, price=price)
        self._edit(settings_file.put_model(name, said))

    def remove(self, name: str) -> str:
        """Returns the name of the key that went with it; empty: none did. A secret that was named as such is the owner's to remove."""
        entry = self.entry(name)
        if routes := [n for n, route in enumerate(self.settings.routes, 1) if name in route.use]:
            raise BadInput(f"route {routes[0]} of [[routes]] uses {name}; change that in {self.home.config} first")
        order = tuple(other for other in self.settings.model.use if other != name) or (REFLEX,)
        key = key_name(entry)
        is_ours = key is not None and self._vault.has(key) and not (entry.key or "").startswith(FROM_VAULT)
        self._edit(settings_file.use_models(order), settings_file.drop_model(name))
        if key is None or not is_ours or referring(self.settings, key):
            return ""
        self._vault.remove(key)
        return key

    def _edit(self, *changes: settings_file.Change) -> None:
        self.settings = settings_file.edit(self.home.config, *changes)

    def free_name(self, model: str) -> str:
        """A short name for a model that no other has."""
        last = model.rpartition("/")[2].removesuffix(":latest")
        base = re.sub(r"[^a-z0-9.]+", "-", last.lower()).strip("-.")[:40] or "model"
        taken = {REFLEX, *self.settings.models}
        return next(name for n in range(1, len(taken) + 2) if (name := base if n == 1 else f"{base}-{n}") not in taken)

    def check_name(self, name: str, vendor: str, model: str) -> None:
        """A name may be taken by the same model of the same vendor: then it is set up anew."""
        if not _NAME.fullmatch(name):
            raise BadInput(f"{name!r} cannot be a name; use letters, digits, '-', '_' and '.'")
        if name == REFLEX:
            raise BadInput(f"{REFLEX} is the model that is built in; choose another name")
        old = self.settings.models.get(name)
        if old is not None and (old.vendor, old.model) != (vendor, model):
            raise BadInput(f"{name} is {old.vendor} {old.model} already; choose another name, or `daimon model remove {name}` first")

    def key_name(self, entry: config.ModelEntry, name: str, key: str) -> str:
        """Where a new key is kept: under the vendor's name, unless that one is another, or goes to another address.

        A model that is set up anew gets its new key where the old one was. No other secret is ever written over.
        """
        old = self.settings.models.get(name)
        if old is not None and not (old.key or "").startswith(FROM_ENVIRONMENT):
            return old.key or old.vendor
        own = (entry.vendor,) if is_vendors_own(entry) else ()
        names: tuple[str, ...] = (*own, name, *(f"{name[:60]}-{n}" for n in range(2, len(self._vault.entries()) + 3)))
        return next(each for each in names if not self._vault.has(each) or self._vault.is_same(each, key))


async def look(environment: Mapping[str, str]) -> Found:
    return Found(found.keys(environment), await found.servers(found.places(environment)))


async def offers(home: config.Home, settings: config.Settings, environment: Mapping[str, str] = os.environ) -> list[str]:
    """Lines for an owner who has no model yet: what is here, and the command that sets it up."""
    if settings.models or set(settings.model.use) != {REFLEX}:
        return []
    here = await look(environment)
    command = _command(home, "add")
    keys = [f"found  {key.variable} in the environment: {command} --vendor {key.vendor} --key-env {key.variable}" for key in here.keys]
    servers = [f"found  {VENDORS[server.vendor].title} at {server.base_url}: {command} {_flags(server)}" for server in here.servers]
    return keys + servers


def _command(home: config.Home, verb: str) -> str:
    is_usual = home.path == Path.home() / ".daimon"  # the variable that names another may not be set where the command is typed
    return f"daimon model {verb}" if is_usual else f"daimon model {verb} --home {shlex.quote(str(home.path))}"


def _flags(server: found.Server) -> str:
    """Names come from whoever listens there: only plain ones are put into a command."""
    model = next((f" --model {name}" for name in server.models if _PLAIN.fullmatch(name)), "")
    place = "" if server.base_url == VENDORS[server.vendor].base_url else f" --base-url {server.base_url}"
    return f"--vendor {server.vendor}{place}{model}"


def vendor_of(name: str) -> Vendor:
    found_vendor = VENDORS.get(name.strip().lower())
    if found_vendor is None:
        raise BadInput(f"there is no vendor {name!r}{_nearest(name.lower(), VENDORS)}; known are {', '.join(VENDORS)}")
    return found_vendor


def rate_of(entry: config.ModelEntry) -> Rate | None:
    """None: nobody knows."""
    price = price_of(entry)
    if price == "library":
        known = prices.find(entry.vendor, entry.model)
        return None if known is None else Rate(known)
    return None if price == "unknown" else Rate(price)


def place_of(wanted: Wanted) -> str:
    """Its address, for people."""
    return _endpoint(wanted).place


def is_at_home(entry: config.ModelEntry, key: Credential | None = None) -> bool:
    return _endpoint(Wanted("", entry, key)).stays_home


def is_near(entry: config.ModelEntry) -> bool:
    return _endpoint(Wanted("", entry)).is_near


def is_vendors_own(entry: config.ModelEntry) -> bool:
    """Does the address belong to whom the vendor's key is for?"""
    usual = VENDORS[entry.vendor].base_url
    return entry.base_url is None or (usual is not None and urlsplit(entry.base_url).netloc == urlsplit(usual).netloc)


def placed(use: Sequence[str], name: str, place: Place) -> tuple[str, ...]:
    """The order of use with this name in it. One that has its place keeps it, unless another is asked for."""
    others = [other for other in use if other != name]
    match place:
        case "first":
            return (name, *others)
        case "last":
            return (*others, name)
        case "none":
            return tuple(use)
        case "usual" if name in use:
            return tuple(use)
        case "usual":
            behind = others.index(REFLEX) + 1 if REFLEX in others else 0
            return (*others[:behind], name, *others[behind:])


def _endpoint(wanted: Wanted) -> Endpoint:
    return endpoint_for(wanted.name, wanted.entry, wanted.key, probe.FEW_TOKENS)


def _of(wanted: Wanted, model: str) -> config.ModelEntry:
    return wanted.entry.model_copy(update={"model": model, "price": "library"})


def _nearest(name: str, names: Mapping[str, object]) -> str:
    near = difflib.get_close_matches(name, list(names), 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _short(price: Price, usage: Usage) -> str:
    whole = price.cost(usage) * MILLION / (usage.input_tokens + usage.output_tokens)
    return f"{whole:.2f}" if whole == round(whole, 2) else f"{whole.normalize():f}"


class _NoBlobs:
    """A probe carries no image."""

    async def put(self, data: bytes) -> BlobHash:
        raise NotFound("a probe keeps nothing")

    async def get(self, blob: BlobHash) -> bytes:
        raise NotFound("a probe has no images")
