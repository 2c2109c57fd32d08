"""A gateway as a service: its unit in systemd, from the first installation to its removal.

`Service` is one unit, named, of the machine (for root) or of the owner (for anybody else). Each step looks before it acts and can be
repeated: installing what is installed changes nothing, stopping what stands still is fine. The order of an installation:

    look      is there a systemd, does the user reach the checkout and the home, does nobody else run on that home
    write     the file, whole or not at all
    tell      daemon-reload, enable

What fails before `write` has changed nothing. The home and the user are never removed here: they hold what cannot be made again.
"""

import http.client
import os
import pwd
from dataclasses import dataclass
from pathlib import Path

from daimon.abi.errors import BadInput, HomeBusy, Misconfigured, NotFound
from daimon.gateway import unix
from daimon.machine import unit as unit
from daimon.machine import user as user
from daimon.machine.home import Home
from daimon.machine.systemd import Seen as Seen
from daimon.machine.systemd import Systemd, lingers

SYSTEM_UNITS = Path("/etc/systemd/system")
ELSEWHERE = (
    "run `daimon up` in the foreground, in a container (docs/container.md), or under another supervisor that restarts it; "
    "`daimon service install --print` shows the unit, for another machine"
)
HEALTH_S = 5.0


@dataclass(frozen=True, slots=True)
class Installed:
    is_new: bool
    changes: tuple[str, ...]
    """Against the unit that was there."""
    is_running: bool
    """By the text that was there before, if that changed."""


@dataclass(frozen=True, slots=True)
class Health:
    answers: bool
    is_ready: bool
    says: str


class Service:
    def __init__(self, name: str, is_root: bool) -> None:
        if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
            raise BadInput(f"{name!r} is no name for a unit: letters, digits, - and _")
        self.unit = f"{name}.service"
        self.systemd = Systemd(is_user=not is_root)
        configured = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
        self.file = (SYSTEM_UNITS if is_root else configured / "systemd" / "user") / self.unit

    def text(self) -> str:
        """Of the unit that is there; empty if there is none."""
        try:
            return self.file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""

    @property
    def home(self) -> Path | None:
        return unit.home_in(self.text())

    @property
    def user(self) -> str | None:
        return unit.user_in(self.text())

    def require_systemd(self) -> None:
        if absent := self.systemd.absence():
            raise Misconfigured(f"no systemd runs here that could run a service ({absent}); {ELSEWHERE}")

    def require_installed(self) -> None:
        if not self.text():
            raise NotFound(f"there is no unit {self.file}; `daimon service install` makes it")

    def require_free(self, home: Path) -> None:
        """Nobody runs on that home but this unit. Raises HomeBusy."""
        holder = Home(home).holder()
        if holder is not None and holder != self.systemd.see(self.unit).pid:
            raise HomeBusy(f"a gateway (process {holder}) runs on {home} already, not by {self.unit}; stop it first")

    def install(self, place: unit.Place, may_replace: bool) -> Installed:
        wanted, there = unit.text(place), self.text()
        self.require_systemd()
        self.require_free(place.home)
        if there and unit.MARK not in there and there != wanted and not may_replace:
            raise BadInput(f"{self.file} was not made by this command; --yes replaces it")
        if there != wanted:
            self._write(wanted)
        self.systemd.call("daemon-reload")
        self.systemd.call("enable", "--quiet", self.unit)
        changed = unit.changes(there, wanted) if there else ()
        return Installed(not there, changed, bool(changed) and self.systemd.see(self.unit).state == "active")

    def start(self, how: str) -> None:
        """`how`: start or restart. Returns when it is ready."""
        self.require_systemd()
        self.require_installed()
        if (home := self.home) is not None:
            self.require_free(home)
        if self.systemd.see(self.unit).state == "failed":
            self.systemd.call("reset-failed", self.unit)
        self.systemd.call(how, self.unit)

    def stop(self) -> None:
        self.require_systemd()
        self.require_installed()
        self.systemd.call("stop", self.unit)

    def see(self) -> Seen:
        self.require_systemd()
        return self.systemd.see(self.unit)

    def health(self) -> Health:
        """Of the gateway on the unit's home, asked itself."""
        home = self.home
        if home is None:
            return Health(False, False, "no unit says where its home is")
        connection = http.client.HTTPConnection("localhost")
        try:
            connection.sock = unix.connect(Home(home).socket, HEALTH_S)
            connection.request("GET", "/readyz")
            answer = connection.getresponse()
            return Health(True, answer.status == 200, answer.read(500).decode("utf-8", "replace").strip())
        except (OSError, http.client.HTTPException) as failure:
            return Health(False, False, f"no gateway answers on {home} ({failure})")
        finally:
            connection.close()

    def uninstall(self) -> None:
        self.require_systemd()
        self.require_installed()
        self.systemd.call("disable", "--quiet", "--now", self.unit)
        self.file.unlink()
        self.systemd.call("daemon-reload")

    def _write(self, wanted: str) -> None:
        draft = self.file.with_suffix(".new")
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            draft.write_text(wanted, encoding="utf-8")
            draft.chmod(0o644)
            draft.replace(self.file)
        except OSError as error:
            raise Misconfigured(f"{self.file} cannot be written: {error.strerror}") from None


def place_of(command: tuple[str, ...], home: Path | None, runs_as: str | None) -> unit.Place:
    """What a unit is made of; the user need not exist yet."""
    if runs_as is None:
        usual = Path.home() / ".daimon"
        return unit.Place(command, home or usual, None, home in (None, usual))
    found = user.find(runs_as)
    lives = found.home if found else user.HOMES / runs_as
    return unit.Place(command, home or lives / ".daimon", unit.Account(runs_as, lives), home in (None, lives / ".daimon"))


def require_reach(place: unit.Place) -> None:
    """For root: the user of a unit gets to what it runs and where it writes. Raises Misconfigured."""
    if place.account is None:
        return
    name = place.account.name
    if (found := user.find(name)) is None:
        raise Misconfigured(f"there is no user {name} on this machine; `daimon service user --name {name}` makes it")
    if found.uid == 0:
        raise Misconfigured("a service of the machine is not run by root; name an ordinary user with --as")
    for path in (Path(place.command[0]), place.home):
        if Path("/tmp") in path.parents or Path("/var/tmp") in path.parents:  # noqa: S108 - it is refused
            raise Misconfigured(f"{path} lies where a service of the machine sees a directory of its own; use another, such as /opt/daimon")
    user.require_reach(found, place.home, Path(place.command[0]))


def text_of(place: unit.Place) -> str:
    return unit.text(place)


def is_lingering() -> bool:
    """Whether services of this user run without a login."""
    try:
        return lingers(pwd.getpwuid(os.geteuid()).pw_name)
    except KeyError:
        return False
