"""A ground without overlayfs: the tree is a plain directory, `STORE/WORKSPACE/NAME`, a copy of what the layers show.

While layers are in place there, the directory is the truth: the live layer is brought to it (`gather`), by comparing whatever does not look
as it did when they were put in place (`footprint.py`). To put other layers in place is to rewrite what differs; a checkpoint leaves the
tree as it is. Nothing holds the old tree when it is exchanged, there is only one: every checkpoint is sealed. A checkpoint costs a walk
through the tree, the first opening a copy of it. The owner's edits show when it is opened again.

What a crash leaves. The index says which layers should be in place, the footprint which are:
    the same                       the directory is the truth, and is gathered; also if a checkpoint was made of it that never counted
    none (being rewritten)         what was there had been gathered before: the tree is made like the layers, each file compared
    others (rewritten, not yet     likewise, or nothing was open when the workspace moved: the tree is made like the layers
    in the index)
The gathering after a crash is done when the store is opened (`recovered`), before anything else moves the workspace.
"""

import asyncio
import logging
import os
import time
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext, suppress

from daimon.sandbox.ground import Stack
from daimon.sandbox.workspace import diff, footprint, layer, place
from daimon.sandbox.workspace.build import Builder, Piece, mode_in
from daimon.sandbox.workspace.footprint import Footprint, Last, Seen
from daimon.sandbox.workspace.rewriting import Tree
from daimon.sandbox.workspace.rows import Layer
from daimon.sandbox.workspace.shelf import Shelf
from daimon.sandbox.workspace.stack import Sheet, View

NEW, OLD = "tree.new", "tree.old"
"""Of a live layer, while it is exchanged."""
_log = logging.getLogger(__name__)


class CopiesGround:
    """Made by `Store.copied`."""

    def __init__(self, shelf: Shelf, directory: str, name: str, stack: Stack, uid: int | None = None) -> None:
        self._shelf, self._stack, self._name, self._user = shelf, stack, name, uid
        self._directory, self.tree = directory, f"{directory}/{name}"
        self._place = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        self._footprint = Footprint(directory, name)
        self._seen: Seen = {}
        """Each path as it was when it was last compared."""
        self._news: set[str] = set()
        """Paths of which the footprint on disk does not know that yet."""
        self._why_dead = ""

    @classmethod
    async def open(cls, shelf: Shelf, workspace: str, name: str, stack: Stack, uid: int | None = None) -> "CopiesGround":
        """`uid`: whose the tree is; None: of whoever runs this."""

        def opened() -> CopiesGround:
            directory = shelf.path(workspace)
            os.makedirs(f"{directory}/{name}", mode=0o700, exist_ok=True)
            os.chmod(directory, 0o711)  # noqa: S103 - what is in there is another one's, who must get to it; nobody sees the home
            made = cls(shelf, directory, name, stack, uid if os.geteuid() == 0 else None)
            try:
                made._begin()
            except BaseException:
                made._release()
                raise
            return made

        return await asyncio.to_thread(opened)

    @property
    def place(self) -> int:
        return self._place

    @property
    def name(self) -> str:
        return self._name

    @property
    def user(self) -> int | None:
        return self._user

    @property
    def is_alive(self) -> bool:
        return not self._why_dead

    async def gather(self) -> None:
        """Brings what was done into the live layer."""
        await asyncio.to_thread(self._gather)

    def used(self) -> AbstractAsyncContextManager[None]:
        """The tree is always there."""
        return nullcontext()

    async def rotate(self, stack: Stack) -> bool:
        await asyncio.to_thread(self._rotate, stack)
        return True

    async def try_rotate(self, stack: Stack) -> bool:
        return await self.rotate(stack)

    async def close(self) -> None:
        """What cannot be gathered now stays where it is, and is at the next opening."""
        try:
            if self.is_alive:
                await asyncio.to_thread(self._finish)
        except OSError as failure:
            _log.warning("what was done in %s is not in its layer yet: %s", self.tree, failure)
        finally:
            self._release()

    def _finish(self) -> None:
        self._gather()
        self._said(self._stack, is_closed=True)

    def _release(self) -> None:
        self._footprint.close()
        if self._place >= 0:
            os.close(self._place)
        self._place, self._why_dead = -1, self._why_dead or "it was closed"

    # opening

    def _begin(self) -> None:
        found = footprint.read(self._directory)
        is_whole = found is not None and found[0].tree == self._name and found[0].stack is not None
        if found is not None and is_whole and found[0].is_of(self._stack):
            self._seen = found[1]
            _mend(self._shelf.path(self._stack.live))
            self._gather(is_forced=not found[0].is_closed)
        self._fill(by_looks=is_whole)
        self._footprint.write(self._stack, self._seen)

    def _fill(self, *, by_looks: bool) -> None:
        """All of it, from whatever is there. Nothing runs on it yet."""
        with self._view(self._stack) as after, self._opened() as tree:
            self._own(tree)
            paths = tree.unlike(after) if by_looks else {*footprint.stamps(tree.top), *after.below("")}
            if tree.rewrite(after, paths):
                place.sync_all(tree.top)
            self._seen, self._news = footprint.stamps(tree.top), set()

    def _own(self, tree: Tree) -> None:
        """If it is another one's: the settings may have changed."""
        if tree.owner is None or os.fstat(tree.top).st_uid == tree.owner[0]:
            return
        for path in footprint.stamps(tree.top):
            with suppress(OSError), place.above(tree.top, path) as (inner, name):
                os.chown(name, *tree.owner, dir_fd=inner, follow_symlinks=False)
        os.chown(self.tree, *tree.owner, follow_symlinks=False)

    # looking

    def _sheets(self, names: tuple[str, ...]) -> tuple[Sheet, ...]:
        return tuple(self._shelf.sheet(Layer(name, "")) for name in names)

    @contextmanager
    def _view(self, stack: Stack) -> Iterator[View]:
        with self._shelf.view((self._shelf.live(stack.live, is_hashed=True), *self._sheets(stack.frozen))) as found:
            yield found

    @contextmanager
    def _opened(self) -> Iterator[Tree]:
        with place.opened(self.tree) as top:
            yield Tree(self.tree, top, None if self._user is None else (self._user, self._user))

    def _gather(self, *, is_forced: bool = False) -> None:
        if self._why_dead:
            raise OSError(0, f"the copy {self.tree} is no longer in use: {self._why_dead}")
        at = time.time_ns()
        with self._opened() as tree:
            now = footprint.stamps(tree.top)
            changed = {path for path in now.keys() | self._seen.keys() if now.get(path) != self._seen.get(path)}
            if not changed and not is_forced:
                return
            paths = changed | self._shelf.live(self._stack.live, is_hashed=False).manifest.items.keys()
            with self._shelf.view(self._sheets(self._stack.frozen)) as below:
                wanted = dict(self._wanted(below, tree, paths))
                self._build(below, wanted, os.fstat(tree.top).st_mode & 0o7777)
            moving = {path for path in paths if path in now and now[path][0] == "directory" and not _was_still(tree, path, at)}
            moving |= {path for path, piece in wanted.items() if piece is not None and path not in now}  # came back meanwhile
        self._seen = footprint.settled(now, at) | dict.fromkeys(moving, footprint.UNKNOWN)
        self._news |= changed | moving

    def _build(self, below: View, wanted: dict[str, Piece | None], mode: int) -> None:
        """All of it beside, and then in one moment: what is in the live layer from before is not in the footprint."""
        owner, live = self._shelf.owner(), self._shelf.path(self._stack.live)
        for name in (NEW, OLD):
            layer.remove(f"{live}/{name}")
        os.mkdir(f"{live}/{NEW}", 0o700)
        if owner is not None:
            os.chown(f"{live}/{NEW}", *owner)
        Builder(f"{live}/{NEW}", mode_in(below), owner).build(wanted)
        os.chmod(f"{live}/{NEW}", mode)
        os.rename(f"{live}/tree", f"{live}/{OLD}")
        os.rename(f"{live}/{NEW}", f"{live}/tree")
        layer.remove(f"{live}/{OLD}")

    def _wanted(self, below: View, tree: Tree, paths: set[str]) -> Iterator[tuple[str, Piece | None]]:
        for path in paths:
            if not tree.is_same(below, path):
                entry = tree.entry(path)
                yield path, None if entry is None else Piece(entry, self.tree, path, may_be_gone=True)

    # putting in place

    def _rotate(self, stack: Stack) -> None:
        if stack.frozen[:1] == (self._stack.live,):  # a checkpoint
            self._said(stack)
        elif self._stack.frozen[:1] == (stack.live,):  # that is taken back
            with suppress(OSError):  # either way the directory is the truth
                self._said(stack)
        else:
            self._gather()
            self._move(stack)
        self._stack = stack

    def _move(self, stack: Stack) -> None:
        self._said(None)
        try:
            self._put(stack)
            self._said(stack)
        except BaseException as failure:
            self._put_back(str(failure))
            raise

    def _put(self, stack: Stack) -> None:
        at = time.time_ns()
        with self._view(self._stack) as before, self._view(stack) as after, self._opened() as tree:
            different = tree.rewrite(after, diff.touched(before, after))
            place.sync_all(tree.top)  # before it is said that the tree is as it should be
            found = {path: place.about(tree.top, path) for path in different}
        now = footprint.settled({path: footprint.stamp(seen) for path, seen in found.items() if seen is not None}, at)
        self._seen = {path: about for path, about in self._seen.items() if path not in different} | now
        self._news |= different

    def _put_back(self, why: str) -> None:
        """What is half rewritten must not be taken for work."""
        try:
            self._fill(by_looks=False)
            self._footprint.write(self._stack, self._seen)
        except OSError:
            self._why_dead = f"other layers could not be put in place: {why}"

    def _said(self, stack: Stack | None, *, is_closed: bool = False) -> None:
        self._footprint.add(stack, self._seen, self._news if stack else (), is_closed=is_closed)
        if stack is not None:
            self._news = set()


def _was_still(tree: Tree, path: str, since_ns: int) -> bool:
    """A directory that was gone for the moment in which it was compared looks the same afterwards, but is young."""
    about = place.about(tree.top, path)
    return about is not None and about.st_ctime_ns < since_ns - footprint.YOUNG_NS


def recovered(shelf: Shelf, workspace: str, stack: Stack) -> None:
    """Gathers what was done in a copy that was not closed. Before the workspace moves."""
    directory = shelf.path(workspace)
    if (found := footprint.read(directory)) is None or not _is_left(found[0], stack):
        return
    ground = CopiesGround(shelf, directory, found[0].tree, stack)
    try:
        ground._seen = found[1]
        _mend(shelf.path(stack.live))
        ground._gather(is_forced=True)
        ground._footprint.write(stack, found[1])
        ground._said(stack, is_closed=True)
    finally:
        ground._release()


def _is_left(last: Last, stack: Stack) -> bool:
    return not last.is_closed and last.is_of(stack)


def removed(shelf: Shelf, workspace: str, stack: Stack) -> None:
    """The copy is not needed any more: from now on the layers are the truth."""
    directory = shelf.path(workspace)
    if not os.path.lexists(directory):
        return
    recovered(shelf, workspace, stack)
    with suppress(FileNotFoundError):
        footprint.removed(directory)
    layer.remove(directory)


def _mend(live: str) -> None:
    """Between two names a crash left none: the new one was complete by then."""
    if not os.path.lexists(f"{live}/tree"):
        os.rename(f"{live}/{NEW}", f"{live}/tree")
