"""Whose files they are, and which directories can be a workspace."""

import os
import stat
from pathlib import Path

import pytest
from tests.sandbox.boxes import NOBODY, WORKER, needs_bwrap, needs_root, opened, place_of, said, sh

from daimon.abi.errors import Misconfigured
from daimon.sandbox.box import start
from daimon.sandbox.plan import Wanted

pytestmark = needs_bwrap


async def test_what_a_box_makes_belongs_to_the_owner(tmp_path: Path) -> None:
    async with opened(WORKER, tmp_path) as box:
        await said(box, "echo x > file; mkdir d; echo y > d/y; ln -s file link; cp /usr/bin/true program")
        assert await said(box, "stat -c %u:%g file") == "1000:1000"
    for path in (tmp_path / "file", tmp_path / "d", tmp_path / "d" / "y", tmp_path / "link"):
        assert (path.lstat().st_uid, path.lstat().st_gid) == (os.getuid(), os.getgid()), path
    assert stat.S_IMODE((tmp_path / "program").stat().st_mode) & 0o7000 == 0


async def test_what_the_owner_made_can_be_changed_in_a_box(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("old\n")
    (tmp_path / "mine").chmod(0o600)
    async with opened(WORKER, tmp_path) as box:
        assert await said(box, "cat mine && echo new > mine && chmod 640 mine") == "old"
    assert (tmp_path / "mine").read_text() == "new\n"
    assert stat.S_IMODE((tmp_path / "mine").stat().st_mode) == 0o640


@needs_root
async def test_in_a_workspace_of_somebody_else_all_belongs_to_them() -> None:
    with place_of(NOBODY) as place:
        (place / "of-root").write_text("root's\n")
        (place / "of-root").chmod(0o600)
        async with opened(WORKER, place) as box:
            await said(box, "echo x > file && mkdir d")
            assert (await sh(box, "cat of-root")).code != 0
            assert (await sh(box, "chown 0 file")).code != 0
        assert {(place / name).stat().st_uid for name in ("file", "d")} == {NOBODY}
        assert (place / "of-root").read_text() == "root's\n"


@pytest.mark.parametrize("name", ["a b", "-rf", "...", "a;b'c\"d", "grüße", "星", "a\nb", "$(id)", "[x]*?", "x" * 255])
async def test_a_workspace_may_have_any_name(tmp_path: Path, name: str) -> None:
    place = tmp_path / name
    place.mkdir()
    async with opened(WORKER, place) as box:
        assert await said(box, "pwd") == box.directory
        await said(box, "echo x > made")
    assert (place / "made").read_text() == "x\n"


async def test_a_workspace_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    async with opened(WORKER, tmp_path / "link") as box:
        await said(box, "echo x > made")
    assert (tmp_path / "real" / "made").exists()


async def test_a_workspace_below_a_closed_directory_can_be_used(tmp_path: Path) -> None:
    (tmp_path / "closed" / "w").mkdir(parents=True)
    (tmp_path / "closed").chmod(0o700)
    async with opened(WORKER, tmp_path / "closed" / "w") as box:
        assert await said(box, "echo x > made && ls") == "made"


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/", "belongs to the system"),
        ("/etc", "belongs to the system"),
        ("/usr/share", "belongs to the system"),
        ("/proc/self", "belongs to the system"),
        ("/nowhere/at/all", "cannot be used: No such file"),
        ("/etc/passwd", "is not a directory"),
    ],
)
async def test_a_directory_that_cannot_be_a_workspace_is_refused(path: str, says: str) -> None:
    with pytest.raises(Misconfigured, match=says):
        await start(Wanted(WORKER, Path(path), {}))


async def test_a_link_in_a_circle_is_refused(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(Misconfigured, match="cannot be used"):
        await start(Wanted(WORKER, tmp_path / "loop", {}))
