"""The inside of the process that reads commands for the gateway: small, closed, and free to crash.

    limits → parser loaded → no more files → "ready" → (frame in → frame out)* → end of input

A frame is four bytes of length, then as many bytes. In comes JSON, `[command, never]`; out goes plain text, so that the gateway has nothing
to parse that comes from here. Both go over descriptor 0, a socket; 1 and 2 lead nowhere.

Invariant: it outlives nobody. It ends when the gateway does, because its input ends then; and while it reads, an alarm of the system ends
it, because native code that loops looks at no input. (The kernel's signal at a parent's death would not do: it means the parent's thread.)
It has no secrets, no environment, one descriptor; its memory is closed to neighbours, since a command may hold a secret; and once the
parser is there it can open nothing, start nothing and write no file. It loads little, so that it starts fast: standard library only.
"""

import json
import os
import resource
import signal
from collections.abc import Callable, Sequence

from daimon.machine.privacy import close_memory

HEAD = 4
MOST_ASKED = 16 << 20
MOST_TOLD = 64 << 10
LONGEST_S = 10
MOST_MEMORY = 512 << 20
_LINE = 0

Read = Callable[[str | Sequence[str], Sequence[tuple[str, ...]]], str]


def serve(read: Read, longest_s: int = LONGEST_S) -> None:
    """Until the input ends. What `read` raises ends the process: whoever asks takes that for an answer."""
    close_memory()
    _limit(resource.RLIMIT_AS, MOST_MEMORY)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    read("true", ())
    for what in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE):
        _limit(what, 0)
    _say("")
    while asked := _hear():
        signal.alarm(longest_s)
        command, never = json.loads(asked)
        told = read(command, [tuple(words) for words in never])
        signal.alarm(0)
        _say(told)


def framed(data: bytes) -> bytes:
    return len(data).to_bytes(HEAD, "big") + data


def _hear() -> bytes:
    """Empty: nobody asks any more."""
    head = _exactly(HEAD)
    length = int.from_bytes(head, "big")
    return _exactly(length) if length <= MOST_ASKED else b""


def _exactly(size: int) -> bytes:
    data = bytearray()
    while len(data) < size and (part := os.read(_LINE, size - len(data))):
        data += part
    return bytes(data) if len(data) == size else b""


def _say(told: str) -> None:
    left = memoryview(framed(told.encode("utf-8", "replace")[:MOST_TOLD]))
    while left:
        left = left[os.write(_LINE, left) :]


def _limit(what: int, most: int) -> None:
    """What is limited further already stays so."""
    _, hard = resource.getrlimit(what)
    lower = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (lower, lower))
