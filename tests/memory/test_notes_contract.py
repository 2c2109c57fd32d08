"""What every implementation of the Notes port keeps, the fake as well as the notebook."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from daimon.abi.ids import HOME_SPACE, OWNER, PrincipalId, SpaceId
from daimon.abi.label import Author, Label, Origin, owned
from daimon.abi.ports import Note, Notes
from daimon.testing.notes import FakeNotes

if TYPE_CHECKING:
    from daimon.memory.notebook import Notebook

Keep = Callable[[SpaceId, PrincipalId, Note], None]
LABEL = Label.of(Origin(Author.AGENT, "web:example.org"), readers=(OWNER,))
BOB = PrincipalId("bob")


@pytest.fixture(params=["notebook", "fake"])
def port(request: pytest.FixtureRequest, notebook: "Notebook", journal: Any) -> tuple[Notes, Keep]:
    if request.param == "fake":
        fake = FakeNotes()
        return fake, fake.keep

    def keep(space: SpaceId, principal: PrincipalId, note: Note) -> None:
        journal.remember(note.text, note.id, space=space, principal=principal, label=note.label, at=note.at)

    return notebook, keep


def note(name: str, text: str, day: int = 1, label: Label = LABEL) -> Note:
    return Note(name, text, datetime(2026, 3, day, 12, tzinfo=UTC), label)


async def test_a_note_comes_back_whole_with_its_label(port: tuple[Notes, Keep]) -> None:
    notes, keep = port
    tea = note("a", "Anna likes tea")
    keep(HOME_SPACE, OWNER, tea)
    assert await notes.search(HOME_SPACE, OWNER, "tea", 5) == (tea,)


async def test_an_empty_query_gives_the_newest_first(port: tuple[Notes, Keep]) -> None:
    notes, keep = port
    for name, day in (("a", 2), ("b", 3), ("c", 1)):
        keep(HOME_SPACE, OWNER, note(name, f"text {name}", day))
    assert [found.id for found in await notes.search(HOME_SPACE, OWNER, "", 2)] == ["b", "a"]


async def test_notes_with_all_words_win_and_without_any_such_some_words_do(port: tuple[Notes, Keep]) -> None:
    notes, keep = port
    keep(HOME_SPACE, OWNER, note("a", "Anna likes green tea"))
    keep(HOME_SPACE, OWNER, note("b", "Bob likes coffee"))
    assert [found.id for found in await notes.search(HOME_SPACE, OWNER, "TEA anna", 5)] == ["a"]
    assert [found.id for found in await notes.search(HOME_SPACE, OWNER, "coffee anna sugar", 5)] in (["a", "b"], ["b", "a"])
    assert await notes.search(HOME_SPACE, OWNER, "bicycle", 5) == ()


async def test_no_note_of_another_principal_or_space_is_ever_shown(port: tuple[Notes, Keep]) -> None:
    notes, keep = port
    keep(HOME_SPACE, BOB, note("a", "tea of Bob"))
    keep(SpaceId("work"), OWNER, note("b", "tea at work"))
    keep(HOME_SPACE, OWNER, note("c", "tea at home", label=owned("terminal")))
    for query in ("tea", ""):
        assert [found.id for found in await notes.search(HOME_SPACE, OWNER, query, 5)] == ["c"]


async def test_a_search_sees_what_was_recorded_before_it(port: tuple[Notes, Keep]) -> None:
    notes, keep = port
    for n in range(3):
        keep(HOME_SPACE, OWNER, note(str(n), f"tea {n}"))
        assert len(await notes.search(HOME_SPACE, OWNER, "tea", 9)) == n + 1
