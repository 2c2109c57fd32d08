"""Paths that would run by themselves on the owner's machine, or tell one of his programs what to run.

What is pinned for a box (`sandbox/pins.py`), and more, since what is left out here can still be had for a word. At the top of the workspace
those; at any depth what editors, agents and other keepers of versions run, because a directory further down may be opened on its own. Of
each repository of git its hooks, its settings, where it points, what its other work trees are told, and a rebase that is under way, whose
list of things to do may name commands. A bare one is known by its parts; they stay out where they would complete one whose settings came
with an earlier apply. Names are compared without regard to case: some directories do not know it.
"""

from daimon.sandbox.pins import PINS
from daimon.sandbox.repositories import BARE, GIT, GIT_PINS
from daimon.sandbox.workspace import place
from daimon.sandbox.workspace.stack import View

_TOP = frozenset(pin for pin in PINS if not pin.endswith("/"))
_INNER = frozenset(pin.partition("/")[2] for pin in GIT_PINS if not pin.endswith("/")) | {"worktrees", "rebase-merge", "rebase-apply"}
_ANYWHERE = frozenset({
    *(".hg", ".jj", ".husky", ".githooks", ".pre-commit-config.yaml", "lefthook.yml", "lefthook.yaml", ".lefthook.yml"),
    *(".vscode", ".idea", ".devcontainer", ".devcontainer.json", ".cursor", ".zed", ".nvim.lua", ".nvimrc", ".exrc", ".vimrc"),
    *(".claude", ".mcp.json", ".gemini", ".codex", ".envrc", ".direnv", ".gitmodules"),
})  # fmt: skip
_HOME = frozenset({
    *(".bash_aliases", ".cshrc", ".tcshrc", ".login", ".logout", ".kshrc", ".inputrc", ".xinitrc", ".xsession", ".xsessionrc"),
    *(".tmux.conf", ".screenrc", ".emacs", ".emacs.d", ".vim", ".gdbinit", ".gnupg", ".forward", ".procmailrc", ".rhosts", ".shosts"),
    *(".docker", ".kube"),
})  # fmt: skip
"""Where the workspace is somebody's home."""


def is_program(path: str, view: View) -> bool:
    """In a tree as this view shows it."""
    parts = path.split("/")
    names = [part.lower() for part in parts]
    if names[0] in _HOME or not _ANYWHERE.isdisjoint(names) or any("/".join(names[:number]) in _TOP for number in range(1, len(names) + 1)):
        return True
    for number, name in enumerate(names):
        way = "/".join(parts[:number])
        if name == GIT and not view.is_directory("/".join(parts[: number + 1])):
            return True  # a file or link of that name points to settings elsewhere
        if name in _INNER and (names[number - 1] == GIT if number else False):
            return True
        if name in _INNER and _is_bare(view, way):
            return True
        if parts[number] in BARE and _is_bare(view, way) and _is_completed(view, way):
            return True
    return False


def _is_bare(view: View, way: str) -> bool:
    return view.is_directory(way) and all(view.source(_in(way, name)) is not None for name in BARE)


def _is_completed(view: View, way: str) -> bool:
    """Has the owner's directory settings there, of an earlier apply, and nothing yet that would read them?"""
    has = {name for name in _INNER | BARE if place.about(view.top, _in(way, name)) is not None}
    return not has >= BARE and not has.isdisjoint(_INNER)


def _in(way: str, name: str) -> str:
    return f"{way}/{name}" if way else name
