"""Works in a workspace without any mount: writes into the live layer as overlayfs would, and reads the layers as it does.

Written from the kernel's description and apart from what is tested, so that the two can disagree.
"""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

from daimon.abi.workspace import WorkspaceId
from daimon.sandbox.ground import Stack
from daimon.sandbox.workspace.store import Store

Tree = dict[str, str]
"""By path: the content of a file, `->target` of a link, `/` of a directory."""


def is_whiteout(path: Path) -> bool:
    try:
        seen = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return stat.S_ISCHR(seen.st_mode) and seen.st_rdev == 0


def is_opaque(path: Path) -> bool:
    try:
        return os.getxattr(path, "user.overlay.opaque", follow_symlinks=False) == b"y"
    except OSError:
        return False


def is_plain_directory(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


class Recorder:
    """A ground that says what it was told. What a real one does is tested where it is made."""

    place, name, user = -1, "w", None

    def __init__(self, is_sealed: bool = True, failure: OSError | None = None) -> None:
        self.stacks: list[Stack] = []
        self.is_sealed, self.failure = is_sealed, failure

    def used(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def rotate(self, stack: Stack) -> bool:
        if self.failure:
            raise self.failure
        self.stacks.append(stack)
        return self.is_sealed

    async def try_rotate(self, stack: Stack) -> bool:
        return self.is_sealed and await self.rotate(stack)

    async def put(self, stack: Stack) -> "Recorder":
        self.stacks.append(stack)
        return self

    async def close(self) -> None: ...


class Hand:
    def __init__(self, store: Store, workspace: WorkspaceId, base: Path) -> None:
        self.store = store
        self.workspace = workspace
        self.base = base

    @property
    def live(self) -> Path:
        return Path(self.store.store_of(self.workspace), self.store.stack_of(self.workspace).live, "tree")

    @property
    def place(self) -> Path:
        """Where the layers are."""
        return Path(self.store.store_of(self.workspace))

    def names(self) -> set[str]:
        """Of the layers that are there."""
        return {each.name for each in self.place.iterdir()}

    def layers(self) -> list[Path]:
        """Topmost first, the base last."""
        stack = self.store.stack_of(self.workspace)
        return [Path(self.store.store_of(self.workspace), name, "tree") for name in (stack.live, *stack.frozen)] + [self.base]

    def write(self, path: str, content: str | bytes, mode: int = 0o644) -> None:
        self.put_directory(path.rpartition("/")[0])
        self._clear(path)
        at = self.live / path
        at.write_bytes(content.encode() if isinstance(content, str) else content)
        at.chmod(mode)

    def link(self, path: str, target: str) -> None:
        self.put_directory(path.rpartition("/")[0])
        self._clear(path)
        (self.live / path).symlink_to(target)

    def fifo(self, path: str) -> None:
        self.put_directory(path.rpartition("/")[0])
        os.mkfifo(self.live / path)

    def put_directory(self, path: str) -> None:
        if not path:
            return
        self.put_directory(path.rpartition("/")[0])
        at = self.live / path
        if is_plain_directory(at):
            return
        was_gone = is_whiteout(at) or not self._below(path)
        self._clear(path)
        at.mkdir()
        if was_gone:
            os.setxattr(at, "user.overlay.opaque", b"y")

    def delete(self, path: str) -> None:
        self._clear(path)
        if self._below(path):
            self.put_directory(path.rpartition("/")[0])
            os.mknod(self.live / path, stat.S_IFCHR, 0)

    def _clear(self, path: str) -> None:
        at = self.live / path
        if is_plain_directory(at):
            shutil.rmtree(at)
        elif os.path.lexists(at):
            at.unlink()

    def _below(self, path: str) -> bool:
        """Is it in what lies below the live layer, through what the live layer has on the way?"""
        parts = path.split("/")[:-1]
        for number in range(1, len(parts) + 1):
            way = self.live.joinpath(*parts[:number])
            if is_whiteout(way) or is_opaque(way) or (os.path.lexists(way) and not is_plain_directory(way)):
                return False
        return path in shown(self.layers()[1:])

    def seen(self) -> Tree:
        return shown(self.layers())


def shown(layers: list[Path]) -> Tree:
    return dict(_walk(layers, ""))


def _walk(layers: list[Path], where: str) -> Iterator[tuple[str, str]]:
    for name in sorted({name for layer in layers for name in os.listdir(layer)}):
        path = f"{where}{name}"
        parts: list[Path] = []
        for at in (layer / name for layer in layers):
            if not os.path.lexists(at):
                continue
            if is_whiteout(at):
                break
            if not is_plain_directory(at):
                if not parts:
                    yield path, content(at)
                break
            parts.append(at)
            if is_opaque(at):
                break
        if parts:
            yield path, "/"
            yield from _walk(parts, f"{path}/")


def content(at: Path) -> str:
    if at.is_symlink():
        return f"->{os.readlink(at)}"
    return at.read_bytes().decode("utf-8", "surrogateescape") if at.is_file() else "?"
