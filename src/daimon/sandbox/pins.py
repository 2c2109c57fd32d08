"""What would run by itself on the owner's machine: hooks, editor folders, start-up files of shells.

A box may write into a workspace, and the owner works in it too: a file of this kind would carry a command out of the box. What is there
when the box starts is pinned: read-only, and it cannot be moved away. What was not there cannot be pinned without littering the owner's
directory; it is looked for after every command, and what has appeared is set aside under another name, and said. A repository that a
command made is left alone while nothing in it runs by itself.

Something in the box may change the tree while this looks at it: no link is followed, and nothing is waited for.
"""

import os
import stat
from dataclasses import dataclass, field

GIT = ".git"
PINS = (
    *(".git/", ".git/hooks", ".git/config", ".git/config.worktree", ".git/commondir", ".git/info", ".git/modules", ".gitmodules"),
    *(".vscode", ".idea", ".devcontainer", ".cursor", ".claude", ".mcp.json", ".envrc", ".direnv"),
    *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin"),
    *(".ssh", ".gitconfig", ".config", ".local", ".npmrc", ".pypirc", ".netrc", ".pam_environment", ".xprofile", ".vimrc", ".exrc"),
)
"""Below the workspace. One that ends in a slash only stays where it is, if it is a directory: a file of that name points somewhere."""
ASIDE = ".set-aside"
HARMLESS = {
    "core": {"repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode", "symlinks"},
    "user": {"name", "email"},
    "remote": {"url", "fetch"},
    "branch": {"remote", "merge", "rebase"},
    "init": {"defaultbranch"},
}
"""Sections and keys of git's settings that name no program."""
LARGEST_CONFIG = 65_536
_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

Identity = tuple[int, int]


@dataclass(slots=True)
class Pins:
    """The pins of one workspace, as the outside sees them."""

    workspace: str
    _known: dict[str, Identity | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._known = {pin: self._seen(pin) for pin in _names()}

    def sweep(self) -> tuple[str, ...]:
        """Sets aside what has appeared since. Says under which name it is now."""
        moved = []
        has_new_git = self._seen(GIT) != self._known[GIT]
        for pin in _names():
            if has_new_git and pin.startswith(f"{GIT}/"):
                continue  # looked at as a whole
            seen = self._seen(pin)
            if seen is None or seen == self._known[pin] or (pin == GIT and self._is_plain_repository()):
                continue
            if (name := self._set_aside(pin)) is not None:
                moved.append(f"{pin} → {name}")
        return tuple(moved)

    def _seen(self, pin: str) -> Identity | None:
        try:
            found = os.lstat(os.path.join(self.workspace, pin))
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _set_aside(self, pin: str) -> str | None:
        place, _, last = pin.rpartition("/")
        for n in range(1, 1000):
            name = os.path.join(place, f"{last.lstrip('.')}{ASIDE}-{n}")
            if self._seen(name) is None:
                try:
                    os.rename(os.path.join(self.workspace, pin), os.path.join(self.workspace, name))
                except OSError:
                    return None
                return name
        return None

    def _is_plain_repository(self) -> bool:
        try:
            top = os.open(os.path.join(self.workspace, GIT), _LOOK | os.O_DIRECTORY)
        except OSError:
            return False
        try:
            names = set(os.listdir(top))
            return names.isdisjoint({"commondir", "config.worktree", "modules"}) and _has_no_hook(top, names) and _is_plain_config(top)
        except OSError:
            return False
        finally:
            os.close(top)


def _names() -> tuple[str, ...]:
    return tuple(pin.rstrip("/") for pin in PINS)


def _has_no_hook(top: int, names: set[str]) -> bool:
    if "hooks" not in names:
        return True
    directory = os.open("hooks", _LOOK | os.O_DIRECTORY, dir_fd=top)
    try:
        return all(name.endswith(".sample") for name in os.listdir(directory))
    finally:
        os.close(directory)


def _is_plain_config(top: int) -> bool:
    """Anything that is not plainly harmless counts as a program."""
    descriptor = os.open("config", _LOOK, dir_fd=top)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST_CONFIG:
            return False
        text = os.read(descriptor, LARGEST_CONFIG).decode(errors="replace")
    finally:
        os.close(descriptor)
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1].partition(" ")[0].lower()
        elif line and line[0] not in "#;" and not _is_harmless(section, line):
            return False
    return True


def _is_harmless(section: str, line: str) -> bool:
    key, _, value = line.partition("=")
    return key.strip().lower() in HARMLESS.get(section, ()) and "::" not in value and not line.endswith("\\")
