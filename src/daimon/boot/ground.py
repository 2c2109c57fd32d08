"""What everything stands on: the home, held by this process alone; the vault and who hides its secrets; the journal; time, chance and ids.

The order is the guard: memory is closed to others before the first secret is in it, and files are made for the owner alone from the first.
"""

import os
from contextlib import AsyncExitStack
from dataclasses import dataclass

from daimon import config, extension, keeper
from daimon.journal.sqlite import SqliteJournal
from daimon.kernel.feed import Feed
from daimon.machine.chance import SystemRandom
from daimon.machine.clock import SystemClock
from daimon.machine.descriptors import make_room
from daimon.machine.home import Home
from daimon.machine.ids import SortableIds
from daimon.machine.logs import cleaned_logs
from daimon.machine.privacy import close_memory
from daimon.vault.redact import SecretRedactor


@dataclass(frozen=True, slots=True)
class Ground:
    home: Home
    settings: config.Settings
    """As they were at the start; what may change meanwhile is in `Mind.settings`."""
    vault: keeper.Vault
    redactor: SecretRedactor
    kit: extension.Kit
    clock: SystemClock
    random: SystemRandom
    ids: SortableIds
    journal: SqliteJournal
    feed: Feed


async def lay_ground(stack: AsyncExitStack, home: Home, settings: config.Settings, ask: keeper.Ask) -> Ground:
    close_memory()  # before the first secret is in it
    make_room()
    stack.callback(os.umask, os.umask(0o077))  # all that is made from here on holds the owner's words
    home.ensure()
    stack.callback(os.close, home.lock())
    vault = keeper.opened(home, os.environ, ask)
    stack.callback(vault.close)
    redactor = SecretRedactor(keeper.known_to(vault))
    stack.enter_context(cleaned_logs(redactor))
    kit = extension.load(settings.extensions)
    clock, random = SystemClock(), SystemRandom()
    ids = SortableIds(clock, random)
    journal = await SqliteJournal.open(home.journal, clock, ids)
    stack.push_async_callback(journal.close)
    ids.go_on_after(await journal.newest())
    return Ground(home, settings, vault, redactor, kit, clock, random, ids, journal, Feed())
