"""What `daimon sandbox` does: a box of one's own, for one command or to look at."""

import asyncio
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

from daimon import config, homes, workshop
from daimon.abi.errors import DaimonError
from daimon.cli import exits, failures, screen

NO_BOX = exits.NO_BOX
_LARGEST_INPUT = 64 * 1024 * 1024


def run(given: Path | None, command: tuple[str, ...], role: str, workspace: Path, hosts: tuple[str, ...]) -> None:
    raise SystemExit(asyncio.run(_run(given, command, role, workspace, hosts)))


async def _run(given: Path | None, command: tuple[str, ...], role: str, workspace: Path, hosts: tuple[str, ...]) -> int:
    home = homes.home_at(given)
    try:
        box = await workshop.one(home, config.settings_of(home), workshop.Trial(role, workspace, hosts))
    except DaimonError as refused:
        failures.tell(refused)
        return NO_BOX
    try:
        ran = await box.run(workshop.whole(command, _stdin(), box.role.places), (_to(1), _to(2)))
    except DaimonError as lost:
        failures.tell(lost)
        return NO_BOX
    finally:
        await box.close()
    if ran.end not in ("exited", "signalled"):
        screen.remark(f"stopped by the box: {ran.end}", "yellow")
    for each in ran.set_aside:
        screen.remark(f"set aside, since it would run by itself: {each}", "yellow")
    for attempt in ran.attempts:
        if attempt.outcome != "passed":
            screen.remark(f"{attempt.method} {attempt.host}:{attempt.port} {attempt.outcome}: {attempt.reason}", "yellow")
    return ran.code


def doctor(given: Path | None, as_json: bool) -> None:
    checks = asyncio.run(workshop.examined())
    is_ok = all(check.is_ok for check in checks)
    if as_json:
        screen.emit_value({"ok": is_ok, "checks": [{"name": c.name, "ok": c.is_ok, "says": c.says} for c in checks]})
    else:
        for check in checks:
            print(f"{'ok ' if check.is_ok else 'NO '} {check.name:<24} {check.says}")
    if not is_ok:
        raise SystemExit(exits.FAILED)


def roles(given: Path | None, as_json: bool) -> None:
    found = workshop.roles_in(homes.home_at(given))
    if as_json:
        screen.emit_value({"roles": [{"name": name, "description": text} for name, text in found]})
        return
    for name, text in found:
        print(f"{name:<14} {text}")


def _to(descriptor: int) -> Callable[[bytes], None]:
    def write(data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]

    return write


def _stdin() -> bytes:
    """What was piped in. A terminal stays outside: whoever holds it could type into it."""
    mode = os.fstat(0).st_mode
    return sys.stdin.buffer.read(_LARGEST_INPUT) if stat.S_ISFIFO(mode) or stat.S_ISREG(mode) else b""
