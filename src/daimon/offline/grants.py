"""What was granted in a home that nobody runs, to take it back."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from daimon.abi.ids import HOME_SPACE
from daimon.kernel.grants import Standing
from daimon.machine.home import Home
from daimon.offline.held import holding


@asynccontextmanager
async def granting(home: Home) -> AsyncIterator[Standing]:
    async with holding(home) as held:
        yield Standing(held.journal, HOME_SPACE)
