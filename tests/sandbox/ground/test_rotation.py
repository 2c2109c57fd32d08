"""The tree is exchanged while boxes stand on it: all of them see the next one, and whoever holds the old one is told of."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.sandbox.boxes import DEADLINE_S, WORKER, needs_bwrap, said, sh
from tests.sandbox.ground.grounds import NAME, Layers, box_on, ground_of

from daimon.abi.box import Command, Role
from daimon.sandbox.box import RunningBox
from daimon.sandbox.ground import Stack
from daimon.sandbox.pins import pins_of

pytestmark = needs_bwrap
FIND = "for p in /proc/[0-9]*; do grep -q 'while :; do [s]leep' $p/cmdline && kill -USR1 ${p#/proc/}; done; true"
"""Tells the command of a test that it may go on."""
READER = Role(name="reader", read=(".",), write=(), limits=WORKER.limits)
PATTERNS = Role(name="patterns", read=("docs", "*.md"), write=("site", "new*"), limits=WORKER.limits)


@asynccontextmanager
async def running(box: RunningBox, line: str) -> AsyncIterator["asyncio.Task[object]"]:
    """A command that has said something, and goes on until the end of the block, or of its input. As what a shell left running: nobody
    says that the tree is in use."""
    heard = asyncio.Event()
    command = Command(argv=("/bin/sh", "-c", line), timeout_s=DEADLINE_S)
    task = asyncio.create_task(box._run(command, (lambda _: heard.set(), lambda _: None)))
    try:
        async with asyncio.timeout(DEADLINE_S):
            await heard.wait()
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])


async def test_a_rotation_is_seen_by_a_running_box_and_by_a_second_one(layers: Layers) -> None:
    async with ground_of(layers) as ground, box_on(ground, layers) as first, box_on(ground, layers) as second:
        await said(first, "echo 1 > x")
        layers.layer("two")
        assert await ground.rotate(Stack("two", ("one",)))
        assert await said(second, "cat x; echo 2 > x; echo y > y") == "1"
        assert await said(first, "cat x y") == "2\ny"
        assert await ground.rotate(Stack("one")), "back to what was before"
        for box in (first, second):
            assert await said(box, "cat x; ls") == "1\na\nx"
        async with box_on(ground, layers) as third:
            assert await said(third, "cat x") == "1"
    assert (layers.tree("one") / "x").read_text() == "1\n"
    assert (layers.tree("two") / "x").read_text() == "2\n"


async def test_two_workspaces_on_the_same_layers_do_not_see_what_the_other_writes(layers: Layers) -> None:
    layers.layer("below", x="below\n")
    layers.layer("fork")
    stacks = (Stack("one", ("below",)), Stack("fork", ("below",)))
    async with (
        ground_of(layers, stacks[0]) as first,
        ground_of(layers, stacks[1]) as second,
        box_on(first, layers) as here,
        box_on(second, layers) as there,
    ):
        assert await said(here, "cat x; echo here > x") == "below"
        assert await said(there, "cat x; echo there > x; cat x") == "below\nthere"
        layers.layer("two")
        assert await first.rotate(Stack("two", ("one", "below")))
        assert (await said(here, "cat x"), await said(there, "cat x")) == ("here", "there")


async def test_frozen_layers_stay_as_they_were(own: Layers) -> None:
    async with ground_of(own) as ground, box_on(ground, own) as box:
        names = ["one"]
        for n in range(5):
            await said(box, f"echo {n} > x; echo {n} > x{n}")
            names.insert(0, own.layer(f"next{n}"))
            assert await ground.rotate(Stack(names[0], tuple(names[1:])))
    for n, name in enumerate(reversed(names[1:])):
        assert {path.name: path.read_text() for path in own.tree(name).iterdir()} == {"x": f"{n}\n", f"x{n}": f"{n}\n"}


@pytest.mark.parametrize(
    ("line", "is_sealed"),
    [
        ("echo; exec sleep 1000", False),
        ("cd /; exec 3>> /workspace/work/log; echo; exec sleep 1000", False),
        ("cd /; echo; exec sleep 1000", True),
    ],
    ids=["directory", "file", "nothing"],
)
async def test_who_still_holds_the_old_tree_is_told_of_and_it_is_exchanged_all_the_same(own: Layers, line: str, is_sealed: bool) -> None:
    async with ground_of(own) as ground, box_on(ground, own) as box, running(box, line):
        own.layer("two", b="two\n")
        assert await ground.rotate(Stack("two", ("one",))) is is_sealed
        assert await said(box, "cat b; echo n > n") == "two"
        assert (own.tree("two") / "n").exists()


@pytest.mark.parametrize(
    "line", ["echo; exec sleep 1000", "cd /; exec 3>> /workspace/work/log; echo; exec sleep 1000"], ids=["directory", "file"]
)
async def test_a_tree_that_somebody_holds_can_be_left_where_it_is(layers: Layers, line: str) -> None:
    async with ground_of(layers) as ground, box_on(ground, layers) as box, box_on(ground, layers, READER) as reader:
        layers.layer("two", b="two\n")
        async with running(box, line):
            for n in range(3):
                assert not await ground.try_rotate(Stack("two", ("one",)))
                await said(box, f"echo {n} > n; test ! -e b")
                assert (layers.tree("one") / "n").read_text() == f"{n}\n"
                assert await said(reader, "cat n") == str(n)
        assert await ground.try_rotate(Stack("two", ("one",)))
        assert await said(box, "cat b n; echo x > x") == await said(reader, "cat b n") == "two\n2"
        assert (layers.tree("two") / "x").exists()


async def test_who_holds_it_and_only_reads_keeps_it_there_too(layers: Layers) -> None:
    async with ground_of(layers) as ground, box_on(ground, layers) as box, box_on(ground, layers, READER) as reader:
        layers.layer("two", b="two\n")
        async with running(reader, "echo; exec sleep 1000"):
            assert not await ground.try_rotate(Stack("two", ("one",)))
            await said(box, "echo 1 > n; cat a")
            assert await said(reader, "cat n") == "1"
        assert await ground.try_rotate(Stack("two", ("one",)))
        assert await said(reader, "cat b n") == "two\n1"


async def test_a_command_that_stands_elsewhere_and_only_names_files_finds_them_at_all_times(layers: Layers) -> None:
    """Between two trees there is none for a moment."""
    line = "cd /; for n in $(seq 300); do echo $n >> /workspace/work/log || exit 1; done; ls /workspace/work"
    async with ground_of(layers) as ground, box_on(ground, layers) as box:
        command = asyncio.create_task(said(box, line))
        frozen, number = ["one"], 0
        while not command.done():
            layers.layer(f"l{number}")
            if await ground.try_rotate(Stack(f"l{number}", tuple(frozen))):
                frozen.insert(0, f"l{number}")
            number += 1
            await asyncio.sleep(0)
        assert "log" in await command
        assert (await said(box, "cat log")).split() == [str(n) for n in range(1, 301)]
        layers.layer("last")
        assert await ground.try_rotate(Stack("last", tuple(frozen))), "and afterwards it goes on"


async def test_without_a_box_nobody_holds_it(own: Layers) -> None:
    async with ground_of(own) as ground:
        own.layer("two")
        assert await ground.rotate(Stack("two", ("one",)))


async def test_the_gateway_holding_a_file_counts_too(own: Layers) -> None:
    async with ground_of(own) as ground:
        own.layer("two")
        held = os.open(f"{ground.name}/a", os.O_RDONLY, dir_fd=ground.place)
        assert not await ground.rotate(Stack("two", ("one",)))
        os.close(held)
        assert await ground.rotate(Stack("one"))


async def test_who_goes_back_into_the_directory_sees_the_next_tree(own: Layers) -> None:
    line = f"trap 'cd /workspace/{NAME}; ls; exit' USR1; echo; while :; do sleep 0.01; done"
    async with ground_of(own) as ground, box_on(ground, own) as box, running(box, line) as task:
        own.layer("two", b="two\n")
        assert not await ground.rotate(Stack("two", ("one",)))
        await said(box, FIND)
        async with asyncio.timeout(DEADLINE_S):
            ran = await task
        assert ran.out.head.decode().split() == ["a", "b"]  # type: ignore[attr-defined]


# -- what would run by itself


@pytest.fixture
def pinned(own: Layers) -> Layers:
    (own.base / ".git" / "hooks").mkdir(parents=True)
    (own.base / ".git" / "hooks" / "pre-commit").write_text("hook")
    (own.base / ".git" / "config").write_text("[core]\n")
    (own.base / ".envrc").write_text("x")
    return own


async def test_pins_hold_after_three_rotations_and_cannot_be_moved_away(pinned: Layers) -> None:
    pins = pins_of(str(pinned.base))
    async with ground_of(pinned, pins=pins) as ground, box_on(ground, pinned) as box, box_on(ground, pinned) as other:
        names = ["one"]
        for n in range(4):
            await unharmed(box)
            assert await said(other, f"ls; echo {n} > x; cat x; touch .git/index") == "\n".join(["a", *(["x"] if n else []), str(n)])
            names.insert(0, pinned.layer(f"next{n}"))
            assert await ground.rotate(Stack(names[0], tuple(names[1:])))
        assert await said(box, "cat x") == "3", "a pin did not keep an old tree in place"
        assert await said(box, f"grep -c ' /workspace/{NAME} ' /proc/self/mountinfo") == "1"


async def test_pins_hold_on_a_tree_that_was_left_where_it_is(pinned: Layers) -> None:
    async with ground_of(pinned, pins=pins_of(str(pinned.base))) as ground, box_on(ground, pinned) as box:
        pinned.layer("two")
        lines = "cd /; exec 3< /workspace/work/.git/config; echo; exec sleep 1000", "echo; exec sleep 1000"
        for line in lines:
            async with running(box, line):
                for _ in range(2):
                    assert not await ground.try_rotate(Stack("two", ("one",)))
                    await unharmed(box)
                assert await said(box, "grep -c ' /workspace/work/.envrc ' /proc/self/mountinfo") == "1"
        assert await ground.try_rotate(Stack("two", ("one",)))
        await unharmed(box)


async def unharmed(box: RunningBox) -> None:
    for line in (
        "echo e > .envrc",
        "mv .envrc e",
        "rm .envrc",
        "echo e > .git/hooks/x",
        "mv .git g",
        "rm -rf .git/hooks",
    ):
        assert (await sh(box, line)).code != 0, line
    assert await said(box, "cat .envrc .git/hooks/pre-commit .git/config") == "xhook[core]"


async def test_pins_of_a_directory_that_was_moved_do_not_lead_the_holder_astray(own: Layers) -> None:
    (own.base / "deep").mkdir()
    (own.base / "deep" / ".envrc").write_text("x")
    async with ground_of(own, pins=("deep/.envrc",)) as ground, box_on(ground, own) as box:
        await sh(box, "mkdir -p fresh/deep; mv deep gone; ln -s /workspace deep")
        own.layer("two")
        await ground.rotate(Stack("two", ("one",)))
        assert await said(box, "cat a") == "base"
        assert ground.is_alive


# -- roles


async def test_a_role_with_patterns_reads_and_writes_as_before_after_a_rotation(layers: Layers) -> None:
    for name in ("docs", "site", "secret"):
        (layers.base / name).mkdir()
        layers.give(layers.base / name)
        layers.write(layers.base / name / "x", name)
    async with ground_of(layers) as ground, box_on(ground, layers, PATTERNS) as box:
        names = ["one"]
        for n in range(3):
            assert await said(box, "cat docs/x") == "docs"
            await said(box, f"echo {n} > site/n{n}; ls site")
            for line in ("cat secret/x", "echo x > docs/y", "echo x > z"):
                assert (await sh(box, line)).code != 0, line
            names.insert(0, layers.layer(f"next{n}"))
            assert await ground.rotate(Stack(names[0], tuple(names[1:])))
        assert await said(box, "ls site") == "n0\nn1\nn2\nx"


async def test_a_role_is_given_what_a_layer_has_and_no_link_leads_out(own: Layers, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    own.layer("low")
    tree = own.tree("low")
    (tree / "site").mkdir()
    (tree / "other").mkdir()
    (tree / "newly").symlink_to("other")
    (tree / "newer").symlink_to(outside)
    (tree / "newest").symlink_to("../../../base")
    role = PATTERNS
    async with ground_of(own, Stack("one", ("low",))) as ground, box_on(ground, own, role) as box:
        await said(box, "echo x > site/x; echo x > newly/x; cat other/x")
        for line in ("echo x > newer/x", "echo x > newest/x", "echo x > here"):
            assert (await sh(box, line)).code != 0, line
    assert not [*outside.iterdir()]


# -- what goes wrong


async def test_if_the_next_tree_cannot_be_mounted_the_old_one_is_there_again(own: Layers) -> None:
    async with ground_of(own) as ground, box_on(ground, own) as box:
        await said(box, "echo x > x")
        with pytest.raises(OSError, match="could not be exchanged"):
            await ground.rotate(Stack("nowhere", ("one",)))
        assert ground.is_alive
        assert await said(box, "cat x; echo y > y; ls") == "x\na\nx\ny"
        own.layer("two")
        assert await ground.rotate(Stack("two", ("one",)))
        assert await said(box, "ls") == "a\nx\ny"


async def test_if_nothing_can_be_mounted_the_ground_is_dead_and_says_so(own: Layers) -> None:
    async with ground_of(own) as ground:
        (own.store / "one").rename(own.store / "gone")
        with pytest.raises(OSError, match="nor can what was there before"):
            await ground.rotate(Stack("nowhere"))
        with pytest.raises(OSError, match="has ended"):
            await ground.rotate(Stack("one"))
