"""What all of it stands on: the home with its settings file, the vault that is open already, and how a change takes effect.

The file is the owner's, and may be edited by hand at any moment: each change reads it anew, and one that was decided upon from what
somebody saw names the version that they saw. One change is made at a time.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from daimon import config, settings_file
from daimon.abi.errors import DaimonError, Misconfigured
from daimon.gateway.answers import Reloaded
from daimon.gateway.room.settings_changed import Changed
from daimon.keeper import Vault


@dataclass(frozen=True, slots=True)
class Estate:
    home: config.Home
    environment: Mapping[str, str]
    vault: Vault
    reload: Callable[[], Awaitable[Reloaded]]
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while something is changed."""

    @property
    def version(self) -> str:
        """Of the settings file."""
        return settings_file.version_of(self.home.config)

    def settings(self) -> config.Settings:
        """As a start would read them. Raises Misconfigured."""
        return config.load(self.home.config, self.environment)

    async def edit(self, version: str, *changes: settings_file.Change) -> Changed:
        """Raises Outdated, Misconfigured; then nothing has changed."""
        async with self.turn:
            await asyncio.to_thread(settings_file.edit, self.home.config, *changes, version=version)
            return await self.changed()

    async def changed(self, *notes: str) -> Changed:
        """Has what runs take the change. What was written stays written, whatever comes of that."""
        try:
            restart = (await self.reload()).restart
        except DaimonError as refused:
            raise Misconfigured(f"it is written, but what runs did not take it: {refused}") from None
        return Changed(self.version, restart, tuple(filter(None, notes)))
