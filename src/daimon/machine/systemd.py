"""Every word to systemd: `systemctl`, `journalctl` and `loginctl`, of the machine or of one user.

Each call has a deadline and is checked; what failed is told with the command and systemd's own words. What it says is read from
properties, never from its prose. Nothing here knows what a unit is for.
"""

import os
import shutil
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from daimon.abi.errors import DaimonError, Misconfigured

LONGEST_S = 1_000.0
"""Starting waits until the unit is ready, and a unit may take fifteen minutes."""
LINGERING = Path("/var/lib/systemd/linger")
_PROPERTIES = (
    "LoadState", "ActiveState", "SubState", "UnitFileState", "MainPID", "NRestarts", "Result", "ExecMainCode", "ExecMainStatus",
    "StateChangeTimestamp", "StatusText",
)  # fmt: skip
_EXITED = "1"  # CLD_EXITED of waitid(2); anything else is a signal


@dataclass(frozen=True, slots=True)
class Seen:
    """A unit, as systemd sees it."""

    is_known: bool
    is_enabled: bool
    state: str
    """active, activating, deactivating, inactive, failed, reloading."""
    detail: str
    since: datetime | None
    pid: int
    restarts: int
    result: str
    """success, or why it ended: exit-code, signal, watchdog, timeout and others."""
    code: int | None
    """With which it last ended by itself."""
    signal: int | None
    """By which it was last ended."""
    says: str


class Systemd:
    def __init__(self, is_user: bool) -> None:
        self.is_user = is_user
        self._environment = {**os.environ, "TZ": "UTC", "LC_ALL": "C", "SYSTEMD_COLORS": "0", "SYSTEMD_PAGER": ""}
        runtime = Path(f"/run/user/{os.geteuid()}")
        if is_user and "XDG_RUNTIME_DIR" not in os.environ and runtime.is_dir():
            self._environment["XDG_RUNTIME_DIR"] = str(runtime)  # after `su` it is unset, and the manager is there all the same

    def absence(self) -> str:
        """Why there is no systemd to talk to; empty if there is one."""
        if shutil.which("systemctl") is None:
            return "this machine has no systemctl"
        done = self._run("systemctl", "show", "--property=Version", "--value")
        return "" if done.returncode == 0 and done.stdout.strip() else _last(done.stderr) or "systemctl does not answer"

    def call(self, *words: str) -> None:
        """Raises DaimonError."""
        done = self._run("systemctl", *words)
        if done.returncode:
            why = done.stderr.strip() or "it does not say why"
            raise DaimonError(f"`{self.shown('systemctl', *words)}` failed ({done.returncode}): {why}")

    def see(self, unit: str) -> Seen:
        done = self._run("systemctl", "show", f"--property={','.join(_PROPERTIES)}", unit)
        if done.returncode:
            raise Misconfigured(f"`{self.shown('systemctl', 'show', unit)}` failed: {_last(done.stderr)}")
        found = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
        status, is_exit = int(found.get("ExecMainStatus") or 0), found.get("ExecMainCode") == _EXITED
        has_ended = found.get("ExecMainCode", "0") != "0"
        return Seen(
            is_known=found.get("LoadState") not in (None, "not-found"),
            is_enabled=found.get("UnitFileState", "").startswith("enabled"),
            state=found.get("ActiveState", "unknown"),
            detail=found.get("SubState", ""),
            since=_moment(found.get("StateChangeTimestamp", "")),
            pid=int(found.get("MainPID") or 0),
            restarts=int(found.get("NRestarts") or 0),
            result=found.get("Result", ""),
            code=status if has_ended and is_exit else None,
            signal=status if has_ended and not is_exit else None,
            says=found.get("StatusText", ""),
        )

    def tail(self, unit: str, lines: int) -> tuple[str, ...]:
        """The last lines of its journal; none where that cannot be read."""
        if shutil.which("journalctl") is None:
            return ()
        done = self._run("journalctl", "--quiet", "--no-pager", "--output=cat", f"--lines={lines}", f"--unit={unit}")
        return tuple(line for line in done.stdout.splitlines() if not line.startswith("-- ")) if done.returncode == 0 else ()

    def follow(self, *words: str) -> None:
        """Becomes `journalctl`. Raises Misconfigured."""
        program = shutil.which("journalctl")
        if program is None:
            raise Misconfigured("this machine has no journalctl; what the gateway prints goes wherever its supervisor puts it")
        os.execve(program, self._words("journalctl", *words), {**os.environ, **self._runtime()})  # noqa: S606 - it is to be that program

    def linger(self) -> None:
        """Raises DaimonError where it may not."""
        if shutil.which("loginctl") is None:
            raise Misconfigured("this machine has no loginctl; it does not know of lingering")
        done = self._run_as(["loginctl", "enable-linger"])
        if done.returncode:
            raise DaimonError(
                f"`loginctl enable-linger` failed ({done.returncode}): {_last(done.stderr)}; root can do it: loginctl enable-linger USER"
            )

    def shown(self, program: str, *words: str) -> str:
        return " ".join(self._words(program, *words))

    def _words(self, program: str, *words: str) -> list[str]:
        return [program, *(("--user",) if self.is_user else ()), *words]

    def _runtime(self) -> dict[str, str]:
        found = self._environment.get("XDG_RUNTIME_DIR")
        return {"XDG_RUNTIME_DIR": found} if found else {}

    def _run(self, program: str, *words: str) -> "subprocess.CompletedProcess[str]":
        return self._run_as(self._words(program, "--no-ask-password", *words) if program == "systemctl" else self._words(program, *words))

    def _run_as(self, words: list[str]) -> "subprocess.CompletedProcess[str]":
        try:
            return subprocess.run(  # noqa: S603 - words of this file and of the command line, no shell
                words, env=self._environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LONGEST_S, check=False
            )
        except subprocess.TimeoutExpired:
            raise DaimonError(f"`{' '.join(words)}` did not end within {LONGEST_S:g} s") from None
        except OSError as error:
            raise Misconfigured(f"`{words[0]}` cannot be run: {error.strerror}") from None


def lingers(user: str) -> bool:
    """Whether this user's manager runs without a login."""
    return (LINGERING / user).exists()


def _moment(text: str) -> datetime | None:
    """`Mon 2026-11-16 05:45:27 UTC`; without the name of the day, since that is a word."""
    try:
        return datetime.strptime(text.partition(" ")[2], "%Y-%m-%d %H:%M:%S UTC").replace(tzinfo=UTC)
    except ValueError:
        return None


def _last(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""
