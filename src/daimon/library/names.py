"""Names of people, by which lessons are made general: all that the home knows them by."""

from collections.abc import Iterator

from daimon.abi.people import Directory
from daimon.abi.survey import Survey

MOST = 1_000
_NOBODY = frozenset({"owner", "me", "i", "daimon", "user"})
_PEOPLE = ("person", "people", "human", "contact", "friend", "family")


async def names_of(directory: Directory, memory: Survey, owner: str) -> frozenset[str]:
    """Of the owner, of those who talk to the agent, and of those whom memory speaks of. A thing of which memory does not say what it is
    may be a person."""
    known = [owner]
    for person, contacts in await directory.people():
        known += [person.name, *(each.name for each in contacts), *(each.sender for each in contacts)]
    found = await memory.things("", MOST)
    known += [thing.name for thing in found.things if not thing.kinds or any(_is_person(kind) for kind in thing.kinds)]
    return frozenset(_somebody(known))


def _is_person(kind: str) -> bool:
    return kind.casefold() in _PEOPLE


def _somebody(names: list[str]) -> Iterator[str]:
    yield from (name.strip() for name in names if name.strip() and name.strip().casefold() not in _NOBODY)
