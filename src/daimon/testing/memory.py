"""Memory without a journal or a file, for tests of whatever holds the port: it knows the items that it was given."""

from dataclasses import dataclass, field

from daimon.abi.errors import BadInput, NotFound
from daimon.abi.ids import PrincipalId, SpaceId
from daimon.abi.memory import Answered, Hit, Item, Kind, Page, Query, Reason, Recalled, Whole


@dataclass(slots=True)
class FakeMemory:
    """Finds items that hold all words of the query; if none does, those that hold any. The newest come first."""

    kept: list[tuple[SpaceId, PrincipalId, Item]] = field(default_factory=list)
    most_characters: int = 4_000

    def keep(self, space: SpaceId, principal: PrincipalId, item: Item) -> None:
        self.kept.append((space, principal, item))

    async def recall(self, query: Query) -> Recalled:
        words = query.text.lower().split()
        mine = [item for item in self._of(query.space, query.principal) if _may_be(item, query)]
        found = [item for item in mine if all(word in item.text.lower() for word in words)]
        found = found or [item for item in mine if any(word in item.text.lower() for word in words)]
        found = sorted(found, key=lambda item: item.at, reverse=True)[: query.limit]
        return Recalled(tuple(Hit(item, 1.0, (Reason("words", rank),)) for rank, item in enumerate(found, 1)), "words only")

    async def page(self, space: SpaceId, principal: PrincipalId) -> Page:
        notes = tuple(item for item in self._of(space, principal) if item.on_page and item.ended_at is None and item.label.is_trusted)
        return Page(notes, self.most_characters)

    async def value(self, space: SpaceId, principal: PrincipalId, key: str) -> Item | None:
        values = (item for item in self._of(space, principal) if item.kind == "value" and item.ended_at is None)
        return next((item for item in values if item.subject == key), None)

    async def item(self, space: SpaceId, principal: PrincipalId, id_: str) -> Item:
        for item in reversed(self._of(space, principal)):
            if item.id == id_:
                return item
        raise NotFound(f"memory has nothing with the id {id_!r}")

    async def history(self, space: SpaceId, principal: PrincipalId, about: str) -> tuple[Item, ...]:
        return tuple(item for item in self._of(space, principal) if about in (item.id, item.subject))

    async def items(
        self, space: SpaceId, principal: PrincipalId, kinds: tuple[Kind, ...], after: str = "", limit: int = 500
    ) -> tuple[Item, ...]:
        wanted = (item for item in self._of(space, principal) if item.id > after and (not kinds or item.kind in kinds))
        return tuple(sorted(wanted, key=lambda item: item.id)[:limit])

    async def ask_graph(self, space: SpaceId, principal: PrincipalId, query: str) -> Answered:
        raise BadInput("this memory has no graph")

    def _of(self, space: SpaceId, principal: PrincipalId) -> list[Item]:
        return [item for *owner, item in self.kept if owner == [space, principal]]


def _may_be(item: Item, query: Query) -> bool:
    is_in_time = (query.since is None or item.at >= query.since) and (query.until is None or item.at <= query.until)
    is_of_kind = (not query.kinds or item.kind in query.kinds) and item.id not in query.without and item.ended_at is None
    is_from_there = not query.source or any(origin.source == query.source for origin in item.label.origins)
    is_said_there = query.conversation is None or item.conversation == query.conversation
    return is_in_time and is_of_kind and is_from_there and is_said_there and (item.label.is_trusted or not query.trusted_only)


@dataclass(slots=True)
class FakeTexts:
    """Whole texts by their reference, for whoever they are given to."""

    kept: dict[tuple[SpaceId, PrincipalId, str], Whole] = field(default_factory=dict)

    async def whole(self, space: SpaceId, principal: PrincipalId, ref: str) -> Whole:
        found = self.kept.get((space, principal, ref))
        if found is None:
            raise NotFound(f"there is nothing to read under {ref!r}")
        return found
