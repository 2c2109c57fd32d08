"""The key that systemd hands to a service (`LoadCredentialEncrypted=daimon-vault:…`): sealed to this machine, in the clear only in memory.

Only the service sees it. A command at a terminal opens the vault if it is run with the same credential.
"""

from pathlib import Path

from daimon.abi.errors import Misconfigured
from daimon.vault.seal import WORK
from daimon.vault.source import CREDENTIALS_VARIABLE

CREDENTIAL = "daimon-vault"
_FEWEST_BYTES, _MOST_BYTES = 16, 65_536


class Credential:
    name = "systemd"
    work = WORK

    def __init__(self, directory: str | None) -> None:
        """What CREDENTIALS_DIRECTORY says."""
        self._directory = directory

    def material(self, place: str) -> bytes:
        if not self._directory:
            raise Misconfigured(
                f"the vault is sealed with the credential {CREDENTIAL} of systemd, and {CREDENTIALS_VARIABLE} is not set: "
                "only a service with this credential opens it"
            )
        path = Path(self._directory) / CREDENTIAL
        try:
            with path.open("rb") as file:
                found = file.read(_MOST_BYTES + 1).strip()
        except OSError as error:
            raise Misconfigured(f"the credential {path} cannot be read: {error.strerror}; see docs/vault.md for the unit") from None
        if not _FEWEST_BYTES <= len(found) <= _MOST_BYTES:
            raise Misconfigured(f"the credential {path} must hold {_FEWEST_BYTES} to {_MOST_BYTES:,} bytes, such as `openssl rand -hex 32`")
        return found

    def prepare(self) -> str:
        self.material("")
        return ""

    def drop(self, place: str) -> None:
        return
