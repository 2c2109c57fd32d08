"""The vault of one home: opened, with the keys moved in that were kept in the clear before, and who of the settings refers to what.

Keys move in once: all of keys.toml in one change of the vault, which is on disk and read again before the file goes. A crash in between
leaves both, and the next start does it again, to the same end.
"""

import asyncio
import logging
import os
import secrets
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from daimon import config
from daimon.abi.errors import BadInput, DaimonError, Misconfigured
from daimon.abi.secret import FROM_VAULT, Redactor
from daimon.machine import files
from daimon.machine.clock import SystemClock
from daimon.machine.home import Home
from daimon.models.vendors import VENDORS
from daimon.vault import chance, keys_file, private, seal, shapes
from daimon.vault.credential import Credential
from daimon.vault.key_file import KeyFile
from daimon.vault.passphrase import Passphrase
from daimon.vault.redact import Known, SecretRedactor
from daimon.vault.scope import host_of
from daimon.vault.sealed_file import SealedFile
from daimon.vault.secret import name_for as name_for
from daimon.vault.secret import usable
from daimon.vault.source import CREDENTIALS_VARIABLE, NAMES, Source, Sources
from daimon.vault.source import PASSPHRASE_VARIABLE as PASSPHRASE_VARIABLE
from daimon.vault.store import Entry as Entry
from daimon.vault.store import Scope as Scope
from daimon.vault.store import Vault as Vault
from daimon.vault.system_keyring import SystemKeyring
from daimon.vault.uses import Use as Use
from daimon.vault.uses import Uses

FROM_ENVIRONMENT = "env:"
LONGEST_KEY = 8_192
Ask = Callable[[], str | None]
"""For a passphrase. None: nobody can be asked."""
_LOG = logging.getLogger(__name__)


def nobody() -> None:
    return None


def opened(home: Home, environment: Mapping[str, str], ask: Ask = nobody) -> Vault:
    """With the keys moved in that were kept in the clear before. Raises Misconfigured where they cannot."""
    vault = found(home, environment, ask)
    _move_in(home, vault)
    return vault


def found(home: Home, environment: Mapping[str, str], ask: Ask = nobody) -> Vault:
    """As it is, for a look: nothing is read before it is needed, and nothing is written by looking."""
    sources = _sources(home, environment, ask)
    clock = SystemClock()
    file = SealedFile(home.vault, sources, lambda: sources.usual(environment), files.replace)
    return Vault(file, Uses(home.vault_uses, clock), clock)


def known_to(vault: Vault) -> Callable[[], tuple[Known, ...]]:
    """What must not be seen. While the vault cannot be read, what it held last: a lock that jams does not open the door."""
    last: tuple[Known, ...] = ()

    def known() -> tuple[Known, ...]:
        nonlocal last
        with suppress(Misconfigured, OSError):
            last = vault.known()
        return last

    return known


def redactor_of(home: Home) -> Redactor:
    """For what is said where nobody runs. It knows what the vault holds, if that opens without asking anybody."""
    return SecretRedactor(known_to(found(home, os.environ)))


def needs_passphrase(home: Home, environment: Mapping[str, str]) -> bool:
    """Must somebody be asked before this vault opens?"""
    try:
        data, _ = private.read(home.vault, seal.MOST_BYTES, "the vault")
        return seal.parsed(data, str(home.vault)).header.source == "passphrase" and not environment.get(PASSPHRASE_VARIABLE)
    except (FileNotFoundError, Misconfigured):
        return False  # whoever opens it says what is wrong


def source(name: str, home: Home, environment: Mapping[str, str], ask: Ask) -> Source:
    """To seal with from now on; `ask` for a new passphrase. Raises BadInput."""
    if name not in NAMES:
        raise BadInput(f"the key cannot be kept in {name!r}; known are {', '.join(NAMES)}")
    return Passphrase(ask) if name == "passphrase" else _sources(home, environment, nobody).get(name)


def _sources(home: Home, environment: Mapping[str, str], ask: Ask) -> Sources:
    return Sources(
        Credential(environment.get(CREDENTIALS_VARIABLE)),
        SystemKeyring(),
        Passphrase(lambda: environment.get(PASSPHRASE_VARIABLE) or ask()),
        KeyFile(home.vault_key, files.replace),
    )


def key_name(entry: config.ModelEntry) -> str | None:
    """Which secret a model shows. None: the key is in the environment."""
    named = entry.key or entry.vendor
    if named.startswith(FROM_ENVIRONMENT):
        return None
    return name_for(named.removeprefix(FROM_VAULT))


def key_host(entry: config.ModelEntry) -> str:
    """Where a model shows it. Empty: nowhere yet."""
    vendor = VENDORS.get(entry.vendor)
    return host_of(entry.base_url or (vendor.base_url if vendor else None) or "")


def referring(settings: config.Settings, name: str) -> tuple[str, ...]:
    """The models that show this secret to their providers."""
    return tuple(model for model, entry in settings.models.items() if key_name(entry) == name)


def looks_secret(text: str) -> bool:
    """By its shape: a token of a service that is known, or letters as only chance puts them together."""
    return bool(shapes.found(text)) or chance.is_random(text)


def hook_secrets(vault: Vault) -> Callable[[tuple[str, ...]], tuple[str, ...]]:
    """For whoever checks signatures. While the vault cannot be read there are none, and nothing is let in."""

    def values(names: tuple[str, ...]) -> tuple[str, ...]:
        try:
            return vault.checking(names, "hooks")
        except (Misconfigured, OSError):
            return ()

    return values


def hook_secret_made(vault: Vault, name: str) -> bool:
    """Makes a random one for a webhook, if there is none with this name; says whether it did."""
    if vault.has(name):
        return False
    vault.add(name, new_hook_secret(), Scope(service="webhook"))
    return True


def new_hook_secret() -> str:
    return secrets.token_hex(32)


async def ensure_hook_secret(vault: Vault, name: str) -> None:
    """The same for a gateway, which goes on where the vault does not open."""
    try:
        await asyncio.to_thread(hook_secret_made, vault, name)
    except (DaimonError, OSError) as failure:
        _LOG.warning("the secret %s of a webhook could not be made: %s", name, failure)


def drop_secrets(vault: Vault, names: Iterable[str]) -> None:
    for name in names:
        if vault.has(name):
            vault.remove(name)


async def drop_hook_secrets(vault: Vault, names: tuple[str, ...]) -> None:
    """The same for a gateway."""
    try:
        await asyncio.to_thread(drop_secrets, vault, names)
    except (DaimonError, OSError) as failure:
        _LOG.warning("the secret of a webhook that is gone could not be taken away, `daimon secrets remove` does it: %s", failure)


def usable_key(key: str) -> str:
    """A provider's key without the blanks that copying brings. Raises BadInput for what cannot be one."""
    bare = key.strip()
    if not bare:
        raise BadInput("the key is empty")
    if len(bare) > LONGEST_KEY or not bare.isascii() or not bare.isprintable() or " " in bare:
        raise BadInput("that is no key: it holds a blank, a line break or a character that no provider uses; copy it once more")
    return bare


def _move_in(home: Home, vault: Vault) -> None:
    try:
        keys = {name: key for name, key in keys_file.read(home.keys).items() if key.strip()}
    except FileNotFoundError:
        return
    settings = config.load(home.config, {})
    rows = tuple(
        (name_for(name), _value(home.keys, name, key), _service(settings, name_for(name)), _hosts(settings, name_for(name)))
        for name, key in keys.items()
    )
    if len({row[0] for row in rows}) < len(rows):
        raise Misconfigured(f"two names in {home.keys} are the same but for blanks and signs; give one of them another name")
    try:
        vault.keep_all(rows)
    except BadInput as bad:
        raise Misconfigured(f"the keys of {home.keys} cannot move into the vault: {bad}") from None
    _take_away(home.keys, len(rows))


def _value(path: Path, name: str, key: str) -> str:
    try:
        return usable(key)
    except DaimonError as bad:
        raise Misconfigured(f"{path}: {name}: {bad}") from None


def _service(settings: config.Settings, name: str) -> str:
    """The vendor of a model that shows it, or the one that it is named after."""
    return next((settings.models[model].vendor for model in referring(settings, name)), name if name in VENDORS else "")


def _hosts(settings: config.Settings, name: str) -> tuple[str, ...]:
    """Where the settings send it, and the vendor that it is named after."""
    places = [key_host(entry) for entry in settings.models.values() if key_name(entry) == name]
    vendor = VENDORS.get(name)
    if vendor is not None and vendor.base_url and vendor.needs_key:
        places.append(host_of(vendor.base_url))
    return tuple(dict.fromkeys(place for place in places if place))


def _take_away(path: Path, count: int) -> None:
    behind = path.resolve()
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise Misconfigured(f"the keys of {path} are in the vault now, but the file cannot be removed: {error.strerror}") from None
    _LOG.warning("the keys of %s (%d) are in the vault now; the file is gone", path.name, count)
    if behind.exists():
        _LOG.warning("%s still holds them in the clear: remove it", behind)
