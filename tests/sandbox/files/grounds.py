"""A plain directory as a ground, and a driver on it."""

import os
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from pathlib import Path

from daimon.abi.box import Role
from daimon.sandbox.files.driver import Driver
from daimon.sandbox.ground import Stack

ALL = Role(name="writer", write=(".",))


class PlainGround:
    def __init__(self, tree: Path, user: int | None = None) -> None:
        self.place = os.open(tree.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self.name, self.user = tree.name, user

    def used(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def rotate(self, stack: Stack) -> bool:
        raise OSError("a plain directory has no layers")

    async def try_rotate(self, stack: Stack) -> bool:
        return await self.rotate(stack)

    async def close(self) -> None:
        os.close(self.place)


@contextmanager
def driver_on(tree: Path, role: Role = ALL, user: int | None = None, base: str = "") -> Iterator[Driver]:
    ground = PlainGround(tree, user)
    driver = Driver(ground, role, base)
    try:
        yield driver
    finally:
        driver.close()
        os.close(ground.place)
