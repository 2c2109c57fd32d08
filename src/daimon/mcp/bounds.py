"""How much a server may say, and how long it may take. One home for every number of the client."""

from dataclasses import dataclass

MIB = 1 << 20
NOT_SENT, IN_DOUBT, REFUSED = -32_050, -32_051, -32_052
"""Codes of our own for what goes wrong on the way to an address: nothing left; nobody knows; it answered with a status that is an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    message_bytes: int = 8 * MIB
    """The longest message. One that is longer ends the session."""
    garbage: int = 20
    """So many lines that are no messages, and the session ends."""
    burst: int = 2_000
    """Messages, or pieces of 16 KiB of them, that are taken at once."""
    per_s: float = 500.0
    """And so many in a second from then on: who says more waits."""
    flood_s: float = 10.0
    """Whoever has been made to wait for so long without a pause floods, and the session ends."""
    handshake_s: float = 60.0
    write_s: float = 30.0
    """For a message to be taken."""
    grace_s: float = 2.0
    """To end by itself when it hears no more."""
    stderr_bytes: int = 16 * 1024
    pages: int = 100
    tools: int = 1_000
    list_bytes: int = 4 * MIB
    """Of all that it says of its tools together."""
    list_s: float = 15.0
    """A list of tools that is older is asked for anew before something of it is called."""
    listen_s: float = 30.0
    """Until it is asked again to tell of changes, where that ended."""
    ping_s: float = 10.0
    first_s: float = 1.0
    """Until it is started again after it died; twice as long each time, but not longer than `longest_s`."""
    longest_s: float = 300.0
    healthy_s: float = 60.0
    """One that lived for so long begins with `first_s` again."""
    idle_s: float = 300.0
    """A server that nobody needed for so long is stopped until somebody does."""


BOUNDS = Bounds()
