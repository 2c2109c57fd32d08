"""Talks to the service manager: small datagrams to the socket that `NOTIFY_SOCKET` names, as sd_notify(3) describes.

    ready       connections succeed and all has been started; `Type=notify` counts the start from here
    stopping    the end has begun, and may take so long
    beat        alive; where it stays out for `WATCHDOG_USEC`, the manager kills the process and starts another

A beat must prove something: `keep_beating` sends one only after its caller's proof came back, and it runs on the event loop itself. So one
beat says that the loop turns and that whatever the proof asked has answered.

The variables are taken out of the environment: programs that are started later must not speak for this one. Without a manager nothing is
sent. A manager that does not listen is no reason to fail: a datagram that cannot be sent is dropped. Only few fit into its queue (often
ten), so there a beat gives way, for the next one says the same. What is said once waits for room: without `ready` the start would fail.
"""

import socket
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress

from daimon.abi.errors import DaimonError
from daimon.abi.ports import Clock

ABSTRACT = "@"
BEATS_PER_LIMIT = 3
ROOM_S = 5.0
"""What is said once waits so long for room in the queue of the manager."""


class Manager:
    """Of this service, as far as it can be spoken to. `address` empty: there is none."""

    def __init__(self, address: str, limit_s: float) -> None:
        self._address = f"\0{address[1:]}" if address.startswith(ABSTRACT) else address
        self._limit_s = limit_s
        """A beat is wanted within this time; 0: none is."""

    def ready(self, status: str) -> None:
        self._tell("READY=1", f"STATUS={status}", wait_s=ROOM_S)

    def stopping(self, status: str, at_most_s: float) -> None:
        self._tell("STOPPING=1", f"STATUS={status}", f"EXTEND_TIMEOUT_USEC={int(at_most_s * 1e6)}", wait_s=ROOM_S)

    async def keep_beating(self, prove: Callable[[], Awaitable[None]], clock: Clock) -> None:
        """Runs until cancelled. `prove` raises, or does not return, where something is not alive: then no beat is sent."""
        while self._address and self._limit_s:
            with suppress(DaimonError):
                await prove()
                self._tell("WATCHDOG=1")
            await clock.sleep(self._limit_s / BEATS_PER_LIMIT)

    def _tell(self, *lines: str, wait_s: float = 0.0) -> None:
        if not self._address:
            return
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as line:
            line.settimeout(wait_s)
            line.connect(self._address)  # only then does the system know whose queue must have room
            line.send("\n".join(lines).encode())


def manager_of(environment: MutableMapping[str, str], pid: int) -> Manager:
    """The one that started this process, if one did. Takes its variables out of the environment."""
    address = environment.pop("NOTIFY_SOCKET", "")
    limit, wanted_of = environment.pop("WATCHDOG_USEC", ""), environment.pop("WATCHDOG_PID", "")
    is_wanted = limit.isdecimal() and wanted_of in ("", str(pid))
    return Manager(address if address.startswith((ABSTRACT, "/")) else "", int(limit) / 1e6 if is_wanted else 0.0)
