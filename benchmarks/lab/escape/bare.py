"""The same command without a box: as a shell tool runs it that was written in five minutes, on the throw-away machine.

It inherits the descriptors and, if the attack is about that, the terminal of whoever started it; it is killed after its time, but what it
started is not; it keeps all output; its network goes through a proxy that believes what it is told (`naive.py`).
"""

import asyncio
import fcntl
import os
import termios
from contextlib import suppress

from lab.escape.attack import Said
from lab.escape.host import HOME, WORK, Host

KEPT = 1 << 16
PROXY = "http://127.0.0.1:3128"


class Bare:
    def __init__(self, host: Host) -> None:
        self._host = host
        self.has_terminal = False

    async def run(self, command: str, hosts: tuple[str, ...], timeout_s: float) -> Said:
        held = os.open(HOME / "canary", os.O_RDONLY)
        environment = {
            **os.environ,
            "HOME": str(HOME),
            "http_proxy": PROXY,
            "https_proxy": PROXY,
            "HTTP_PROXY": PROXY,
            "HTTPS_PROXY": PROXY,
        }
        environment |= {"no_proxy": "localhost,127.0.0.1,::1", "API_KEY": self._host.known["placeholder"], "TERM": "dumb"}
        try:
            process = await asyncio.create_subprocess_exec(
                *("/bin/sh", "-c", command), cwd=WORK, env=environment, pass_fds=(held,), preexec_fn=self._prepare,
                stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
            )  # fmt: skip
        finally:
            os.close(held)
        kept, size = b"", 0
        assert process.stdout is not None
        try:
            async with asyncio.timeout(timeout_s):
                while data := await process.stdout.read(1 << 20):
                    size += len(data)
                    kept = (kept + data)[:KEPT] if len(kept) < KEPT else kept
                    if process.returncode is not None:
                        break
                await process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
        process._transport.close()  # type: ignore[attr-defined]
        return Said(kept.decode(errors="replace"), size, self._host.victim_is_dead())

    def _prepare(self) -> None:
        os.setsid()
        if self.has_terminal:
            slave = os.open(os.ttyname(self._host.terminal[1]), os.O_RDWR)
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            os.close(slave)
