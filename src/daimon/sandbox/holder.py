"""The holder: one small process on the host for each box. It makes the box, watches it, and with its end the box ends.

    own mount namespace → stage the root directory → control group → bwrap, as an ordinary user, held at a gate
        → listening socket in the box's network → gate opens → watch

Started by root it stays root, because it alone may mount; what it starts becomes a dedicated user *before* bwrap: to a box whose
processes are root on the host, /proc/sys is open. It reads nothing that comes from inside the box but process sizes. What it is told
comes from the gateway: one message with the spec, the system-call filter and the two sockets that the supervisor gets, then a byte
whenever a command begins or ends. When the gateway goes, the socket closes, and so does the box. Standard library only.
"""

import contextlib
import ctypes
import json
import os
import select
import signal
import socket
import sys
from dataclasses import asdict

from daimon.sandbox import namespaces, stage
from daimon.sandbox.cgroup import Group, Groups
from daimon.sandbox.spec import INNER_ID, WORKSPACES, Spec
from daimon.sandbox.watch import INTERVAL_S, Over, Watch

BEGIN, END, COUNT = b"b", b"e", b"q"
"""What the gateway says: a command begins; it has ended; how often did memory run out since commands run?"""
SCRATCH = ("/tmp", "/home/agent", "/dev/shm")  # noqa: S108
GRACE_S = 2.0
QUIET_S = 0.25
"""Between two looks while only shells and what they left running are there."""
_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    os.set_inheritable(control.fileno(), False)  # else the box would hold it too, and could speak for its holder
    os.setsid()
    os.umask(0o022)
    try:
        _, descriptors, _, _ = socket.recv_fds(control, 64, 8)
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)  # what comes over a socket is inherited otherwise
        spec_file, program, line, leash, inner_leash, *ground = descriptors
        spec = Spec.from_json(_read_all(spec_file))
        with contextlib.ExitStack() as ending:
            _enter(ground)
            disk = os.open(f"{spec.tree.ground}/{stage.STORE}", os.O_PATH | os.O_CLOEXEC) if ground else None
            box = _make(spec, program, (line, inner_leash), ending)
            for descriptor in (line, inner_leash, program):
                os.close(descriptor)
            _release(box, control, spec)
            Holding(box, control, socket.socket(fileno=leash), spec, disk).serve()
    except (OSError, KeyError, ValueError, TypeError) as error:
        _tell(control, error=getattr(error, "errno", None) or 0, text=str(error))


def _enter(ground: list[int]) -> None:
    """Namespaces of one's own, or copies of those in which the tree was put together from layers."""
    if not ground:
        namespaces.enter_own()
        return
    namespaces.join(ground)
    for descriptor in ground:
        os.close(descriptor)


class _Made:
    """A box that waits at the gate."""

    def __init__(self, bwrap: int, inner: int, gate: int, group: Group | None, why_none: str) -> None:
        self.bwrap, self.inner, self.gate, self.group, self.why_none = bwrap, inner, gate, group, why_none


def _is_own(spec: Spec) -> bool:
    """Is all in the tree the box user's, or mapped to him by whoever made it?"""
    return bool(spec.tree.ground) or (spec.tree.is_copy and spec.tree.owner == (spec.uid, spec.uid))


def _make(spec: Spec, program: int, inside: tuple[int, int], ending: contextlib.ExitStack) -> _Made:
    is_root = os.getuid() == 0
    ids = (spec.uid, spec.uid) if is_root else (os.getuid(), os.getgid())
    users = namespaces.mapping(spec.tree.owner, spec.uid) if is_root and not _is_own(spec) else None
    stage.Stage(spec, users, ids).build()
    group, why_none = _group(spec, ending)
    info_read, info_write = os.pipe()
    gate_read, gate_write = os.pipe()
    bwrap = os.fork()
    if bwrap == 0:
        _become_bwrap(spec, group, is_root, (program, *inside, info_write, gate_read))
    os.close(info_write)
    os.close(gate_read)
    ending.callback(_end, bwrap)
    told = _read_all(info_read)
    if not told:
        _, status = os.waitpid(bwrap, 0)
        raise OSError(0, f"bwrap ended with {os.waitstatus_to_exitcode(status)} before the box was there")
    inner = int(json.loads(told)["child-pid"])
    ending.callback(_end_inner, os.pidfd_open(inner))
    return _Made(bwrap, inner, gate_write, group, why_none)


def _group(spec: Spec, ending: contextlib.ExitStack) -> tuple[Group | None, str]:
    groups = Groups.found()
    if groups is None:
        return None, "no control group is delegated to this user"
    try:
        group = groups.make(spec.bounds, os.cpu_count() or 1)
    except OSError as error:
        return None, f"control groups cannot be made: {error}"
    ending.callback(group.remove)
    return group, ""


def _become_bwrap(spec: Spec, group: Group | None, is_root: bool, inherited: tuple[int, ...]) -> None:
    """In the child. Never returns."""
    try:
        os.setsid()
        if group is not None:
            group.add(os.getpid())
        if is_root:
            os.setgroups([])
            os.setresgid(spec.uid, spec.uid, spec.uid)
            os.setresuid(spec.uid, spec.uid, spec.uid)
        _libc.prctl(_PDEATHSIG, signal.SIGKILL)  # after the change of user, which clears it
        for descriptor in inherited:
            os.set_inheritable(descriptor, True)
        program, line, leash, info, gate = inherited
        os.execv(spec.bwrap, [spec.bwrap, *_arguments(spec, program, info, gate), "--", *spec.supervisor, str(line), str(leash)])
    except OSError as error:
        os.write(2, f"{error}\n".encode())
    finally:
        os._exit(126)


def _arguments(spec: Spec, program: int, info: int, gate: int) -> list[str]:
    inner = str(INNER_ID)
    words = ["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup"]
    words += ["--disable-userns", "--uid", inner, "--gid", inner, "--hostname", spec.name, "--cap-drop", "ALL"]
    words += ["--new-session", "--die-with-parent", "--as-pid-1", "--clearenv"]
    words += ["--bind", stage.ROOT, "/", "--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev"]
    words += ["--size", str(spec.scratch["/tmp"]), "--tmpfs", "/dev/shm", "--remount-ro", "/dev", "--remount-ro", "/"]  # noqa: S108
    words += ["--chdir", WORKSPACES if spec.tree.ground else f"{WORKSPACES}/{spec.tree.name}"]  # whoever stands in a layer holds it
    for name, value in spec.environment.items():
        words += ["--setenv", name, value]
    return [*words, "--seccomp", str(program), "--info-fd", str(info), "--block-fd", str(gate)]


def _release(box: _Made, control: socket.socket, spec: Spec) -> None:
    descriptors = []
    if spec.has_network:
        listener = namespaces.listen_inside(box.inner)
        descriptors.append(listener.detach())
    limits = {"by": "cgroup", "version": box.group.groups.version, "controllers": box.group.groups.controllers} if box.group else {}
    _tell(control, descriptors, up=box.inner, limits=limits, why_no_groups=box.why_none)
    for descriptor in descriptors:
        os.close(descriptor)
    os.write(box.gate, b"1")
    os.close(box.gate)


class Holding:
    """The life of a box after its start."""

    def __init__(self, box: _Made, control: socket.socket, leash: socket.socket, spec: Spec, disk: int | None) -> None:
        """`disk`: a directory where what the box writes ends up; None: in the tree itself."""
        self._box, self._control, self._leash, self._spec, self._disk = box, control, leash, spec, disk
        self._ended = os.pidfd_open(box.bwrap)
        self._ooms = 0

    def serve(self) -> None:
        waiting = select.poll()
        waiting.register(self._control, select.POLLIN)
        waiting.register(self._ended, select.POLLIN)
        watch: Watch | None = None
        while True:
            interval_s = None if watch is None or not watch.is_busy else INTERVAL_S if watch.has_commands else QUIET_S
            ready = {descriptor for descriptor, _ in waiting.poll(interval_s and interval_s * 1000)}
            if self._ended in ready:
                return
            if self._control.fileno() not in ready:
                self._look(watch)
                continue
            match self._control.recv(16):
                case b"":
                    return
                case b"b":
                    watch = watch or self._watch()
                    if not watch.has_commands:
                        self._out_of_memory()
                    watch.begin()
                case b"e":
                    assert watch is not None
                    watch.end()
                case _:
                    _tell(self._control, oom=self._out_of_memory())

    def _out_of_memory(self) -> int:
        """How often since the last question: each time is told once."""
        before, self._ooms = self._ooms, self._box.group.out_of_memory() if self._box.group else 0
        return self._ooms - before

    def _watch(self) -> Watch:
        """When the first command begins: before, the box may not be complete."""
        tree = f"{stage.ROOT}{WORKSPACES}/{self._spec.tree.name}"
        return Watch(self._box.inner, (tree, self._disk), SCRATCH, self._spec.bounds)

    def _look(self, watch: Watch | None) -> None:
        if watch is None:
            return
        bounds = self._spec.bounds
        over = Over("memory", bounds.memory, bounds.memory) if self._out_of_memory() else watch.look()
        if over is not None:
            _tell(self._control, over=asdict(over))
            self._sweep()

    def _sweep(self) -> None:
        """The supervisor ends all others at once; if it cannot, the whole box goes."""
        self._leash.settimeout(GRACE_S)
        try:
            self._leash.send(b"s")
            self._leash.recv(16)
        except OSError:
            os.kill(self._box.bwrap, signal.SIGKILL)


def _end(bwrap: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(bwrap, signal.SIGKILL)
    with contextlib.suppress(OSError):
        os.waitpid(bwrap, 0)


def _end_inner(inner: int) -> None:
    """With its process 1 all in a box ends. One that has only just begun waits for bwrap, and would wait for ever."""
    with contextlib.suppress(OSError):
        signal.pidfd_send_signal(inner, signal.SIGKILL)


def _tell(control: socket.socket, descriptors: list[int] | None = None, **said: object) -> None:
    with contextlib.suppress(OSError):
        socket.send_fds(control, [json.dumps(said).encode()], descriptors or [])


def _read_all(descriptor: int) -> bytes:
    with open(descriptor, "rb") as file:
        return file.read()


if __name__ == "__main__":
    main()
