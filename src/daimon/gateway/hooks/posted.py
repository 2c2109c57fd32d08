"""Channels whose service posts to them: `/hooks/NAME` belongs to the channel, which checks for itself who it is.

A channel registers under a name of `abi.hook.RESERVED`; what it returns is the status of the answer. 200 means: it is on disk.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol, runtime_checkable

from daimon.abi.errors import Misconfigured
from daimon.abi.hook import NAME

OnPosted = Callable[[Mapping[str, str], bytes], Awaitable[int]]
MOST_BYTES = 1024 * 1024


@runtime_checkable
class PostedTo(Protocol):
    """A channel whose service posts to it."""

    @property
    def name(self) -> str: ...

    async def posted(self, headers: Mapping[str, str], body: bytes) -> int: ...


class Postings:
    def __init__(self) -> None:
        self._by_name: dict[str, OnPosted] = {}

    def register(self, name: str, posted: OnPosted) -> None:
        """Raises Misconfigured for a name that is taken."""
        if name in self._by_name or not re.fullmatch(NAME, name):
            raise Misconfigured(f"nothing can be registered as /hooks/{name}: it is taken, or no name")
        self._by_name[name] = posted

    def remove(self, name: str) -> None:
        self._by_name.pop(name, None)

    def get(self, name: str) -> OnPosted | None:
        return self._by_name.get(name)
