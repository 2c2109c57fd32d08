"""A skill in a whole Daimon: its words are read, things are made of them, and then it is removed."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.journal.world import opened
from tests.people_rig import World, do, world
from tests.skills.written import bundle, put, skill_md

from daimon.abi.errors import BadInput, NotFound
from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.abi.lesson import Proposal
from daimon.abi.memory import Query
from daimon.gateway.remote import RemoteWorkspaces
from daimon.gateway.remote_memory import RemoteCurator
from daimon.gateway.remote_skills import RemoteLibrarian
from daimon.library.lessons import HomeLessons
from daimon.library.library import open_library
from daimon.machine.clock import SystemClock
from daimon.sandbox.plan import has_bwrap
from daimon.testing.model import says

NAME, WORD, OWN = "read-feeds", "zebraquagga", "marmaladeplan"
pytestmark = pytest.mark.skipif(not has_bwrap(), reason="bwrap is not installed: agents have no files")


def source(tmp_path: Path) -> str:
    return str(put(tmp_path / "from" / NAME, bundle(skill_md(body=f"Always say {WORD}."), references__a=f"more {WORD}")))


def remind(about: str) -> tuple[str, dict[str, Any]]:
    return "remind", {"at": (SystemClock().now() + timedelta(days=1)).isoformat(), "about": about}


async def lived(here: World) -> None:
    """Both the owner and the skill had things made."""
    write = lambda path, text: ("write_file", {"path": path, "content": text})  # noqa: E731
    await here.owner_does(
        "keep that", do(write("mine.txt", f"{OWN}\n"), ("remember", {"text": f"note {OWN}"}), remind(OWN)), says(f"kept {OWN}")
    )
    edit = ("edit_file", {"path": "mine.txt", "edits": [[OWN, f"{OWN}, edited"]]})
    await here.owner_does(
        "what is new?",
        do(("use_skill", {"name": NAME})),
        do(write("made.txt", WORD), write("deep/also.txt", WORD), edit),
        do(("remember", {"text": f"note {WORD}"}), remind(WORD)),
        says(f"they say {WORD}"),
    )


def words_in(place: Path) -> dict[str, list[str]]:
    """What of a directory holds which of the two words."""
    files = [path for path in place.rglob("*") if path.is_file()]
    return {
        word: sorted({path.relative_to(place).parts[0] for path in files if word.encode() in path.read_bytes()}) for word in (WORD, OWN)
    }


async def files_of(here: World, home: Path) -> set[str]:
    workspaces = RemoteWorkspaces(home / "daimon.sock")
    (only,) = await workspaces.list()
    return {change.path for change in await workspaces.diff(only.id) if change.after is not None and change.after.kind == "file"}


async def test_all_that_came_of_a_skill_goes_with_it_and_what_others_made_stays(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with world(tmp_path) as here:
        librarian, curator = RemoteLibrarian(home / "daimon.sock"), RemoteCurator(home / "daimon.sock")
        await librarian.install(source(tmp_path), is_approved=True)
        await librarian.change(NAME, "vouch")
        await lived(here)
        assert await files_of(here, home) == {"mine.txt", "made.txt", "deep/also.txt"}
        foreseen = await librarian.foresee_removal(NAME)
        assert set(foreseen.traces.made) >= {"made.txt", "deep/also.txt"}
        assert (foreseen.traces.changed, len(foreseen.traces.reminders), foreseen.forgotten.items["note"]) == (("mine.txt",), 1, 1)
        assert await files_of(here, home) == {"mine.txt", "made.txt", "deep/also.txt"}
        gone = await librarian.remove(NAME)
        assert gone.notes == ()
        assert await files_of(here, home) == {"mine.txt"}
        assert await librarian.all() == ()
        found = await curator.search(Query(space=HOME_SPACE, principal=OWNER, text=WORD))
        assert not [hit for hit in found.hits if WORD in hit.item.text]
        assert [item.text for item in await curator.items(("note",)) if item.text] == [f"note {OWN}"]
        with pytest.raises(NotFound):
            await librarian.remove(NAME)
        await here.owner_does("and now?", says("nothing"))
        assert WORD not in here.seen()
        assert not {"use_skill", "skill_read_feeds"} & {each.name for each in here.model.requests[-1].tools}
        workspaces = RemoteWorkspaces(home / "daimon.sock")
        (only,) = await workspaces.list()
        left = words_in(home)
        assert left[WORD] == ["workspaces"]  # in the checkpoint that an undo goes back to
        assert {"journal.db", "memory.db"} <= set(left[OWN])
        await workspaces.undo(only.id)
        assert await files_of(here, home) == {"mine.txt", "made.txt", "deep/also.txt"}


async def test_while_a_turn_has_its_words_it_is_not_removed_and_nothing_has_changed(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        librarian = RemoteLibrarian(tmp_path / "home" / "daimon.sock")
        await librarian.install(source(tmp_path), is_approved=True)
        here.model.add(do(("use_skill", {"name": NAME})), do(("ask_owner", {"question": "go on?"})))
        await asyncio.to_thread(here.client.send, b'{"type": "message", "text": "what is new?"}')
        await here.question()
        with pytest.raises(BadInput, match="not over"):
            await librarian.remove(NAME)
        (held,) = await librarian.all()
        assert held.state == "ready"


async def test_a_removal_that_was_cut_off_is_finished_at_the_next_start(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with world(tmp_path) as here:
        librarian = RemoteLibrarian(home / "daimon.sock")
        await librarian.install(source(tmp_path), is_approved=True)
        await lived(here)
    index = home / "skills" / "index.json"
    index.write_text(index.read_text().replace('"is_leaving":false', '"is_leaving":true'))
    async with world(tmp_path) as here:
        assert await RemoteLibrarian(home / "daimon.sock").all() == ()
        assert "journal.db" not in words_in(home)[WORD]
        assert await files_of(here, home) == {"mine.txt"}


async def test_what_was_proposed_for_it_goes_with_it_and_other_proposals_wait(tmp_path: Path) -> None:
    clock = SystemClock()
    async with opened(tmp_path / "journal.db") as journal:
        await _proposed_and_forgotten(
            HomeLessons(tmp_path / "lessons", await open_library(tmp_path / "skills", clock), journal, clock, str)
        )
    assert words_in(tmp_path / "lessons") == {WORD: [], OWN: ["p2.json", "p3.json"]}


async def _proposed_and_forgotten(lessons: HomeLessons) -> None:
    proposed = Proposal(id="p1", kind="refine", skill=NAME, text=WORD, diff="", why="", at=SystemClock().now(), fingerprint="1")
    await lessons.propose(proposed, replace(proposed, id="p2", skill="others", text=OWN), replace(proposed, id="p3", kind="new", text=OWN))
    await lessons.forget_skill(NAME)
