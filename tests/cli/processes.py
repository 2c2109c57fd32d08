"""The real command line, in processes of its own, on homes of its own. Every wait has a deadline."""

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
SRC = HERE.parents[1] / "src"
DEADLINE_S = 120.0
SIZE = ("COLUMNS", "LINES")
"""Readline sets them for whatever is started after it; they would count for more than the size of a test's own terminal."""


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


class Daimon:
    """The command line on one home."""

    def __init__(self, home: Path, signs: Path) -> None:
        self.home = home
        self.signs = signs
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("DAIMON_") and name not in SIZE}
        self.environment |= {"PYTHONPATH": f"{SRC}{os.pathsep}{HERE / 'extension'}", "HOME": str(signs), "PATIENT_SIGNS": str(signs)}
        self.environment |= {"TERM": "dumb", "PYTHONUNBUFFERED": "1"}
        self._started: list[subprocess.Popen[bytes]] = []

    def configure(self, toml: str) -> None:
        self.home.mkdir(mode=0o700, exist_ok=True)
        (self.home / "daimon.toml").write_text(toml, encoding="utf-8")

    def use_patient_model(self, more: str = "") -> None:
        self.configure(f'extensions = ["patient"]\n[model]\nuse = "patient"\n{more}')

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-P", "-m", "daimon", "--home", str(self.home), *words]

    def run(self, *words: str, given: bytes = b"") -> Done:
        done = subprocess.run(self.command(*words), input=given, env=self.environment, capture_output=True, timeout=DEADLINE_S, check=False)
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            self.command(*words), env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self._started.append(process)
        return process

    def up(self, *words: str) -> "subprocess.Popen[bytes]":
        """A running gateway: returns when it said that it is ready."""
        process = self.start("up", "--port", "0", *words)
        line = read_line(process)
        assert line.startswith("ready http://127.0.0.1:"), (line, process.stderr and process.stderr.read())
        return process

    def close(self) -> None:
        for process in self._started:
            with suppress(ProcessLookupError):
                process.kill()
            process.wait(DEADLINE_S)
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()


def read_line(process: "subprocess.Popen[bytes]") -> str:
    assert process.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        assert selector.select(DEADLINE_S), "nothing was printed in time"
    return process.stdout.readline().decode().rstrip("\n")


def wait_until(is_true: Callable[[], bool]) -> None:
    """For what another process does, and only its files show."""
    deadline = time.monotonic() + DEADLINE_S
    while not is_true():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def finish(process: "subprocess.Popen[bytes]", by: signal.Signals | None = None) -> Done:
    """Waits for its end, after a signal if one is given."""
    if by is not None:
        process.send_signal(by)
    out, err = process.communicate(timeout=DEADLINE_S)
    return Done(process.returncode, out.decode(), err.decode())
