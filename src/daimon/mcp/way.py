"""How the messages of one session go to a server and back: through the pipes of a box, or through the way out."""

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol

from daimon.abi.label import Label
from daimon.abi.tool import Touched

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams


class Way(Protocol):
    """For one session. Made anew for the next."""

    def streams(self) -> "AbstractAsyncContextManager[TransportStreams]":
        """Raises DaimonError where there is no way."""
        ...

    async def ended(self) -> None:
        """Returns when the other side has ended it. Some ways never do."""
        ...

    @property
    def why(self) -> str:
        """What ended it; empty: nothing that is known."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What the owner may want to know, such as what it printed last. Cleaned."""
        ...

    @property
    def is_refused(self) -> bool:
        """The other side wants somebody to sign in first."""
        ...

    def admit(self, label: Label) -> None:
        """What is said from here on carries this."""
        ...

    def touched(self) -> tuple[Touched, ...]:
        """What it reached since the last time."""
        ...
