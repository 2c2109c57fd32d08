"""A tree made of layers: what a box sees in it, where it writes, and what layers cannot bring into it."""

import ctypes
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.sandbox.boxes import SMALL, needs_bwrap, said, sh
from tests.sandbox.ground.grounds import NAME, Layers, box_on, ground_of

from daimon.abi.box import Role
from daimon.sandbox.ground import Stack
from daimon.sandbox.plan import UID

pytestmark = needs_bwrap


async def test_a_box_sees_the_base_and_the_layers_the_upper_ones_first(layers: Layers) -> None:
    layers.layer("low", b="low\n", c="low\n")
    layers.layer("high", b="high\n")
    async with ground_of(layers, Stack("one", ("high", "low"))) as ground, box_on(ground, layers) as box:
        assert await said(box, "pwd; cat a b c") == f"/workspace/{NAME}\nbase\nhigh\nlow"


async def test_what_a_box_writes_is_in_the_live_layer_and_belongs_to_the_owner_of_the_base(layers: Layers) -> None:
    layers.layer("low", b="low\n")
    async with ground_of(layers, Stack("one", ("low",))) as ground, box_on(ground, layers) as box:
        await said(box, "echo new > n; echo more >> a; mkdir d; echo x > d/x; ln -s a link; rm b; mv d/x d/y")
        assert await said(box, "cat a n; ls -A") == "base\nmore\nnew\na\nd\nlink\nn"
        assert await said(box, "stat -c %U a n d link | sort -u") == "agent"
    live, owner = layers.tree("one"), layers.base.stat()
    assert (live / "a").read_text() == "base\nmore\n"
    assert sorted(path.name for path in layers.base.iterdir()) == ["a"]
    assert (layers.base / "a").read_text() == "base\n"
    assert (layers.tree("low") / "b").read_text() == "low\n"
    found = [live, *live.rglob("*")]
    assert {(path.lstat().st_uid, path.lstat().st_gid) for path in found} == {(owner.st_uid, owner.st_gid)}
    assert stat.S_ISCHR((live / "b").lstat().st_mode), "what is removed is marked"


async def test_the_gateway_sees_and_writes_the_same_tree_through_the_place(layers: Layers) -> None:
    async with ground_of(layers) as ground, box_on(ground, layers) as box:
        await said(box, "echo x > n")
        with as_user(ground.user):
            os.close(os.open(f"{ground.name}/g", os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=ground.place))
        tree = os.open(ground.name, os.O_RDONLY, dir_fd=ground.place)
        assert sorted(os.listdir(tree)) == ["a", "g", "n"]
        os.close(tree)
        assert await said(box, "stat -c %U g; rm g; ls") == "agent\na\nn"
        assert ground.user == (UID if os.getuid() == 0 else None)


@contextmanager
def as_user(user: int | None) -> Iterator[None]:
    libc = ctypes.CDLL(None)
    if user is not None:
        libc.setfsgid(user)
        libc.setfsuid(user)
    try:
        yield
    finally:
        libc.setfsuid(os.getuid())
        libc.setfsgid(os.getgid())


async def test_what_the_owner_changes_underneath_is_seen_and_breaks_nothing(own: Layers) -> None:
    async with ground_of(own) as ground, box_on(ground, own) as box:
        assert await said(box, "cat a") == "base"
        (own.base / "a").write_text("edited by the owner\n")
        (own.base / "new").write_text("x")
        (own.base / "d").mkdir()
        own.layer("two")
        assert await ground.rotate(Stack("two", ("one",)))
        assert await said(box, "cat a; ls; echo y >> new; cat new; touch d/y; ls d") == "edited by the owner\na\nd\nnew\nxy\ny"
        assert (own.base / "new").read_text() == "x"


async def test_a_directory_of_a_lower_layer_moves_by_copying(own: Layers) -> None:
    (own.base / "d").mkdir()
    (own.base / "d" / "x").write_text("x")
    line = "import os, errno\ntry: os.rename('d', 'e')\nexcept OSError as e: print(errno.errorcode[e.errno])"
    async with ground_of(own) as ground, box_on(ground, own) as box:
        assert await said(box, f'python3 -c "{line}"') == "EXDEV"
        assert await said(box, "mv d e && cat e/x && ls") == "xa\ne"


async def test_programs_and_devices_in_a_layer_give_a_box_nothing(layers: Layers) -> None:
    layers.layer("low")
    program = layers.tree("low") / "whoami"
    shutil.copy("/usr/bin/id", program)
    program.chmod(0o6755)
    devices = os.getuid() == 0
    if devices:
        os.mknod(layers.tree("low") / "null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        (layers.tree("low") / "null").chmod(0o666)
    async with ground_of(layers, Stack("one", ("low",))) as ground, box_on(ground, layers) as box:
        assert await said(box, "./whoami -u; ./whoami -ru") == "1000\n1000"
        assert await said(box, "grep -c ' /workspace.*nosuid,nodev' /proc/self/mountinfo") == "2"
        if devices:
            assert "Permission denied" in (await sh(box, "cat null")).err.head.decode()


async def test_a_box_cannot_write_the_marks_of_overlayfs(own: Layers) -> None:
    (own.base / "d").mkdir()
    (own.base / "d" / "x").write_text("x")
    lines = ["import os", "for n in ('opaque', 'whiteout', 'redirect', 'metacopy'):", " try: os.setxattr('d', 'user.overlay.' + n, b'y')"]
    mark = "\n".join([*lines, " except OSError: pass"])
    async with ground_of(own) as ground, box_on(ground, own) as box:
        await said(box, f'python3 -c "{mark}"; touch d/y')
        own.layer("two")
        assert await ground.rotate(Stack("two", ("one",)))
        assert await said(box, "ls d") == "x\ny"
    found = os.listxattr(own.tree("one") / "d")
    assert not {f"user.overlay.{name}" for name in ("opaque", "whiteout", "redirect", "metacopy")} & set(found)


async def test_a_box_reaches_neither_the_store_nor_the_base_and_unmounts_nothing(own: Layers) -> None:
    async with ground_of(own) as ground, box_on(ground, own) as box:
        for path in (own.base, own.store):
            assert (await sh(box, f"ls {path}")).code != 0
        assert str(own.store.parent) not in await said(box, "cat /proc/self/mountinfo")
        assert await said(box, "ls -A / | grep -c -e base -e store || true") == "0"
        for line in (f"umount /workspace/{NAME}", "umount -l /workspace", "mkdir /workspace/x", f"mv /workspace/{NAME} /workspace/y"):
            assert (await sh(box, f"cd / && {line}")).code != 0, line
        assert await said(box, "cat a") == "base"


async def test_a_role_that_reads_changes_nothing_not_even_modes(own: Layers) -> None:
    async with ground_of(own) as ground, box_on(ground, own, Role(name="reader")) as box:
        assert await said(box, "cat a") == "base"
        for line in ("touch a", "chmod 777 a", "echo x > n", "rm a"):
            assert (await sh(box, line)).code != 0, line
        own.layer("two")
        await ground.rotate(Stack("two", ("one",)))
        assert (await sh(box, "chmod 777 a")).code != 0
    assert not [*own.tree("one").iterdir(), *own.tree("two").iterdir()]


async def test_what_would_run_by_itself_is_not_set_aside_on_a_ground(own: Layers) -> None:
    async with ground_of(own) as ground, box_on(ground, own) as box:
        assert (await sh(box, "echo x > .envrc")).set_aside == ()
        assert await said(box, "cat .envrc") == "x"
    assert not (own.base / ".envrc").exists()


async def test_who_fills_the_disk_is_ended(own: Layers) -> None:
    role = Role(name="w", write=(".",), limits=SMALL)
    async with ground_of(own) as ground, box_on(ground, own, role) as box:
        own.layer("two")
        await said(box, "true")
        await ground.rotate(Stack("two", ("one",)))
        ran = await sh(box, "i=0; while true; do i=$((i+1)); head -c 1000000 /dev/zero > f$i; done")
        assert ran.end == "disk"
        assert await said(box, "rm -f f*; echo on") == "on"


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a:b", "a,b", "a\\b", "x" * 200])
async def test_a_layer_is_a_name_and_no_path(own: Layers, name: str) -> None:
    async with ground_of(own) as ground:
        with pytest.raises(ValueError, match="no name of a layer"):
            await ground.rotate(Stack(name))
        assert ground.is_alive
