"""What lives longer than a call: a box, later a language server, a browser.

One per key, made when it is first needed, closed when nobody needed it for a while, made anew when it died. Whoever comes back to a key
under which something died in the meantime is told what was lost, once, and can tell the model.
"""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

R_co = TypeVar("R_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Lease(Generic[R_co]):
    resource: R_co
    lost: str = ""
    """What was lost since the last lease under this key; empty: nothing."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One of them, for status."""

    key: str
    is_alive: bool
    leases: int
    restarts: int
    about: str


class Resources(Protocol[R_co]):
    def lease(self, key: str) -> AbstractAsyncContextManager[Lease[R_co]]:
        """Raises Misconfigured when it cannot be made, ToolFailed while it dies again and again."""
        ...

    async def restart(self, key: str, why: str) -> None:
        """Ends it; the next lease makes a new one."""
        ...

    def standing(self) -> tuple[Standing, ...]: ...

    async def close(self) -> None: ...
