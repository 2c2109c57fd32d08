"""The dispatcher contract, on the one of this process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from daimon.abi.ports import Dispatcher
from daimon.kernel.dispatcher import LocalDispatcher
from daimon.testing.clock import ManualClock
from daimon.testing.contracts.dispatcher import DispatcherContract
from daimon.testing.dispatcher import LossyDispatcher
from daimon.testing.ids import SeededRandom


class TestLocalDispatcher(DispatcherContract):
    @asynccontextmanager
    async def open(self, clock: ManualClock) -> AsyncIterator[Dispatcher]:
        yield LocalDispatcher(clock)


class TestLossyDispatcherThatLosesNothing(DispatcherContract):
    """What it doubles is within the contract; what it drops is not, so here it drops nothing."""

    @asynccontextmanager
    async def open(self, clock: ManualClock) -> AsyncIterator[Dispatcher]:
        yield LossyDispatcher(LocalDispatcher(clock), SeededRandom(), drop=0.0, double=1.0)
