"""From a role's paths to Landlock rules for one command: what it reads, writes and runs, as the tree is at that moment.

Rules name what is there when a command starts, so they follow when layers of the workspace change between commands. The workspace may
always be read below its parent directory, which stays the same mount. What does not lie in the workspace is looked up once for a box.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from glob import glob

from daimon.abi.box import Role
from daimon.sandbox import landlock, mounts
from daimon.sandbox.ground import Ground
from daimon.sandbox.spec import HOME, LIBRARY, WORKSPACES, Spec

ALWAYS_RUN = ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1", "/usr/lib/git-core", "/usr/libexec/git-core")
ALL = (".", "*", "**")
"""Patterns that mean the whole workspace."""
SCRATCH = ("/tmp", "/dev/shm", HOME)  # noqa: S108
READ = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/proc", "/dev", LIBRARY)
"""Read in every box."""
Rule = tuple[str, int]
RUN = landlock.READ | landlock.EXECUTE


class Grants:
    """What a role may do in one box."""

    def __init__(self, role: Role, spec: Spec, ground: Ground | None = None) -> None:
        self._role, self._spec, self.ground = role, spec, ground
        self._base = RUN if "*" in role.commands else landlock.READ
        self._fixed = self._outside()

    @property
    def is_by_pattern(self) -> bool:
        role = self._role
        return any(
            pattern not in ALL and not os.path.isabs(os.path.expanduser(pattern)) for pattern in (*role.read, *role.write, *role.execute)
        )

    def rules(self) -> list[Rule]:
        role = self._role
        rules = [(path, self._base) for path in self._inside(role.read)]
        rules += [(path, self._base | landlock.WRITE) for path in self._inside(role.write)]
        return [*self._fixed, *rules, *((path, RUN) for path in self._inside(role.execute))]

    def _inside(self, patterns: tuple[str, ...]) -> list[str]:
        """Where the patterns lead below the workspace, as paths of the box."""
        relative = [pattern for pattern in patterns if not os.path.isabs(os.path.expanduser(pattern))]
        if any(pattern in ALL for pattern in relative):
            return [WORKSPACES]
        tree = self._spec.tree
        found = _on_host(relative, tree.source) if self.ground is None else _on_ground(relative, self.ground)
        return [f"{WORKSPACES}/{tree.name}{path}" for path in found]

    def _outside(self) -> list[Rule]:
        rules = [("/", landlock.READ_DIR), *((path, self._base) for path in READ)]
        rules += [(bind.target, self._base) for bind in self._spec.binds if not _is_read(bind.target)]
        rules += [("/dev", landlock.READ | landlock.WRITE_FILE | landlock.CONTROL)]
        rules += [(path, self._base | landlock.WRITE) for path in SCRATCH]
        if "*" in self._role.commands:
            return rules
        own = [os.path.realpath(path) for path in map(os.path.expanduser, self._role.execute) if os.path.isabs(path)]
        return [*rules, *((path, RUN) for path in (*ALWAYS_RUN, *_programs(self._role.commands, self._spec), *own))]


def _is_read(path: str) -> bool:
    return any(path == top or path.startswith(f"{top}/") for top in READ)


def _on_host(patterns: list[str], top: str) -> Iterator[str]:
    for pattern in patterns:
        for path in glob(os.path.join(_glob_safe(top), pattern), include_hidden=True):
            real = os.path.realpath(path)
            if real == top or real.startswith(f"{top}/"):
                yield real.removeprefix(top)


def _on_ground(patterns: list[str], ground: Ground) -> Iterator[str]:
    """The tree is in no namespace of ours, so the kernel is asked where a path leads: over links, as long as they stay below."""
    if not patterns:
        return
    tree = os.open(ground.name, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=ground.place)
    try:
        top = _real(tree)
        for pattern in patterns:
            for path in glob(pattern, root_dir=f"/proc/self/fd/{tree}", include_hidden=True):
                with suppress(OSError):
                    place = mounts.open_below(tree, path, may_follow=True)
                    real = _real(place)
                    os.close(place)
                    yield real.removeprefix(top)
    finally:
        os.close(tree)


def _real(descriptor: int) -> str:
    return os.readlink(f"/proc/self/fd/{descriptor}")


def _glob_safe(path: str) -> str:
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in path)


def _programs(commands: tuple[str, ...], spec: Spec) -> list[str]:
    places = spec.environment["PATH"].split(os.pathsep)
    found = []
    for name in commands:
        for place in places:
            path = name if os.path.isabs(name) else os.path.join(place, name)
            if os.path.exists(path):
                found.append(os.path.realpath(path))
                break
    return found
