"""A gateway whose settings stand in a file, as an owner's do, and services on loopback."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.room.rig import Gateway

from daimon import config
from daimon.machine.home import Home

FRESH = "[kernel]\ndrain_s = 0\n"


@contextmanager
def furnished(path: Path, toml: str = FRESH) -> Iterator[Gateway]:
    home = Home(path)
    home.ensure()
    home.config.write_text(toml)
    made = Gateway(home, config.load(home.config, {}))
    made.start()
    try:
        yield made
    finally:
        made.stop()
