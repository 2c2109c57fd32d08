"""A question that several ask at once, or shortly after each other, is answered once: in a turn memory and the skills ask the same.

The answer of each of the last few questions is kept under a hash of its words; the words are not. One that fails is forgotten, so the next
who asks tries again. Whoever cannot wait leaves, and the others go on waiting for the same answer.
"""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Coroutine

KEPT = 4


class Once:
    def __init__(self) -> None:
        self._answers: OrderedDict[bytes, asyncio.Task[bytes]] = OrderedDict()

    async def answer(self, text: str, make: Callable[[], Coroutine[None, None, bytes]]) -> bytes:
        key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        if (known := self._answers.get(key)) is None or _has_failed(known):
            known = self._answers[key] = asyncio.ensure_future(make())
            known.add_done_callback(_has_failed)  # whoever asked may have left: then nobody else looks at it
        self._answers.move_to_end(key)
        while len(self._answers) > KEPT:
            self._answers.popitem(last=False)
        return await asyncio.shield(known)


def _has_failed(answer: "asyncio.Task[bytes]") -> bool:
    return answer.done() and (answer.cancelled() or answer.exception() is not None)
