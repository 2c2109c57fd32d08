"""The supervisor: process 1 of a box. It starts what it is told to, says how that ended, and reaps what is left over.

It hears the gateway on one socket (`line`) and the holder on another (`leash`). A command comes as one message with descriptors: its spec,
stdin, stdout, stderr; so what a command writes goes straight to the gateway and never through here. Each command runs in a session of its
own, with resource limits and a Landlock domain that it cannot lift, and with no descriptor but its three. The supervisor cannot be traced
by what it starts (it is not dumpable) nor ended by it (signals from inside do not reach process 1).

A shell on a terminal (`tty.py`) is a command that does not end: what it started is told and signalled by order (`below`), and is
nothing that another command left behind. `pause` lets everything stand still until `resume`.

It is inside, so nobody outside trusts it: whatever it says is checked, and a box without it is a dead box. Standard library only.
"""

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from typing import Any, NamedTuple

from daimon.sandbox import landlock, processes, tty
from daimon.sandbox.processes import MARK, descendants, marked, pids

NOT_FOUND, NOT_STARTED = 127, 126
LATER = 10
"""How much commands stand back behind the supervisor and all that is outside: on a busy machine they would keep it from stopping them."""
CLEAR_S, LOOK_S = 10.0, 0.01
"""Who was killed needs its turn to go, and on a busy machine that may take."""
_SET_DUMPABLE = 4
_IN_TREES = "/workspace/"
Running = dict[int, int]
"""Commands that run: process, number."""


def main() -> None:
    line, leash = (socket.socket(fileno=int(word)) for word in sys.argv[-2:])
    ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)
    for each in (line, leash):
        os.set_inheritable(each.fileno(), False)
    wake_read, wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's own handler would let it in, and only what has none stays outside
    _say(line, hello=landlock.abi_version())
    Supervisor(line, leash, wake_read).serve()


class Below(NamedTuple):
    """An order about what a shell has running."""

    signal: int = 0
    since: int = 0
    """Only what was born then, in ticks since the machine's start, or later."""
    pid: int = 0
    """Only this one, if it is one of the shell's, and what is below it."""


class Supervisor:
    def __init__(self, line: socket.socket, leash: socket.socket, wake: int) -> None:
        self._line, self._leash, self._wake = line, leash, wake
        self._domains = Domains(landlock.abi_version())
        self._running: Running = {}
        self._trees: dict[int, set[int]] = {}
        """What belonged to a command that is being stopped."""
        self._began: dict[int, tuple[int, int]] = {}
        """When commands began, as the kernel counts the births of processes, and as which: within one tick of it, numbers tell."""
        self._shells: set[int] = set()
        """Those of the running ones that stand on a terminal."""

    def serve(self) -> None:
        waiting = select.poll()
        for descriptor in (self._line.fileno(), self._leash.fileno(), self._wake):
            waiting.register(descriptor, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in waiting.poll()}
            if self._leash.fileno() in ready:
                if not self._leash.recv(16):
                    return
                _end_all()
                self._leash.send(b"d")
            if self._line.fileno() in ready and not self._obey():
                return
            if self._wake in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._wake, 4096)
            self._reap()

    def _obey(self) -> bool:
        said, descriptors, _, _ = socket.recv_fds(self._line, 65_536, 4)
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)  # what comes over a socket is inherited otherwise
        if not said:
            return False
        order = json.loads(said)
        match order["do"]:
            case "run":
                self._run(int(order["id"]), descriptors)
            case "signal":
                self._signal(int(order["id"]), int(order["signal"]))
            case "clear":
                self._clear(int(order["id"]))
            case "rest":
                self._end_rest(int(order["id"]))
            case "below":
                self._below(Below(**order["what"]), int(order["id"]))
            case "pause" | "resume":
                if (processes.pause if order["do"] == "pause" else processes.resume)():  # or whoever waits for the word ends the box
                    _say(self._line, id=int(order["id"]), cleared=True)
            case _:
                _end_all()
        return True

    def _run(self, number: int, descriptors: list[int]) -> None:
        try:
            spec = json.loads(_read_all(descriptors[0]))
            domain = self._domains.of(spec["rules"])
            failed_read, failed_write = os.pipe2(os.O_CLOEXEC)
            descriptors.append(failed_write)
            pid = _forked(failed_read)
            if pid == 0:
                _become(spec, domain, number, descriptors[1:])
        except OSError as error:  # no process more may be made
            _say(self._line, id=number, ended=NOT_STARTED << 8, error=str(error), left=self._others(number))
            return
        finally:
            for descriptor in descriptors[1:]:
                os.close(descriptor)
        failure = _read_all(failed_read).decode(errors="replace")
        if failure:
            os.waitpid(pid, 0)
            code = NOT_FOUND if failure.startswith("2 ") else NOT_STARTED
            _say(self._line, id=number, ended=code << 8, error=failure.partition(" ")[2], left=self._others(number))
        else:
            self._running[pid] = number
            if spec.get("terminal"):
                self._shells.add(number)
            self._began[number] = (processes.processes([pid]).get(pid, processes.Process(0, 0)).born, pid)

    def _signal(self, number: int, which: int) -> None:
        """To all of a command: its session, what it started elsewhere, and what was orphaned on the way."""
        tree = self._trees.setdefault(number, set())
        tree.update(*(descendants({pid}) for pid, running in self._running.items() if running == number))
        tree.update(descendants(self._strays(number)))
        for pid in tree | marked(number):
            with contextlib.suppress(OSError):
                os.kill(pid, which)

    def _strays(self, number: int) -> set[int]:
        """Orphans that are younger than a command, even if they took its mark off, but for those with the mark of another that runs."""
        began = self._began.get(number)
        if began is None:
            return set()
        orphans = {pid for pid, process in processes.processes().items() if process.parent == 1 and (process.born, pid) > began}
        others = (marked(other) for other in self._running.values() if other != number)
        return orphans - self._running.keys() - set().union(*others)

    def _clear(self, number: int) -> None:
        """Whatever a command still has running goes too: a shell lets its background jobs survive the first signals."""
        until = time.monotonic() + CLEAR_S
        while time.monotonic() < until:
            self._signal(number, signal.SIGKILL)
            self._reap()
            if not {pid for pid in self._trees[number] | marked(number) | self._strays(number) if os.path.exists(f"/proc/{pid}")}:
                break
            time.sleep(LOOK_S)
        del self._trees[number]
        left = self._others(number)
        self._began.pop(number, None)
        _say(self._line, id=number, cleared=True, left=left)

    def _end_rest(self, number: int) -> None:
        """What a command left running when it ended. Where no other runs, that is everything."""
        if self._running:
            self._clear(number)
            return
        until = time.monotonic() + CLEAR_S
        while time.monotonic() < until:
            _end_all()
            self._reap()
            if not pids():
                break
            time.sleep(LOOK_S)
        self._began.clear()
        _say(self._line, id=number, cleared=True, left=self._others(number))

    def _below(self, what: Below, number: int) -> None:
        """Tells what a shell has running, after signalling it where that is asked: all, or one process with what is below it."""
        shell = {pid for pid, running in self._running.items() if running == number}
        found = (descendants(shell) | descendants(marked(number) | self._strays(number))) - shell - self._running.keys()
        born = processes.processes(sorted(found))
        found = {pid for pid, process in born.items() if process.born >= what.since}
        if what.pid:
            found &= descendants({what.pid})
        if what.signal:
            processes.signalled(found, what.signal)
            self._reap()
        _say(self._line, id=number, listed=processes.told(found))

    def _others(self, number: int) -> list[str]:
        """What runs and belongs to no command that still runs, nor to a shell. What is older than a command may be a shell's, if there is
        one, even if it took its mark off."""
        known = descendants(set(self._running) | marked(*self._running.values()))
        if self._shells:
            began = self._began.get(number, (0, 0))
            known |= {pid for pid, process in processes.processes().items() if (process.born, pid) < began}
        return processes.others(known)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            number = self._running.pop(pid, None)
            if number is not None:
                self._shells.discard(number)
                left = self._others(number)
                if number not in self._trees and not left:
                    self._began.pop(number, None)
                _say(self._line, id=number, ended=status, left=left)


def _forked(failed_read: int) -> int:
    try:
        return os.fork()
    except OSError:
        os.close(failed_read)
        raise


class Domains:
    """The ruleset of the last command, which serves the next one too, as long as its paths lead where they led.

    Whether they do is seen by what they are, device and inode; those are kept open, so that no other can get their numbers. Where one lies
    in a tree of the workspace, it serves once: to keep that open would keep the layers that it is made of from being exchanged.
    """

    def __init__(self, abi: int) -> None:
        self._abi = abi
        self._rules: list[list[Any]] = []
        self._places: list[int] = []
        self._seen: list[tuple[int, int] | None] = []
        self._ruleset = -1

    def of(self, rules: list[list[Any]]) -> int:
        """-1: this kernel has no Landlock."""
        if not self._abi or (self._ruleset >= 0 and rules == self._rules and [_identity(path) for path, _ in rules] == self._seen):
            return self._ruleset
        self._forget()
        kept = [] if any(path.startswith(_IN_TREES) for path, _ in rules) else rules
        self._places = [place for path, _ in kept if (place := _opened(path)) >= 0]
        self._rules, self._seen = kept, [_identity(path) for path, _ in kept]
        self._ruleset, _ = landlock.make([(path, access) for path, access in rules], self._abi)
        return self._ruleset

    def _forget(self) -> None:
        for descriptor in (*self._places, self._ruleset):
            if descriptor >= 0:
                os.close(descriptor)
        self._places, self._ruleset = [], -1


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _opened(path: str) -> int:
    try:
        return os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return -1


def _become(spec: dict[str, Any], domain: int, number: int, descriptors: list[int]) -> None:
    """In the child: becomes the command, or says why not."""
    *streams, failed = descriptors
    try:
        os.setsid()
        if spec.get("terminal"):
            failed = tty.take(streams, failed)
        else:
            for target, descriptor in enumerate(streams):
                os.dup2(descriptor, target)
        for which in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(which, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        os.nice(LATER)
        _be_first_to_go()
        os.chdir(spec["directory"])
        os.umask(0o022)
        for name, value in spec["limits"].items():
            _limit(getattr(resource, name), value)
        if domain >= 0:
            landlock.enforce(domain)
        _keep_only(*(tty.KEPT if spec.get("terminal") else ()), failed)
        environment = {**spec["environment"], MARK: str(number)}
        os.execvpe(spec["argv"][0], spec["argv"], environment)
    except OSError as error:
        at_directory = error.filename == spec["directory"]
        what, number = (spec["directory"], 0) if at_directory else (spec["argv"][0], error.errno or 0)
        os.write(failed, f"{number} {what}: {error.strerror}".encode(errors="replace"))
    except Exception as error:  # noqa: BLE001 - a child that goes on would be a second supervisor
        os.write(failed, f"0 {type(error).__name__}: {error}".encode(errors="replace"))
    finally:
        os._exit(NOT_STARTED)


def _keep_only(*descriptors: int) -> None:
    """All others would close when the command begins. This does not rely on it."""
    below = 3
    for descriptor in sorted(descriptors):
        os.closerange(below, descriptor)
        below = descriptor + 1
    os.closerange(below, 1 << 16)


def _limit(which: int, value: int) -> None:
    _, hard = resource.getrlimit(which)
    most = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (most, most))


def _be_first_to_go() -> None:
    """When memory runs out, a command goes before its supervisor."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("500")


def _end_all() -> None:
    """All but this process, in one call that nothing can outrun."""
    with contextlib.suppress(OSError):
        os.kill(-1, signal.SIGKILL)


def _say(line: socket.socket, **said: object) -> None:
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            line.send(json.dumps(said).encode())
        except BlockingIOError:
            select.select([], [line], [], 1)
        else:
            return


def _read_all(descriptor: int) -> bytes:
    with open(descriptor, "rb") as file:
        return file.read()


if __name__ == "__main__":
    main()
