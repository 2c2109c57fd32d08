"""A tree made of layers, from the gateway's side: opened, exchanged between commands, closed. The mount holder does the work.

Boxes that stand on it join the holder's namespaces when they start (`namespaces`); while one starts, nothing is exchanged (`still`).
Whoever opened a ground closes it after the boxes on it: a box that outlives it keeps its tree, but sees no exchange any more.
"""

import asyncio
import contextlib
import errno
import itertools
import json
import os
import re
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal

from daimon.abi.errors import Misconfigured
from daimon.sandbox.ground import Stack
from daimon.sandbox.launch import launched
from daimon.sandbox.refusal import remedy

START_S, ROTATE_S, END_S = 30.0, 60.0, 5.0
LARGEST = 65_536
LAYER = re.compile(r"[A-Za-z0-9_.+-]{1,128}")
"""Signs that mean nothing in an option of a mount."""
PROBE_UID = 59_001


class OverlayGround:
    """Made by `open_overlay`."""

    def __init__(self, name: str, where: str, process: asyncio.subprocess.Process, control: socket.socket) -> None:
        self._name, self._process, self._control = name, process, control
        self._ids = itertools.count(1)
        self._place = -1
        self._user: int | None = None
        self.where = where
        """The holder's directory, in its namespace."""
        self.namespaces: tuple[int, ...] = ()
        """Descriptors, in the order in which they are joined."""
        self.still = asyncio.Lock()
        self._users = 0

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
        return self._process.returncode is None and self._control.fileno() >= 0

    @contextlib.asynccontextmanager
    async def used(self) -> AsyncIterator[None]:
        async with self.still:
            self._users += 1
        try:
            yield
        finally:
            self._users -= 1

    async def rotate(self, stack: Stack) -> bool:
        return await self._exchanged("rotate", stack)

    async def try_rotate(self, stack: Stack) -> bool:
        return await self._exchanged("try_rotate", stack)

    async def _exchanged(self, how: Literal["rotate", "try_rotate"], stack: Stack) -> bool:
        async with self.still:
            if self._users and how == "try_rotate":
                return False
            number = next(self._ids)
            self._send({"id": number, "do": how, "stack": _told(stack)})
            try:
                async with asyncio.timeout(ROTATE_S):
                    said = await self._answer(number)
            except TimeoutError:
                await self._end()
                raise OSError(errno.ETIMEDOUT, f"the mount holder of {self._name} did not answer for {ROTATE_S:.0f} s") from None
        if "error" in said:
            raise OSError(int(said["error"]), f"the tree {self._name} could not be exchanged: {said.get('text', '')}")
        return bool(said["free"])

    async def close(self) -> None:
        async with self.still:
            await self._end()
        for descriptor in (self._place, *self.namespaces):
            if descriptor >= 0:
                os.close(descriptor)
        self._place, self.namespaces = -1, ()

    async def _end(self) -> None:
        self._control.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), END_S)
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()

    async def _rise(self, opening: dict[str, Any], stack: Stack) -> None:
        self._send({"open": opening, "stack": _told(stack)})
        said, descriptors = await self._heard()
        if "up" not in said:
            for descriptor in descriptors:
                os.close(descriptor)
            raise OSError(int(said.get("error", 0)), str(said.get("text", "the mount holder ended without a word")))
        self._place, *rest = descriptors
        self.namespaces = tuple(rest)
        self._user = opening["uid"] if os.getuid() == 0 else None

    def _send(self, what: dict[str, Any]) -> None:
        if not self.is_alive:
            raise self._ended()
        try:
            self._control.send(json.dumps(what).encode())
        except ConnectionError:
            raise self._ended() from None

    def _ended(self) -> OSError:
        self._control.close()
        return OSError(errno.EPIPE, f"the mount holder of {self._name} has ended")

    async def _answer(self, number: int) -> dict[str, Any]:
        """Whoever gave up waiting left his answer behind."""
        while True:
            said, _ = await self._heard()
            if not said:
                raise self._ended()
            if said.get("id", number) == number:  # without one, they are its last words
                return said

    async def _heard(self) -> tuple[dict[str, Any], list[int]]:
        loop, ready = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._control, ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_reader(self._control)
        try:
            data, descriptors, _, _ = socket.recv_fds(self._control, LARGEST, 4)
        except ConnectionError:
            return {}, []
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)  # what comes over a socket is inherited otherwise
        return (json.loads(data) if data else {}), list(descriptors)


async def open_overlay(base: Path, store: Path, name: str, stack: Stack, *, uid: int, pins: tuple[str, ...]) -> OverlayGround:
    """`pins`: what is read-only below the tree, or stays where it is, as in `spec.Tree`. Raises Misconfigured where it cannot be done."""
    where, whence = await asyncio.to_thread(store.resolve), await asyncio.to_thread(base.resolve)
    if where.is_relative_to(whence):
        raise Misconfigured(f"the tree of {base} cannot be made of layers: the layers lie in it, in {store}; keep Daimon's home elsewhere")
    if mounted := await asyncio.to_thread(_mounted_in, whence):
        raise Misconfigured(f"the tree of {base} cannot be made of layers: {mounted} is mounted in it, and would be missing; unmount it")
    opening = {"base": str(whence), "store": str(where), "name": name, "uid": uid, "pins": pins}
    control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    control.setblocking(False)
    last_words = os.memfd_create("daimon", os.MFD_CLOEXEC)
    try:
        ground = OverlayGround(name, str(where), await launched("mount_holder", theirs, last_words), control)
    except BaseException:
        control.close()
        os.close(last_words)
        raise
    finally:
        theirs.close()
    try:
        async with asyncio.timeout(START_S):
            await ground._rise(opening, stack)
    except BaseException as failure:
        await ground.close()
        if isinstance(failure, OSError):  # a deadline is one too
            raise Misconfigured(_why(base, failure, os.pread(last_words, 4096, 0))) from None
        raise
    finally:
        os.close(last_words)
    return ground


async def probe(store: Path, base: Path | None = None) -> str:
    """Why no tree can be made of layers in this directory, over that one or any; empty: it can."""
    place = await asyncio.to_thread(_trial, store)
    try:
        await asyncio.to_thread(os.setxattr, place / "live" / "tree", "user.daimon", b"1")
        ground = await open_overlay(base or place / "base", place, "probe", Stack("live"), uid=PROBE_UID, pins=())
        await ground.close()
    except OSError as error:
        return f"files in {store} carry no attributes: {error.strerror}"
    except Misconfigured as error:
        return str(error)
    finally:
        await asyncio.to_thread(_clear, place)
    return ""


def _trial(store: Path) -> Path:
    place = Path(tempfile.mkdtemp(prefix=".probe-", dir=store))
    for path in ("base", "live/tree", "live/work"):
        (place / path).mkdir(parents=True)
    return place


def _clear(place: Path) -> None:
    with contextlib.suppress(OSError):
        (place / "live" / "work" / "work").chmod(0o700)  # overlayfs makes it so that its owner cannot look into it
    shutil.rmtree(place, ignore_errors=True)


def is_on_overlay(path: Path) -> bool:
    """Does this directory lie on one already? Told at a glance, without any mount."""
    rows = [row.split(b" - ") for row in Path("/proc/self/mountinfo").read_bytes().splitlines()]
    mounts = [(_unescaped(row[0].split()[4]), row[1].split()[0]) for row in rows]
    above = [(len(point), kind) for point, kind in reversed(mounts) if _is_at(os.fsencode(path.resolve()), point)]
    return max(above, key=lambda found: found[0], default=(0, b""))[1] == b"overlay"


def _is_at(path: bytes, point: bytes) -> bool:
    return path == point or path.startswith(point.rstrip(b"/") + b"/")


def _unescaped(point: bytes) -> bytes:
    return re.sub(rb"\\([0-7]{3})", lambda found: bytes([int(found[1], 8)]), point)


def _mounted_in(base: Path) -> str:
    """Overlayfs takes one file system of what is below a directory."""
    for row in Path("/proc/self/mountinfo").read_bytes().splitlines():
        point = _unescaped(row.split()[4])
        if point.startswith(os.fsencode(base) + b"/"):
            return os.fsdecode(point)
    return ""


def _told(stack: Stack) -> dict[str, Any]:
    for layer in (stack.live, *stack.frozen):
        if not LAYER.fullmatch(layer) or layer in (".", ".."):
            raise ValueError(f"{layer!r} is no name of a layer")
    return {"live": stack.live, "frozen": stack.frozen}


def _why(base: Path, failure: OSError, last_words: bytes) -> str:
    said = str(failure) or last_words.decode(errors="replace").strip()[-400:] or f"nothing was heard for {START_S:.0f} s"
    if failure.errno == errno.EINVAL:
        said += "; the layers must lie on a file system that can be written through overlayfs: a container's own is not one, a volume is"
    return f"the tree of {base} cannot be made of layers: {said}. {remedy(failure.errno or 0, said)}"
