"""Setting channels up: all that `daimon channel` does, without the screen.

A channel is a section of `[channels]` in daimon.toml and its secrets in the vault, each allowed to go to the channel's own hosts and
nowhere else. It is tried live first (`lines.checked`); then the secrets are written, then the settings, and the secrets are taken back if
the settings cannot be, so that no channel ever waits for a secret that is not there.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from daimon import config, lines, settings_file
from daimon.abi.errors import BadInput, DaimonError, NotFound
from daimon.abi.secret import FROM_VAULT
from daimon.gateway.checks.found import Checked
from daimon.keeper import FROM_ENVIRONMENT, Ask, Vault, nobody, opened, referring
from daimon.lines import KINDS, Reveal, Wanted
from daimon.vault.redact import Known, SecretRedactor

USUAL_NAMES = {("slack", "bot_token"): "slack-bot", ("slack", "app_token"): "slack-app"}
PROVIDERS = {
    "gmail.com": ("imap.gmail.com", "smtp.gmail.com:587"),
    "googlemail.com": ("imap.gmail.com", "smtp.gmail.com:587"),
    "icloud.com": ("imap.mail.me.com", "smtp.mail.me.com:587"),
    "me.com": ("imap.mail.me.com", "smtp.mail.me.com:587"),
    "fastmail.com": ("imap.fastmail.com", "smtp.fastmail.com"),
    "gmx.net": ("imap.gmx.net", "mail.gmx.net"),
    "gmx.de": ("imap.gmx.net", "mail.gmx.net"),
}
"""Where mail of well-known domains is, IMAP and SMTP."""


class Hookup:
    def __init__(
        self, home: config.Home, environment: Mapping[str, str] = os.environ, ask: Ask = nobody, vault: Vault | None = None
    ) -> None:
        """`vault`: one that is open already. Raises Misconfigured."""
        self.home = home
        self.settings = config.load(home.config, environment)
        self._environment = environment
        self._vault = vault or opened(home, environment, ask)

    def close(self) -> None:
        self._vault.close()

    @property
    def file(self) -> Path:
        return self.home.config

    def wanted(self, name: str) -> Wanted:
        """Raises NotFound."""
        found = lines.all_wanted(self.settings).get(name)
        if found is None:
            known = f"; `daimon channel add {name}` sets it up" if name in KINDS else f"; there are {', '.join(KINDS)}"
            raise NotFound(f"no channel {name[:80]!r} is set up{known}")
        return found

    def draft(self, name: str, said: Mapping[str, Any]) -> Wanted:
        """What is set up already, with these on top. Raises BadInput."""
        before = lines.all_wanted(config.load(self.home.config, {})).get(name)  # what the environment says is not written down
        known = {} if before is None else before.model_dump(exclude_unset=True)
        try:
            wanted = KINDS[name].model_validate({**known, **said})
        except ValidationError as bad:
            first = bad.errors(include_url=False)[0]
            raise BadInput(f"channels.{name}.{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
        if why := lines.unfit(wanted, self.settings.gateway.public_url):
            raise BadInput(why)
        return wanted

    def kept(self, wanted: Wanted) -> dict[str, Reveal]:
        """Those of its secrets that are there and may go where it sends them, by setting."""
        found = lines.revealing(wanted, self._vault, self._environment)
        return {setting: reveal for setting, reveal in found.items() if self._is_there(wanted, setting)}

    def _is_there(self, wanted: Wanted, setting: str) -> bool:
        only = lines.secrets_of(wanted)[setting]
        return not lines.lack(only, lines.hosts_of(wanted)[0], self._vault, self._environment)

    async def test(self, wanted: Wanted, typed: Mapping[str, str] | None = None) -> Checked:
        """Live, with what was typed in the place of what is kept. Raises LockedOut, NotSent, Misconfigured, BadInput."""
        secrets = lines.revealing(wanted, self._vault, self._environment)
        for setting, value in (typed or {}).items():
            secrets[setting] = lambda value=value: value  # type: ignore[misc]
        try:
            return await lines.checked(wanted, secrets, self.settings.gateway.public_url)
        except DaimonError as failure:  # a service may repeat what it was shown, one that is kept nowhere yet too
            shown = tuple(Known("secret", value) for value in (typed or {}).values())
            clean = SecretRedactor(lambda: (*self._vault.known(), *shown)).clean
            failure.args = tuple(clean(str(arg)) for arg in failure.args)
            raise

    def add(self, wanted: Wanted, typed: Mapping[str, str]) -> Wanted:
        """Writes it, with the secrets that were typed, by setting. Raises Misconfigured, and then nothing has changed."""
        self.home.ensure()
        name = lines.name_of(wanted)
        named = {setting: self._place(name, setting, value) for setting, value in typed.items()}
        new = wanted.model_copy(update={setting: f"{FROM_VAULT}{secret}" for setting, secret in named.items()})
        undo: list[Callable[[], None]] = [self._vault.undoing(secret) for secret in named.values()]
        said = new.model_dump(exclude_unset=True) | lines.secrets_of(new)
        try:
            self._vault.keep_all(tuple((named[setting], value, name, lines.hosts_of(new)) for setting, value in typed.items()))
            self.settings = settings_file.edit(self.home.config, settings_file.put_channel(name, said))
        except DaimonError:
            for back in undo:
                back()
            raise
        return new

    def _place(self, channel: str, setting: str, value: str) -> str:
        """Where a new secret is kept: where the channel has its old one, else under a name that is free. No other is written over."""
        before = lines.all_wanted(self.settings).get(channel)
        old = "" if before is None else lines.secrets_of(before)[setting]
        if old.startswith(FROM_VAULT) and not self._others(channel, old.removeprefix(FROM_VAULT)):
            return old.removeprefix(FROM_VAULT)
        usual = USUAL_NAMES.get((channel, setting), channel)
        names = (usual, *(f"{usual}-{n}" for n in range(2, len(self._vault.entries()) + 3)))
        return next(each for each in names if not self._vault.has(each) or self._vault.is_same(each, value))

    def remove(self, name: str) -> tuple[str, ...]:
        """Takes the settings away. Returns the secrets that nobody else uses, for the owner to decide on."""
        wanted = self.wanted(name)
        bare = {ref.removeprefix(FROM_VAULT) for ref in lines.secrets_of(wanted).values() if not ref.startswith(FROM_ENVIRONMENT)}
        left = tuple(sorted(each for each in bare if self._vault.has(each) and not self._others(name, each)))
        self.settings = settings_file.edit(self.home.config, settings_file.drop_channel(name))
        return left

    def forget(self, secrets: tuple[str, ...]) -> None:
        for each in secrets:
            self._vault.remove(each)

    def _others(self, channel: str, secret: str) -> bool:
        """Does anybody but this channel use it?"""
        is_shared = any(name != channel for name in lines.referring(self.settings, secret))
        is_in_boxes = self._vault.has(secret) and bool(self._vault.entry(secret).agents)
        return is_shared or is_in_boxes or bool(referring(self.settings, secret))


async def token_for(homeserver: str, user: str, password: str) -> str:
    """Of a Matrix account, for its password, which is not kept. Raises LockedOut, NotSent, Misconfigured."""
    from daimon.gateway.channels.matrix_line import login

    return await login(homeserver, user, password)


def servers_of(address: str) -> tuple[str, str]:
    """A guess at where the mail of an address is, IMAP and SMTP."""
    domain = address.rpartition("@")[2].lower()
    return PROVIDERS.get(domain, (f"imap.{domain}", f"smtp.{domain}"))


def addable(settings: config.Settings) -> tuple[str, ...]:
    return tuple(name for name in KINDS if name not in lines.all_wanted(settings))
