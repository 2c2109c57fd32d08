"""What a role may do, in real boxes; and the files that roles are written in."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.sandbox.boxes import needs_bwrap, opened, said, sh

from daimon.abi.box import Place, Role
from daimon.abi.errors import Misconfigured
from daimon.sandbox import landlock, role_files
from daimon.sandbox.box import RunningBox, start
from daimon.sandbox.plan import Wanted

needs_landlock = pytest.mark.skipif(landlock.abi_version() == 0, reason="this kernel has no Landlock: roles are not held to their paths")


@asynccontextmanager
async def shipped(name: str, workspace: Path) -> AsyncIterator[RunningBox]:
    for path in ("src/a.py", "pyproject.toml", ".github/ci.yml", "notes.txt", "app.yaml", "deploy/service.conf"):
        (workspace / path).parent.mkdir(exist_ok=True)
        (workspace / path).write_text(f"this is {path}\n")
    async with opened(role_files.read(name, workspace / "no-roles"), workspace) as box:
        yield box


async def refused(box: RunningBox, line: str) -> bool:
    ran = await sh(box, line)
    return ran.code != 0 and any(word in ran.err.head for word in (b"ermission denied", b"Read-only", b"cannot"))


@needs_bwrap
@needs_landlock
async def test_an_analyst_reads_and_changes_nothing(tmp_path: Path) -> None:
    async with shipped("analyst", tmp_path) as box:
        assert await said(box, "grep -rl 'this is' . | wc -l") == "6"
        assert await said(box, "git --version | cut -c1-3; cat src/a.py | sed s/this/that/") == "git\nthat is src/a.py"
        assert await said(box, "echo x > /tmp/x && cat /tmp/x") == "x"
        for line in ("echo x >> notes.txt", "touch new", "rm notes.txt", "mv notes.txt other", "mkdir d"):
            assert await refused(box, line), line


@needs_bwrap
@needs_landlock
@pytest.mark.parametrize("line", ["python3 -c 1", "perl -e 1", "cp /usr/bin/id /tmp/id && /tmp/id", "/usr/bin/python3 --version"])
async def test_an_analyst_runs_what_is_listed(tmp_path: Path, line: str) -> None:
    async with shipped("analyst", tmp_path) as box:
        assert await refused(box, line)


@needs_bwrap
@needs_landlock
async def test_a_refactorer_writes_source_and_leaves_the_rest(tmp_path: Path) -> None:
    async with shipped("refactorer", tmp_path) as box:
        line = "echo x >> src/a.py && echo y > src/new.py && mkdir src/d && mv src/new.py src/d/ && cat src/d/new.py"
        assert await said(box, line) == "y"
        assert await said(box, "python3 -c 'print(1)'; cat pyproject.toml") == "1\nthis is pyproject.toml"
        for line in (
            "echo x >> pyproject.toml",
            "echo x > .github/ci.yml",
            "touch .github/new",
            "rm pyproject.toml",
            "mv src/a.py .github/",
        ):
            assert await refused(box, line), line


@needs_bwrap
@needs_landlock
async def test_a_deployer_reads_manifests_only(tmp_path: Path) -> None:
    async with shipped("deployer", tmp_path) as box:
        assert await said(box, "cat app.yaml deploy/service.conf") == "this is app.yaml\nthis is deploy/service.conf"
        for line in ("cat notes.txt", "cat src/a.py", "echo x > app.yaml"):
            assert await refused(box, line), line
        assert await said(box, "ls src") == "a.py"  # names are no secret to it


@needs_bwrap
@needs_landlock
async def test_what_a_role_writes_may_come_to_be_between_commands(tmp_path: Path) -> None:
    async with opened(Role(name="late", write=("out",)), tmp_path) as box:
        assert await refused(box, "echo x > out/x")
        (tmp_path / "out").mkdir(mode=0o777)
        assert await said(box, "echo x > out/x && cat out/x") == "x"
        (tmp_path / "out" / "x").unlink()
        (tmp_path / "out").rename(tmp_path / "was")
        (tmp_path / "out").mkdir(mode=0o777)
        assert await said(box, "echo y > out/y && cat out/y") == "y"
        assert await refused(box, "echo z > was/z")


@needs_bwrap
@needs_landlock
async def test_a_link_out_of_the_workspace_grants_nothing(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "out").symlink_to("/usr")
    async with opened(Role(name="linked", write=("out",)), tmp_path / "w") as box:
        assert (await sh(box, "touch out/x")).code != 0


@needs_bwrap
@needs_landlock
async def test_a_role_runs_programs_of_the_workspace_that_it_names(tmp_path: Path) -> None:
    for name in ("tools/good", "other/bad"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("#!/bin/sh\necho ran\n")
        (tmp_path / name).chmod(0o755)
    async with opened(Role(name="picky", commands=("sh",), execute=("tools",)), tmp_path) as box:
        assert await said(box, "tools/good") == "ran"
        assert await refused(box, "other/bad")


@contextmanager
def outside_tmp(*places: str) -> Iterator[str]:
    """/tmp in a box is the box's own."""
    with TemporaryDirectory(dir="/var/tmp", prefix="daimon-box-") as name:
        Path(name).chmod(0o755)
        for place in places:
            Path(name, place).mkdir()
            Path(name, place, "data").write_text("outside\n")
        yield name


@needs_bwrap
async def test_a_role_reads_what_it_names_outside_and_cannot_change_it(tmp_path: Path) -> None:
    with outside_tmp("named", "other") as name:
        async with opened(Role(name="reader", read=(".", f"{name}/named"), write=(".",)), tmp_path) as box:
            assert await said(box, f"cat {name}/named/data") == "outside"
            assert (await sh(box, f"echo x > {name}/named/data")).code != 0
            assert (await sh(box, f"ls {name}/other")).code != 0


@needs_bwrap
@pytest.mark.parametrize(
    ("role", "says"),
    [
        (Role(name="r", read=("/nowhere/at/all",)), "names /nowhere/at/all, which is not there"),
        (Role(name="r", write=("/var/tmp",)), "writes /var/tmp: a box writes into its workspace only"),
        (Role(name="r", read=("/",)), "the whole machine is not for a box"),
    ],
)
async def test_a_role_that_cannot_be_held_to_is_refused(tmp_path: Path, role: Role, says: str) -> None:
    with pytest.raises(Misconfigured, match=says):
        await start(Wanted(role, tmp_path, {}))


# -- files


def test_the_shipped_roles_are_whole(tmp_path: Path) -> None:
    assert set(role_files.names(tmp_path)) == {"analyst", "deployer", "refactorer", "worker"}
    assert all(role_files.described(path) and role_files.read(name, tmp_path) for name, path in role_files.names(tmp_path).items())


def test_an_own_file_says_all_there_is_and_wins(tmp_path: Path) -> None:
    (tmp_path / "worker.toml").write_text("""
description = "mine"
read = ["."]
write = ["src"]
commands = ["git"]
profile = "strict"
secrets = { TOKEN = "vault:token" }
environment = { A = "b" }
[limits]
memory_mb = 512
[[places]]
host = "*.example.org"
ports = [8443]
methods = ["GET"]
paths = ["/api/"]
""")
    found = role_files.read("worker", tmp_path)
    assert found.places == (Place("*.example.org", (8443,), ("GET",), ("/api/",)),)
    assert (found.write, found.commands, found.profile, found.secrets) == (("src",), ("git",), "strict", {"TOKEN": "token"})
    assert found.limits == replace(Role(name="x").limits, memory_mb=512)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("raed = ['.']", "raed: unknown key; known are description, read"),
        ("read = [", "is not valid TOML"),
        ("read = ['']", "read.0"),
        ("profile = 'open'", "profile"),
        ("[limits]\nmemory_mb = 1", "limits.memory_mb"),
        ("[limits]\nmemroy_mb = 512", "limits.memroy_mb: unknown key"),
        ("[[places]]\nhost = 'a b'", "places.0.host"),
        ("[secrets]\nTOKEN = 'hunter2'", "secrets.TOKEN"),
        ("[environment]\n'A=B' = 'x'", "environment"),
    ],
)
def test_a_file_that_does_not_say_what_a_role_is_is_refused_with_the_place(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "own.toml").write_text(text)
    with pytest.raises(Misconfigured) as refusal:
        role_files.read("own", tmp_path)
    assert says in str(refusal.value)
    assert "own.toml" in str(refusal.value)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(Misconfigured, match="not valid TOML"):
        role_files.read("own", tmp_path)


def test_a_role_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="there is no role 'chief'; known are analyst, deployer, refactorer, worker"):
        role_files.read("chief", tmp_path)
