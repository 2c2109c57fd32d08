"""What would run by itself on the owner's machine: it cannot be changed from a box, and what appears is set aside."""

import os
import shutil
import subprocess
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.sandbox.boxes import WORKER, needs_bwrap, opened, said, sh

import daimon
from daimon.sandbox.box import RunningBox
from daimon.sandbox.pins import Pins

pytestmark = [needs_bwrap, pytest.mark.skipif(shutil.which("git") is None, reason="git is not on this machine")]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", str(made)], check=True)
    hook = made / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 0\n")
    hook.chmod(0o755)
    (made / ".envrc").write_text("export A=1\n")
    (made / ".vscode").mkdir()
    return made


@pytest.fixture(scope="module")
async def pinned(repository: Path) -> AsyncIterator[RunningBox]:
    async with opened(WORKER, repository) as box:
        yield box


ATTACKS = [
    "echo evil >> .git/hooks/pre-commit",
    "rm .git/hooks/pre-commit",
    "echo evil > .git/hooks/post-checkout",
    "mv .git/hooks .git/was",
    "rm -rf .git/hooks",
    "git config core.fsmonitor ./evil",
    "echo evil >> .git/config",
    "mv .git/config .git/c",
    "mv .git gone",
    "ln -sf /tmp/x .git/config",
    "echo evil > .envrc",
    "rm .envrc",
    "mv .envrc x",
    "echo '{}' > .vscode/tasks.json",
    "mv .vscode v",
]


@pytest.mark.parametrize("line", ATTACKS)
async def test_what_is_there_cannot_be_changed(pinned: RunningBox, repository: Path, line: str) -> None:
    before = seen(repository)
    assert (await sh(pinned, line)).code != 0
    assert seen(repository) == before


def seen(repository: Path) -> dict[str, str]:
    paths = (".git/hooks/pre-commit", ".git/config", ".envrc")
    return {path: (repository / path).read_text() for path in paths} | {"names": str(sorted(p.name for p in repository.iterdir()))}


async def test_git_still_commits(pinned: RunningBox) -> None:
    line = "echo a > a && git add a && git commit -qm one && git checkout -qb side && git tag t && git log --format=%s"
    assert await said(pinned, line) == "one"


@pytest.mark.parametrize("line", ["echo x > .bashrc", "mkdir .idea", "ln -s /etc .ssh", "mkfifo .zshrc", "echo x > .git/commondir"])
async def test_what_appears_is_set_aside_and_said(pinned: RunningBox, repository: Path, line: str) -> None:
    name = line.split()[-1]
    ran = await sh(pinned, line)
    [told] = ran.set_aside
    was, _, now = told.partition(" → ")
    assert was == name
    assert not (repository / name).is_symlink()
    assert not (repository / name).exists()
    assert now.split("/")[-1] in {path.name for path in (repository / now).parent.iterdir()}
    assert (await sh(pinned, "true")).set_aside == ()


async def test_setting_aside_twice_keeps_both(pinned: RunningBox, repository: Path) -> None:
    for text in ("first", "second"):
        assert (await sh(pinned, f"echo {text} > .mcp.json")).set_aside
    texts = {(repository / f"mcp.json.set-aside-{n}").read_text() for n in (1, 2)}
    assert texts == {"first\n", "second\n"}


async def test_ordinary_files_are_left_alone(pinned: RunningBox) -> None:
    assert (await sh(pinned, "mkdir -p src/.hidden && echo x > src/.hidden/config && echo y > .gitignore")).set_aside == ()


async def test_a_new_repository_is_left_alone_until_something_in_it_would_run(tmp_path: Path) -> None:
    async with opened(WORKER, tmp_path) as box:
        assert (await sh(box, "git init -q && echo a > a && git add a && git commit -qm one")).set_aside == ()
        assert await said(box, "git log --format=%s") == "one"
        assert (await sh(box, "git remote add origin https://example.org/x.git && git branch side")).set_aside == ()
        ran = await sh(box, "printf '#!/bin/sh\\nevil\\n' > .git/hooks/pre-commit")
        assert [told.partition(" → ")[0] for told in ran.set_aside] == [".git", "git.set-aside-1/HEAD"]
    assert not (tmp_path / ".git").exists()


@pytest.mark.parametrize(
    "line",
    [
        "git config core.fsmonitor ./evil",
        "git config core.sshCommand ./evil",
        "git config alias.x '!./evil'",
        "git config include.path ../evil",
        "git config remote.origin.url 'ext::sh -c evil'",
        "printf '[core] fsmonitor = ./evil\\n' >> .git/config",
        "printf '[core]\\n\\tbare = \\\\\\n./evil\\n' >> .git/config",
        "printf '[user]\\n\\tname = x\\r[core]\\n\\tpager = ./evil\\n' >> .git/config",
        "mv .git real && echo 'gitdir: real' > .git",
        "mv .git real && ln -s real .git",
        "rm .git/config && mkfifo .git/config",
        "rm -r .git/hooks && ln -s ../evil .git/hooks",
    ],
)
def test_a_new_repository_with_a_way_to_a_program_is_set_aside(tmp_path: Path, line: str) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path / "work")], check=True)
    (tmp_path / "work" / ".git").rename(tmp_path / "held")
    pins = Pins(str(tmp_path / "work"))
    (tmp_path / "held").rename(tmp_path / "work" / ".git")
    assert pins.sweep() == ()
    subprocess.run(["sh", "-c", line], cwd=tmp_path / "work", check=True)
    moved = [told.partition(" → ")[0] for told in pins.sweep()]
    assert moved[0] == ".git"
    assert set(moved[1:]) <= {"git.set-aside-1/HEAD", "real/HEAD"}  # what lies there now is no repository either


async def test_a_file_that_says_where_the_repository_is_cannot_be_rewritten(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /nowhere/of/mine\n")
    async with opened(WORKER, tmp_path) as box:
        assert (await sh(box, "echo 'gitdir: evil' > .git")).code != 0
        assert (await sh(box, "mv .git x")).code != 0
    assert (tmp_path / ".git").read_text() == "gitdir: /nowhere/of/mine\n"


async def test_two_boxes_on_one_workspace_see_each_others_work(tmp_path: Path) -> None:
    async with opened(WORKER, tmp_path) as one, opened(WORKER, tmp_path) as other:
        await said(one, "echo from-one > shared")
        assert await said(other, "cat shared && echo mine > /tmp/own") == "from-one"
        assert (await sh(one, "cat /tmp/own")).code == 1


# -- repositories further down -------------------------------------------------------------------------------------------

COMMIT = "git -c user.name=o -c user.email=o@localhost commit -qm"
NESTED = f"git init -q {{0}} && echo x > {{0}}/x && git -C {{0}} add x && cd {{0}} && {COMMIT} x"


def run(line: str, where: Path) -> str:
    return subprocess.run(["sh", "-c", line], cwd=where, check=True, capture_output=True, text=True, timeout=60).stdout


def seen_by_git(workspace: Path) -> bool:
    """Does the owner's look at his own repository run what a box left?"""
    run("git status", workspace)
    return (workspace / "ran").exists()


EVIL = """
git init -q sub && echo x > sub/x && git -C sub add x && git -C sub commit -qm x
git update-index --add --cacheinfo 160000,$(git -C sub rev-parse HEAD),sub && git commit -qm link
printf '#!/bin/sh\\ntouch ../ran\\n' > sub/evil && chmod +x sub/evil
"""


async def test_git_at_the_top_runs_nothing_that_a_box_put_further_down(tmp_path: Path) -> None:
    run(f"git init -q . && echo a > a && git add a && {COMMIT} a", tmp_path)
    async with opened(WORKER, tmp_path) as box:
        assert (await sh(box, EVIL)).set_aside == ()
        ran = await sh(box, "git -C sub config core.fsmonitor ./evil")
        assert ran.set_aside == ("sub/.git → sub/git.set-aside-1",)
    assert not seen_by_git(tmp_path)


async def test_without_the_sweep_git_would_have_run_it(tmp_path: Path) -> None:
    names = "export GIT_AUTHOR_NAME=o GIT_AUTHOR_EMAIL=o GIT_COMMITTER_NAME=o GIT_COMMITTER_EMAIL=o"
    run(f"{names}; git init -q . {EVIL} git -C sub config core.fsmonitor ./evil", tmp_path)
    assert seen_by_git(tmp_path)


async def test_the_owners_repositories_further_down_are_pinned_and_serve(tmp_path: Path) -> None:
    run(NESTED.format("projects/mine"), tmp_path)
    async with opened(WORKER, tmp_path) as box:
        for line in ("git -C projects/mine config core.fsmonitor ./evil", "echo x > projects/mine/.git/hooks/post-commit"):
            assert (await sh(box, line)).code != 0
        assert (await sh(box, "mv projects/mine/.git gone")).code != 0
        assert await said(box, "cd projects/mine && echo y > y && git add y && git commit -qm two && git log --format=%s") == "two\nx"


@pytest.mark.parametrize(
    ("line", "moved"),
    [
        ("git init -q deep/down && git -C deep/down config core.fsmonitor ./evil", "deep/down/git.set-aside-1"),
        ("git init -q --bare deep/down && git -C deep/down config core.fsmonitor ./evil", "deep/down/HEAD.set-aside-1"),
        ("mkdir -p deep/down && echo 'gitdir: /tmp/evil' > deep/down/.git", "deep/down/git.set-aside-1"),
        ("mkdir -p deep/down && ln -s /tmp/evil deep/down/.git", "deep/down/git.set-aside-1"),
    ],
)
async def test_what_was_put_further_down_is_set_aside_when_the_box_ends(tmp_path: Path, line: str, moved: str) -> None:
    async with opened(WORKER, tmp_path) as box:
        assert (await sh(box, line)).code == 0
    assert is_there(tmp_path / moved)


async def test_a_clone_further_down_and_what_the_owner_set_stay_as_they_are(tmp_path: Path) -> None:
    run(NESTED.format("own") + " && git config core.pager less", tmp_path)
    async with opened(WORKER, tmp_path) as box:
        assert (await sh(box, "git clone -q own theirs")).code == 0
    assert is_there(tmp_path / "own" / ".git" / "config")
    assert is_there(tmp_path / "theirs" / ".git" / "config")


def test_what_the_owner_set_long_before_is_not_touched_even_where_it_was_not_found_at_the_start(tmp_path: Path) -> None:
    run(NESTED.format("own") + " && git config core.pager less", tmp_path)
    pins = Pins(str(tmp_path))
    pins._start = time.time() + 1
    assert pins.sweep(is_last=True) == ()
    pins._start = 0.0
    assert pins.sweep(is_last=True) == ("own/.git → own/git.set-aside-1",)


def is_there(path: Path) -> bool:
    return path.is_symlink() or path.exists()


CHECKOUT = Path(daimon.__file__).resolve().parents[2]


@pytest.mark.skipif(not os.access(CHECKOUT, os.W_OK), reason="the checkout is somebody else's: nothing in it can be written anyway")
async def test_daimon_itself_cannot_be_written_where_it_lies_in_the_workspace() -> None:
    async with opened(WORKER, CHECKOUT) as box:
        ran = await sh(box, "touch src/daimon/planted; echo evil >> daimon; test -w pyproject.toml && echo useful")
        assert ran.out.head == b"useful\n"
    assert not (CHECKOUT / "src/daimon/planted").exists()
    assert "evil" not in (CHECKOUT / "daimon").read_text()
