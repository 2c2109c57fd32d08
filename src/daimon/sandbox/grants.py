"""From a role's paths to Landlock rules for one command: what it reads, writes and runs, as the tree is at that moment.

Rules name what is there when a command starts, so they follow when layers of the workspace change between commands. The workspace may
always be read below its parent directory, which stays the same mount.
"""

import os
from glob import glob

from daimon.abi.box import Role
from daimon.sandbox import landlock
from daimon.sandbox.spec import HOME, LIBRARY, WORKSPACES, Spec

ALWAYS_RUN = ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1", "/usr/lib/git-core", "/usr/libexec/git-core")
SCRATCH = ("/tmp", "/dev/shm", HOME)  # noqa: S108
READ = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/proc", "/dev", LIBRARY)
"""Read in every box."""


def rules_of(role: Role, spec: Spec) -> list[tuple[str, int]]:
    runs_all = "*" in role.commands
    base = landlock.READ | (landlock.EXECUTE if runs_all else 0)
    rules = [("/", landlock.READ_DIR), *((path, base) for path in READ)]
    rules += [(bind.target, base) for bind in spec.binds if not bind.target.startswith(READ)]
    rules += [("/dev", landlock.READ | landlock.WRITE_FILE | landlock.CONTROL)]
    rules += [(path, base | landlock.WRITE) for path in SCRATCH]
    rules += [(path, base) for path in _inside(role.read, spec)]
    rules += [(path, base | landlock.WRITE) for path in _inside(role.write, spec)]
    if not runs_all:
        rules += [(path, landlock.READ | landlock.EXECUTE) for path in (*ALWAYS_RUN, *_programs(role.commands, spec), *role.execute)]
    return rules


def _inside(patterns: tuple[str, ...], spec: Spec) -> list[str]:
    """Where the patterns lead below the workspace, as paths of the box."""
    top, found = spec.tree.source, []
    for pattern in patterns:
        if os.path.isabs(os.path.expanduser(pattern)):
            continue
        if pattern in (".", "*", "**"):
            return [WORKSPACES]
        for path in glob(os.path.join(glob_safe(top), pattern), include_hidden=True):
            real = os.path.realpath(path)
            if real == top or real.startswith(f"{top}/"):
                found.append(f"{WORKSPACES}/{spec.tree.name}{real.removeprefix(top)}")
    return found


def glob_safe(path: str) -> str:
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
