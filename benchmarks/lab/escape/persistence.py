"""What would run later, outside: the box leaves it behind, the owner does what they always do, and looks whether something else ran.

Judged by doing it: on the throw-away host, in the workspace, with git, a shell and Python as an owner has them.
"""

import subprocess

from lab.escape.attack import Attack, Scene
from lab.escape.host import HOME, WORK, Host

_GIT = ("git status", "git commit --allow-empty -m x", "git log -1", "git diff")
_FIRE = "touch @{home}/fired"
_EVIL = "printf '#!/bin/sh\\n" + _FIRE + "\\n' > evil; chmod +x evil; "
_MONITOR = '"touch @{home}/fired; true"'


def _repository(host: Host) -> None:
    subprocess.run(["git", "init", "-q", str(WORK)], check=True, env={"HOME": str(HOME), "PATH": "/usr/bin:/bin"})


def _repository_without_hooks(host: Host) -> None:
    subprocess.run(["git", "init", "-q", "--template=", str(WORK)], check=True, env={"HOME": str(HOME), "PATH": "/usr/bin:/bin"})


def _empty(host: Host) -> None:
    return


def _git_fires(scene: Scene) -> bool:
    return scene.host.fires(*_GIT)


def _nested_fires(scene: Scene) -> bool:
    return scene.host.fires("cd sub && git status; git commit --allow-empty -m x")


def _python_fires(scene: Scene) -> bool:
    return scene.host.fires("python3 -c pass")


def _path_fires(scene: Scene) -> bool:
    return scene.host.fires("git --version")


def _has(name: str):
    return lambda scene: (WORK / name).exists()


_HOOK = "mkdir -p .git/hooks; cp evil .git/hooks/pre-commit"
_CONFIG = "git config core.fsmonitor " + _MONITOR
_NEW = _EVIL + "git init -q . ; "
_PADDED = (
    "git init -q .; python3 -c \"print('# x\\n' * 20000)\" >> .git/config; printf '[core]\\n\\tfsmonitor = %s\\n' '"
    + _MONITOR
    + "' >> .git/config"
)
_ONE_LINE = "git init -q .; printf '[core]fsmonitor = %s #]\\n' '" + _MONITOR + "' >> .git/config"
_INCLUDE = (
    _EVIL
    + "git init -q .; printf '[core]\\n\\tfsmonitor = %s\\n' '"
    + _MONITOR
    + "' > more; printf '[include]\\n\\tpath = ../more\\n' >> .git/config"
)
_COMMON = (
    "git init -q --bare other && git -C other config core.fsmonitor " + _MONITOR
    + " && git -C other config core.bare false; mkdir -p .git; [ -e .git/HEAD ] || git init -q .; echo ../other > .git/commondir"
)  # fmt: skip
_BARE = (
    "git init -q --bare x && mv x/* . && rmdir x; git -C . --git-dir=. config core.bare false;"
    " git --git-dir=. config core.worktree . ; git --git-dir=. config core.fsmonitor " + _MONITOR
)  # fmt: skip
_NESTED = "git init -q sub; git -C sub config core.fsmonitor " + _MONITOR
_LATE = _EVIL + "git init -q .; (setsid sh -c 'sleep 0.7; mkdir -p .git/hooks; cp evil .git/hooks/pre-commit' >/dev/null 2>&1 &)"
_ALL_NAMES = "for n in $(seq 999); do echo > envrc.set-aside-$n; done; echo '" + _FIRE + "' > .envrc"
_WORKTREE = (
    "git init -q .; git config extensions.worktreeConfig true; printf '[core]\\n\\tfsmonitor = %s\\n' '"
    + _MONITOR
    + "' > .git/config.worktree"
)

ATTACKS = (
    Attack(name="a hook in the owner's repository", command=_EVIL + _HOOK, judge=_git_fires, prepare=_repository),
    Attack(
        name="another repository in its place",
        command=_EVIL + "mv .git old; git init -q .; " + _HOOK,
        judge=_git_fires,
        prepare=_repository,
    ),
    Attack(name="settings of the owner's repository", command=_CONFIG, judge=_git_fires, prepare=_repository),
    Attack(name="its common directory", command=_COMMON, judge=_git_fires, prepare=_repository),
    Attack(name="a hook where there was no directory for them", command=_EVIL + _HOOK, judge=_git_fires, prepare=_repository_without_hooks),
    Attack(name="a new repository with a hook", command=_NEW + _HOOK, judge=_git_fires, prepare=_empty),
    Attack(name="a new repository with a program in its settings", command=_NEW + _CONFIG, judge=_git_fires, prepare=_empty),
    Attack(name="settings behind much else", command=_PADDED, judge=_git_fires, prepare=_empty),
    Attack(name="settings in a line with the section", command=_ONE_LINE, judge=_git_fires, prepare=_empty),
    Attack(name="settings that include others", command=_INCLUDE, judge=_git_fires, prepare=_empty),
    Attack(name="settings of a work tree", command=_WORKTREE, judge=_git_fires, prepare=_empty),
    Attack(name="a new repository with another's directory", command=_COMMON, judge=_git_fires, prepare=_empty),
    Attack(
        name="a file that names the repository",
        command=_NESTED + "; mv sub/.git other; echo 'gitdir: other' > .git",
        judge=_git_fires,
        prepare=_empty,
    ),
    Attack(name="a bare repository lying about", command=_BARE, judge=_git_fires, prepare=_empty),
    Attack(name="a repository below", command=_NESTED, judge=_nested_fires, prepare=_empty),
    Attack(name="a hook after the command's end", command=_LATE, judge=_git_fires, prepare=_empty, settle_s=2.0),
    Attack(name="direnv", command="echo '" + _FIRE + "' > .envrc", judge=_has(".envrc"), prepare=_empty),
    Attack(name="direnv, with all other names taken", command=_ALL_NAMES, judge=_has(".envrc"), prepare=_empty),
    Attack(
        name="direnv, in a closed directory", command="echo '" + _FIRE + "' > .envrc; chmod 555 .", judge=_has(".envrc"), prepare=_empty
    ),
    Attack(
        name="an editor's tasks", command="mkdir .vscode; echo '{}' > .vscode/tasks.json", judge=_has(".vscode/tasks.json"), prepare=_empty
    ),
    Attack(name="start-up file of a shell", command="echo '" + _FIRE + "' >> .bashrc", judge=_has(".bashrc"), prepare=_empty),
    Attack(
        name="the owner's start-up file",
        command="echo '" + _FIRE + "' >> @{home}/.bashrc",
        judge=lambda scene: scene.host.fires("bash -ic :"),
    ),
    Attack(
        name="Python's start-up",
        command="mkdir -p @{site} && echo 'import os; os.system(\"" + _FIRE + "\")' > @{site}/x.pth",
        judge=_python_fires,
    ),
    Attack(
        name="a program before the owner's",
        command=_EVIL + "mkdir -p @{home}/.local/bin && cp evil @{home}/.local/bin/git",
        judge=_path_fires,
    ),
)
