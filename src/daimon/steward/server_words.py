"""What is looked at before a server is written into the settings, whoever asks for it."""

import re
from collections.abc import Mapping
from typing import Any

from daimon import config
from daimon.abi.errors import BadInput
from daimon.abi.ids import SELF
from daimon.abi.secret import FROM_VAULT
from daimon.keeper import Vault, looks_secret

_NAME = re.compile(r"[a-z][a-z0-9]{0,31}")
_NAMED = re.compile(r"\{vault:([^}]+)\}")


def check_name(name: str, settings: config.Settings) -> None:
    if not _NAME.fullmatch(name):
        raise BadInput(f"{name[:40]!r} cannot be a name; use small letters and digits, a letter first, at most 32")
    if name in settings.mcp:
        raise BadInput(f"a server {name} is there already; `daimon mcp remove {name}` takes it away")


def check_plain(said: Mapping[str, Any]) -> None:
    """Raises BadInput for a secret that stands where everybody can read it."""
    for where, words in (("command", said.get("command", ())), ("environment", said.get("environment", {}).values())):
        if any(looks_secret(word) for word in words):
            raise BadInput(f"in {where} stands what looks like a secret: keep it in the vault, and name it under `secrets`")


def secrets_of(said: Mapping[str, Any]) -> tuple[str, ...]:
    """The secrets that it names, however they are written."""
    return tuple(sorted({_secret(value) for value in said.get("secrets", {}).values()}))


def check_secrets(vault: Vault, said: Mapping[str, Any]) -> None:
    """Raises BadInput for a secret that is not there, or that a box of this server could not be given."""
    for name in secrets_of(said):
        if not vault.has(name):
            raise BadInput(f"the vault has no secret {name}; `daimon secrets add {name} --host HOST --agent {SELF}` makes it")
        entry = vault.entry(name)
        if said.get("command") and not (entry.hosts and {SELF, "*"} & set(entry.agents)):
            raise BadInput(f"the secret {name} has no host or is not for {SELF}; `daimon secrets scope {name}` changes that")


def _secret(value: str) -> str:
    inner = _NAMED.search(value)
    return inner[1] if inner else value.removeprefix(FROM_VAULT)
