"""The inside of the process that makes vectors for the gateway: small, closed, and free to crash.

    limits → model loaded → no more files → its stamp → (frame in → frame out)* → end of input, or nobody asked for a while

A frame is four bytes of length, then as many bytes. In comes JSON, a list of texts; out goes `+` and the vectors, one after the other, or
`-` and what went wrong in words. Frames come in on descriptor 0 and go out on 1; 2 leads nowhere.

Invariant: it outlives nobody, since its input ends with the gateway; and where nobody asks, it ends itself and gives its memory back. It is
nicer than everybody else. It has no secrets and no environment, and once the model is there it can open nothing, start nothing and
write no file.
"""

import json
import os
import resource
import select
import sys
from collections.abc import Callable, Sequence

HEAD = 4
MOST_ASKED = 16 << 20
MOST_MEMORY = 2 << 30
NICER = 10
FIRST_S = 60.0
"""It was started for a text, which comes however busy the machine is: who ended itself before would be started for nothing."""
GOOD, BAD = b"+", b"-"
_IN, _OUT = 0, 1

Embed = Callable[[Sequence[str]], bytes]


def main() -> None:
    """`… IDLE_SECONDS STAMP`: the last two words of the command line."""
    idle_s, known = float(sys.argv[-2]), sys.argv[-1]
    os.nice(NICER)
    _limit(resource.RLIMIT_AS, MOST_MEMORY)
    try:
        embed, stamp = _loaded(known)
    except Exception as error:  # noqa: BLE001 - whatever it is, the gateway says it in the words of the error
        _say(BAD + str(error).encode("utf-8", "replace"))
        return
    for what in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE):
        _limit(what, 0)
    _say(GOOD + stamp.encode())
    serve(embed, idle_s)


def serve(embed: Embed, idle_s: float) -> None:
    wait_s = max(idle_s, FIRST_S)
    while select.select([_IN], [], [], wait_s)[0] and (asked := _hear()):
        _say(GOOD + embed(json.loads(asked)))
        wait_s = idle_s


def framed(data: bytes) -> bytes:
    return len(data).to_bytes(HEAD, "big") + data


def _loaded(known: str) -> tuple[Embed, str]:
    from daimon.memory.embedding.minilm import MiniLM
    from daimon.memory.embedding.weights import Weights, missing

    weights = Weights.find()
    if weights is None:
        raise LookupError(missing())
    stamp = weights.check(known)
    model = MiniLM(weights)
    model.embed(["warm"])
    return lambda texts: model.embed(texts).astype("<f4").tobytes(), stamp


def _hear() -> bytes:
    """Empty: nobody asks any more."""
    length = int.from_bytes(_exactly(HEAD), "big")
    return _exactly(length) if length <= MOST_ASKED else b""


def _exactly(size: int) -> bytes:
    data = bytearray()
    while len(data) < size and (part := os.read(_IN, size - len(data))):
        data += part
    return bytes(data) if len(data) == size else b""


def _say(told: bytes) -> None:
    left = memoryview(framed(told))
    while left:
        left = left[os.write(_OUT, left) :]


def _limit(what: int, most: int) -> None:
    """What is limited further already stays so."""
    _, hard = resource.getrlimit(what)
    lower = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (lower, lower))
