"""How a shell in a box comes by its terminal: in the child, between fork and exec. Standard library only: it is read inside of the box.

The gateway made the terminal and keeps its master. The shell reads its commands from a pipe (a line of a terminal ends at 4,096 bytes),
writes to the terminal, and has it once more, with the pipe on which it reports, under numbers that its commands do not get.
"""

import fcntl
import os
import termios

TERMINAL, REPORTS = 8, 9
KEPT = (TERMINAL, REPORTS)
_ABOVE = 20


def take(streams: list[int], failed: int) -> int:
    """Terminal, commands, reports. Says under which number the one for failures is afterwards: it may have been in the way."""
    terminal, commands, reports = (fcntl.fcntl(stream, fcntl.F_DUPFD_CLOEXEC, _ABOVE) for stream in streams)
    failed = fcntl.fcntl(failed, fcntl.F_DUPFD_CLOEXEC, _ABOVE)
    for target, descriptor in ((0, commands), (1, terminal), (2, terminal), (TERMINAL, terminal), (REPORTS, reports)):
        os.dup2(descriptor, target)
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    return failed
