"""What was learned in a home that nobody runs. Accepting installs, so the home is held."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from daimon import keeper
from daimon.abi.lesson import Lessons
from daimon.library.lessons import HomeLessons
from daimon.library.library import open_library
from daimon.machine.home import Home
from daimon.offline.held import holding
from daimon.vault.redact import SecretRedactor


@asynccontextmanager
async def deciding(home: Home) -> AsyncIterator[Lessons]:
    async with holding(home) as held:
        # Where the vault does not open, no text is shown: it may hold what became known later.
        redactor = SecretRedactor(keeper.found(home, os.environ).known)
        library = await open_library(home.skills, held.clock)
        yield HomeLessons(home.lessons, library, held.journal, held.clock, redactor.clean)
