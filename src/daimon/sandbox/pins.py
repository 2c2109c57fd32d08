"""What would run by itself on the owner's machine: hooks, editor folders, start-up files of shells.

A box may write into a workspace, and the owner works in it too: a file of this kind would carry a command out of the box. What is there
when the box starts is pinned: read-only, and it cannot be moved away. What was not there cannot be pinned without littering the owner's
directory; it is looked for after every command, and what has appeared is set aside under another name, and said.
"""

import os
import stat
from dataclasses import dataclass, field

PINS = (
    *(".git/", ".git/hooks", ".git/config", ".git/info", ".git/modules", ".gitmodules"),
    *(".vscode", ".idea", ".devcontainer", ".cursor", ".claude", ".mcp.json", ".envrc", ".direnv"),
    *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin"),
    *(".ssh", ".gitconfig", ".config", ".local", ".npmrc", ".pypirc", ".netrc", ".pam_environment", ".xprofile", ".vimrc", ".exrc"),
)
"""Below the workspace. One that ends in a slash only stays where it is."""
ASIDE = ".set-aside"
HARMLESS = {
    "core": {"repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode", "symlinks"},
    "user": {"name", "email"},
    "remote": {"url", "fetch"},
    "branch": {"remote", "merge", "rebase"},
    "init": {"defaultbranch"},
}
"""Sections and keys of git's settings that name no program."""


@dataclass(slots=True)
class Pins:
    """The pins of one workspace, as the outside sees them."""

    workspace: str
    _known: dict[str, tuple[int, int] | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._known = {pin: self._seen(pin) for pin in _tops()}

    def sweep(self) -> tuple[str, ...]:
        """Sets aside what has appeared since. Says under which name it is now."""
        moved = []
        for pin in _tops():
            seen = self._seen(pin)
            if seen is None or seen == self._known[pin]:
                continue
            if pin == ".git" and self._is_plain_repository():
                continue
            if (name := self._set_aside(pin)) is not None:
                moved.append(f"{pin} → {name}")
        return tuple(moved)

    def _seen(self, pin: str) -> tuple[int, int] | None:
        try:
            found = os.lstat(os.path.join(self.workspace, pin))
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _set_aside(self, pin: str) -> str | None:
        for n in range(1, 1000):
            name = f"{pin.lstrip('.')}{ASIDE}-{n}"
            if self._seen(name) is None:
                try:
                    os.rename(os.path.join(self.workspace, pin), os.path.join(self.workspace, name))
                except OSError:
                    return None
                return name
        return None

    def _is_plain_repository(self) -> bool:
        """A new repository is fine while nothing in it runs by itself."""
        top = os.path.join(self.workspace, ".git")
        try:
            return stat.S_ISDIR(os.lstat(top).st_mode) and _has_no_hook(f"{top}/hooks") and _is_plain_config(f"{top}/config")
        except OSError:
            return False


def _tops() -> tuple[str, ...]:
    return tuple(pin.rstrip("/") for pin in PINS if "/" not in pin.rstrip("/"))


def _has_no_hook(directory: str) -> bool:
    if not os.path.lexists(directory):
        return True
    if not stat.S_ISDIR(os.lstat(directory).st_mode):
        return False
    return all(name.endswith(".sample") for name in os.listdir(directory))


def _is_plain_config(path: str) -> bool:
    """Anything that is not plainly harmless counts as a program."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        return False
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = [line.strip() for line in file.read(65_536).splitlines()]
    section = ""
    for line in lines:
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1].partition(" ")[0].lower()
        elif line and line[0] not in "#;" and not _is_harmless(section, line):
            return False
    return True


def _is_harmless(section: str, line: str) -> bool:
    key, _, value = line.partition("=")
    return key.strip().lower() in HARMLESS.get(section, ()) and "::" not in value and not line.endswith("\\")
