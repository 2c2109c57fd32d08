"""A tree in which somebody hostile writes: no path leads out of it, and nothing in it makes the driver wait."""

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from daimon.abi.errors import ToolFailed
from daimon.abi.files import Page, Query, Replacement, shown
from daimon.sandbox.files.driver import Driver

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can do this")
ROUNDS = 200


async def refused(driver: Driver, path: str) -> ToolFailed:
    async with asyncio.timeout(60):
        with pytest.raises(ToolFailed) as failed:
            await driver.read(path)
    return failed.value


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("../secret", "outside"),
        ("folder/../../secret", "outside"),
        ("/etc/passwd", "outside"),
        ("/workspace/other/a", "outside"),
        ("/workspace/work (1)/../../secret", "outside"),
        ("a\0b", "bad_path"),
        ("half \ud800", "bad_path"),
        ("x/" * 3_000, "bad_path"),
        ("x" * 300, "bad_path"),
    ],
)
async def test_a_path_that_leads_elsewhere_is_refused_everywhere(driver: Driver, tree: Path, path: str, reason: str) -> None:
    (tree / "folder").mkdir()
    assert (await refused(driver, path)).reason == reason
    tries = (
        driver.write(path, "x"), driver.edit(path, [Replacement("a", "b")]), driver.list(path), driver.delete(path, recursive=True),
        driver.move(path, "b"), driver.make_directory(path), driver.search(Query(pattern="x", path=path)), driver.find("*", path),
    )  # fmt: skip
    for each in tries:
        with pytest.raises(ToolFailed) as failed:
            await each
        assert failed.value.reason in (reason, "bad_path")


@pytest.mark.parametrize(
    "path", ["a", "./a", "a/../a", "folder/../a", "/workspace/work (1)/a", "/workspace/work (1)/folder/../a", "folder//../a"]
)
async def test_a_path_that_stays_inside_is_read(driver: Driver, tree: Path, path: str) -> None:
    (tree / "folder").mkdir()
    (tree / "a").write_text("mine")
    found = await driver.read(path)
    assert isinstance(found, Page)
    assert (found.path, found.text) == ("a", "mine")


async def test_a_name_with_newlines_is_a_name(driver: Driver, tree: Path) -> None:
    await driver.write("two\nlines\t/a\n", "x")
    assert (tree / "two\nlines\t" / "a\n").read_text() == "x"
    assert (await driver.search(Query(pattern="x"))).hits[0].path == "two\nlines\t/a\n"
    failed = await refused(driver, "no\nsuch")
    assert "\n" not in str(failed)


async def test_a_name_that_is_no_utf8_is_shown_and_found_again(driver: Driver, tree: Path) -> None:
    (tree / os.fsdecode(b"caf\xe9")).write_text("x")
    [item] = (await driver.list()).items
    assert shown(item.name) == "caf\\xe9"
    found = await driver.read(shown(item.name))
    assert isinstance(found, Page)
    assert found.text == "x"
    assert (await driver.search(Query(pattern="x"))).hits[0].path == item.name
    assert (await driver.find("*")).paths == (item.name,)


@pytest.mark.parametrize(
    "target", ["../secret", "/etc/passwd", "../outside/secret", "folder/../../secret", "/workspace/else/a", "/proc/self/environ"]
)
async def test_a_link_outside_is_refused_and_named(driver: Driver, tree: Path, target: str) -> None:
    (tree / "folder").mkdir()
    (tree / "link").symlink_to(target)
    assert (await refused(driver, "link")).reason == "outside"
    with pytest.raises(ToolFailed, match=r"outside|leads out"):
        await driver.write("link", "x")
    assert (tree.parent / "secret").read_text() == "the owner's own"


@pytest.mark.parametrize("target", ["real/a", "/workspace/work (1)/real/a", "real/../real/a", "other"])
async def test_a_link_inside_is_read_through(driver: Driver, tree: Path, target: str) -> None:
    (tree / "real").mkdir()
    (tree / "real/a").write_text("mine")
    (tree / "other").symlink_to("way/a")
    (tree / "way").symlink_to("real")
    (tree / "link").symlink_to(target)
    found = await driver.read("link")
    assert isinstance(found, Page)
    assert (found.path, found.text) == ("real/a", "mine")


async def test_links_that_point_at_each_other_are_told(driver: Driver, tree: Path) -> None:
    (tree / "one").symlink_to("two")
    (tree / "two").symlink_to("one")
    assert (await refused(driver, "one")).reason == "link_loop"
    with pytest.raises(ToolFailed, match="more than 40 links"):
        await driver.write("two/a", "x")


async def test_a_pipe_is_no_file_and_nobody_waits(driver: Driver, tree: Path) -> None:
    os.mkfifo(tree / "pipe")
    assert str(await refused(driver, "pipe")) == "pipe is a pipe, not a file"
    with pytest.raises(ToolFailed, match="is a pipe"):
        await driver.write("pipe", "x")
    (tree / "a").write_text("needle")
    assert [hit.path for hit in (await driver.search(Query(pattern="needle"))).hits] == ["a"]


async def test_a_socket_is_no_file(driver: Driver, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket")
        assert (await refused(driver, "socket")).reason == "not_a_file"


@needs_root
async def test_a_device_is_no_file(driver: Driver, tree: Path) -> None:
    os.mknod(tree / "zero", 0o666 | 0o020000, os.makedev(1, 5))
    assert str(await refused(driver, "zero")) == "zero is a device, not a file"


FLIPPER = """
import ctypes, sys
libc, (one, other) = ctypes.CDLL(None), (word.encode() for word in sys.argv[1:])
print("begun", flush=True)
while libc.renameat2(-1, one, -1, other, 2) == 0:
    pass
"""


@contextmanager
def flipping(tree: Path, one: str, other: str) -> Iterator[None]:
    """Exchanges two names, again and again, in a process of its own: threads would take turns."""
    words = [sys.executable, "-c", FLIPPER, str(tree / one), str(tree / other)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as flipper:
        assert flipper.stdout is not None
        assert flipper.stdout.readline() == b"begun\n"
        try:
            yield
            assert flipper.poll() is None
        finally:
            flipper.kill()


@pytest.mark.parametrize("path", ["way", "way/secret"])
async def test_whoever_swaps_in_a_link_during_a_race_never_leads_out(driver: Driver, tree: Path, path: str) -> None:
    is_file = path == "way"
    if is_file:
        (tree / "way").write_text("mine")
    else:
        (tree / "way").mkdir()
        (tree / "way/secret").write_text("mine")
    (tree / "trap").symlink_to("../secret" if is_file else "../outside")
    read, refused_, number, until = 0, 0, 0, time.monotonic() + 60
    with flipping(tree, "way", "trap"):
        while min(read, refused_) < ROUNDS and time.monotonic() < until:
            number += 1
            try:
                found = await driver.read(path)
                assert isinstance(found, Page)
                assert found.text.startswith("mine")
                read += 1
                await driver.write(path, f"mine {number}", overwrite=True)
                await driver.edit(path, [Replacement("mine", "mine still", all=True)])
                await driver.list(".")
            except ToolFailed:
                refused_ += 1
    assert (tree.parent / "secret").read_text() == "the owner's own"
    assert (tree.parent / "outside/secret").read_text() == "the owner's own"
    assert os.listdir(tree.parent / "outside") == ["secret"]
    assert min(read, refused_) >= ROUNDS


async def test_a_deletion_during_a_race_deletes_nothing_outside(driver: Driver, tree: Path) -> None:
    (tree / "trap").symlink_to("../outside")
    (tree / "way").mkdir()
    with flipping(tree, "way", "trap"):
        for _ in range(ROUNDS):
            try:
                await driver.write("way/secret", "x", overwrite=True)
                await driver.delete("way/secret")
            except ToolFailed:
                continue
    assert (tree.parent / "outside/secret").read_text() == "the owner's own"


async def test_a_search_during_a_race_tells_nothing_from_outside(driver: Driver, tree: Path) -> None:
    (tree / "trap").symlink_to("../outside")
    (tree / "way").mkdir()
    (tree / "way/secret").write_text("a secret of my own")
    with flipping(tree, "way", "trap"):
        for _ in range(20):
            try:
                found = await driver.search(Query(pattern="own"))
            except ToolFailed:
                continue
            assert all(hit.text == "a secret of my own" for hit in found.hits)


async def test_a_tree_that_is_itself_a_link_is_not_opened(driver: Driver, tree: Path) -> None:
    os.rmdir(tree)
    os.symlink("outside", tree)
    assert (await refused(driver, "secret")).reason == "no_workspace"


async def test_another_tree_in_the_same_place_is_seen_at_once(driver: Driver, tree: Path) -> None:
    (tree / "a").write_text("old")
    await driver.read("a")
    os.rename(tree, tree.parent / "before")
    os.mkdir(tree)
    (tree / "a").write_text("new")
    assert driver.changed() == ("a",)
    found = await driver.read("a")
    assert isinstance(found, Page)
    assert found.text == "new"
