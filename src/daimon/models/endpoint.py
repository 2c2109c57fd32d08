"""One model at one address, as the owner set it up, and what follows from that without asking anybody."""

import ipaddress
import re
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from daimon.abi.errors import Misconfigured, ProviderFailed
from daimon.abi.money import Price
from daimon.models.credential import Credential
from daimon.models.vendors import VENDORS, Vendor

Thinking = Literal["off", "low", "medium", "high"]
NO_KEY = "none"
"""Shown to servers that want no key, since the libraries' clients insist on one."""

_SEE_EVERYWHERE = ("anthropic/", "openai/", "google/")
"""Models that take images at a gateway too, by the beginning of their names."""
_CLOUD = re.compile(r"[:-]cloud(?:-[^:/]*)?$", re.IGNORECASE)
"""How Ollama marks models that it does not run itself: `:cloud`, `:cloud-1m`, `:120b-cloud`."""
_HOME_NAMES = ("localhost",)
_HOME_ENDINGS = (".localhost", ".local", ".home.arpa")
"""Names that cannot lead out of the house. A bare name could: a search domain may complete it."""
_HOME_NETWORKS = tuple(
    ipaddress.ip_network(net)
    for net in ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7", "fe80::/10")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Raises Misconfigured for a vendor that is not in the table, and for an address that cannot be one."""

    name: str
    """As the owner calls it."""
    vendor: str
    """A key of `VENDORS`."""
    model: str
    """As the provider calls it."""
    base_url: str | None = None
    """None: the vendor's own."""
    key: Credential | None = field(default=None, repr=False)
    """Asked for at each call, so that a new one counts from the next call on."""
    key_variable: str | None = None
    """The variable of the environment that the key is to be in. None: it is kept elsewhere."""
    price: Price | Literal["library", "unknown"] = "library"
    max_output_tokens: int = 8_192
    context_tokens: int | None = None
    """None: as the library says, if it knows."""
    has_tools: bool = True
    has_images: bool | None = None
    """None: as usual at this vendor."""
    is_local: bool | None = None
    """None: as the vendor, the address and the key say."""
    thinking: Thinking | None = None
    """None: as the provider does by itself."""
    reads_text_calls: bool | None = None
    """None: yes, where people run models of all kinds; vendors turn the calls of theirs into proper ones."""
    connect_s: float = 10.0

    def __post_init__(self) -> None:
        if self.vendor not in VENDORS:
            raise Misconfigured(f"model {self.name!r}: there is no vendor {self.vendor!r}; known are {', '.join(VENDORS)}")
        if not (self.base_url or self.served_by.base_url):
            raise Misconfigured(f"model {self.name!r}: {self.served_by.title} needs a base_url, such as http://127.0.0.1:8000/v1")
        if not re.match(r"https?://[^/]", self.address):
            raise Misconfigured(f"model {self.name!r}: base_url {self.base_url!r} is no address, such as http://127.0.0.1:8000/v1")

    @property
    def served_by(self) -> Vendor:
        return VENDORS[self.vendor]

    @property
    def address(self) -> str:
        address = self.base_url or self.served_by.base_url
        assert address
        return address.rstrip("/")

    @property
    def host(self) -> str:
        """For people: without path, and without the credentials that an address may hold."""
        parts = urlsplit(self.address)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"

    @property
    def place(self) -> str:
        """For people: the address without credentials."""
        return f"{self.host}{urlsplit(self.address).path}"

    @property
    def provider(self) -> str:
        """Who is asked: the vendor, or, where everybody runs an own server, that server."""
        is_somebodys_own = not self.served_by.needs_key and self.address != (self.served_by.base_url or "")
        return f"{self.vendor}@{urlsplit(self.address).netloc.rpartition('@')[2]}" if is_somebodys_own else self.vendor

    @property
    def has_key(self) -> bool:
        return self.key is not None and self.key.is_set()

    def hide(self, text: str) -> str:
        """Without the key."""
        return text if self.key is None else self.key.hide(text)

    def credentials(self) -> dict[str, str]:
        """The headers that show the key, and nothing else of the owner's. Raises ProviderFailed where it may not be shown."""
        key = self._shown() or ("" if self.served_by.needs_key else NO_KEY)
        match self.served_by.shape:
            case "openai":
                return {"Authorization": f"Bearer {key}"} if key else {}
            case "anthropic":
                return {"x-api-key": key, "anthropic-version": "2023-06-01"}
            case "google":
                return {"x-goog-api-key": key}

    def _shown(self) -> str | None:
        key = None if self.key is None else self.key.show()
        if key and not (key.isascii() and key.isprintable()):
            text = f"model {self.name!r}: the key holds characters that no key has, such as a line break: copy it again"
            raise ProviderFailed("auth", text, is_lasting=True, was_sent=False)
        return key

    @property
    def is_near(self) -> bool:
        """Somebody in the house answers. What it does with the words is another question."""
        return _is_home(urlsplit(self.address).hostname or "")

    @property
    def stays_home(self) -> bool:
        """The words do not leave the house: nearby is no proxy of a vendor far away, nor a model that Ollama hands on to its servers.

        A server of one's own seldom wants a key, and a proxy always does: where there is a key, the owner must say.
        """
        if self.is_local is not None:
            return self.is_local
        has_key = self.served_by.needs_key or self.has_key or self.key_variable is not None
        goes_on = has_key or (self.vendor == "ollama" and _CLOUD.search(self.model) is not None)
        return self.is_near and not goes_on

    @property
    def takes_images(self) -> bool:
        if self.has_images is not None:
            return self.has_images
        return self.served_by.has_images or (self.vendor == "openrouter" and self.model.startswith(_SEE_EVERYWHERE))

    @property
    def finds_text_calls(self) -> bool:
        if self.reads_text_calls is not None:
            return self.reads_text_calls
        return self.served_by.shape == "openai" and not self.served_by.needs_key


def _is_home(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host.lower() in _HOME_NAMES or host.lower().endswith(_HOME_ENDINGS)
    return any(address in network for network in _HOME_NETWORKS)
