"""Puts a system-call filter on itself and becomes another program: under.py FILTER PROGRAM ARGUMENT... Nothing but the standard library."""

import ctypes
import os
import sys
from pathlib import Path

_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _MODE_FILTER = 22, 38, 2


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def install(program: bytes) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    pointer = ctypes.byref(_Program(len(program) // 8, program))
    for arguments in ((_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (_PR_SET_SECCOMP, _MODE_FILTER, pointer, 0, 0)):
        if libc.prctl(*arguments):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    install(Path(sys.argv[1]).read_bytes())
    os.execvp(sys.argv[2], sys.argv[2:])
