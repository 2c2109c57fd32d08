"""`daimon service start|stop|restart|status|logs`: the unit at work. What systemd knows stands beside what the gateway itself says."""

import os
import signal
import sys
from dataclasses import dataclass

from daimon import service
from daimon.abi.errors import DaimonError
from daimon.cli import exits, screen

LAST_LINES = 10


@dataclass(frozen=True, slots=True)
class Wanted:
    """Of the journal."""

    lines: int
    since: str
    is_followed: bool


def begin(name: str, how: str, as_json: bool) -> None:
    made = _service(name)
    try:
        made.start(how)
    except DaimonError as failure:
        if made.text() and type(failure) is DaimonError:
            raise DaimonError(f"{failure}\n{_last_words(made)}".rstrip()) from None
        raise
    _say(made, as_json, "is running", running=True)


def stop(name: str, as_json: bool) -> None:
    made = _service(name)
    made.stop()
    _say(made, as_json, "is stopped", running=False)


def status(name: str, as_json: bool) -> None:
    made = _service(name)
    made.require_systemd()
    made.require_installed()
    seen, health = made.see(), made.health()
    lines = () if seen.state == "active" else made.systemd.tail(made.unit, LAST_LINES)
    if as_json:
        ended = {"code": seen.code, "signal": seen.signal, "result": seen.result, "meaning": meaning(seen)}
        about = {"unit": made.unit, "file": str(made.file), "enabled": seen.is_enabled, "home": str(made.home or ""), "user": made.user}
        now = {"state": seen.state, "detail": seen.detail, "since": seen.since.isoformat() if seen.since else None, "pid": seen.pid}
        told = {"restarts": seen.restarts, "ended": ended, "answers": health.answers, "ready": health.is_ready, "health": health.says}
        screen.emit_value({**about, **now, **told, "lines": list(lines)})
    else:
        _show(made, seen, health, lines)
    sys.exit(exits.NOT_RUNNING if seen.state != "active" else exits.OK if health.is_ready else exits.FAILED)


def logs(name: str, wanted: Wanted, as_json: bool) -> None:
    made = _service(name)
    made.require_systemd()
    made.require_installed()
    options = [f"--unit={made.unit}", f"--lines={wanted.lines}"]
    options += [f"--since={wanted.since}"] if wanted.since else []
    options += ["--follow"] if wanted.is_followed else []
    options += ["--output=json"] if as_json else []
    sys.stdout.flush()
    made.systemd.follow(*options, *([] if sys.stdout.isatty() else ["--no-pager"]))


def meaning(seen: service.Seen) -> str:
    """How it last ended, in words."""
    if seen.result == "watchdog":
        return "it gave no sign of life and was killed by systemd"
    if seen.signal is not None:
        name = signal.Signals(seen.signal).name if seen.signal in set(signal.Signals) else str(seen.signal)
        return f"ended by {name}"
    if seen.code is None:
        return ""
    return next((row.meaning for row in exits.TABLE if row.code == seen.code), "a code that is not Daimon's own")


def _show(made: service.Service, seen: service.Seen, health: service.Health, lines: tuple[str, ...]) -> None:
    since = f" since {seen.since:%Y-%m-%d %H:%M:%S} UTC" if seen.since else ""
    code = f" ({seen.code})" if seen.code is not None else ""
    rows = [
        ("unit", f"{made.file}{'' if seen.is_enabled else ' (does not start with the machine)'}"),
        ("state", f"{seen.state} ({seen.detail}){since}"),
        ("gateway", health.says),
        ("home", str(made.home or "unknown")),
        *([("user", made.user)] if made.user else []),
        *([("process", str(seen.pid))] if seen.pid else []),
        ("restarts", str(seen.restarts)),
        *([("last end", f"{meaning(seen)}{code}")] if meaning(seen) else []),
    ]
    screen.out().print(screen.facts(tuple(rows)))
    for line in lines:
        screen.say(f"    {line}", "dim")


def _last_words(made: service.Service) -> str:
    seen = made.see()
    code = f"it ended with {seen.code}: {meaning(seen)}" if seen.code else meaning(seen)
    return "\n".join([*([code] if code else []), *made.systemd.tail(made.unit, LAST_LINES)])


def _say(made: service.Service, as_json: bool, what: str, *, running: bool) -> None:
    if as_json:
        screen.emit_value({"unit": made.unit, "running": running})
    else:
        screen.say(f"{made.unit} {what}")


def _service(name: str) -> service.Service:
    return service.Service(name, os.geteuid() == 0)
