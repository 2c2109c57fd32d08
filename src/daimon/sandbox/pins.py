"""What would run by itself on the owner's machine: hooks, editor folders, start-up files of shells.

A box may write into a workspace, and the owner works in it too: a file of this kind would carry a command out of the box. What is there
when the box starts is pinned: read-only, and it cannot be moved away. What was not there cannot be pinned without littering the owner's
directory; it is looked for after every command, and what has appeared is set aside under another name, and said. A repository that a
command made is left alone while nothing in it runs by itself. Repositories count at the top and one directory below it, not deeper.

Something in the box may change the tree while this looks at it: no link is followed, not even on the way, since whoever looks has more
rights than the box, and behind a link lie the owner's other files; and nothing is waited for. What cannot be moved is said too.
"""

import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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

_BARE = ("HEAD", "objects", "refs")
"""What git takes for a repository wherever it lies, with the settings beside it."""
MOST_BELOW = 500
MOST_NUMBERS = 100
"""Somebody who took all of these names gets a random one."""
STAYS = "nowhere: it cannot be moved; remove it yourself"
_SECTION = re.compile(r'\[([A-Za-z0-9-]+)(?: "[^"\\]*")?\]')

Identity = tuple[int, int, int]


@dataclass(slots=True)
class Pins:
    """The pins of one workspace, as the outside sees them."""

    workspace: str
    _known: dict[str, Identity | None] = field(default_factory=dict)
    _was_bare: bool = False

    def __post_init__(self) -> None:
        with _directory(os.path.realpath(self.workspace)) as top:
            self._known = {pin: _seen(top, pin) for pin in map(_bare, pins_of(self.workspace))}
            self._was_bare = _is_bare(top)

    def sweep(self) -> tuple[str, ...]:
        """Sets aside what has appeared since. Says under which name it is now, or that it is still there."""
        with suppress(FileNotFoundError), _directory(os.path.realpath(self.workspace)) as top:
            _unlock(top)
            repositories = [f"{place}/{GIT}" if place else GIT for place in ("", *_below(top))]
            for repository in repositories:
                with suppress(OSError), _directory(repository, top) as place:
                    _unlock(place)
            return tuple(f"{pin} → {name or STAYS}" for pin in self._appeared(top, repositories) if (name := _set_aside(top, pin)) != "")
        return ()

    def _appeared(self, top: int, repositories: list[str]) -> Iterator[str]:
        new = {repository for repository in repositories if _seen(top, repository) != self._known.get(repository)}
        for pin in dict.fromkeys((*self._known, *repositories)):
            if any(pin.startswith(f"{repository}/") for repository in new):
                continue  # looked at as a whole
            seen = _seen(top, pin)
            if seen is not None and seen != self._known.get(pin) and not (pin in new and _is_plain_repository(top, pin)):
                yield pin
        if not self._was_bare and _is_bare(top):
            yield _BARE[0]


def pins_of(workspace: str) -> tuple[str, ...]:
    """For this workspace, as it is: with the repositories one directory below it."""
    with _directory(os.path.realpath(workspace)) as top:
        return (*PINS, *(f"{place}/{pin}" for place in _below(top) for pin in PINS if pin.startswith(f"{GIT}/")))


def _below(top: int) -> list[str]:
    """Directories right below that hold a repository, or what is called like one."""
    with suppress(OSError), os.scandir(f"/proc/self/fd/{top}") as entries:
        places = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False) and entry.name != GIT]
        return [place for place in places[:MOST_BELOW] if _seen(top, f"{place}/{GIT}") is not None]
    return []


def _is_bare(top: int) -> bool:
    """Is the workspace itself what lies in a `.git`?"""
    return all(_seen(top, name) for name in _BARE)


def _is_plain_repository(top: int, repository: str) -> bool:
    try:
        with _directory(repository, top) as seen:
            place = os.open(".", _LOOK | os.O_DIRECTORY, dir_fd=seen)
    except OSError:
        return False
    try:
        names = set(os.listdir(place))
        return names.isdisjoint({"commondir", "config.worktree", "modules"}) and _has_no_hook(place, names) and _is_plain_config(place)
    except OSError:
        return False
    finally:
        os.close(place)


@contextmanager
def _directory(path: str, top: int | None = None) -> Iterator[int]:
    """To go on from, even if it may not be read. Below `top` no link is followed, wherever on the way it is."""
    flags = os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC
    first, *rest = [path] if top is None else path.split("/")
    descriptor = os.open(first, flags, dir_fd=top)
    try:
        for part in rest:
            inner = os.open(part, flags, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


def _unlock(directory: int) -> None:
    """A box may have closed its workspace, so that nothing can be seen in it or moved."""
    mode = stat.S_IMODE(os.fstat(directory).st_mode)
    if mode & stat.S_IRWXU != stat.S_IRWXU:
        with suppress(OSError):
            os.chmod(f"/proc/self/fd/{directory}", mode | stat.S_IRWXU)


def _seen(top: int, pin: str) -> Identity | None:
    """Where the way there leads over a link, nothing is there: what is behind it is not the workspace."""
    place, _, last = pin.rpartition("/")
    try:
        if not place:
            found = os.lstat(last, dir_fd=top)
        else:
            with _directory(place, top) as inner:
                found = os.lstat(last, dir_fd=inner)
    except OSError:
        return None
    return found.st_dev, found.st_ino, stat.S_IFMT(found.st_mode)


def _set_aside(top: int, pin: str) -> str | None:
    """Its new name. None: it cannot be moved; empty: it has gone by itself."""
    place, _, last = pin.rpartition("/")
    try:
        if not place:
            return _renamed(top, last)
        with _directory(place, top) as inner:
            name = _renamed(inner, last)
            return f"{place}/{name}" if name else name
    except FileNotFoundError:
        return ""
    except OSError:
        return None


def _renamed(directory: int, last: str) -> str:
    stem = f"{last.lstrip('.')}{ASIDE}"
    numbered = (f"{stem}-{n}" for n in range(1, MOST_NUMBERS))
    name = next((name for name in numbered if _seen(directory, name) is None), f"{stem}-{secrets.token_hex(8)}")
    os.rename(last, name, src_dir_fd=directory, dst_dir_fd=directory)
    return name


def _bare(pin: str) -> str:
    return pin.rstrip("/")


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
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST_CONFIG:
            return False
        text = os.read(descriptor, LARGEST_CONFIG).decode(errors="replace")
    finally:
        os.close(descriptor)
    section = ""
    for line in map(str.strip, text.splitlines()):
        if found := _SECTION.fullmatch(line):
            section = found[1].lower()
        elif line and line[0] not in "#;" and not _is_harmless(section, line):
            return False
    return True


def _is_harmless(section: str, line: str) -> bool:
    key, _, value = line.partition("=")
    return key.strip().lower() in HARMLESS.get(section, ()) and "::" not in value and not line.endswith("\\")
