"""The mount holder: one small process on the host for each workspace that is open. It puts the tree together from layers, and exchanges it.

    PLACE/                  the store's own path, covered by a file system in memory: nothing else of the machine is hidden by that
    PLACE/base              the owner's directory, read-only
    PLACE/store             the layers
    PLACE/workspace/NAME    the tree: overlayfs over the live layer, the frozen ones and the base
    PLACE/reading/NAME      the same, for boxes that may change nothing
    PLACE/next              where the next tree is made complete before it appears

`workspace` and `reading` are file systems of their own and *shared*: the holders of boxes join these namespaces and copy them, and what is
mounted or unmounted here then happens in every box. Started by root, base and store are mapped so that the owner's files are the box
user's; root's directories in the store stay root's.

    rotate:      take the pins off, unmount → mount the next stack at PLACE/next → pin there → move it into place
    try_rotate:  the same, but if somebody holds the tree, put the pins on again and leave it

Pins are mounts *here*: one that was made further in would keep the old tree from going, and nobody would hear of it. The old tree goes
first, so that no layer is written through one mount and read through another. If the next one cannot be mounted, the old one comes back;
if that cannot either, this process ends. The kernel says that a tree is held only when nothing is mounted on it: while it is asked, the
pins are off for a moment, and a program of the box could write there, into the layer; an apply leaves such files out.
When the socket closes, the gateway is gone: this process ends, and with it and the boxes all mounts. Standard library only.
"""

import contextlib
import json
import os
import socket
import sys
from typing import Any, NamedTuple

from daimon.sandbox import mounts, namespaces, stacking
from daimon.sandbox.stage import READING, STORE, WRITING, put_pin

LARGEST = 1 << 18
BASE, NEXT = "base", "next"


class Opening(NamedTuple):
    """What the gateway says first."""

    base: str
    store: str
    name: str
    uid: int
    pins: list[str]


class Layers(NamedTuple):
    live: str
    frozen: list[str]


class Bare(Exception):
    """There is no tree any more."""


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    os.set_inheritable(control.fileno(), False)
    os.setsid()
    os.umask(0o022)
    try:
        told = json.loads(control.recv(LARGEST))
        tree = Tree(Opening(**told["open"]))
        tree.put(Layers(**told["stack"]))
        descriptors = [os.open(WRITING, os.O_PATH | os.O_CLOEXEC)]
        descriptors += [os.open(f"/proc/self/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC) for kind in _namespaces()]
        _tell(control, descriptors, up=os.getpid())
        for descriptor in descriptors:
            os.close(descriptor)
        while data := control.recv(LARGEST):
            order = json.loads(data)
            _tell(control, id=order["id"], **_rotated(tree, order["do"], Layers(**order["stack"])))
    except (OSError, KeyError, ValueError, TypeError, Bare) as error:
        _tell(control, **_failure(error))


def _namespaces() -> tuple[str, ...]:
    """That a box's holder joins. Root's user namespace is its own already."""
    return ("mnt",) if os.getuid() == 0 else ("user", "mnt")


def _rotated(tree: "Tree", how: str, layers: Layers) -> dict[str, Any]:
    try:
        return {"free": tree.try_rotate(layers) if how == "try_rotate" else tree.rotate(layers)}
    except OSError as error:
        return _failure(error)


def _failure(error: Exception) -> dict[str, Any]:
    return {"error": getattr(error, "errno", None) or 0, "text": str(error)}


class Tree:
    def __init__(self, opening: Opening) -> None:
        self._name, self._pins = opening.name, opening.pins
        self._user = opening.uid if os.getuid() == 0 else None
        about = os.stat(opening.base)
        self._owner = (about.st_uid, about.st_gid)
        self._raw = os.open(opening.store, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self._layers: Layers | None = None
        self._pinned: list[str] = []
        namespaces.enter_own()
        self._set_up(opening)

    def _set_up(self, opening: Opening) -> None:
        base, store = mounts.clone(opening.base), mounts.clone(opening.store)
        self._soften(base, mounts.READ_ONLY)
        self._soften(store, 0, with_root=True)
        mounts.attach(mounts.tmpfs(mounts.HARMLESS, size="1m", mode="0755"), opening.store)
        os.chdir(opening.store)
        for name in (BASE, STORE, WRITING, READING, NEXT):
            os.mkdir(name, 0o755)
        mounts.attach(base, BASE)
        mounts.attach(store, STORE)
        for name in (WRITING, READING):
            mounts.attach(mounts.tmpfs(mounts.HARMLESS, size="64k", mode="0755"), name)
            mounts.share(name)
            os.mkdir(f"{name}/{self._name}", 0o755)
            mounts.seal(name)  # where no root started it, it belongs to whoever is in a box

    def _soften(self, tree: int, attributes: int, *, with_root: bool = False) -> None:
        if self._user is None:
            mounts.change(tree, mounts.HARMLESS | attributes)
            return
        users = namespaces.mapping(self._owner, self._user, with_root=with_root)
        mounts.change(tree, mounts.HARMLESS | attributes | mounts.IDMAP, users)
        os.close(users)

    def put(self, layers: Layers) -> None:
        """Mounts a stack where nothing is."""
        self._own(layers.live)
        lowers = [*(f"{STORE}/{layer}/tree" for layer in layers.frozen), BASE]
        made = stacking.overlay(lowers, f"{STORE}/{layers.live}/tree", f"{STORE}/{layers.live}/work", self._user)
        try:
            mounts.attach(made, NEXT)
            reading = mounts.clone(NEXT)
            mounts.change(reading, mounts.HARMLESS | mounts.READ_ONLY)
            mounts.attach(reading, f"{READING}/{self._name}")
            self._pinned = self._pin(NEXT, self._pins)
            mounts.move(NEXT, f"{WRITING}/{self._name}")
        except OSError:
            for path in (NEXT, f"{READING}/{self._name}"):
                with contextlib.suppress(OSError):
                    mounts.remove(path, at_once=True)
            raise
        self._layers = layers

    def rotate(self, layers: Layers) -> bool:
        """False: somebody still has the old tree open."""
        is_sealed = self._take_off()
        self._put_next(layers)
        return is_sealed

    def try_rotate(self, layers: Layers) -> bool:
        """False: somebody has the tree open, and it stays."""
        if not self._is_let_go():
            return False
        self._put_next(layers)
        return True

    def _put_next(self, layers: Layers) -> None:
        try:
            self.put(layers)
        except OSError as error:
            self._come_back(error)
            raise

    def _come_back(self, error: OSError) -> None:
        try:
            assert self._layers is not None
            self.put(self._layers)
        except OSError as again:
            raise Bare(f"{error}; nor can what was there before be mounted again: {again}") from None

    def _own(self, live: str) -> None:
        """Whoever made the layer, the box's user writes into it."""
        for name in ("tree", "work") if self._user is not None else ():
            path = f"{live}/{name}"
            about = os.stat(path, dir_fd=self._raw, follow_symlinks=False)
            if (about.st_uid, about.st_gid) != self._owner:
                os.chown(path, *self._owner, dir_fd=self._raw, follow_symlinks=False)

    def _pin(self, tree: str, pins: list[str]) -> list[str]:
        """Those that could be put."""
        top = os.open(tree, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            return [pin for pin in pins if put_pin(top, pin)]
        finally:
            os.close(top)

    def _take_off(self) -> bool:
        """Who only reads cannot spoil a layer, and does not count."""
        mounts.remove(f"{READING}/{self._name}", at_once=True)
        tree = f"{WRITING}/{self._name}"
        try:
            for pin in reversed(self._pinned):
                _remove_below(tree, pin)
            mounts.remove(tree)
        except OSError:
            mounts.remove(tree, at_once=True)
            return False
        return True

    def _is_let_go(self) -> bool:
        """Takes the tree off if nobody uses it, not even to read. Otherwise all is as it was."""
        reading = f"{READING}/{self._name}"
        spare = mounts.clone(reading)
        try:
            mounts.remove(reading)
        except OSError:
            os.close(spare)
            return False
        is_off = False
        try:
            is_off = self._is_off(f"{WRITING}/{self._name}")
        finally:
            if is_off:
                os.close(spare)  # before the next tree is made: this one keeps the old alive
            else:
                mounts.attach(spare, reading)
        return is_off

    def _is_off(self, tree: str) -> bool:
        off: list[str] = []
        try:
            for pin in reversed(self._pinned):
                _remove_below(tree, pin)
                off.insert(0, pin)
            mounts.remove(tree)
        except OSError:
            put = self._pin(tree, off)
            self._pinned = [pin for pin in self._pinned if pin not in off or pin in put]
            return False
        return True


def _remove_below(tree: str, pin: str) -> None:
    """From the directory that it lies in, to which no link leads: something in a box could lead us to unmount something else."""
    place, _, last = pin.rstrip("/").rpartition("/")
    here = os.getcwd()
    top = os.open(tree, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        parent = mounts.open_below(top, place or ".")
    finally:
        os.close(top)
    try:
        os.fchdir(parent)
        mounts.remove(last)
    finally:
        os.chdir(here)
        os.close(parent)


def _tell(control: socket.socket, descriptors: list[int] | None = None, **said: object) -> None:
    with contextlib.suppress(OSError):
        socket.send_fds(control, [json.dumps(said).encode()], descriptors or [])


if __name__ == "__main__":
    main()
