"""Nobody is there to think: said where somebody sets up what would need it."""

from daimon import homes
from daimon.cli import screen
from daimon.heartbeat.prospects import BUILT_IN, ONLY_BUILT_IN


def warnings(home: homes.Home) -> tuple[str, ...]:
    from daimon import config

    return (ONLY_BUILT_IN,) if config.settings_of(home).model.use == (BUILT_IN,) else ()


def tell(told: tuple[str, ...]) -> None:
    """On stderr, so that it is in nobody's way."""
    for each in told:
        screen.remark(f"warning: {each}")
