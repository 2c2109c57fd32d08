"""The channels of a home: made of `[channels]` and the vault. A channel's module is imported only if its channel is wanted.

Secrets are asked for at each use and handed to nobody but the channel they belong to; the vault records each use, by the channel's name and
host. What cannot be read (the vault is locked, the secret is gone) is the channel's trouble alone: it is locked out until the owner mends
it, and the others go on.

When the settings are read again, a channel whose settings are the same stays the very same object, and is not disturbed.
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from daimon import config
from daimon.abi.channel import Channel
from daimon.abi.errors import DaimonError, Denied, LockedOut, Misconfigured, NotFound, NotSent, WatchFailed
from daimon.abi.ports import Clock, Store
from daimon.abi.secret import FROM_VAULT
from daimon.abi.watch import Look
from daimon.gateway.channels.local import LocalChannel
from daimon.gateway.checks.found import Checked
from daimon.keeper import FROM_ENVIRONMENT, Vault
from daimon.vault.scope import holds, host_of

if TYPE_CHECKING:
    from daimon.gateway.mail.account import Account
    from daimon.heartbeat.watchers.mailbox import NewMail

Reveal = Callable[[], str]
Wanted = config.Telegram | config.Slack | config.Mail | config.Matrix
KINDS: dict[str, type[Wanted]] = {"telegram": config.Telegram, "slack": config.Slack, "mail": config.Mail, "matrix": config.Matrix}
SECRETS: dict[str, tuple[str, ...]] = {
    "telegram": ("token",),
    "slack": ("bot_token", "app_token"),
    "mail": ("password",),
    "matrix": ("token",),
}
"""Which settings of a channel name secrets."""
CHECK_S = 60.0
Lineup = dict[str, tuple[object, Channel]]
"""Channels by name, each with what it was made of."""


class Lines:
    """Whoever makes channels."""

    def __init__(self, settings: config.Settings, vault: Vault, environment: Mapping[str, str], clock: Clock, store: Store) -> None:
        self._settings, self._vault, self._environment = settings, vault, environment
        self._clock, self._store = clock, store
        self._lineup: Lineup = {}

    def all(self) -> tuple[Channel, ...]:
        return self.adopt(self._settings, self.lineup(self._settings))

    def lineup(self, settings: config.Settings) -> Lineup:
        """Those of these settings, without using them yet."""
        made: Lineup = {}
        for name, wanted in all_wanted(settings).items():
            of = (wanted, settings.gateway.public_url)
            before = self._lineup.get(name)
            made[name] = before if before is not None and before[0] == of else (of, self._made(wanted, settings.gateway.public_url))
        return made

    def adopt(self, settings: config.Settings, lineup: Lineup) -> tuple[Channel, ...]:
        self._settings, self._lineup = settings, lineup
        return tuple(channel for _, channel in lineup.values())

    def _made(self, wanted: Wanted, public_url: str) -> Channel:
        match wanted:
            case config.Telegram():
                return self._telegram(wanted, public_url)
            case config.Slack():
                return self._slack(wanted)
            case config.Mail():
                return self._mail(wanted)
            case config.Matrix():
                return self._matrix(wanted)

    def _telegram(self, wanted: config.Telegram, public_url: str) -> Channel:
        from daimon.gateway.channels.telegram import Bot, TelegramChannel

        bot = Bot(wanted.api, wanted.by, public_url)
        return TelegramChannel(bot, self._secrets(wanted)["token"], self._clock, self._store)

    def _slack(self, wanted: config.Slack) -> Channel:
        from daimon.gateway.channels.slack import SlackChannel, Tokens, Workspace

        secrets = self._secrets(wanted)
        return SlackChannel(Workspace(wanted.api), Tokens(secrets["bot_token"], secrets["app_token"]), self._clock, self._store)

    def _mail(self, wanted: config.Mail) -> Channel:
        from daimon.gateway.channels.mail import MailChannel

        return MailChannel(account_of(wanted, self._secrets(wanted)["password"]), self._clock, self._store)

    def _matrix(self, wanted: config.Matrix) -> Channel:
        from daimon.gateway.channels.matrix import Account, MatrixChannel

        token = self._secrets(wanted)["token"]
        return MatrixChannel(Account(wanted.homeserver, wanted.user), token, self._clock, self._store)

    @property
    def new_mail(self) -> "NewMail":
        """For automations that watch a folder of the account, whichever that is at the time."""

        async def look(folder: str, state: JsonValue) -> Look:
            wanted = self._settings.channels.mail
            if wanted is None:
                raise WatchFailed("no mail channel is set up; `daimon channel add mail` does it")
            from daimon.gateway.mail.look import new_mail

            return await new_mail(account_of(wanted, self._secrets(wanted)["password"]), folder, state)

        return look

    def _secrets(self, wanted: Wanted) -> dict[str, Reveal]:
        return revealing(wanted, self._vault, self._environment)


def all_wanted(settings: config.Settings) -> dict[str, Wanted]:
    """The channels that these settings have."""
    return {name: wanted for name in KINDS if (wanted := getattr(settings.channels, name)) is not None}


def names_of(settings: config.Settings, others: Iterable[Channel]) -> frozenset[str]:
    """All that something can be sent to: those of the settings, those of extensions, and the terminal."""
    return frozenset({LocalChannel.name, *all_wanted(settings), *(each.name for each in others)})


def name_of(wanted: Wanted) -> str:
    return next(name for name, kind in KINDS.items() if isinstance(wanted, kind))


def secrets_of(wanted: Wanted) -> dict[str, str]:
    """The names of its secrets, by setting."""
    return {setting: str(getattr(wanted, setting)) for setting in SECRETS[name_of(wanted)]}


def referring(settings: config.Settings, secret: str) -> tuple[str, ...]:
    """The channels that show this secret of the vault to their services."""
    return tuple(name for name, wanted in all_wanted(settings).items() if f"{FROM_VAULT}{secret}" in secrets_of(wanted).values())


def hosts_of(wanted: Wanted) -> tuple[str, ...]:
    """Where its secrets go, as the scope of a secret names it. They are asked for by the first."""
    match wanted:
        case config.Telegram() | config.Slack():
            return (_host(wanted.api),)
        case config.Mail():
            return tuple(dict.fromkeys((_host(wanted.imap), _host(wanted.smtp))))
        case config.Matrix():
            return (_host(wanted.homeserver),)


def revealing(wanted: Wanted, vault: Vault, environment: Mapping[str, str]) -> dict[str, Reveal]:
    """Its secrets, by setting, each asked for anew each time. They raise LockedOut."""
    channel, host = name_of(wanted), hosts_of(wanted)[0]

    def reveal(name: str) -> str:
        if name.startswith(FROM_ENVIRONMENT):
            value = environment.get(name.removeprefix(FROM_ENVIRONMENT), "").strip()
            if not value:
                raise LockedOut(f"{name.removeprefix(FROM_ENVIRONMENT)} is not set in the environment; the channel {channel} needs it")
            return value
        try:
            return vault.reveal(name.removeprefix(FROM_VAULT), f"channel:{channel}", host)
        except (NotFound, Denied, Misconfigured) as error:
            raise LockedOut(f"the channel {channel} has no key: {error}") from None

    return {setting: lambda name=name: reveal(name) for setting, name in secrets_of(wanted).items()}  # type: ignore[misc]


def lacking(wanted: Wanted, vault: Vault, environment: Mapping[str, str], public_url: str = "") -> tuple[str, ...]:
    """What it lacks to start, in words; nothing is used by asking. Raises Misconfigured where the vault does not open."""
    host = hosts_of(wanted)[0]
    found = (unfit(wanted, public_url), *(lack(name, host, vault, environment) for name in secrets_of(wanted).values()))
    return tuple(f"the channel {name_of(wanted)}: {why}" for why in found if why)


def unfit(wanted: Wanted, public_url: str) -> str:
    """Why these settings cannot work; empty: they can."""
    address = wanted.homeserver if isinstance(wanted, config.Matrix) else "" if isinstance(wanted, config.Mail) else wanted.api
    if address and not re.fullmatch(r"https?://[^/\s?#]+[^\s?#]*", address):
        return f"{address[:80]!r} is no address; expected one such as https://matrix.org"
    if isinstance(wanted, config.Telegram) and wanted.by == "webhook" and not public_url:
        return 'Telegram can post only to an address that it can reach: set gateway.public_url, or by = "polling"'
    return ""


def lack(name: str, host: str, vault: Vault, environment: Mapping[str, str]) -> str:
    """Why this secret cannot go to this host; empty: it can."""
    if name.startswith(FROM_ENVIRONMENT):
        variable = name.removeprefix(FROM_ENVIRONMENT)
        return "" if environment.get(variable, "").strip() else f"{variable} is not set in this environment"
    bare = name.removeprefix(FROM_VAULT)
    entry = next((each for each in vault.entries() if each.name == bare), None)
    if entry is None:
        return f"the secret {bare} is not in the vault; `daimon channel add` puts it there"
    if not holds(entry.hosts, host):
        return f"the secret {bare} may not go to {host}; `daimon secrets scope {bare} --host {host}` lets it"
    return ""


async def checked(wanted: Wanted, secrets: Mapping[str, Reveal], public_url: str = "") -> Checked:
    """Asks the service live who we are. Raises LockedOut where it refuses us, Misconfigured, NotSent where it cannot be asked."""
    try:
        async with asyncio.timeout(CHECK_S):
            return await _checked(wanted, secrets, public_url)
    except DaimonError:
        raise
    except TimeoutError:
        raise NotSent(f"{hosts_of(wanted)[0]} did not answer in time; is the address right, and the network up?") from None
    except OSError as failure:
        raise NotSent(f"{hosts_of(wanted)[0]} could not be asked: {str(failure) or type(failure).__name__}") from None


async def _checked(wanted: Wanted, secrets: Mapping[str, Reveal], public_url: str) -> Checked:
    if why := unfit(wanted, public_url):
        raise LockedOut(why)
    match wanted:
        case config.Telegram():
            from daimon.gateway.checks import telegram

            posted_to = f"{public_url.rstrip('/')}/hooks/telegram" if wanted.by == "webhook" else ""
            return await telegram.check(wanted.api, secrets["token"], posted_to)
        case config.Slack():
            from daimon.gateway.checks import slack

            return await slack.check(wanted.api, secrets["bot_token"], secrets["app_token"])
        case config.Mail():
            from daimon.gateway.checks import mail

            return await mail.check(account_of(wanted, secrets["password"]))
        case config.Matrix():
            from daimon.gateway.checks import matrix

            return await matrix.check(wanted.homeserver, wanted.user, secrets["token"])


def account_of(wanted: config.Mail, password: Reveal) -> "Account":
    from daimon.gateway.mail.account import Account

    said: dict[str, Any] = wanted.model_dump(exclude={"password"})
    return Account(**said, password=password)


def _host(address: str) -> str:
    return host_of(address if "//" in address else f"//{address}")
