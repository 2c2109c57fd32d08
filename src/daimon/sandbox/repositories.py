"""Repositories of git in a workspace: which are there, and whether one would run a program.

git works in whichever repository is nearest, and asks those further down how they are: `git status` at the top runs what the settings of
one below it name. So what holds for the workspace's own holds for them. A directory with the parts of a repository in it is one as well,
without any `.git`. No link is followed, and nothing is waited for: something in the box may change the tree meanwhile.
"""

import os
import re
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from daimon.sandbox import mounts

GIT = ".git"
GIT_PINS = (".git/", ".git/hooks", ".git/config", ".git/config.worktree", ".git/commondir", ".git/info", ".git/modules")
BARE = frozenset({"HEAD", "objects", "refs", "config"})
NEAR, AT_START, AT_END = 64, 1_000, 200_000
"""So many directories are looked through, those near the top first: after a command, when a box begins, and when it has ended."""
HARMLESS = {
    "core": {"repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode", "symlinks"},
    "user": {"name", "email"},
    "remote": {"url", "fetch"},
    "branch": {"remote", "merge", "rebase"},
    "init": {"defaultbranch"},
}
"""Sections and keys of git's settings that name no program."""
LARGEST_CONFIG, LARGEST_INDEX = 65_536, 256 << 20
_LINK = b"\x00\x00\xe0\x00"
"""The mode of an entry that is another repository, in git's index, whatever its version."""
_SECTION = re.compile(r'\[([A-Za-z0-9-]+)(?: "[^"\\]*")?\]')
_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextmanager
def directory(top: int, path: str) -> Iterator[int]:
    """One below another, to which no link leads, to go on from even if it may not be read."""
    descriptor = mounts.open_below(top, path)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def below(top: int, most: int) -> Iterator[str]:
    """Where `.git` or the settings of a bare repository are, other than the workspace's own `.git`."""
    pending = deque(["."])
    for _ in range(most):
        if not pending:
            return
        where = pending.popleft()
        try:
            names, directories = _listed(top, where)
        except OSError:
            continue
        if GIT in names and where != ".":
            yield f"{where[2:]}/{GIT}"
        if names >= BARE:
            yield f"{where}/config".removeprefix("./")
        pending.extend(f"{where}/{name}" for name in directories if name != GIT)


def _listed(top: int, where: str) -> tuple[set[str], list[str]]:
    with directory(top, where) as place:
        descriptor = os.open(f"/proc/self/fd/{place}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with os.scandir(descriptor) as found:
            entries = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in found]
    finally:
        os.close(descriptor)
    return {name for name, _ in entries}, sorted(name for name, is_directory in entries if is_directory)


def links_to_others(top: int) -> bool:
    """Does the workspace's own repository say that there are others in it? Then git looks into those by itself."""
    try:
        with directory(top, GIT) as place:
            descriptor = os.open("index", _LOOK, dir_fd=place)
    except OSError:
        return False
    with open(descriptor, "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            return False
        if about.st_size > LARGEST_INDEX:
            return True
        data = file.read()
        return _LINK in data or b"link" in data[-65_536:]  # the rest of it may be in another file


def is_plain(top: int, path: str = GIT) -> bool:
    """Is this a repository, or settings of one, in which nothing runs by itself? Not, if it cannot be told."""
    place, _, last = path.rpartition("/")
    try:
        with directory(top, place or ".") as above:
            if last != GIT:
                return _is_plain_config(above)
            inner = os.open(GIT, _LOOK | os.O_DIRECTORY, dir_fd=above)
        try:
            names = set(os.listdir(inner))
            is_whole = names.isdisjoint({"commondir", "config.worktree", "modules"})
            return is_whole and _has_no_hook(inner, names) and _is_plain_config(inner)
        finally:
            os.close(inner)
    except OSError:
        return False


def was_changed(top: int, path: str, since: float) -> bool:
    """Whatever of it could name a program. When a file was changed nobody can set, unlike its other times."""
    place, _, last = path.rpartition("/")
    try:
        with directory(top, place or ".") as above:
            about = os.lstat(last, dir_fd=above)
            if not stat.S_ISDIR(about.st_mode):
                return about.st_ctime >= since
            names = _listed(above, last)[0] & {"config", "config.worktree", "commondir", "modules", "hooks"}
            paths = [f"{last}/{name}" for name in names]
            if "hooks" in names:
                paths += [f"{last}/hooks/{name}" for name in _listed(above, f"{last}/hooks")[0]]
            return any(os.lstat(path, dir_fd=above).st_ctime >= since for path in paths)
    except OSError:
        return True


def _has_no_hook(top: int, names: set[str]) -> bool:
    if "hooks" not in names:
        return True
    hooks = os.open("hooks", _LOOK | os.O_DIRECTORY, dir_fd=top)
    try:
        return all(name.endswith(".sample") for name in os.listdir(hooks))
    finally:
        os.close(hooks)


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
