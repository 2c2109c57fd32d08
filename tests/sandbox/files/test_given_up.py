"""A thread cannot be stopped: whoever gives up leaves the tree only when the work in it has ended."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from tests.sandbox.files.grounds import ALL, PlainGround

from daimon.sandbox.files.driver import Driver

DEADLINE_S = 60.0


class HeldUp(PlainGround):
    """Whoever looks for the tree in a thread waits until somebody lets it."""

    def __init__(self, tree: Path) -> None:
        self.users, self.is_begun, self.may_go = 0, threading.Event(), threading.Event()
        self._loop_s = threading.get_ident()
        super().__init__(tree)

    @property
    def name(self) -> str:
        if threading.get_ident() != self._loop_s:
            self.is_begun.set()
            self.may_go.wait(DEADLINE_S)
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        self._name = name

    def used(self) -> AbstractAsyncContextManager[None]:
        return self._used()

    @asynccontextmanager
    async def _used(self) -> AsyncIterator[None]:
        self.users += 1
        try:
            yield
        finally:
            self.users -= 1


async def test_a_tree_is_used_until_the_work_in_it_has_ended_though_whoever_wanted_it_has_gone(tree: Path) -> None:
    (tree / "folder").mkdir()
    ground = HeldUp(tree)
    driver = Driver(ground, ALL)
    try:
        deleting = asyncio.create_task(driver.delete("folder", recursive=True))
        await asyncio.to_thread(ground.is_begun.wait, DEADLINE_S)
        deleting.cancel()
        for _ in range(5):
            await asyncio.sleep(0)
        assert ground.users == 1
        ground.may_go.set()
        async with asyncio.timeout(DEADLINE_S):
            with pytest.raises(asyncio.CancelledError):
                await deleting
        assert ground.users == 0
        assert not (tree / "folder").exists()
    finally:
        ground.may_go.set()
        driver.close()
        os.close(ground.place)
