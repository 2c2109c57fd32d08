"""The memory of this process is its own: nobody of the same user reads it, and a crash leaves no copy of it on a disk.

A gateway holds, in the clear, what is sealed on disk: keys, tokens, the owner's words. Two doors lead to them from outside.

    a core dump         the kernel writes the memory to a file, or hands it to a program, when the process crashes
    /proc/PID/mem       any process of the same user may read it, and trace the process; environ, maps and fds likewise

`PR_SET_DUMPABLE 0` closes both. `RLIMIT_CORE 0`, the hard limit too, says the same to all that is started from here: a program that is
executed is dumpable again, but the limit stays with it. A limit of zero alone would not do, since where the kernel pipes dumps to a
program it does not look at it.

Invariant: after `close_memory` it stays closed until the process ends, whatever else ends before: memory that was used keeps what was
in it. It does not know root, who reads everything, nor swap and hibernation, which are for the machine's disk encryption.
"""

import resource
import sys

PR_SET_DUMPABLE = 4


def close_memory() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        import ctypes  # here, because it is slow to load and only a gateway needs it

        if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_DUMPABLE) failed")
