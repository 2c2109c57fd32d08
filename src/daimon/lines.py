"""The channels of a home: made of `[channels]` and the vault. A channel's module is imported only if its channel is wanted.

Secrets are asked for at each use and handed to nobody but the channel they belong to; the vault records each use, by the channel's name and
host. What cannot be read (the vault is locked, the secret is gone) is the channel's trouble alone: it is locked out until the owner mends
it, and the others go on.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import JsonValue

from daimon import config
from daimon.abi.channel import Channel
from daimon.abi.errors import Denied, LockedOut, Misconfigured, NotFound
from daimon.abi.ports import Clock, Store
from daimon.abi.secret import FROM_VAULT
from daimon.abi.watch import Look
from daimon.keeper import FROM_ENVIRONMENT, Vault

if TYPE_CHECKING:
    from daimon.gateway.mail.account import Account
    from daimon.heartbeat.watchers.mailbox import NewMail

Reveal = Callable[[], str]


class Lines:
    """Whoever makes channels."""

    def __init__(self, settings: config.Settings, vault: Vault, environment: Mapping[str, str], clock: Clock, store: Store) -> None:
        self._settings, self._vault, self._environment = settings, vault, environment
        self._clock, self._store = clock, store

    def all(self) -> tuple[Channel, ...]:
        return tuple(self._made())

    def _made(self) -> Iterator[Channel]:
        wanted = self._settings.channels
        if wanted.telegram is not None:
            yield self._telegram(wanted.telegram)
        if wanted.slack is not None:
            yield self._slack(wanted.slack)
        if wanted.mail is not None:
            yield self._mail(wanted.mail)
        if wanted.matrix is not None:
            yield self._matrix(wanted.matrix)

    def _telegram(self, wanted: config.Telegram) -> Channel:
        from daimon.gateway.channels.telegram import Bot, TelegramChannel

        bot = Bot(wanted.api, wanted.by, self._settings.gateway.public_url)
        return TelegramChannel(bot, self._secret("telegram", wanted.token, _host(wanted.api)), self._clock, self._store)

    def _slack(self, wanted: config.Slack) -> Channel:
        from daimon.gateway.channels.slack import SlackChannel, Tokens, Workspace

        tokens = Tokens(*(self._secret("slack", name, _host(wanted.api)) for name in (wanted.bot_token, wanted.app_token)))
        return SlackChannel(Workspace(wanted.api), tokens, self._clock, self._store)

    def _mail(self, wanted: config.Mail) -> Channel:
        from daimon.gateway.channels.mail import MailChannel

        return MailChannel(self.account(wanted), self._clock, self._store)

    @property
    def new_mail(self) -> "NewMail | None":
        """For automations that watch a folder of the account. None: there is none."""
        wanted = self._settings.channels.mail
        if wanted is None:
            return None

        async def look(folder: str, state: JsonValue) -> Look:
            from daimon.gateway.mail.look import new_mail

            return await new_mail(self.account(wanted), folder, state)

        return look

    def account(self, wanted: config.Mail) -> "Account":
        from daimon.gateway.mail.account import Account

        said = wanted.model_dump(exclude={"password"})
        return Account(**said, password=self._secret("mail", wanted.password, _host(wanted.imap)))

    def _matrix(self, wanted: config.Matrix) -> Channel:
        from daimon.gateway.channels.matrix import Account, MatrixChannel

        token = self._secret("matrix", wanted.token, _host(wanted.homeserver))
        return MatrixChannel(Account(wanted.homeserver, wanted.user), token, self._clock, self._store)

    def _secret(self, channel: str, name: str, host: str) -> Reveal:
        """Asks anew each time. Raises LockedOut."""

        def reveal() -> str:
            if name.startswith(FROM_ENVIRONMENT):
                value = self._environment.get(name.removeprefix(FROM_ENVIRONMENT), "").strip()
                if not value:
                    raise LockedOut(f"{name.removeprefix(FROM_ENVIRONMENT)} is not set in the environment; the channel {channel} needs it")
                return value
            try:
                return self._vault.reveal(name.removeprefix(FROM_VAULT), f"channel:{channel}", host)
            except (NotFound, Denied, Misconfigured) as error:
                raise LockedOut(f"the channel {channel} has no key: {error}") from None

        return reveal


def _host(address: str) -> str:
    """As the scope of a secret names it."""
    parts = urlsplit(address if "//" in address else f"//{address}")
    usual = {"https": 443, "http": 80}.get(parts.scheme)
    return (parts.hostname or "") + (f":{parts.port}" if parts.port and parts.port != usual else "")
