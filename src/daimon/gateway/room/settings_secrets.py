"""Secrets as the page shows them: names, where each may go, who may use it and who did. A value only ever goes in.

No answer and no error here has a value in it, and the record of acts has the name alone. Even the list needs the right to change the
settings: names say which accounts there are.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Protocol

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as checked

from daimon.abi.access import Right
from daimon.gateway.entry import Call, Entry

_CHECKED = ConfigDict(extra="forbid")
Word = Annotated[str, Field(max_length=300)]
Value = Annotated[str, Field(min_length=1, max_length=70_000)]
MOST_BYTES = 512 * 1024


@dataclass(frozen=True, slots=True)
class UseRow:
    by: str
    host: str
    last: datetime
    count: int


@dataclass(frozen=True, slots=True)
class SecretRow:
    name: str
    service: str
    hosts: tuple[str, ...]
    agents: tuple[str, ...]
    """Whose boxes may use it; `*`: all."""
    variable: str
    models: tuple[str, ...]
    channels: tuple[str, ...]
    created_at: datetime
    rotated_at: datetime | None
    uses: tuple[UseRow, ...]
    """The latest of them."""


@dataclass(frozen=True, slots=True)
class SecretsView:
    source: str
    """Where the key of the vault is."""
    locked: str
    """Why the vault cannot be opened, and what to do; empty: it is open."""
    secrets: tuple[SecretRow, ...]


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class NewSecret:
    name: Word
    value: Value = field(repr=False)
    service: Word = ""
    hosts: tuple[Word, ...] = ()
    agents: tuple[Word, ...] = ()
    variable: Word = ""


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class NewValue:
    value: Value = field(repr=False)


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class Reach:
    service: Word = ""
    hosts: tuple[Word, ...] = ()
    agents: tuple[Word, ...] = ()
    variable: Word = ""


class Secrets(Protocol):
    async def view(self) -> SecretsView: ...

    async def add(self, new: NewSecret) -> SecretRow: ...

    async def rotate(self, name: str, value: str) -> SecretRow: ...

    async def reach(self, name: str, reach: Reach) -> SecretRow: ...

    async def remove(self, name: str) -> None: ...


@dataclass(frozen=True, slots=True)
class SecretRoutes:
    secrets: Secrets

    def all(self) -> tuple[Entry, ...]:
        path, admin, most = "/v1/settings/secrets", Right.ADMIN, MOST_BYTES
        one, gone = f"{path}/{{name}}", dict[str, str]
        return (
            Entry("GET", path, self._view, SecretsView, "Names of secrets and who may use them, never values", admin),
            Entry("POST", path, self._add, SecretRow, "Put a secret into the vault", admin, body=NewSecret, most_bytes=most, is_act=True),
            Entry("POST", f"{one}/value", self._rotate, SecretRow, "A new value", admin, body=NewValue, most_bytes=most, is_act=True),
            Entry("PUT", f"{one}/reach", self._reach, SecretRow, "Where it may go and who may use it", admin, body=Reach, is_act=True),
            Entry("DELETE", one, self._remove, gone, "Take a secret out of the vault", admin, is_act=True),
        )

    async def _view(self, call: Call[None, None]) -> SecretsView:
        return await self.secrets.view()

    async def _add(self, call: Call[None, NewSecret]) -> SecretRow:
        return await self.secrets.add(call.body)

    async def _rotate(self, call: Call[None, NewValue]) -> SecretRow:
        return await self.secrets.rotate(call.path["name"], call.body.value)

    async def _reach(self, call: Call[None, Reach]) -> SecretRow:
        return await self.secrets.reach(call.path["name"], call.body)

    async def _remove(self, call: Call[None, None]) -> dict[str, str]:
        await self.secrets.remove(call.path["name"])
        return {"removed": call.path["name"]}
