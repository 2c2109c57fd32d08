"""The journal of a home that nobody runs, to look at. Changes nothing, not even a file's date."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from daimon import keeper
from daimon.journal.readonly import ReadOnlyJournal
from daimon.machine.home import Home
from daimon.observe.cleaned import CleanedJournal
from daimon.vault.redact import SecretRedactor


@asynccontextmanager
async def reading(home: Home) -> AsyncIterator[ReadOnlyJournal]:
    journal = await ReadOnlyJournal.open(home.journal)
    try:
        yield journal
    finally:
        await journal.close()


@asynccontextmanager
async def looking(home: Home) -> AsyncIterator[CleanedJournal]:
    """For the eyes of a person. Where the vault does not open, no text is shown: it may hold what became known later."""
    known = keeper.found(home, os.environ).known
    async with reading(home) as journal:
        yield CleanedJournal(journal, SecretRedactor(known))
