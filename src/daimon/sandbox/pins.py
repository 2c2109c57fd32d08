"""What would run by itself on the owner's machine: hooks, editor folders, start-up files of shells.

A box may write into a workspace, and the owner works in it too: a file of this kind would carry a command out of the box. What is there
when the box starts is pinned: read-only, and it cannot be moved away. What was not there cannot be pinned without littering the owner's
directory; it is looked for after every command, and what has appeared is set aside under another name, and said. A repository that a
command made is left alone while nothing in it runs by itself. Repositories further down (`repositories.py`) are looked for near the top
after every command, and everywhere when the box ends and where the workspace's own repository says that it has any others.

Something in the box may change the tree while this looks at it: no link is followed, not even on the way, since whoever looks has more
rights than the box, and behind a link lie the owner's other files; and nothing is waited for. What cannot be moved is said too.
"""

import os
import secrets
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from daimon.sandbox import repositories
from daimon.sandbox.repositories import AT_END, AT_START, GIT, GIT_PINS, NEAR, directory

PINS = (
    *GIT_PINS,
    *(".gitmodules", ".hg", ".vscode", ".idea", ".devcontainer", ".cursor", ".claude", ".mcp.json", ".envrc", ".direnv"),
    *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout"),
    *(".ssh", ".gitconfig", ".config", ".local", ".npmrc", ".pypirc", ".netrc", ".pam_environment", ".xprofile", ".vimrc", ".exrc"),
)
"""Below the workspace. One that ends in a slash only stays where it is, if it is a directory: a file of that name points somewhere."""
MOST_REPOSITORIES = 64
ASIDE = ".set-aside"
MOST_NUMBERS = 100
"""Somebody who took all of these names gets a random one."""
STAYS = "nowhere: it cannot be moved; remove it yourself"

Identity = tuple[int, int, int]


def pins_of(workspace: str) -> tuple[str, ...]:
    """Of a workspace as it is now, with the repositories further down, and with Daimon itself where it lies there."""
    with _opened(workspace) as top:
        found = [path.removesuffix(GIT) for path in repositories.below(top, AT_START) if path.endswith(f"/{GIT}")]
    return (*PINS, *(f"{place}{pin}" for place in found[:MOST_REPOSITORIES] for pin in GIT_PINS), *_ours(Path(workspace).resolve()))


def _ours(workspace: Path) -> Iterator[str]:
    """What runs outside of the box at the next start."""
    package = Path(__file__).resolve().parent.parent
    checkout = package.parent.parent
    for path in (package, Path(sys.prefix).resolve(), checkout / "daimon", checkout / ".tools"):
        if path != workspace and path.is_relative_to(workspace) and path.exists():
            yield str(path.relative_to(workspace))


@dataclass(slots=True)
class Pins:
    """The pins of one workspace, as the outside sees them."""

    workspace: str
    pins: tuple[str, ...] = PINS
    _known: dict[str, Identity | None] = field(default_factory=dict)
    _start: float = 0.0

    def __post_init__(self) -> None:
        self._start = time.time() - 1
        with _opened(self.workspace) as top:
            self._known = {pin: _seen(top, pin) for pin in (pin.rstrip("/") for pin in self.pins)}

    def sweep(self, *, is_last: bool = False) -> tuple[str, ...]:
        """Sets aside what has appeared since. Says under which name it is now, or that it is still there. `is_last`: looks everywhere."""
        with suppress(FileNotFoundError), _opened(self.workspace) as top:
            for place in (".", *(pin.rstrip("/") for pin in self.pins if pin.endswith("/"))):
                with suppress(OSError), directory(top, place) as found:
                    _unlock(found)
            moved = _moved(top, self._appeared(top))
            most = AT_END if is_last or repositories.links_to_others(top) else NEAR
            return moved + _moved(top, (path for path in repositories.below(top, most) if self._is_program(top, path)))
        return ()

    def _appeared(self, top: int) -> Iterator[str]:
        new = {pin for pin, known in self._known.items() if _is_git(pin) and _seen(top, pin) != known}
        for pin, known in self._known.items():
            if pin.rpartition("/")[0] in new:
                continue  # looked at as a whole
            seen = _seen(top, pin)
            if seen is not None and seen != known and not (_is_git(pin) and repositories.is_plain(top, pin)):
                yield pin

    def _is_program(self, top: int, path: str) -> bool:
        """The owner's own stay, whatever is in them, as long as nobody has changed that."""
        is_pinned = self._known.get(path) is not None and self._known[path] == _seen(top, path)
        return not is_pinned and not repositories.is_plain(top, path) and repositories.was_changed(top, path, self._start)


def _is_git(pin: str) -> bool:
    return pin.rpartition("/")[2] == GIT


def _moved(top: int, pins: Iterator[str]) -> tuple[str, ...]:
    return tuple(f"{pin} → {name or STAYS}" for pin in pins if (name := _set_aside(top, pin)) != "")


@contextmanager
def _opened(workspace: str) -> Iterator[int]:
    descriptor = os.open(os.path.realpath(workspace), os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _unlock(place: int) -> None:
    """A box may have closed its workspace, so that nothing can be seen in it or moved."""
    about = os.fstat(place).st_mode
    mode = stat.S_IMODE(about)
    if stat.S_ISDIR(about) and mode & stat.S_IRWXU != stat.S_IRWXU:
        with suppress(OSError):
            os.chmod(f"/proc/self/fd/{place}", mode | stat.S_IRWXU)


def _seen(top: int, pin: str) -> Identity | None:
    """Where the way there leads over a link, nothing is there: what is behind it is not the workspace."""
    place, _, last = pin.rpartition("/")
    try:
        if not place:
            found = os.lstat(last, dir_fd=top)
        else:
            with directory(top, place) as inner:
                found = os.lstat(last, dir_fd=inner)
    except OSError:
        return None
    return found.st_dev, found.st_ino, stat.S_IFMT(found.st_mode)


def _set_aside(top: int, pin: str) -> str | None:
    """Its new name. None: it cannot be moved; empty: it has gone by itself."""
    place, _, last = pin.rpartition("/")
    try:
        with directory(top, place or ".") as inner:
            name = _renamed(inner, last)
            if last == GIT:  # under its new name it is a bare repository, and would still be one whose settings count
                with suppress(OSError), directory(inner, name) as moved:
                    _renamed(moved, "config")
    except FileNotFoundError:
        return ""
    except OSError:
        return None
    return f"{place}/{name}" if place else name


def _renamed(inner: int, last: str) -> str:
    stem = f"{last.lstrip('.')}{ASIDE}"
    numbered = (f"{stem}-{n}" for n in range(1, MOST_NUMBERS))
    name = next((name for name in numbered if _seen(inner, name) is None), f"{stem}-{secrets.token_hex(8)}")
    os.rename(last, name, src_dir_fd=inner, dst_dir_fd=inner)
    return name
