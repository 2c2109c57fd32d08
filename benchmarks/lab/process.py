"""One life of the real `./daimon up`, from exec to death."""

import asyncio
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from lab import wire

CHECKOUT = Path(__file__).resolve().parents[2]
READY_S = 120.0
EXIT_S = 75.0


class Died(Exception):
    """The process ended while somebody was waiting for it."""


class Process:
    def __init__(self, home: Path, child: asyncio.subprocess.Process, errors: Path) -> None:
        self.home = home
        self.errors = errors
        self.started_at = time.monotonic()
        self.port = 0
        self._child = child
        self.token = ""

    @classmethod
    async def start(cls, home: Path, **environment: str) -> "Process":
        errors = home.with_name(f"{home.name}.stderr")
        variables = {**os.environ, "PYTHONPATH": str(CHECKOUT / "benchmarks"), **environment}
        with errors.open("ab") as sink:
            child = await asyncio.create_subprocess_exec(
                *command("up", "--home", str(home), "--port", "0"),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=sink,
                env=variables,
            )
        return cls(home, child, errors)

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def is_alive(self) -> bool:
        return self._child.returncode is None

    async def ready(self) -> None:
        """Until it says `ready URL`. Raises Died."""
        assert self._child.stdout is not None
        async with asyncio.timeout(READY_S):
            while line := (await self._child.stdout.readline()).decode():
                if line.startswith("ready http://"):
                    self.port = int(line.rsplit(":", 1)[1].strip().rstrip("/"))
                    self.token = (self.home / "token").read_text().strip()
                    return
            code = await self._child.wait()
        raise Died(f"exit code {code} before it was ready")

    async def call(self, method: str, path: str, data: object = None, **headers: str) -> wire.Answer:
        """Raises Unanswered, or Died if that is why."""
        try:
            return await wire.call(self.port, method, path, data, Authorization=f"Bearer {self.token}", **headers)
        except wire.Unanswered as silence:
            with suppress(TimeoutError):
                await self.exit(within_s=0.5)
                raise Died(str(silence)) from silence
            raise

    async def event(self, data: dict[str, object], key: str) -> wire.Answer:
        return await self.call("POST", "/v1/events", data, Idempotency_Key=key)

    def signal(self, number: int) -> None:
        if self.is_alive:
            self._child.send_signal(number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)

    async def exit(self, within_s: float = EXIT_S) -> int:
        async with asyncio.timeout(within_s):
            return await self._child.wait()

    def last_words(self, most: int = 2_000) -> str:
        return self.errors.read_text(errors="replace")[-most:].strip()


def command(*words: str) -> list[str]:
    return [str(CHECKOUT / "daimon"), *words]
