"""`POST /hooks/NAME` as an ASGI application: the whole body, no longer and no later than it may be.

A length that is announced too large is refused unread; one that is not announced, when it has become too large: never more than the limit
and one piece is held. A body has a deadline as a whole, so that whoever sends a byte now and then is let go. So few may be under way at
once that slow ones cannot fill the memory.
"""

import asyncio
import re

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from daimon.gateway.answers import explained
from daimon.gateway.hooks.receive import Receiver, Reply
from daimon.gateway.hooks.signature import heads

PATH = re.compile(r"/hooks/([a-z0-9][a-z0-9._-]{0,49})")
BODY_S = 10.0
MOST_AT_ONCE = 256


class _Gone(Exception):
    """Nobody is there to be answered."""


class HookRoute:
    def __init__(self, receiver: Receiver, body_s: float = BODY_S) -> None:
        self._receiver = receiver
        self._body_s = body_s
        self._under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            reply = await self._reply(scope, receive)
        except _Gone:
            return
        headers = {"retry-after": str(reply.wait_s)} if reply.wait_s else {}
        if reply.status in (408, 413):
            headers["connection"] = "close"  # the rest of the body is not waited for
        if reply.status == 405:
            headers["allow"] = "POST"
        await Response(reply.body, reply.status, headers, "application/json")(scope, receive, send)

    async def _reply(self, scope: Scope, receive: Receive) -> Reply:
        found = PATH.fullmatch(scope["path"])
        if scope["method"] != "POST":
            return Reply(405, explained("bad_method", "deliveries are handed in with POST"))
        if found is None:
            return Reply(404, explained("not_found", "there is no such hook"))
        if self._under_way >= MOST_AT_ONCE:
            return Reply(503, explained("busy", "too many deliveries at once"), 1)
        self._under_way += 1
        try:
            body = await self._body(scope, receive, await self._receiver.most_bytes(found[1]))
            return body if isinstance(body, Reply) else await self._receiver.post(found[1], heads(scope["headers"]), body)
        finally:
            self._under_way -= 1

    async def _body(self, scope: Scope, receive: Receive, most: int) -> bytes | Reply:
        too_large = Reply(413, explained("too_large", f"a body has at most {most} bytes here"))
        announced = [value for name, value in scope["headers"] if name == b"content-length"]
        if any(not value.isdigit() or int(value[:20]) > most for value in announced):
            return too_large
        data = bytearray()
        try:
            async with asyncio.timeout(self._body_s):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise _Gone
                    data += message.get("body", b"")
                    if len(data) > most:
                        return too_large
                    if not message.get("more_body"):
                        return bytes(data)
        except TimeoutError:
            return Reply(408, explained("too_slow", f"the body was not there after {self._body_s:g} s"))
