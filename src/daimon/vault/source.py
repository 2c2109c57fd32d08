"""Where the key of the vault is. Which one is in force stands in the vault's header, and `daimon secrets list` says it.

A source gives material: the words or bytes that the key is made of. `prepare` makes what is missing before the vault is sealed with it,
and says under which name; `drop` takes that away when the vault is sealed otherwise. So at every moment the material of the
vault that lies on disk exists: a crash leaves one key too many, never one too few.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from daimon.abi.errors import Misconfigured

CREDENTIALS_VARIABLE = "CREDENTIALS_DIRECTORY"
PASSPHRASE_VARIABLE = "DAIMON_VAULT_PASSPHRASE"
NAMES = ("systemd", "keyring", "passphrase", "file")


class Source(Protocol):
    @property
    def name(self) -> str:
        """One of `NAMES`."""
        ...

    @property
    def work(self) -> int:
        """What scrypt makes of the material; 0: the material is random already."""
        ...

    def material(self, place: str) -> bytes:
        """Raises Misconfigured where it cannot be had."""
        ...

    def prepare(self) -> str:
        """Returns the place. Raises Misconfigured."""
        ...

    def drop(self, place: str) -> None:
        """What is gone already is dropped."""
        ...


class Sources:
    """Those of one home."""

    def __init__(self, *sources: Source) -> None:
        self._by_name = {source.name: source for source in sources}

    def put(self, source: Source) -> None:
        self._by_name[source.name] = source

    def get(self, name: str) -> Source:
        if name not in self._by_name:
            raise Misconfigured(f"the key of the vault is in {name!r}, which this release does not know; use the one that wrote it")
        return self._by_name[name]

    def usual(self, environment: Mapping[str, str]) -> Source:
        """For a vault that does not exist yet: what was handed to this process, or a file."""
        directory = environment.get(CREDENTIALS_VARIABLE)
        if directory and (Path(directory) / "daimon-vault").exists():
            return self.get("systemd")
        return self.get("passphrase" if environment.get(PASSPHRASE_VARIABLE) else "file")
