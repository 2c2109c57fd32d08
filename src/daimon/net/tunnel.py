"""TLS that stays closed to us: bytes in both directions, once it is known whom they are for."""

import asyncio

from daimon.net.hello import Watch
from daimon.net.refusal import Malformed
from daimon.net.stream import Stream


async def greet(near: Stream, watch: Watch, timeout_s: float) -> bytes:
    """Reads until the box said which host it means; what may go on then. Raises Malformed, TimeoutError, OSError."""
    first = bytearray()
    async with asyncio.timeout(timeout_s):
        while not watch.has_hello:
            data = await near.read()
            if not data:
                raise Malformed("the box ended the connection before TLS began")
            first += watch.feed(data)
    return bytes(first)


async def carry(near: Stream, far: Stream, watch: Watch) -> None:
    """Until both sides have ended, or neither says anything for too long. Raises Malformed, OSError."""
    up = asyncio.create_task(_copy(near, far, watch))
    down = asyncio.create_task(_copy(far, near, None))
    try:
        done, _ = await asyncio.wait([up, down], return_when=asyncio.FIRST_EXCEPTION)
        for task in done:
            task.result()
    finally:
        up.cancel()
        down.cancel()
        await asyncio.wait([up, down])


async def _copy(source: Stream, to: Stream, watch: Watch | None) -> None:
    returned = -1
    while True:
        try:
            data = await source.read()
        except TimeoutError:
            if source.sent == returned:  # the other direction was silent as well
                raise
            returned = source.sent
            continue
        if not data:
            return await to.end()
        if watch is not None and not watch.is_done:
            data = watch.feed(data)
        if data:
            await to.write(data)
