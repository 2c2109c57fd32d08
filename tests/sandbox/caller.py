"""Makes the system calls that it is given, and says what came of each: caller.py '[[NUMBER, ARGUMENT...]...]'. Texts become pointers.

Prints a list: 0 for a call that worked, else the number of its error. Nothing but the standard library.
"""

import ctypes
import json
import sys


def result(number: int, *arguments: int | str) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    words = [
        ctypes.c_char_p(word.encode()) if isinstance(word, str) else ctypes.c_ulong(word & 0xFFFF_FFFF_FFFF_FFFF) for word in arguments
    ]
    return ctypes.get_errno() if libc.syscall(ctypes.c_long(number), *words) == -1 else 0


if __name__ == "__main__":
    sys.stdout.write(json.dumps([result(*call) for call in json.loads(sys.argv[1])]))
