"""`daimon service install` and `uninstall`: the unit comes and goes; the home and the user stay."""

import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from daimon import service
from daimon.cli import screen, service_user
from daimon.cli.checkout import VARIABLE
from daimon.config import Home

LINGER = """\
without a login your services end with your last session and do not start with the machine. Lingering changes that for your user:
    loginctl enable-linger        (or `daimon service install --linger`)"""

HIDING = (Path("/tmp"), Path("/var/tmp"), Path("/root"), Path("/home"))  # noqa: S108 - it is warned of


@dataclass(frozen=True, slots=True)
class Wanted:
    home: Path | None
    runs_as: str
    unit: str
    is_agreed: bool
    is_started: bool
    is_lingering: bool


def show(wanted: Wanted, as_json: bool) -> None:
    place = _place(wanted)
    made, text = service.Service(wanted.unit, _is_root()), service.text_of(place)
    if hidden := _hidden(place):
        screen.remark(hidden, style="yellow")
    if as_json:
        screen.emit_value({"file": str(made.file), "text": text})
    else:
        sys.stdout.write(text)


def install(wanted: Wanted, as_json: bool) -> None:
    made, is_root = service.Service(wanted.unit, _is_root()), _is_root()
    made.require_systemd()
    if is_root:
        service_user.ensure(wanted.runs_as, wanted.is_agreed)
    place = _place(wanted)
    service.require_reach(place)
    done = made.install(place, wanted.is_agreed)
    if wanted.is_lingering and not is_root:
        made.systemd.linger()
    if wanted.is_started:
        made.start("restart" if done.is_running else "start")
    is_lingering = is_root or service.is_lingering()
    if as_json:
        said = {"unit": made.unit, "file": str(made.file), "home": str(place.home), "new": done.is_new, "changes": list(done.changes)}
        screen.emit_value({**said, "user": wanted.runs_as if is_root else None, "lingers": is_lingering, "started": wanted.is_started})
        return
    for line in _told(made, place.home, done, wanted.is_started):
        screen.say(line)
    if is_root and (left := _left_behind(place, made.unit)):
        screen.remark(left, style="yellow")
    if not is_lingering:
        screen.remark(LINGER)


def uninstall(name: str, as_json: bool) -> None:
    made = service.Service(name, _is_root())
    home, user = made.home, made.user
    made.uninstall()
    if as_json:
        screen.emit_value({"unit": made.unit, "file": str(made.file), "home": str(home) if home else None, "user": user})
        return
    screen.say(f"{made.unit} was stopped and removed")
    kept = [f"the home {home}"] if home else []
    screen.say(f"what stays: {' and '.join([*kept, *([f'the user {user}'] if user else [])]) or 'the home'}")


def command() -> tuple[str, ...]:
    """What a unit starts: the bootstrap of the checkout, else the program of this environment."""
    given = os.environ.get(VARIABLE)
    checkout = Path(given) if given else Path(__file__).resolve().parents[3]
    if (checkout / "daimon").is_file() and (given or (checkout / "pyproject.toml").is_file()):
        return (str((checkout / "daimon").absolute()),)
    beside = Path(sys.executable).with_name("daimon")
    return (str(beside),) if beside.is_file() else (sys.executable, "-m", "daimon")


def _place(wanted: Wanted) -> service.unit.Place:
    home = wanted.home.expanduser().absolute() if wanted.home else None
    return service.place_of(command(), home, wanted.runs_as if _is_root() else None)


def _hidden(place: service.unit.Place) -> str:
    """That the unit would not find its program; empty: nothing hides it."""
    program = Path(place.command[0])
    hiding = [str(each) for each in HIDING if each in program.parents]
    if place.account is None or not hiding:
        return ""
    return f"ExecStart is {program}, and in {hiding[0]} the unit's user sees nothing of it; put the checkout elsewhere, such as /opt/daimon"


def _left_behind(place: service.unit.Place, unit: str) -> str:
    """That root's own home is not the one of the unit, and how to move it; empty: there is nothing in it."""
    usual = Home(Path.home() / ".daimon")
    if place.account is None or usual.path == place.home or not usual.journal.exists():
        return ""
    old, new = shlex.quote(str(usual.path)), shlex.quote(str(place.home))
    return (
        f"{usual.path} has a state of its own, which this service does not see: its home is {place.home}. To move it, end what runs there,"
        f" then, while {place.home} is still empty:\n"
        f"    systemctl stop {unit}; mkdir -p {new} && cp -a {old}/. {new}/ && chown -R {place.account.name}: {new}; systemctl start {unit}"
    )


def _told(made: service.Service, home: Path, done: service.Installed, is_started: bool) -> list[str]:
    first = f"{made.unit} {'was installed' if done.is_new else 'is installed'}: {made.file}"
    changed = [f"    {line}" for line in done.changes]
    lines = [first, f"its home is {home}; it starts with the machine", *(["changed:", *changed] if changed else [])]
    if is_started:
        return [*lines, "it is running"]
    program = service_user.program()
    return [*lines, f"next: {program} service {'restart   # it still runs as it was' if done.is_running else 'start'}"]


def _is_root() -> bool:
    return os.geteuid() == 0
