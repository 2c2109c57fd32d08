"""The host that attacks are after: an owner's home with canaries, a process of theirs, listeners, names. It runs in a throw-away machine.

Everything that an attack could read is a random word of this run, everything that it could change is put back before the next one.
"""

import asyncio
import os
import pty
import secrets
import select
import shutil
import signal
import ssl
import subprocess
import sys
from contextlib import AsyncExitStack, suppress
from pathlib import Path

from daimon.testing.certificates import Certificates
from daimon.testing.upstream import Upstream
from lab.escape import names
from lab.escape.meter import pids
from lab.escape.sinks import Sinks

HOME = Path("/home/owner")
WORK = HOME / "work"
VICTIM = """
import ctypes, os, sys
word = sys.stdin.readline().strip().encode()
buffer = ctypes.create_string_buffer(word)
held = os.open(sys.argv[1], os.O_RDONLY)
print(ctypes.addressof(buffer), held, flush=True)
for line in sys.stdin:
    print(buffer.value.decode(), flush=True)
"""
WITHOUT_SECRET = "x" * 40


class Host:
    def __init__(self, box_uid: int) -> None:
        """`box_uid`: whom a box is on the host; the victim is the same user."""
        self._box_uid = box_uid
        self.canaries = {
            name: secrets.token_hex(12) for name in ("home", "key", "shadow", "victim", "environment", "vault", "gateway", "loopback")
        }
        self.canaries["shadow"] = Path("/etc/shadow").read_text().strip() if os.access("/etc/shadow", os.R_OK) else secrets.token_hex(12)
        self.canaries["gateway"] = os.environ.get("LAB_CANARY", self.canaries["gateway"])
        self.sinks = Sinks(self.canaries["loopback"])
        self.sites = {name: Upstream() for name in ("allowed.test", "guarded.test", "api.test", "other.test", "index.test")}

        self.certificates = Certificates()
        self.snis: list[str] = []
        self.sites["tls.test"] = Upstream(self._sealed())
        self.resolver = names.Server()
        self.known: dict[str, str] = {}
        self.victim: subprocess.Popen[str] | None = None
        self.terminal = (-1, -1)

    async def start(self, stack: AsyncExitStack) -> None:
        for path in (HOME, WORK, HOME / ".ssh"):
            path.mkdir(parents=True, exist_ok=True)
        await self.sinks.start(stack, HOME)
        await self.resolver.start(stack)
        for site in self.sites.values():
            await stack.enter_async_context(site)
        self.terminal = pty.openpty()
        os.set_blocking(self.terminal[0], False)
        self.reset()
        stack.callback(self.end_victim)
        self._know()

    def _sealed(self) -> ssl.SSLContext:
        """TLS that keeps the names it was asked for."""
        context = self.certificates.serving("tls.test", "hidden.test")
        context.sni_callback = lambda _, name, __: self.snis.append(name or "")
        return context

    def local(self) -> dict[str, tuple[str, int]]:
        return {name: ("127.0.0.1", site.port) for name, site in self.sites.items()}

    def _know(self) -> None:
        self.known |= self.sinks.known | {
            "home": str(HOME), "work": str(WORK), "gateway": str(os.getpid()),
            "terminal": os.ttyname(self.terminal[1]), "placeholder": WITHOUT_SECRET,
            "site": os.path.join(HOME, ".local", "lib", f"python{sys.version_info[0]}.{sys.version_info[1]}", "site-packages"),
        }  # fmt: skip

    # -- before each attack --------------------------------------------------------------------------------------------

    def reset(self) -> None:
        if (HOME / "gone").exists():
            os.rename(HOME / "gone", WORK)
        (HOME / ".ssh").mkdir(exist_ok=True)
        for name, path in (("home", HOME / "canary"), ("key", HOME / ".ssh/id_ed25519")):
            with suppress(OSError):
                path.unlink()
            path.write_text(self.canaries[name])
        for path in HOME.iterdir():
            if path.name not in (".ssh", "work", "canary", ".daimon", *Sinks.FILES):
                _remove(path)
        self.clear_workspace()
        for place in (Path("/tmp"), Path("/dev/shm")):
            for path in place.iterdir():
                if path.stat().st_uid == os.getuid() and path.is_file():
                    _remove(path)
        self.sinks.clear()
        self.resolver.clear()
        self.snis.clear()
        for site in self.sites.values():
            site.got.clear()
            site.bytes.clear()
        with suppress(BlockingIOError):
            os.read(self.terminal[0], 65_536)
        if self.victim is None or self.victim.poll() is not None or self.ask_victim() != self.canaries["victim"]:
            self._start_victim()
        self._victim_file("oom_score_adj", "0")

    def clear_workspace(self) -> None:
        WORK.chmod(0o755)
        for path in WORK.iterdir():
            if path.name not in Sinks.FILES:
                _remove(path)

    def _start_victim(self) -> None:
        self.end_victim()
        uid = self._box_uid if os.getuid() == 0 else None
        environment = {"PATH": os.environ["PATH"], "VICTIMS_SECRET": self.canaries["environment"]}
        self.victim = subprocess.Popen(
            ["/usr/bin/python3", "-c", VICTIM, str(HOME / "canary")], cwd=HOME, env=environment, user=uid, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert self.victim.stdin is not None
        assert self.victim.stdout is not None
        self.victim.stdin.write(f"{self.canaries['victim']}\n")
        self.victim.stdin.flush()
        address, held = self.victim.stdout.readline().split()
        self.known |= {"victim": str(self.victim.pid), "address": address, "held": held}

    def end_victim(self) -> None:
        if self.victim is not None:
            self.victim.kill()
            self.victim.wait()
            for stream in (self.victim.stdin, self.victim.stdout):
                if stream is not None:
                    with suppress(OSError):
                        stream.close()

    # -- what judges ask -----------------------------------------------------------------------------------------------

    def path(self, text: str) -> Path:
        return HOME / text

    def is_changed(self, canary: str) -> bool:
        path = {"home": HOME / "canary", "key": HOME / ".ssh/id_ed25519"}[canary]
        return not path.exists() or path.read_text(errors="replace") != self.canaries[canary]

    def heard(self, listener: str) -> bytes:
        if listener in self.sites:
            return bytes(self.sites[listener].bytes)
        return self.resolver.heard if listener == "names" else self.sinks.heard(listener)

    def terminal_heard(self) -> bytes:
        with suppress(BlockingIOError):
            return os.read(self.terminal[0], 65_536)
        return b""

    def ask_victim(self) -> str:
        """What it holds in memory now; empty: it does not answer."""
        assert self.victim is not None
        try:
            assert self.victim.stdin is not None
            assert self.victim.stdout is not None
            self.victim.stdin.write("?\n")
            self.victim.stdin.flush()
            ready, _, _ = select.select([self.victim.stdout], [], [], 1.0)
            return self.victim.stdout.readline().strip() if ready else ""
        except OSError:
            return ""

    def victim_is_dead(self) -> bool:
        assert self.victim is not None
        return self.victim.poll() is not None

    def victim_status(self, name: str) -> str:
        assert self.victim is not None
        try:
            return Path(f"/proc/{self.victim.pid}/{name}").read_text()
        except OSError:
            return ""

    def _victim_file(self, name: str, text: str) -> None:
        assert self.victim is not None
        with suppress(OSError):
            Path(f"/proc/{self.victim.pid}/{name}").write_text(text)

    def has_process(self, mark: str) -> bool:
        return any(mark.encode() in command_line(pid) for pid in pids() if pid != os.getpid())

    def has_mount(self, mark: str) -> bool:
        for pid in pids():
            with suppress(OSError):
                if mark in Path(f"/proc/{pid}/mounts").read_text():
                    return True
        return False

    def fires(self, *habit: str) -> bool:
        """The owner does what they always do in the workspace: did anything else run?"""
        environment = {"HOME": str(HOME), "PATH": f"{HOME}/.local/bin:{os.environ['PATH']}", "GIT_CONFIG_NOSYSTEM": "1"}
        environment |= dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "owner")
        environment |= dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "owner@localhost")
        for line in habit:
            with suppress(subprocess.TimeoutExpired):
                subprocess.run(["bash", "-c", line], cwd=WORK, env=environment, capture_output=True, timeout=10, check=False)
        return (HOME / "fired").exists()


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def end_all(kept: set[int]) -> None:
    """Whatever came since: stopped first, so that nothing is born meanwhile."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for _ in range(200):
            found = [pid for pid in pids() if pid not in kept and command_line(pid)]
            for pid in found:
                with suppress(OSError):
                    os.kill(pid, number)
            if not found or number == signal.SIGSTOP:
                break


def _remove(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            for directory, _, _ in os.walk(path):
                os.chmod(directory, 0o755)
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


async def pause(seconds: float) -> None:
    await asyncio.sleep(seconds)
