"""Secrets, as those see them who must not: a name, a stand-in, and somebody who keeps the values out of texts.

`Secret.value` exists at the last hop only: in the client that speaks to a provider, and in the proxy that stands between the box and
the host that the secret belongs to.
"""

from dataclasses import dataclass, field
from typing import Protocol

from daimon.abi.ids import AgentId

FROM_VAULT = "vault:"
"""Before a secret's name in settings."""


@dataclass(frozen=True, slots=True)
class Injection:
    """A secret on its way out of a box: the box holds the placeholder, the secret's own hosts get the value. Both have one length."""

    name: str
    placeholder: bytes
    value: bytes = field(repr=False)
    hosts: tuple[str, ...]
    """Such as api.example.org or *.example.org, with a port where it is not the usual one."""


class Secrets(Protocol):
    """The vault, as its users see it. Every use is recorded."""

    def reveal(self, name: str, by: str, host: str) -> str:
        """The value, for a client that speaks to this host. Raises NotFound, and Denied where its scope does not hold this."""
        ...

    def injections(self, names: tuple[str, ...], agent: AgentId) -> tuple[Injection, ...]:
        """With fresh placeholders. Raises NotFound, and Denied for an agent outside the scope."""
        ...

    def used(self, name: str, by: str, host: str) -> None:
        """The proxy put it in."""
        ...


class Redactor(Protocol):
    @property
    def version(self) -> int:
        """Another one when other values are known: what was cleaned before must be cleaned again."""
        ...

    def clean(self, text: str) -> str:
        """Without secrets: neither known values, in whatever usual coding, nor what is shaped like one."""
        ...

    def clean_known(self, text: str) -> str:
        """Without known values only: for what must stay as it was otherwise."""
        ...

    def unfinished(self, text: str) -> int:
        """How many characters at the end may be the beginning of a known value, or of more of it: for what arrives piece by piece."""
        ...
