"""What would run by itself on the owner's machine: it cannot be changed from a box, and what appears is set aside."""

import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.sandbox.boxes import WORKER, needs_bwrap, opened, said, sh

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
        assert [told.partition(" → ")[0] for told in ran.set_aside] == [".git"]
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
    assert [told.partition(" → ")[0] for told in pins.sweep()] == [".git"]


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
