"""What every implementation of the Memory port keeps, the fake as well as the store."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from daimon.abi.errors import NotFound
from daimon.abi.ids import HOME_SPACE, OWNER, PrincipalId, SpaceId
from daimon.abi.label import Author, Label, Origin, owned
from daimon.abi.memory import Item, Memory, Query, Remember
from daimon.testing.memory import FakeMemory

if TYPE_CHECKING:
    from daimon.memory.store import MemoryStore

Keep = Callable[[SpaceId, PrincipalId, Item], None]
LABEL = Label.of(Origin(Author.AGENT, "web:example.org"), readers=(OWNER,))
BOB = PrincipalId("bob")


@pytest.fixture(params=["store", "fake"])
def port(request: pytest.FixtureRequest, store: "MemoryStore", journal: Any) -> tuple[Memory, Keep]:
    if request.param == "fake":
        fake = FakeMemory()
        return fake, fake.keep

    def keep(space: SpaceId, principal: PrincipalId, item: Item) -> None:
        about = {"space": space, "principal": principal, "label": item.label, "at": item.at, "turn": "t", "n": len(journal.changes)}
        journal.outcome(Remember(item.text, item.id, item.on_page), **about)

    return store, keep


def note(name: str, text: str, day: int = 1, label: Label = LABEL, on_page: bool = False) -> Item:
    at = datetime(2026, 3, day, 12, tzinfo=UTC)
    return Item(id=name, kind="note", text=text, at=at, label=label, source=f"t:{name}", on_page=on_page)


async def found(memory: Memory, text: str, limit: int = 5, **more: Any) -> list[str]:
    recalled = await memory.recall(Query(space=HOME_SPACE, principal=OWNER, text=text, limit=limit, **more))
    assert all(hit.why for hit in recalled.hits)
    return [hit.item.id for hit in recalled.hits]


async def test_an_item_comes_back_whole_with_its_label(port: tuple[Memory, Keep]) -> None:
    memory, keep = port
    tea = replace(note("a", "Anna likes tea"), source="t:0")
    keep(HOME_SPACE, OWNER, tea)
    (hit,) = (await memory.recall(Query(space=HOME_SPACE, principal=OWNER, text="tea"))).hits
    assert hit.item == await memory.item(HOME_SPACE, OWNER, "a") == tea
    assert await memory.items(HOME_SPACE, OWNER, ("note",)) == await memory.history(HOME_SPACE, OWNER, "a") == (tea,)


async def test_an_empty_query_gives_the_newest_first(port: tuple[Memory, Keep]) -> None:
    memory, keep = port
    for name, day in (("a", 2), ("b", 3), ("c", 1)):
        keep(HOME_SPACE, OWNER, note(name, f"text {name}", day))
    assert await found(memory, "", 2) == ["b", "a"]


async def test_filters_come_before_the_search(port: tuple[Memory, Keep]) -> None:
    memory, keep = port
    keep(HOME_SPACE, OWNER, note("a", "tea", 1))
    keep(HOME_SPACE, OWNER, note("b", "tea", 2, owned("terminal")))
    keep(HOME_SPACE, OWNER, note("c", "tea", 3))
    assert await found(memory, "tea", trusted_only=True) == ["b"]
    assert await found(memory, "tea", source="web:example.org") == ["c", "a"]
    assert await found(memory, "tea", since=datetime(2026, 3, 2, tzinfo=UTC), until=datetime(2026, 3, 3, tzinfo=UTC)) == ["b"]
    assert await found(memory, "tea", without=frozenset("c")) == ["b", "a"]
    assert await found(memory, "tea", kinds=("fact",)) == []


async def test_nothing_of_another_principal_or_space_is_ever_shown(port: tuple[Memory, Keep]) -> None:
    memory, keep = port
    keep(HOME_SPACE, BOB, note("a", "tea of Bob"))
    keep(SpaceId("work"), OWNER, note("b", "tea at work"))
    keep(HOME_SPACE, OWNER, note("c", "tea at home", label=owned("terminal")))
    for query in ("tea", ""):
        assert await found(memory, query) == ["c"]
    for id_ in ("a", "b", "nothing"):
        with pytest.raises(NotFound):
            await memory.item(HOME_SPACE, OWNER, id_)
        assert await memory.history(HOME_SPACE, OWNER, id_) == ()
    assert [item.id for item in await memory.items(HOME_SPACE, OWNER, ())] == ["c"]


async def test_the_page_has_what_is_meant_for_it(port: tuple[Memory, Keep]) -> None:
    memory, keep = port
    keep(HOME_SPACE, OWNER, note("a", "tea", label=owned("terminal"), on_page=True))
    keep(HOME_SPACE, OWNER, note("b", "coffee", label=owned("terminal")))
    keep(HOME_SPACE, OWNER, note("c", "evil", on_page=True))
    page = await memory.page(HOME_SPACE, OWNER)
    assert [item.id for item in page.notes] == ["a"]
    assert page.characters == 4 <= page.most_characters


async def test_a_question_sees_what_was_recorded_before_it(port: tuple[Memory, Keep]) -> None:
    memory, keep = port
    for n in range(3):
        keep(HOME_SPACE, OWNER, note(str(n), f"tea {n}"))
        assert len(await found(memory, "tea")) == n + 1
