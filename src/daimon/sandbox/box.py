"""A running box, from the gateway's side: started, spoken to, ended.

    gateway ── control ── holder        the spec and the filter; "up" or why not; what went over a limit
       │                    └ bwrap
       └────── line ──────── supervisor  commands with their three streams; how they ended

Commands may overlap. A command's time is kept here, outside. When the supervisor's line closes, or it says what it cannot mean, the box is
dead: whoever waits for a command gets `Lost`.
"""

import asyncio
import contextlib
import fcntl
import itertools
import json
import os
import signal
import socket
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from daimon.abi.box import Command, End, Ran, Role
from daimon.abi.errors import Lost, Misconfigured, ToolFailed
from daimon.sandbox import holder, seccomp
from daimon.sandbox.grants import Grants
from daimon.sandbox.launch import launched
from daimon.sandbox.output import Sink, Stream, nowhere
from daimon.sandbox.overlay import OverlayGround
from daimon.sandbox.pins import Pins
from daimon.sandbox.plan import Wanted, spec_of
from daimon.sandbox.refusal import explained
from daimon.sandbox.spawned import Spawned
from daimon.sandbox.spec import WORKSPACES, Spec
from daimon.sandbox.waiting import Waiting, status_of

START_S, ANSWER_S, GRACE_S = 30.0, 20.0, 1.0
LARGEST = 65_536
MOST_NOISE = 256
OVER: tuple[End, ...] = ("memory", "disk", "processes")
"""After these nothing runs any more in the box."""


@dataclass(frozen=True, slots=True)
class Force:
    """What holds a box, as found when it started."""

    started_by_root: bool
    limits: Mapping[str, Any]
    """The control groups; empty: there are none."""
    why_no_groups: str
    landlock: int
    """The version that the kernel has; 0: none."""
    filter_instructions: int


class RunningBox:
    """Made by `start`."""

    def __init__(self, spec: Spec, grants: Grants, process: asyncio.subprocess.Process, lines: tuple[socket.socket, socket.socket]) -> None:
        """`lines`: to its holder, and to its supervisor."""
        self._spec, self._grants, self._process, (self._control, self._line) = spec, grants, process, lines
        self._ids = itertools.count(1)
        self._waiting: dict[int, Waiting] = {}
        self._asked: deque[asyncio.Future[bool]] = deque()
        """Who wants to know whether memory ran out; the holder answers in this order."""
        self._hello: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._pins = Pins(spec.tree.source, spec.tree.pins)
        self._why_dead = ""
        self._noise = 0
        self.listener: socket.socket | None = None
        """Where the box's way out ends; None: it has none."""
        self.force = Force(False, {}, "", 0, 0)

    @property
    def is_alive(self) -> bool:
        return not self._why_dead

    @property
    def workspace(self) -> str:
        """On the host, without any link."""
        return self._spec.tree.source

    @property
    def directory(self) -> str:
        return f"{WORKSPACES}/{self._spec.tree.name}"

    @property
    def has_rules_by_pattern(self) -> bool:
        """Are there rules that name places inside of the tree, as it is when a command begins?"""
        return self._grants.is_by_pattern

    def used(self) -> contextlib.AbstractAsyncContextManager[None]:
        """While a command runs: its tree stays where it is."""
        return self._grants.ground.used() if self._grants.ground else contextlib.nullcontext()

    async def run(self, command: Command, sinks: tuple[Sink, Sink] = (nowhere, nowhere)) -> Ran:
        async with self.used():
            return await self._run(command, sinks)

    async def _run(self, command: Command, sinks: tuple[Sink, Sink]) -> Ran:
        if not self.is_alive:
            raise Lost(f"the box is gone: {self._why_dead}")
        began = time.monotonic()
        number, self._noise = next(self._ids), 0
        waiting = self._waiting[number] = Waiting.fresh()
        with contextlib.ExitStack() as ending:
            ending.callback(self._waiting.pop, number, None)
            out, err = (Stream(command.max_output_bytes, sink) for sink in sinks)
            ending.callback(out.close)
            ending.callback(err.close)
            ending.push(self._sweep_after_failure)
            self._begin()
            ending.callback(self._tell_holder, holder.END)
            self._send(number, command, (_memory(command.stdin), out.give(), err.give()))
            try:
                said = await asyncio.wait_for(asyncio.shield(waiting.ended), command.timeout_s)
            except TimeoutError:
                waiting.over = waiting.over or "timeout"
                said = await self._stop(number, waiting)
            except asyncio.CancelledError:
                with contextlib.suppress(ToolFailed):
                    await self._stop(number, waiting)
                raise
            if waiting.over is None and _left(said):
                await self._end_rest(number, waiting)
            if "error" in said:  # what kept it from starting, where a shell would say it
                err.add(f"{_plain(said['error'], 2000)}\n".encode())
            status = status_of(said)
            end = await self._ended_how(status, waiting)
            return Ran(
                end=end,
                code=status if status >= 0 else 128 - status,
                out=out.finish(),
                err=err.finish(),
                duration_s=time.monotonic() - began,
                left=() if end in OVER else _left(said),
                set_aside=self._swept(),
            )

    def spawn(self, command: Command, streams: tuple[int, int, int]) -> Spawned:
        """A shell that stays, on a terminal: that, what it reads its commands from, what it reports on. Closes all three."""
        return self._spawned(command, streams, is_shell=True)

    def stay(self, command: Command, streams: tuple[int, int, int]) -> Spawned:
        """A process that stays, on three plain streams, until it ends or is ended. For a box in which nothing else runs. Closes them."""
        return self._spawned(command, streams, is_shell=False)

    def _spawned(self, command: Command, streams: tuple[int, int, int], is_shell: bool) -> Spawned:
        if not self.is_alive:
            for descriptor in streams:
                os.close(descriptor)
            raise Lost(f"the box is gone: {self._why_dead}")
        number, self._noise = next(self._ids), 0
        waiting = self._waiting[number] = Waiting.fresh(is_shell=True)
        self._send(number, command, streams, is_shell=is_shell)
        return Spawned(self, number, waiting)

    async def pause(self) -> None:
        """All in it stands still until `resume`. Raises Lost where it does not."""
        await self._told("pause")

    async def resume(self) -> None:
        if self.is_alive:
            await self._told("resume")

    def swept(self) -> tuple[str, ...]:
        """What of the workspace would run by itself on the owner's machine is moved aside."""
        return self._swept()

    async def ran_out_of_memory(self) -> bool:
        """Since commands run, or since the last question."""
        return bool(self.force.limits) and await self._ran_out_of_memory()

    async def close(self) -> None:
        self._die("it was closed")
        self._control.close()
        self._line.close()
        if self.listener is not None:
            self.listener.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), ANSWER_S)
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        if self._has_sweep:  # what ran on after its command may have left something; the next box would take it for the owner's
            await asyncio.to_thread(self._pins.sweep, is_last=True)

    def _sweep_after_failure(self, kind: type[BaseException] | None, *_: object) -> bool:
        """However a command ends, by an answer or with the whole box; only, without an answer nobody hears what was moved."""
        if kind is not None:
            self._swept()
        return False

    def _swept(self) -> tuple[str, ...]:
        return self._pins.sweep() if self._has_sweep else ()

    @property
    def _has_sweep(self) -> bool:
        """What is written on a ground or into a copy is not in the owner's directory; whoever applies it there looks then."""
        return self._spec.tree.is_writable and not self._spec.tree.ground and not self._spec.tree.is_copy

    # -- the start -----------------------------------------------------------------------------------------------------

    async def _rise(self, program: bytes, inside: socket.socket, ground: OverlayGround | None) -> None:
        leash, inner_leash = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        descriptors = [_memory(self._spec.to_json()), _memory(program), inside.fileno(), leash.fileno(), inner_leash.fileno()]
        try:
            socket.send_fds(self._control, [b"box"], [*descriptors, *(ground.namespaces if ground else ())])
        finally:
            for descriptor in descriptors[:2]:
                os.close(descriptor)
            for each in (leash, inner_leash, inside):
                each.close()
        said, listeners = await self._first_word()
        if listeners:
            self.listener = socket.socket(fileno=listeners[0])
            self.listener.setblocking(False)
        if "up" not in said:
            raise Misconfigured(explained(int(said.get("error", 0)), str(said.get("text", "the holder ended without a word"))))
        loop = asyncio.get_running_loop()
        loop.add_reader(self._control, self._hear_holder)
        loop.add_reader(self._line, self._hear_supervisor)
        landlock = await self._hello
        limits = said.get("limits") or {}
        self.force = Force(os.getuid() == 0, limits, str(said.get("why_no_groups", "")), landlock, len(program) // 8)

    async def _first_word(self) -> tuple[dict[str, Any], list[int]]:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        loop.add_reader(self._control, ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_reader(self._control)
        data, descriptors, _, _ = socket.recv_fds(self._control, LARGEST, 2)
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)  # what comes over a socket is inherited otherwise
        return (json.loads(data) if data else {}), list(descriptors)

    # -- hearing -------------------------------------------------------------------------------------------------------

    def _hear_holder(self) -> None:
        try:
            data = self._control.recv(LARGEST)
        except BlockingIOError:
            return None
        except OSError:
            data = b""
        if not data:
            return self._die("its holder ended")
        said = json.loads(data)
        if "error" in said:
            return self._die(f"its holder failed: {said.get('text', '')}")
        if "over" in said:
            for waiting in self._waiting.values():
                waiting.over = waiting.over or said["over"]["what"]
        elif "oom" in said and self._asked:
            answer = self._asked.popleft()
            if not answer.done():
                answer.set_result(bool(said["oom"]))
        return None

    def _hear_supervisor(self) -> None:
        try:
            data = self._line.recv(LARGEST)
            said = json.loads(data) if data else None
            if said is None:
                return self._die("its supervisor ended")
            if "hello" in said:
                if self._hello.done():
                    return self._hear_noise()
                self._hello.set_result(int(said["hello"]))
                return None
            waiting = self._waiting.get(int(said["id"]))
            if waiting is None:
                return self._hear_noise()
            waiting.hear(said)
        except BlockingIOError:
            return None
        except (OSError, ValueError, KeyError, TypeError, RecursionError, OverflowError):
            self._die("its supervisor spoke nonsense")
        return None

    def _hear_noise(self) -> None:
        """Nobody waits for this. A word may come too late; one that never stops would keep the gateway busy for good."""
        self._noise += 1
        if self._noise > MOST_NOISE:
            self._die("its supervisor talked without end")

    def _die(self, why: str) -> None:
        if self._why_dead:
            return
        self._why_dead = why
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._control)
        loop.remove_reader(self._line)
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)  # the holder ends, bwrap and all in it with the holder, and it clears up
        lost = Lost(f"the box is gone ({why}); what ran in it has ended")
        if not self._hello.done():
            self._hello.set_exception(lost)
            self._hello.exception()  # nobody may be waiting for it
        for waiting in self._waiting.values():
            waiting.fail(lost)
        for answer in self._asked:
            answer.cancel()

    # -- telling -------------------------------------------------------------------------------------------------------

    def _send(self, number: int, command: Command, streams: tuple[int, int, int], is_shell: bool = False) -> None:
        """Closes the streams."""
        spec = {
            "terminal": is_shell,
            "argv": command.argv,
            "directory": os.path.normpath(os.path.join(self.directory, command.directory)),
            "environment": {**self._spec.environment, **command.environment},
            "limits": _rlimits(self._spec),
            "rules": self._grants.rules(),
        }
        descriptors = [_memory(json.dumps(spec).encode()), *streams]
        try:
            socket.send_fds(self._line, [json.dumps({"do": "run", "id": number}).encode()], descriptors)
        except OSError as error:
            raise ToolFailed("not_started", f"the box takes no command now: {error.strerror}", retryable=True) from None
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def _begin(self) -> None:
        try:
            self._control.send(holder.BEGIN)
        except OSError as error:
            self._die(f"its holder does not listen: {error.strerror}")
            raise Lost(f"the box is gone: {self._why_dead}") from None

    def _tell_holder(self, what: bytes) -> None:
        with contextlib.suppress(OSError):
            self._control.send(what)

    async def _told(self, what: str) -> None:
        number = next(self._ids)
        waiting = self._waiting[number] = Waiting.fresh()
        try:
            self.order(do=what, id=number)
            await asyncio.wait_for(asyncio.shield(waiting.cleared), ANSWER_S)
        except TimeoutError:
            self._die(f"its supervisor does not {what} it")
            raise Lost(f"the box is gone: {self._why_dead}") from None
        finally:
            self.forget(number)

    def forget(self, number: int) -> None:
        self._waiting.pop(number, None)

    def condemn(self, why: str) -> None:
        self._die(why)

    def busy(self, is_busy: bool) -> None:
        self._noise = 0
        if is_busy:
            self._begin()
        else:
            self._tell_holder(holder.END)

    def order(self, **order: object) -> None:
        with contextlib.suppress(OSError):
            self._line.send(json.dumps(order).encode())

    async def _stop(self, number: int, waiting: Waiting) -> dict[str, Any]:
        """INT, TERM, KILL to all of a command. A box that does not even end that is ended itself."""
        for which, patience_s in ((signal.SIGINT, GRACE_S), (signal.SIGTERM, GRACE_S), (signal.SIGKILL, ANSWER_S)):
            self.order(do="signal", id=number, signal=int(which))
            with contextlib.suppress(TimeoutError):
                said = await asyncio.wait_for(asyncio.shield(waiting.ended), patience_s)
                self.order(do="clear", id=number)
                cleared = await asyncio.wait_for(asyncio.shield(waiting.cleared), ANSWER_S)
                return {**said, "left": cleared.get("left")}
        self._die("a command could not be stopped")
        return await waiting.ended

    async def _end_rest(self, number: int, waiting: Waiting) -> None:
        """What ran on could put something into the workspace after the sweep, or wait for the hosts of a later command."""
        self.order(do="rest", id=number)
        with contextlib.suppress(TimeoutError):
            if not _left(await asyncio.wait_for(asyncio.shield(waiting.cleared), ANSWER_S)) or self._has_others(number):
                return
        self._die("what a command left running could not be stopped")

    def _has_others(self, number: int) -> bool:
        return any(not waiting.is_shell for other, waiting in self._waiting.items() if other != number)

    async def _ended_how(self, status: int, waiting: Waiting) -> End:
        told: End = "signalled" if status < 0 else "exited"
        if waiting.over is None and status and self.force.limits and await self._ran_out_of_memory():
            told = "memory"
        return waiting.over or told  # the watcher may have counted first: then it has said so before the holder answered

    async def _ran_out_of_memory(self) -> bool:
        """Did the kernel end something of it, the command or what the command started?"""
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._asked.append(answer)
        self._tell_holder(holder.COUNT)
        done, _ = await asyncio.wait((answer,), timeout=ANSWER_S)
        return bool(done) and not answer.cancelled() and answer.result()


async def start(wanted: Wanted) -> RunningBox:
    """Raises Misconfigured where no box can be made, with the remedy."""
    spec = await asyncio.to_thread(spec_of, wanted)  # it looks through the workspace
    if wanted.ground is None:
        return await started(spec, wanted.role)
    async with wanted.ground.still:  # what changes before the box is complete would not reach it
        return await started(spec, wanted.role, wanted.ground)


async def started(spec: Spec, role: Role, ground: OverlayGround | None = None) -> RunningBox:
    """As `start`, from a spec."""
    program = seccomp.program(role.profile)
    control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for each in (control, line):
        each.setblocking(False)
    last_words = os.memfd_create("daimon", os.MFD_CLOEXEC)
    try:
        box = RunningBox(spec, Grants(role, spec, ground), await launched("holder", theirs, last_words), (control, line))
    except BaseException:
        for each in (control, line, inside):
            each.close()
        os.close(last_words)
        raise
    finally:
        theirs.close()
    try:
        async with asyncio.timeout(START_S):
            await box._rise(program, inside, ground)
    except (TimeoutError, Lost, Misconfigured) as failure:
        await box.close()
        raise Misconfigured(_why(failure, last_words)) from None
    except BaseException:
        await box.close()
        raise
    finally:
        os.close(last_words)
    return box


def _why(failure: Exception, last_words: int) -> str:
    said = os.pread(last_words, 4096, 0).decode(errors="replace").strip()
    return f"{failure} ({said})" if isinstance(failure, Misconfigured) and said else explained(0, said) if said else str(failure)


def _memory(data: bytes) -> int:
    """A file that is nowhere, ready to be read from its start. Nobody can write to it: what a box stores there no limit would see."""
    descriptor = os.memfd_create("daimon", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE)
    return descriptor


def _rlimits(spec: Spec) -> dict[str, int]:
    bounds = spec.bounds
    return {
        "RLIMIT_DATA": 2 * bounds.memory,  # what it asks for; what it uses is counted for the box as a whole
        "RLIMIT_NPROC": bounds.processes,
        "RLIMIT_NOFILE": bounds.open_files,
        "RLIMIT_FSIZE": bounds.file,
        "RLIMIT_CPU": bounds.cpu_s,
        "RLIMIT_CORE": 0,
        "RLIMIT_MEMLOCK": 8 << 20,
        "RLIMIT_MSGQUEUE": 1 << 20,
    }


def _left(said: Mapping[str, Any]) -> tuple[str, ...]:
    found = said.get("left")
    return tuple(_plain(name, 80) for name in found[:20]) if isinstance(found, list) else ()


def _plain(text: object, most: int) -> str:
    """Something that can be written down, whatever was said."""
    return str(text)[:most].encode(errors="replace").decode()
