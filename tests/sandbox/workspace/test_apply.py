"""What reaches the owner's directory, what never does, and the way back."""

import os
import stat
from pathlib import Path

import pytest
from tests.sandbox.workspace.hand import Hand, shown

from daimon.abi.errors import BadInput
from daimon.sandbox.workspace.store import Store


async def test_what_changed_is_written_and_can_be_taken_back(store: Store, hand: Hand, base: Path) -> None:
    before = shown([base])
    hand.write("readme", "mine\n", 0o755)
    hand.write("new/deep/file", "x")
    hand.delete("src/deep")
    hand.link("link", "readme")
    hand.delete("src/main.py")
    hand.write("src/main.py/now/a", "directory")
    wanted = hand.seen()
    done = await store.apply(hand.workspace)
    assert done.conflicts == ()
    assert shown([base]) == wanted == hand.seen()
    assert (base / "readme").stat().st_mode & 0o777 == 0o755
    assert store.stack_of(hand.workspace).frozen == ()
    back = await store.undo(hand.workspace)
    assert back.conflicts == ()
    assert shown([base]) == before
    assert hand.seen() == wanted
    await store.undo(hand.workspace)
    assert hand.seen() == before


async def test_older_checkpoints_and_forks_show_what_they_always_showed(store: Store, hand: Hand, base: Path) -> None:
    start = (await store.checkpoints(hand.workspace))[-1]
    at_start = hand.seen()
    hand.write("readme", "one\n")
    fork = Hand(store, (await store.fork(hand.workspace)).id, base)
    fork.write("src/deep/data", "forked\n")
    at_fork = fork.seen()
    for content in ("two\n", "three\n"):
        hand.write("readme", content)
        hand.write(f"new {content.strip()}", "x")
        hand.delete("src/main.py")
        assert not (await store.apply(hand.workspace)).conflicts
    assert fork.seen() == at_fork
    there = Hand(store, (await store.fork(hand.workspace, at=start.id)).id, base)
    assert there.seen() == at_start
    await store.restore(hand.workspace, start.id)
    assert hand.seen() == at_start
    assert (base / "readme").read_text() == "three\n"
    assert await store.diff(hand.workspace, start.id) == ()


async def test_a_fork_applies_only_its_own_changes_after_another_apply(store: Store, hand: Hand, base: Path) -> None:
    fork = Hand(store, (await store.fork(hand.workspace)).id, base)
    fork.write("src/deep/data", "forked\n")
    hand.write("readme", "applied\n")
    await store.apply(hand.workspace)
    assert not (await store.apply(fork.workspace)).conflicts
    assert shown([base]) == {
        "readme": "applied\n", "src": "/", "src/deep": "/", "src/deep/data": "forked\n", "src/main.py": "print(1)\n",
    }  # fmt: skip
    assert fork.seen() == shown([base])


async def test_a_fork_does_not_overwrite_what_another_apply_wrote(store: Store, hand: Hand, base: Path) -> None:
    fork = Hand(store, (await store.fork(hand.workspace)).id, base)
    fork.write("readme", "forked\n")
    hand.write("readme", "applied\n")
    await store.apply(hand.workspace)
    done = await store.apply(fork.workspace)
    assert [(each.path, "another apply" in each.why) for each in done.conflicts] == [("readme", True)]
    assert (base / "readme").read_text() == "applied\n"


@pytest.mark.parametrize("edit", ["changed", "removed", "linked", "added below"])
async def test_what_the_owner_changed_since_stops_the_whole_apply(store: Store, hand: Hand, base: Path, edit: str, tmp_path: Path) -> None:
    hand.write("readme", "mine\n")
    hand.write("other", "x")
    hand.delete("src")
    await store.checkpoint(hand.workspace, "one")
    await store.settle()
    match edit:
        case "changed":
            (base / "readme").write_text("yours, longer\n")
        case "removed":
            (base / "readme").unlink()
        case "linked":
            (base / "readme").unlink()
            (base / "readme").symlink_to(tmp_path / "outside")
        case "added below":
            (base / "src/yours").write_text("x")
    before = shown([base])
    done = await store.apply(hand.workspace)
    assert [each.path for each in done.conflicts] == ["src/yours" if edit == "added below" else "readme"]
    assert shown([base]) == before
    assert not (tmp_path / "outside").exists()


async def test_undo_of_an_apply_stops_where_the_owner_went_on(store: Store, hand: Hand, base: Path) -> None:
    hand.write("readme", "mine\n")
    hand.write("new/file", "x")
    await store.apply(hand.workspace)
    (base / "readme").write_text("and yours\n")
    (base / "new/yours").write_text("x")
    done = await store.undo(hand.workspace)
    assert [each.path for each in done.conflicts] == ["readme", "new"]
    assert (base / "readme").read_text() == "and yours\n"
    assert (base / "new/file").exists()


async def test_after_its_undo_an_apply_can_be_mended_and_done_again(store: Store, hand: Hand, base: Path) -> None:
    hand.write("readme", "mine\n")
    hand.write("new", "x")
    await store.apply(hand.workspace)
    await store.undo(hand.workspace)
    hand.write("readme", "mine, mended\n")
    assert not (await store.apply(hand.workspace)).conflicts
    assert (base / "readme").read_text() == "mine, mended\n"
    assert (base / "new").read_text() == "x"
    assert store.stack_of(hand.workspace).frozen == ()


async def test_only_the_paths_that_were_named_are_applied(store: Store, hand: Hand, base: Path) -> None:
    hand.write("new/a", "a")
    hand.write("new/b", "b")
    hand.write("readme", "mine\n")
    hand.delete("src/deep")
    wanted = hand.seen()
    await store.apply(hand.workspace, ("new/a", "src"))
    assert shown([base]).keys() == {"new", "new/a", "readme", "src", "src/main.py"}
    assert hand.seen() == wanted
    assert {change.path for change in await store.diff(hand.workspace)} == {"new/b", "readme"}
    await store.apply(hand.workspace)
    assert shown([base]) == wanted
    with pytest.raises(BadInput):
        await store.apply(hand.workspace, ("nowhere",))


PROGRAMS = (
    ".git/hooks/pre-commit", ".git/config", ".vscode/tasks.json", ".envrc", ".bashrc", "sub/.git/config", "sub/.git/hooks/x", "other/.git",
    "bare/config", "bare/hooks/post-update", ".ssh/authorized_keys",
)  # fmt: skip
HARMLESS = (
    ".git/HEAD",
    ".git/objects/ab/cd",
    "sub/.git/HEAD",
    "bare/HEAD",
    "bare/objects/x",
    "bare/refs/x",
    "src/config",
    "hooks/x",
    ".gitignore",
)


async def test_what_would_run_by_itself_is_left_out_unless_the_owner_says_so(store: Store, hand: Hand, base: Path) -> None:
    for path in (*PROGRAMS, *HARMLESS):
        hand.write(path, "x")
    wanted = hand.seen()
    done = await store.apply(hand.workspace)
    applied = shown([base])
    assert not [path for path in PROGRAMS if path in applied]
    assert not [path for path in HARMLESS if path not in applied]
    assert set(PROGRAMS) <= set(done.left_out)
    assert hand.seen() == wanted
    await store.apply(hand.workspace, with_programs=True)
    assert shown([base]) == wanted


async def test_nothing_runs_with_the_rights_of_another_and_no_pipe_is_made(store: Store, hand: Hand, base: Path) -> None:
    hand.write("tool", "x", 0o6755)
    hand.fifo("pipe")
    done = await store.apply(hand.workspace)
    assert stat.S_IMODE((base / "tool").stat().st_mode) == 0o755
    assert not (base / "pipe").exists()
    assert done.left_out == ("pipe",)


async def test_a_link_in_a_layer_never_leads_an_apply_outside(store: Store, hand: Hand, base: Path, tmp_path: Path) -> None:
    (outside := tmp_path / "outside").mkdir()
    (outside / "data").write_text("theirs")
    hand.delete("src/deep")
    hand.link("src/deep", str(outside))
    hand.link("out", "../outside")
    assert not (await store.apply(hand.workspace)).conflicts
    assert os.readlink(base / "src/deep") == str(outside)
    hand.delete("src/deep")
    hand.write("src/deep/data", "mine")
    hand.delete("out")
    hand.write("out/data", "mine")
    assert not (await store.apply(hand.workspace)).conflicts
    assert (outside / "data").read_text() == "theirs"
    assert (base / "out/data").read_text() == "mine"


async def test_a_link_that_the_owner_made_since_never_leads_an_apply_outside(store: Store, hand: Hand, base: Path, tmp_path: Path) -> None:
    (outside := tmp_path / "outside").mkdir()
    hand.write("src/deep/new", "mine")
    await store.checkpoint(hand.workspace, "one")
    await store.settle()
    (base / "src/deep/data").unlink()
    (base / "src/deep").rmdir()
    (base / "src/deep").symlink_to(outside)
    done = await store.apply(hand.workspace)
    assert [each.path for each in done.conflicts] == ["src/deep"]
    assert list(outside.iterdir()) == []


async def test_strange_names_and_holes_are_carried(store: Store, hand: Hand, base: Path) -> None:
    names = ["with\nnewline", os.fsdecode(b"no text \xff"), " ", "-rf", "ünï"]
    for name in names:
        hand.write(f"{name}/{name}", name.encode(errors="surrogateescape"))
    with (hand.live / "sparse").open("wb") as file:
        file.truncate(64 << 20)
        file.seek(1 << 20)
        file.write(b"x")
    wanted = hand.seen().keys() - {"sparse"}
    assert not (await store.apply(hand.workspace)).conflicts
    assert (base / "sparse").stat().st_blocks < 10_000
    (base / "sparse").unlink()
    assert shown([base]).keys() == wanted


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
async def test_what_root_applies_belongs_to_the_owner_of_the_directory(store: Store, tmp_path: Path) -> None:
    (theirs := tmp_path / "theirs").mkdir()
    (theirs / "shared").write_text("x")
    os.chown(theirs, 12345, 12345)
    os.chown(theirs / "shared", 12345, 54321)
    hand = Hand(store, (await store.new(str(theirs))).id, theirs)
    hand.write("new/file", "x")
    hand.write("shared", "y")
    await store.apply(hand.workspace)
    owners = {path: ((theirs / path).stat().st_uid, (theirs / path).stat().st_gid) for path in ("new", "new/file", "shared")}
    assert owners == {"new": (12345, 12345), "new/file": (12345, 12345), "shared": (12345, 54321)}


async def test_a_file_that_looks_like_one_half_written_is_applied_too(store: Store, hand: Hand, base: Path) -> None:
    names = [f".daimon-{number}.part" for number in range(8)]
    for name in ("a", "z", *names):
        hand.write(name, name)
    await store.apply(hand.workspace)
    assert {name: (base / name).read_text() for name in names} == {name: name for name in names}
    assert len([name for name in os.listdir(base) if name.endswith(".part")]) == len(names)
