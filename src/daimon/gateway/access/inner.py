"""The door in the home: the Unix socket. Its directory is closed to everybody but the owner, so whoever calls is the owner.

But for `/mcp`: what is said there is another program's word, be it one that the owner started. Who says it is told by its token, as on TCP.
"""

import asyncio
from contextlib import suppress

from starlette.types import Scope

from daimon.abi.access import OWNERS_SOCKET, Caller
from daimon.abi.errors import JournalFailed
from daimon.gateway.access.entrance import Entrance
from daimon.gateway.access.programs import AT, Programs
from daimon.gateway.door import Admitted, Headers, Refused, Source

_HERE = Source("", is_local=True)


class InnerDoor:
    def __init__(self, entrance: Entrance) -> None:
        self._sessions, self._acts = entrance.sessions, entrance.acts
        self._programs = Programs(entrance.sessions, entrance.attempts)

    def refusal(self, headers: Headers, path: str) -> tuple[int, bytes] | None:
        return None

    def admit(self, scope: Scope) -> Admitted | Refused:
        if scope["path"] != AT:
            return Admitted(OWNERS_SOCKET, _HERE)
        sent = [value.strip(b" \t") for name, value in scope["headers"] if name == b"authorization"]
        return self._programs.admit(sent[0] if len(sent) == 1 else b"", _HERE)

    async def note(self, found: Admitted | Refused) -> None:
        if isinstance(found, Refused):
            if found.by:
                await self._acts.failed(found.by, "call with a token", found.code)
        elif found.caller != OWNERS_SOCKET:
            with suppress(JournalFailed):
                await self._sessions.seen(found.caller.id)

    def is_still(self, caller: Caller) -> bool:
        return caller == OWNERS_SOCKET or self._sessions.is_still(caller)

    async def until_over(self, caller: Caller) -> None:
        if caller == OWNERS_SOCKET:
            await asyncio.Event().wait()
        await self._sessions.until_over(caller)
