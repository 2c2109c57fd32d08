"""Facts, people and decisions in the owner's own words, found by small rules."""

from collections.abc import Iterator

from daimon.abi.event import Event
from daimon.abi.memory import Learn, Relate


def found(event: Event) -> Iterator[Learn | Relate]:
    yield from ()
