"""From root to the user that Daimon is to run as, before anything is opened."""

from pathlib import Path

from daimon import config
from daimon.abi.errors import Misconfigured
from daimon.machine import user
from daimon.machine.home import Home


def become(name: str, given: Path | None) -> Home:
    """For good; returns the home that is theirs. Raises Misconfigured."""
    found = user.find(name)
    if found is None:
        raise Misconfigured(f"there is no user {name} on this machine; `daimon service user --name {name}` makes it")
    user.adopt_environment(found)
    home = config.home_at(given)
    user.become(found, home.path)
    return home
