"""Secrets, for the page: the vault of the home without its values. A running gateway uses a change at the next use; nothing is reloaded."""

import asyncio
from collections.abc import Callable

from daimon import config, keeper, lines
from daimon.abi.errors import Misconfigured
from daimon.gateway.room import settings_secrets as shown
from daimon.gateway.room.settings_secrets import NewSecret, Reach
from daimon.keeper import Entry, Scope
from daimon.steward.estate import Estate

MOST_USES = 10


class HomeSecrets:
    def __init__(self, estate: Estate) -> None:
        self._estate, self._vault = estate, estate.vault

    async def view(self) -> shown.SecretsView:
        return await asyncio.to_thread(self._view)

    def _view(self) -> shown.SecretsView:
        try:
            entries, source = self._vault.entries(), self._vault.source
        except Misconfigured as locked:
            return shown.SecretsView("", str(locked), ())
        settings = self._estate.settings()
        return shown.SecretsView(source, "", tuple(self._row(entry, settings) for entry in entries))

    def _row(self, entry: Entry, settings: config.Settings) -> shown.SecretRow:
        uses = sorted(self._vault.uses(entry.name), key=lambda use: use.last, reverse=True)[:MOST_USES]
        return shown.SecretRow(
            entry.name, entry.service, entry.hosts, entry.agents, entry.variable, keeper.referring(settings, entry.name),
            lines.referring(settings, entry.name), entry.created_at, entry.rotated_at,
            tuple(shown.UseRow(use.by, use.host, use.last, use.count) for use in uses),
        )  # fmt: skip

    async def add(self, new: NewSecret) -> shown.SecretRow:
        return await self._done(new.name, lambda: self._vault.add(new.name, new.value, _scope(new)))

    async def rotate(self, name: str, value: str) -> shown.SecretRow:
        return await self._done(name, lambda: self._vault.rotate(name, value))

    async def reach(self, name: str, reach: Reach) -> shown.SecretRow:
        return await self._done(name, lambda: self._vault.scope(name, _scope(reach)))

    async def remove(self, name: str) -> None:
        async with self._estate.turn:
            await asyncio.to_thread(self._vault.remove, name)

    async def _done(self, name: str, change: Callable[[], None]) -> shown.SecretRow:
        def work() -> shown.SecretRow:
            self._estate.home.ensure()
            change()
            return self._row(self._vault.entry(name), self._estate.settings())

        async with self._estate.turn:
            return await asyncio.to_thread(work)


def _scope(said: NewSecret | Reach) -> Scope:
    hosts, agents = (tuple(word.strip() for word in words if word.strip()) for words in (said.hosts, said.agents))
    return Scope(said.service.strip(), hosts, agents, said.variable.strip())
