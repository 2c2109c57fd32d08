"""Whose rights an operation has: those of the tree's owner, taken on for a moment by the thread that does the work.

`setfsuid` is a thread's own, and with another user than root the thread has no power over files beyond that user's. So what is written
belongs to the right one, and what the owner of the tree may not read is not read. Groups besides the first stay those of the gateway.
"""

import ctypes
import os
from types import TracebackType

from daimon.abi.errors import Misconfigured

_libc = ctypes.PyDLL(None)  # these calls are too short to let other threads in
_setfsuid, _setfsgid = _libc.setfsuid, _libc.setfsgid
_NOBODY_NEW = -1


class Rights:
    """A context manager; None: the gateway's own are right."""

    __slots__ = ("_user",)

    def __init__(self, user: int | None) -> None:
        self._user = user

    def __enter__(self) -> None:
        if self._user is None:
            return
        _setfsgid(self._user)
        _setfsuid(self._user)
        # These calls never say that they failed; asking with a user that cannot be tells who it is now.
        if _setfsuid(_NOBODY_NEW) != self._user or _setfsgid(_NOBODY_NEW) != self._user:
            self.give_back()
            raise Misconfigured(f"the files driver cannot take on the rights of user {self._user}; only root can")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._user is not None:
            self.give_back()

    @staticmethod
    def give_back() -> None:
        _setfsuid(os.geteuid())
        _setfsgid(os.getegid())
