"""What would run by itself on the owner's machine: hooks, editor folders, start-up files of shells.

A box may write into a workspace, and the owner works in it too: a file of this kind would carry a command out of the box. What is there
when the box starts is pinned: read-only, and it cannot be moved away. What was not there cannot be pinned without littering the owner's
directory; it is looked for after every command, and what has appeared is set aside under another name, and said. A repository that a
command made is left alone while nothing in it runs by itself.

Something in the box may change the tree while this looks at it: no link is followed, and nothing is waited for.
"""

import os
import re
import secrets
import stat
from contextlib import suppress
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
_SECTION = re.compile(r'\[([A-Za-z0-9-]+)(?: "[^"\\]*")?\]')
"""Nothing else in the line: git takes a setting right behind a section's head."""
_BARE = ("HEAD", "objects", "refs")
"""What git takes for a repository wherever it lies, with the settings beside it."""
_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

Identity = tuple[int, int]


@dataclass(slots=True)
class Pins:
    """The pins of one workspace, as the outside sees them."""

    workspace: str
    _known: dict[str, Identity | None] = field(default_factory=dict)
    _was_bare: bool = False

    def __post_init__(self) -> None:
        self._known = {pin: self._seen(pin) for pin in _names()}
        self._was_bare = self._is_bare()

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
        if not self._was_bare and self._is_bare() and (name := self._set_aside(_BARE[0])) is not None:
            moved.append(f"{_BARE[0]} → {name}")
        return tuple(moved)

    def _is_bare(self) -> bool:
        """Is the workspace itself what lies in a `.git`?"""
        return all(self._seen(name) for name in _BARE)

    def _seen(self, pin: str) -> Identity | None:
        try:
            found = os.lstat(os.path.join(self.workspace, pin))
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _set_aside(self, pin: str) -> str | None:
        place, _, last = pin.rpartition("/")
        for n in (*range(1, 10), *(secrets.token_hex(4) for _ in range(100))):  # whoever took all numbers cannot take all words
            name = os.path.join(place, f"{last.lstrip('.')}{ASIDE}-{n}")
            if self._seen(name) is None and self._rename(pin, name):
                return name
        return None

    def _rename(self, pin: str, name: str) -> bool:
        source, target = os.path.join(self.workspace, pin), os.path.join(self.workspace, name)
        try:
            os.rename(source, target)
        except PermissionError:  # the box may have closed the directory to its owner
            _reopen(os.path.dirname(source))
            with suppress(OSError):
                os.rename(source, target)
                return True
            return False
        except OSError:
            return False
        return True

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


def _reopen(directory: str) -> None:
    with suppress(OSError):
        descriptor = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.chmod(f"/proc/self/fd/{descriptor}", stat.S_IMODE(os.fstat(descriptor).st_mode) | stat.S_IRWXU)
        finally:
            os.close(descriptor)


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
        if head := _SECTION.fullmatch(line):
            section = head[1].lower()
        elif line and line[0] not in "#;" and not _is_harmless(section, line):
            return False
    return True


def _is_harmless(section: str, line: str) -> bool:
    key, _, value = line.partition("=")
    return key.strip().lower() in HARMLESS.get(section, ()) and "::" not in value and not line.endswith("\\")
