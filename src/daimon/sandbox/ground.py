"""What a box and the files driver stand on: a tree that is put together from layers, and can be put together differently between commands.

A layer is a directory of the store: `LAYER/tree` in the form of overlayfs (whiteouts, opaque directories; its marks are `user.overlay.*`),
`LAYER/work` while it is live. Whoever holds a ground sees the tree through a descriptor of the directory *in which* it appears: that one
stays the same when the tree is exchanged; what was opened below it before then still shows the old tree.
"""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Stack:
    """Names of layers in the store."""

    live: str
    frozen: tuple[str, ...] = ()
    """Topmost first; the base lies below them all."""


class Ground(Protocol):
    @property
    def place(self) -> int:
        """A descriptor (O_PATH) of the directory in which the tree appears. Valid until it is closed."""
        ...

    @property
    def name(self) -> str:
        """Of the tree, in there."""
        ...

    @property
    def user(self) -> int | None:
        """Whose rights the gateway must take on to write there (`setfsuid`); None: its own are right."""
        ...

    def used(self) -> AbstractAsyncContextManager[None]:
        """While something works in the tree: it is there, and `try_rotate` leaves it. Between two trees there is none for a moment, and who
        only names its files, and stands elsewhere, does not hold it."""
        ...

    async def rotate(self, stack: Stack) -> bool:
        """Puts another stack in place, for all who look at this ground. Only between commands. False: something still holds the old
        one, and may write into what was live. Raises OSError when it cannot be done; the old one is then in place still, or it is dead."""
        ...

    async def try_rotate(self, stack: Stack) -> bool:
        """The same if nothing holds or uses the tree. False: something does, and nothing was changed."""
        ...

    async def close(self) -> None: ...
