"""What a session with a server is given from outside: who answers what the server asks, and who signs the requests to it.

A server may ask for something only if somebody is there to answer: what is None here is not offered to it in the handshake.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx2
    from mcp.client.extension import ClientExtension
    from mcp.client.session import ElicitationFnT, SamplingFnT


def _nobody() -> None:
    return


def _nothing() -> None:
    return


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    elicit: "ElicitationFnT | None" = None
    """It asks the owner something."""
    sample: "SamplingFnT | None" = None
    """It wants a model to think for it."""
    auth: "httpx2.Auth | None" = None
    """Signs requests to an address."""
    lacks: Callable[[], tuple[str, ...] | None] = _nothing
    """What a person must sign in for, by scopes; empty: it is not said. None: nobody need."""
    extensions: "Sequence[ClientExtension]" = ()
    changed: Callable[[], None] = _nobody
    """Its list of tools is another one."""
