"""The root directory of a box, put together where nobody can see it: in the holder's own mount namespace, on a file system in memory.

    ROOT/                 what `bwrap` makes the root of the box
    ROOT/workspace        a file system of its own and *shared*: what is mounted below it later appears in the running box
    ROOT/workspace/NAME   the owner's tree; with root, mapped so that its owner's files are the box user's

Where a mount holder put the tree together from layers, ROOT/workspace is its file system instead: what it mounts there appears in the box,
and nothing of the box there.

All sources are opened before the stage covers /tmp, and every mount carries nosuid and nodev by itself: what is below a mapped mount
belongs to root on the host. Standard library only.
"""

import os

from daimon.sandbox import mounts
from daimon.sandbox.spec import WORKSPACES, Spec, Tree

PLACE = "/tmp"  # noqa: S108 - covered by the stage, in a namespace where nobody else is
ROOT = f"{PLACE}/root"
MOUNT_POINTS = ("/proc", "/dev", "/tmp")  # noqa: S108
INODES = 262_144
WRITING, READING, STORE = "workspace", "reading", "store"
"""Names in the mount holder's own directory: where the tree appears, where it does for those who may not change it, and the layers."""


class Stage:
    def __init__(self, spec: Spec, users: int | None, ids: tuple[int, int]) -> None:
        """`users`: descriptor of the namespace that maps the tree's owner to the box's user; None: they are the same."""
        self._spec, self._users, self._ids = spec, users, ids

    def build(self) -> None:
        spec = self._spec
        trees = [(self._opened(bind.source, mounts.READ_ONLY), bind.target) for bind in spec.binds]
        tree = self._workspace(spec.tree)
        mounts.attach(mounts.tmpfs(mounts.HARMLESS, size="16m", mode="0755"), PLACE)
        os.mkdir(ROOT, 0o755)
        for path in (*MOUNT_POINTS, WORKSPACES):
            os.makedirs(ROOT + path, 0o755, exist_ok=True)
        for target, descriptor in sorted((target, descriptor) for descriptor, target in trees):
            self._put(descriptor, target)
        for path, link in spec.links.items():
            _make_parent(path)
            os.symlink(link, ROOT + path)
        for path, text in spec.files.items():
            _make_parent(path)
            _write(ROOT + path, text)
        for path, size in spec.scratch.items():
            self._put(self._scratch(size), path)
        self._attach_workspace(tree)

    def _opened(self, path: str, attributes: int, users: int | None = None) -> int:
        descriptor = mounts.clone(path)
        mounts.change(descriptor, mounts.HARMLESS | attributes | (0 if users is None else mounts.IDMAP), users or 0)
        return descriptor

    def _workspace(self, tree: Tree) -> int:
        if tree.ground:
            return _received(tree)
        return self._opened(tree.source, 0 if tree.is_writable else mounts.READ_ONLY, self._users)

    def _attach_workspace(self, descriptor: int) -> None:
        tree = self._spec.tree
        parent = ROOT + WORKSPACES
        if tree.ground:
            mounts.attach(descriptor, parent)
            return
        mounts.attach(mounts.tmpfs(mounts.HARMLESS, size="64k", mode="0755"), parent)
        mounts.share(parent)
        place = f"{parent}/{tree.name}"
        os.mkdir(place, 0o755)
        mounts.attach(descriptor, place)
        top = os.open(place, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        for pin in tree.pins:
            put_pin(top, pin)
        os.close(top)
        mounts.seal(parent)  # where no root started the box, it belongs to whoever is inside

    def _scratch(self, size: int) -> int:
        user, group = self._ids
        return mounts.tmpfs(mounts.HARMLESS, size=str(size), nr_inodes=str(INODES), mode="0700", uid=str(user), gid=str(group))

    def _put(self, descriptor: int, target: str) -> None:
        place = ROOT + target
        if _is_directory(descriptor):
            os.makedirs(place, 0o755, exist_ok=True)
        elif not os.path.exists(place):
            _make_parent(target)
            _write(place, "")
        mounts.attach(descriptor, place)


def _received(tree: Tree) -> int:
    """The mount holder's file system with the tree in it. All else of its is gone from this namespace: a copy of the tree that nobody
    sees would hold a layer for ever."""
    place = mounts.clone(f"{tree.ground}/{WRITING if tree.is_writable else READING}")
    mounts.receive(place)
    mounts.keep_to_oneself()  # before: or what is unmounted next would go in all boxes
    mounts.remove(tree.ground, at_once=True)
    return place


def put_pin(top: int, pin: str) -> bool:
    """A mount point cannot be renamed or removed: not even to put something else in its place. Another box may be at work in this tree."""
    try:
        place = mounts.open_below(top, pin.rstrip("/"))
    except OSError:
        return False  # not there, or not to be had without following a link: whoever takes files out of the box looks at those
    try:
        tree = mounts.clone_of(place)
        may_change = pin.endswith("/") and _is_directory(place)
        mounts.change(tree, mounts.HARMLESS | (0 if may_change else mounts.READ_ONLY))
        mounts.attach_at(tree, place)
        return True
    finally:
        os.close(place)


def _is_directory(descriptor: int) -> bool:
    return os.path.isdir(f"/proc/self/fd/{descriptor}")


def _make_parent(target: str) -> None:
    os.makedirs(os.path.dirname(ROOT + target), 0o755, exist_ok=True)


def _write(path: str, text: str) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644), "w", encoding="utf-8") as file:
        file.write(text)
