"""How a running gateway learns of a change of the settings. The change itself is made, whatever a gateway says."""

from dataclasses import dataclass

from daimon import homes
from daimon.abi.errors import DaimonError
from daimon.gateway.client import Client


@dataclass(frozen=True, slots=True)
class News:
    """What a change means to those who answer."""

    now: str
    later: str


def reloaded(home: homes.Home, news: News) -> tuple[bool, str]:
    """Whether a gateway runs and took it, and that in words."""
    client = Client(home.socket)
    if not client.is_there():
        return False, news.later
    try:
        restart = client.reload().restart
    except DaimonError as refused:
        return False, f"the running gateway did not take it: {refused}; restart it"
    waiting = f"; what has changed in {', '.join(restart)} waits for its next start" if restart else ""
    return True, f"{news.now}{waiting}"
