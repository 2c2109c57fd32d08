"""With root, the driver has the rights of the tree's owner while it works, and its own before and after. And what a full disk does."""

import asyncio
import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sandbox.files.grounds import driver_on

from daimon.abi.errors import Misconfigured, ToolFailed
from daimon.abi.files import Page, Query
from daimon.sandbox.files.driver import Driver
from daimon.sandbox.files.rights import Rights

USER = 12_345
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can take on the rights of others")


@pytest.fixture
def theirs(tree: Path) -> Iterator[Driver]:
    os.chown(tree, USER, USER)
    with driver_on(tree, user=USER) as driver:
        yield driver


def rights_now() -> tuple[int, int]:
    libc = ctypes.CDLL(None)
    return libc.setfsuid(-1), libc.setfsgid(-1)


@needs_root
async def test_what_is_written_belongs_to_the_owner_of_the_tree(theirs: Driver, tree: Path) -> None:
    await theirs.write("d/small", "x")
    await theirs.write("d/large", "x" * 3_000_000)
    await theirs.make_directory("e")
    await theirs.move("d/small", "e/small")
    for path in ("d", "d/large", "e", "e/small"):
        assert ((tree / path).stat().st_uid, (tree / path).stat().st_gid) == (USER, USER)
    assert rights_now() == (0, 0)


@needs_root
async def test_what_the_owner_of_the_tree_may_not_read_is_not_read(theirs: Driver, tree: Path) -> None:
    (tree / "roots").write_text("needle of root")
    (tree / "roots").chmod(0o600)
    (tree / "open").write_text("needle")
    with pytest.raises(ToolFailed) as failed:
        await theirs.read("roots")
    assert failed.value.reason == "not_permitted"
    assert [hit.path for hit in (await theirs.search(Query(pattern="needle"))).hits] == ["open"]
    theirs.searches_with(None)
    assert [hit.path for hit in (await theirs.search(Query(pattern="needle"))).hits] == ["open"]
    assert rights_now() == (0, 0)


@needs_root
async def test_a_directory_that_is_read_only_for_the_owner_is_told(theirs: Driver, tree: Path) -> None:
    (tree / "closed").mkdir(0o755)
    (tree / "closed/a").write_text("x")
    for work in (theirs.write("closed/a", "y"), theirs.write("closed/b", "y"), theirs.delete("closed/a"), theirs.move("closed/a", "b")):
        with pytest.raises(ToolFailed) as failed:
            await work
        assert failed.value.reason == "not_permitted"
    found = await theirs.read("closed/a")
    assert isinstance(found, Page)
    assert found.text == "x"
    assert os.listdir(tree / "closed") == ["a"]


@needs_root
async def test_operations_side_by_side_in_threads_do_not_mix_their_rights(theirs: Driver, tree: Path) -> None:
    (other := tree.parent / "other").mkdir()
    with driver_on(other) as roots:
        work = [(theirs if n % 2 else roots).write(f"f{n}", "x" * 300_000) for n in range(40)]
        await asyncio.gather(*work)
    assert {(tree / name).stat().st_uid for name in os.listdir(tree)} == {USER}
    assert {(other / name).stat().st_uid for name in os.listdir(other)} == {0}
    assert rights_now() == (0, 0)


@needs_root
async def test_a_file_of_somebody_else_keeps_its_owner(driver: Driver, tree: Path) -> None:
    (tree / "a").write_text("x")
    os.chown(tree / "a", USER, USER)
    await driver.write("a", "y")
    assert ((tree / "a").stat().st_uid, (tree / "a").read_text()) == (USER, "y")


def test_rights_that_cannot_be_had_are_an_error_of_the_operator() -> None:
    code = "import os; os.setresuid(12345, 12345, 12345)\nfrom daimon.sandbox.files.rights import Rights\nwith Rights(1): pass"
    if os.geteuid() != 0:
        with pytest.raises(Misconfigured), Rights(os.geteuid() + 1):
            pass
        return
    code = f"from daimon.sandbox.files.rights import Rights\n{code.split(chr(10))[0]}\nwith Rights(1): pass"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert "Misconfigured" in done.stderr
    assert "cannot take on the rights of user 1" in done.stderr


FULL = """
import asyncio, os, sys
from pathlib import Path
from daimon.sandbox import mounts
mounts.unshare(mounts.NEW_NAMESPACE)
mounts.keep_to_oneself()
tree = Path(sys.argv[1])
mounts.attach(mounts.tmpfs(0, size="1m", mode="0755"), str(tree))
from tests.sandbox.files.grounds import driver_on
from daimon.abi.errors import ToolFailed

async def main():
    with driver_on(tree) as driver:
        await driver.write("a", "old")
        for path in ("a", "b", "c/d"):
            try:
                await driver.write(path, "x" * 2_000_000)
            except ToolFailed as failed:
                print(failed.reason, failed)
        print((await driver.read("a")).text, sorted(os.listdir(tree)))
        await driver.write("a", "new")
        print((tree / "a").read_text())
        mounts.seal(str(tree))
        try:
            await driver.write("a", "newer")
        except ToolFailed as failed:
            print(failed.reason)

asyncio.run(main())
"""


@needs_root
def test_on_a_full_disk_nothing_is_half_written(tree: Path) -> None:
    paths = os.pathsep.join([*(path for path in sys.path if path), str(Path(__file__).parents[3])])
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tree)], capture_output=True, text=True, check=False, timeout=60, env={"PYTHONPATH": paths}
    )
    assert done.stdout.splitlines() == [
        "disk_full cannot write a: there is no space left; nothing was changed",
        "disk_full cannot write b: there is no space left; nothing was changed",
        "disk_full cannot write c/d: there is no space left; nothing was changed",
        "old ['a', 'c']",
        "new",
        "read_only",
    ], done.stderr
