"""Becomes another program, in a mount namespace of its own and as another user: elsewhere.py '{"uid": 12345, ...}' PROGRAM ARGUMENT...

    uid              whom to become; what lies in directories that are closed to others is put where that user can see it
    show             directories that the user must see: the interpreter, the checkout
    cover            files that are empty and not executable from here on
    tmpfs            directories that become file systems in memory, with their size
    no_namespaces    nobody can make a user namespace any more

Only root can do this.
"""

import ctypes
import json
import os
import sys
from pathlib import Path
from typing import Any

_PR_SET_DUMPABLE = 4


def show(paths: list[str]) -> None:
    """Puts an empty directory that is open to all over each one that is closed, and back into it what must be seen."""
    from daimon.sandbox import mounts

    wanted = sorted({os.path.realpath(path) for path in paths})
    closed = sorted({top for path in wanted if (top := _closed(path)) is not None})
    held = {top: [(path, mounts.clone(path)) for path in wanted if path.startswith(f"{top}/")] for top in closed}
    for top, trees in held.items():
        mounts.attach(mounts.tmpfs(0, mode="0755"), top)
        for path, tree in trees:
            if Path(path).exists():  # below one that has been shown already
                os.close(tree)
                continue
            os.makedirs(path)
            mounts.attach(tree, path)


def _closed(path: str) -> str | None:
    """The outermost directory on the way that others may not enter."""
    for place in reversed((Path(path), *Path(path).parents)):
        if not place.stat().st_mode & 0o001:
            return str(place)
    return None


def cover(path: str) -> None:
    from daimon.sandbox import mounts

    mounts.attach(mounts.clone("/dev/null"), path)


def become(uid: int) -> None:
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)  # or what is in /proc about us would belong to root


def forbid_namespaces(uid: int) -> None:
    from daimon.sandbox import mounts

    mounts.unshare(mounts.NEW_USERS)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{uid} {uid} 1")):
        Path(f"/proc/self/{name}").write_text(text)
    Path("/proc/sys/user/max_user_namespaces").write_text("0")


def main(wanted: dict[str, Any], argv: list[str]) -> None:
    from daimon.sandbox import mounts

    mounts.unshare(mounts.NEW_NAMESPACE)
    mounts.keep_to_oneself()
    show(wanted.get("show", []))
    for path in wanted.get("cover", []):
        cover(path)
    for path, size in wanted.get("tmpfs", {}).items():
        mounts.attach(mounts.tmpfs(0, size=size, mode="0777"), path)
    if uid := wanted.get("uid", 0):
        become(uid)
    if wanted.get("no_namespaces"):
        forbid_namespaces(uid)
    os.execvp(argv[0], argv)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), sys.argv[2:])
