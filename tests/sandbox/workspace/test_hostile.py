"""What a box may leave in a layer to harm whoever looks at it, removes it or applies it; and that honest work still goes through."""

import asyncio
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.sandbox.workspace.hand import Hand, shown

from daimon.sandbox.workspace import layer, place
from daimon.sandbox.workspace.store import Store
from daimon.testing.clock import ManualClock

DEADLINE_S = 120
TIB = 1 << 40


async def test_holes_of_any_size_are_no_work(store: Store, hand: Hand) -> None:
    for number in range(64):
        with (hand.live / f"hole {number}").open("wb") as file:
            file.truncate(TIB)
            os.pwrite(file.fileno(), b"%d" % number, TIB - 5_000_000)
    async with asyncio.timeout(DEADLINE_S):
        before = await store.checkpoint(hand.workspace, "holes")
        (hand.live / "small").write_text("x")
        found = await store.diff(hand.workspace, before.id)
        await store.settle()
    assert [change.path for change in found] == ["small"]


def test_a_hole_is_like_the_zeros_that_it_stands_for_and_like_nothing_else(tmp_path: Path) -> None:
    def made(name: str, *pieces: bytes | int) -> str:
        with (tmp_path / name).open("wb") as file:
            for piece in pieces:
                file.write(piece) if isinstance(piece, bytes) else file.seek(piece, os.SEEK_CUR)
            file.truncate()
        with place.opened(str(tmp_path)) as top, place.file(top, name) as file:
            return layer.digest(file)

    many = 3 << 20
    assert made("a", b"x", many, b"y") == made("b", b"x", bytes(many), b"y")
    others = {made("c", b"x", many + 1, b"y"), made("d", b"x", many, b"z"), made("e", many, b"xy"), made("f", b"x", many, b"y\0")}
    assert len({*others, made("g"), made("h", many), made("i", many + 1), made("j", b"x", many, b"y")}) == 8


async def test_names_in_a_copy_do_not_get_into_the_way_of_its_removal(tmp_path: Path, base: Path, clock: ManualClock) -> None:
    store = await Store.open(tmp_path / "workspaces", clock, "copies")
    id = (await store.new(str(base))).id
    ground = await store.copied(id, "work")
    tree = Path(store.store_of(id), id, "work")
    for path in ("d/.1.gone/x", "d/.2.gone/y", "d/a/b", "d/c/b"):
        (tree / path).mkdir(parents=True)
    assert await store.live_changes(id)
    (tree / "more").write_text("x")
    assert "more" in {change.path for change in await store.live_changes(id)}
    await store.detach(id)
    await ground.close()
    await store.close()


@contextmanager
def changing(tree: Path) -> Iterator[None]:
    """Something that still runs, and has a directory in turn with a link, a file and nothing."""
    is_over = threading.Event()

    def change() -> None:
        while not is_over.is_set():
            with suppress(OSError):
                os.rename(tree / "d", tree / "other")
                os.symlink("/", tree / "d")
                os.unlink(tree / "d")
                (tree / "d").write_text("x")
                os.unlink(tree / "d")
                os.rename(tree / "other", tree / "d")

    running = threading.Thread(target=change)
    running.start()
    try:
        yield
    finally:
        is_over.set()
        running.join()


async def test_a_directory_that_keeps_changing_into_other_things_can_be_looked_at(store: Store, hand: Hand) -> None:
    for number in range(20):
        hand.write(f"d/{number}/deep", "x")
    hand.write("steady", "x")
    with changing(hand.live):
        for _ in range(200):
            assert "steady" in {change.path for change in await store.diff(hand.workspace)}


async def test_a_bare_repository_is_not_completed_piece_by_piece(store: Store, hand: Hand, base: Path) -> None:
    hand.write("e/config", "[core]\n\tfsmonitor = touch ran\n")
    hand.write("e/HEAD", "ref: refs/heads/main\n")
    hand.put_directory("e/objects")
    await store.apply(hand.workspace)
    hand.put_directory("e/refs")
    assert (await store.apply(hand.workspace)).left_out == ("e/refs",)
    assert not (base / "e/refs").exists()


@pytest.mark.parametrize("path", [
    ".git/worktrees/other/commondir", ".git/worktrees/other/config.worktree", "vendor/.git/worktrees/other/gitdir",
    ".git/rebase-merge/git-rebase-todo", ".GIT/config", "sub/.Git/hooks/pre-commit", "sub/.hg/hgrc", "web/.vscode/tasks.json", "a/b/.envrc",
    ".husky/pre-commit", ".pre-commit-config.yaml", ".bash_aliases",
])  # fmt: skip
async def test_what_would_run_by_itself_is_left_out_wherever_it_is(store: Store, hand: Hand, base: Path, path: str) -> None:
    hand.write(path, "x")
    assert path in (await store.apply(hand.workspace)).left_out
    assert not (base / path).exists()
    hand.write("readme", "new\n")
    await store.apply(hand.workspace, with_programs=True)
    assert (base / path).read_text() == "x"


async def test_what_a_commit_writes_and_names_that_only_look_alike_are_applied(store: Store, hand: Hand, base: Path) -> None:
    of_git = [".git/HEAD", ".git/index", ".git/refs/heads/config", ".git/objects/ab/cd", ".git/logs/HEAD"]
    paths = [*of_git, "src/config", "hooks/a", "refs/x", "HEAD"]
    for path in paths:
        hand.write(path, "x")
    done = await store.apply(hand.workspace)
    assert (done.left_out, done.conflicts) == ((), ())
    assert all((base / path).read_text() == "x" for path in paths)


async def test_directories_that_are_closed_to_their_owner_hold_nobody_up(store: Store, hand: Hand, base: Path) -> None:
    before = shown([base])
    start = (await store.checkpoint(hand.workspace, "start")).id
    hand.write("closed/deep/file", "x")
    hand.write("src/main.py", "new\n")
    for path in ("closed/deep", "closed", "src"):
        (hand.live / path).chmod(0)
    wanted = {"closed", "closed/deep", "closed/deep/file", "src/main.py"}
    assert {change.path for change in await store.diff(hand.workspace)} >= wanted
    assert {change.path for change in await store.live_changes(hand.workspace)} >= wanted
    made = await store.checkpoint(hand.workspace, "closed")
    assert {change.path for change in await store.diff(hand.workspace, start, made.id)} >= wanted
    for to in (start, made.id):
        assert {change.path for change in (await store.restore(hand.workspace, to)).changes} >= wanted
    done = await store.apply(hand.workspace)
    assert (done.conflicts, done.notes) == ((), ())
    for path in ("src", "closed", "closed/deep"):
        (base / path).chmod((base / path).stat().st_mode | 0o700)
    assert ((base / "closed/deep/file").read_text(), (base / "src/main.py").read_text()) == ("x", "new\n")
    for path in ("src", "closed", "closed/deep") if os.geteuid() == 0 else ():
        (base / path).chmod(0)
    assert not (await store.undo(hand.workspace)).conflicts
    assert shown([base]) == before
    await store.discard(hand.workspace)
    assert not hand.base.parent.joinpath("workspaces/f1").exists()


def immutable(path: Path, how: str) -> bool:
    return subprocess.run(["chattr", how, str(path)], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file that nobody can remove")
async def test_a_stray_that_cannot_be_removed_is_said_and_all_else_starts(
    tmp_path: Path, base: Path, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("f998", "f999"):
        (tmp_path / "workspaces" / name).mkdir(parents=True)
    kept = tmp_path / "workspaces/f998/kept"
    kept.write_text("x")
    if not immutable(kept, "+i"):
        pytest.skip("this file system has no files that cannot be removed")
    try:
        store = await Store.open(tmp_path / "workspaces", clock)
        assert (await store.new(str(base))).base == str(base)
        await store.close()
    finally:
        assert immutable(kept, "-i")
    assert "f998" in caplog.text
    assert not (tmp_path / "workspaces/f999").exists()
