"""The calendars of a home: made of `[calendars]` and the vault, set up, tried, taken out.

A calendar is an entry of the settings and a password in the vault, which is for the calendar's own host and for no agent: only the driver
can use it. It is looked for live first; then the password is written, then the settings, and the password is taken back if the settings
cannot be.
"""

import os
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from daimon import config, settings_file
from daimon.abi.calendar import Calendars
from daimon.abi.errors import BadInput, NotFound
from daimon.abi.label import owned
from daimon.abi.secret import FROM_VAULT
from daimon.abi.web import Web
from daimon.keeper import Ask, Scope, Vault, nobody, opened
from daimon.machine.clock import SystemClock

if TYPE_CHECKING:  # a home without calendars loads nothing of them
    from daimon.calendars.account import Access, Account
    from daimon.calendars.discovery import Place

_HERE = owned("terminal")
_USUAL = {"http": 80, "https": 443}
_A_WEEK = timedelta(days=7)


def calendars_of(settings: config.Settings, web: Web) -> Calendars | None:
    """None: there are none."""
    if not settings.calendars:
        return None
    from daimon.calendars.account import Account
    from daimon.calendars.caldav import CalDav

    accounts = {name: Account(access_of(name, entry), web) for name, entry in settings.calendars.items()}
    return CalDav(accounts, default_of(settings), config.zone(settings))


def is_shared(settings: config.Settings) -> bool:
    """Does somebody else see what is written into one of them?"""
    return any(entry.others == "read" and entry.changeable for entry in settings.calendars.values())


def default_of(settings: config.Settings) -> str:
    """Where new events go."""
    entries = settings.calendars
    chosen = [name for name, entry in entries.items() if entry.default]
    return next(iter((*chosen, *(name for name, entry in entries.items() if entry.changeable), *entries)), "")


def access_of(name: str, entry: config.Calendar) -> "Access":
    from daimon.calendars.account import Access

    return Access(
        name=name, url=entry.url, user=entry.user, secret=secret_of(name, entry) if entry.user else "", address=entry.address,
        is_own=entry.others == "none", is_changeable=entry.changeable,
    )  # fmt: skip


def secret_of(name: str, entry: config.Calendar) -> str:
    return (entry.password or f"{FROM_VAULT}calendar-{name}").removeprefix(FROM_VAULT)


def host_of(url: str) -> str:
    """As the scope of a secret names it. Without TLS a secret goes only to a host that is named with its port."""
    parts = urlsplit(url)
    port = parts.port or _USUAL[parts.scheme]
    return f"{parts.hostname}" if (parts.scheme, port) == ("https", 443) else f"{parts.hostname}:{port}"


class Daybook:
    def __init__(self, home: config.Home, environment: Mapping[str, str] = os.environ, ask: Ask = nobody) -> None:
        """Raises Misconfigured."""
        self.home = home
        self.settings = config.load(home.config, environment)
        self._vault: Vault = opened(home, environment, ask)
        from daimon.net.resolve import SystemResolver

        self._resolver = SystemResolver()

    def close(self) -> None:
        self._resolver.close()
        self._vault.close()

    def entry(self, name: str) -> config.Calendar:
        """Raises NotFound."""
        if name not in self.settings.calendars:
            there_are = ", ".join(self.settings.calendars) or "none"
            raise NotFound(f"no calendar {name[:40]!r} is set up; there are: {there_are}; `daimon calendar add` sets one up")
        return self.settings.calendars[name]

    async def places(self, name: str, entry: config.Calendar) -> "tuple[Place, ...]":
        """The calendars behind its address. Raises ToolFailed."""
        from daimon.calendars.account import On
        from daimon.calendars.discovery import calendars_at

        return await calendars_at(self._account(name, entry), On(_HERE))

    async def add(self, name: str, entry: config.Calendar, password: str, title: str = "") -> config.Calendar:
        """Looks for it live, then writes it, with the password if one is given. Of several the one with this title. Raises DaimonError, and
        then nothing has changed."""
        self.home.ensure()
        undo = self._vault.undoing(secret_of(name, entry))
        try:
            if password:
                self._keep(name, entry, password)
            found = _chosen(await self.places(name, entry), title)
            entry = entry.model_copy(update={"url": found.url})
            said = entry.model_dump(exclude_unset=True) | {"url": found.url}
            self.settings = settings_file.edit(self.home.config, settings_file.put_calendar(name, said))
        except BaseException:
            undo()
            raise
        return entry

    async def test(self, name: str) -> int:
        """How many events of the next week it has. Raises ToolFailed."""
        from daimon.calendars.account import On
        from daimon.calendars.dav import between
        from daimon.calendars.discovery import Place, calendars_at

        entry = self.entry(name)
        account, on, now = self._account(name, entry), On(_HERE), SystemClock().now()
        (place, *others) = await calendars_at(account, on) or (Place(entry.url, ""),)
        if others:
            raise BadInput(f"{entry.url} has {1 + len(others)} calendars; name one of them, such as {place.url}")
        return len(await account.listed("REPORT", place.url, on, between(now, now + _A_WEEK), depth="1"))

    def remove(self, name: str) -> bool:
        """Takes it out, with its password, unless something else uses that; says whether the password went too."""
        from daimon.calendars.account import KEEPER

        entry = self.entry(name)
        secret = secret_of(name, entry)
        self.settings = settings_file.edit(self.home.config, settings_file.drop_calendar(name))
        is_used = any(secret_of(other, each) == secret for other, each in self.settings.calendars.items())
        if is_used or not self._vault.has(secret) or self._vault.entry(secret).agents != (KEEPER,):
            return False
        self._vault.remove(secret)
        return True

    def _keep(self, name: str, entry: config.Calendar, password: str) -> None:
        from daimon.calendars.account import KEEPER

        secret, host = secret_of(name, entry), host_of(entry.url)
        if self._vault.has(secret):
            self._vault.rotate(secret, password)
            self._vault.scope(secret, Scope(hosts=(host,), agents=(KEEPER,)))
        else:
            self._vault.add(secret, password, Scope(service="calendar", hosts=(host,), agents=(KEEPER,)))

    def _account(self, name: str, entry: config.Calendar) -> "Account":
        from daimon.calendars.account import Account
        from daimon.net.client import WebClient

        local = config.local_hosts(self.settings)
        web = WebClient(resolver=self._resolver, local=local, secrets=self._vault, clock=SystemClock())
        return Account(access_of(name, entry), web)


def _chosen(places: "tuple[Place, ...]", title: str) -> "Place":
    """Raises NotFound, and BadInput where a title must be given."""
    fitting = [each for each in places if not title or each.title.casefold() == title.casefold() or each.url == title]
    if len(fitting) == 1:
        return fitting[0]
    known = ", ".join(f"{each.title!r} ({each.url})" for each in places) or "none"
    raise (BadInput if fitting else NotFound)(f"which calendar? Say one with --calendar; there are: {known}")
