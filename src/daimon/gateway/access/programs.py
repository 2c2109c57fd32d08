"""Programs of others: who may come to `/mcp`.

An agent, an editor, an automation elsewhere: each holds a token that the owner made for it, which is a device like a browser's. It opens
`/mcp` and nothing else, and nothing else opens `/mcp`: not the session of a browser, not the token of the home, not that the caller sits on
the owner's own socket. For what comes in there is another agent's word, and whose token it was decides whose word it is.
"""

from dataclasses import dataclass

from daimon.abi.access import PROGRAMS
from daimon.gateway.access.attempts import Attempts
from daimon.gateway.access.sessions import Sessions, caller_of
from daimon.gateway.door import Admitted, Refused, Source

AT = "/mcp"
_BEARER = b"Bearer "
_HINT = "send `Authorization: Bearer TOKEN` with a token that `daimon mcp token NAME` made for this client"
_ASKS = 'Bearer realm="daimon"'


@dataclass(frozen=True, slots=True)
class Programs:
    sessions: Sessions
    attempts: Attempts

    def admit(self, sent: bytes, source: Source) -> Admitted | Refused:
        """`sent` is what `Authorization` says."""
        if not sent:
            return Refused(401, "no_token", _HINT, asks=_ASKS)
        if (locked_s := self.attempts.locked_s(source.address)) > 0:
            return too_many(locked_s)
        device = self.sessions.find(sent.removeprefix(_BEARER).decode("latin-1")) if sent.startswith(_BEARER) else None
        if device is not None and device.by in PROGRAMS:
            return Admitted(caller_of(device), source)
        wait_s = self.attempts.wrong(source.address, source.is_local)
        return Refused(401, "no_token", _HINT, by=source.address or "this machine", wait_s=wait_s, asks=_ASKS)


def too_many(seconds: float) -> Refused:
    return Refused(429, "too_many", f"too many tries from this address; come again in {round(seconds) or 1} seconds", retry_s=seconds)
