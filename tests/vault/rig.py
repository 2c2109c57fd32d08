"""A vault in a directory of its own, with real files and a clock that is moved by hand."""

from collections.abc import Callable, Mapping
from pathlib import Path

from daimon.machine import files
from daimon.testing.clock import ManualClock
from daimon.vault.credential import Credential
from daimon.vault.key_file import KeyFile, Replace
from daimon.vault.passphrase import Passphrase
from daimon.vault.sealed_file import SealedFile
from daimon.vault.source import Sources
from daimon.vault.store import Scope, Vault
from daimon.vault.system_keyring import SystemKeyring
from daimon.vault.uses import Uses

TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
PHRASE = "correct horse battery staple"
GITHUB = Scope("GitHub", ("api.github.com",), ("coder",))


def vault_at(
    home: Path,
    environment: Mapping[str, str] | None = None,
    ask: Callable[[], str | None] = lambda: None,
    replace: Replace = files.replace,
    clock: ManualClock | None = None,
) -> Vault:
    """As another process would open it: nothing is shared but the files."""
    given = environment or {}
    sources = Sources(
        KeyFile(home / "vault.key", replace),
        Passphrase(lambda: given.get("DAIMON_VAULT_PASSPHRASE") or ask()),
        Credential(given.get("CREDENTIALS_DIRECTORY")),
        SystemKeyring(60.0),
    )
    clock = clock or ManualClock()
    file = SealedFile(home / "vault.sealed", sources, lambda: sources.usual(given), replace)
    return Vault(file, Uses(home / "vault.uses", clock), clock)


def values(vault: Vault) -> tuple[str, ...]:
    """All that the vault knows, without the names."""
    return tuple(known.value for known in vault.known())
