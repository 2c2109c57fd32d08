"""Grounds of which a test says whether something holds them. What real ones do is tested where they are made."""

from contextlib import AbstractAsyncContextManager, nullcontext

from daimon.sandbox.ground import Stack


class Holder:
    place, name, user = -1, "w", None

    def __init__(self, is_held: bool = True) -> None:
        self.is_held = is_held
        self.stacks: list[Stack] = []

    def used(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def rotate(self, stack: Stack) -> bool:
        """Whoever held the old tree does not hold the next."""
        self.stacks.append(stack)
        was_held, self.is_held = self.is_held, False
        return not was_held

    async def try_rotate(self, stack: Stack) -> bool:
        return not self.is_held and await self.rotate(stack)

    async def close(self) -> None: ...
