"""The user that a gateway runs as. It needs none of root's rights, so it should have none.

`become` goes from root to an ordinary user for good, in this order:

    the environment     root's HOME, XDG, SUDO and session variables go; HOME and names are the user's, so the default home follows
    a look ahead        a child that has become the user looks whether it reaches the interpreter, all modules and the home
    groups, gid, uid    real, effective and saved, so that there is no way back; then it is tried to get back, which must fail
    umask, directory    0077; and a directory that the user may stand in

Invariant: it either becomes the user wholly, or raises before anything of this process has changed but its environment. It must be called
before files are opened: a descriptor keeps the rights that it was opened with. Nothing is moved or handed over; errors say what does that.

`creation` is the command that makes a user for this purpose alone: no password, no shell, a home of its own.
"""

import os
import pwd
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from daimon.abi.errors import BadInput, Misconfigured

USUAL = "daimon"
HOMES = Path("/var/lib")
AS_ROOT = (
    "this gateway runs as root: a fault in it or in an extension is a fault with all rights on this machine; "
    "run it as an ordinary user, or let root start it with `up --as USER`"
)
_NAME = re.compile(r"[a-z_][a-z0-9_-]{0,30}")
_OF_A_SESSION = ("XDG_", "SUDO_", "SSH_", "DBUS_", "GNUPG", "DOAS_")
_OF_A_USER = ("MAIL", "OLDPWD", "PWD", "SHELL", "USERNAME", "TMPDIR", "PKEXEC_UID")
_PLACES_OF_ADMINISTRATION = "/usr/sbin:/sbin"
LONGEST_S = 60.0


@dataclass(frozen=True, slots=True)
class User:
    name: str
    uid: int
    gid: int
    home: Path


def warnings() -> tuple[str, ...]:
    """What the owner is to be told about the user that this process runs as."""
    return (AS_ROOT,) if os.geteuid() == 0 else ()


def find(name: str) -> User | None:
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        return None
    return User(entry.pw_name, entry.pw_uid, entry.pw_gid, Path(entry.pw_dir))


def creation(name: str) -> tuple[str, ...]:
    """The command that makes the user. Raises BadInput for a name that no system user should have."""
    if not _NAME.fullmatch(name):
        raise BadInput(f"{name!r} is not a name for a user: small letters, digits, - and _, 31 at most, not starting with a digit or -")
    return ("useradd", "--system", "--create-home", "--home-dir", str(HOMES / name), "--shell", "/usr/sbin/nologin", name)


def create(name: str) -> User:
    """Runs that command, as root. Raises Misconfigured."""
    command = creation(name)
    program = shutil.which(command[0], path=f"{os.environ.get('PATH', '')}:{_PLACES_OF_ADMINISTRATION}")
    if program is None:
        raise Misconfigured(f"this machine has no {command[0]}; make a system user {name} with a home of its own by other means")
    done = subprocess.run([program, *command[1:]], capture_output=True, text=True, timeout=LONGEST_S, check=False)  # noqa: S603 - as shown
    made = find(name)
    if done.returncode or made is None:
        raise Misconfigured(f"`{' '.join(command)}` failed ({done.returncode}): {done.stderr.strip()}")
    made.home.chmod(0o700)
    return made


def adopt_environment(user: User) -> None:
    """What programs ask the environment about the user says this one from now on."""
    for name in [name for name in os.environ if name.startswith(_OF_A_SESSION) or name in _OF_A_USER]:
        del os.environ[name]
    os.environ.update(HOME=str(user.home), USER=user.name, LOGNAME=user.name)


def become(user: User, home: Path) -> None:
    """From root to this user, for good. `home`: the directory of state, which need not exist. Raises Misconfigured."""
    if os.geteuid() == user.uid != 0:
        return
    if user.uid == 0:
        raise Misconfigured(f"--as {user.name} is root itself; name an ordinary user (`daimon service user` makes one)")
    if os.geteuid() != 0:
        raise Misconfigured(f"only root can start as another user; run this as root, or as {user.name} without --as")
    require_reach(user, home)
    _drop(user)
    os.umask(0o077)
    os.chdir(user.home if os.access(user.home, os.X_OK) else "/")


def require_reach(user: User, home: Path, *more: Path) -> None:
    """As root: that user gets to the interpreter, all modules, the home and these. Raises Misconfigured."""
    _require_owner(user, home)
    if (closed := _first_closed(user, [*_modules(), *more, *([home] if home.exists() else [])])) is not None:
        raise Misconfigured(_remedy(user, closed, home))


def _require_owner(user: User, home: Path) -> None:
    """A home that root has used holds files that the user could neither read nor replace."""
    for path in (home, *(home.iterdir() if home.is_dir() else ())):
        owner = path.lstat().st_uid if os.path.lexists(path) else user.uid
        if owner != user.uid:
            raise Misconfigured(
                f"{path} belongs to user {owner}, not to {user.name}; stop what runs on that home and hand it over: "
                f"chown -R {user.name}: {home} (or choose another with --home)"
            )


def _modules() -> Iterator[Path]:
    """The interpreter, and wherever it may look for modules later."""
    for place in (sys.executable, *sys.path):
        if place and os.path.exists(place):
            yield Path(place).absolute()


def _first_closed(user: User, places: Iterable[Path]) -> Path | None:
    """The first path that this user cannot get to. A child asks, since only the kernel knows all the rules."""
    steps = [step for place in places for step in _steps(place)]
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _drop(user)
            os.write(writer, next((os.fsencode(step) for step, use in steps if not os.access(step, use)), b""))
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writer)
    with open(reader, "rb") as answer:
        closed = answer.read()
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        raise Misconfigured(f"this process cannot become user {user.name} ({user.uid}); does it have all of root's rights?")
    return Path(os.fsdecode(closed)) if closed else None


def _steps(place: Path) -> Iterator[tuple[Path, int]]:
    """The way there, also behind links, and what is needed at each step: to pass through, and to read at its end."""
    end = place.resolve()
    for parent in (*reversed(place.parents), *reversed(end.parents)):
        yield parent, os.X_OK
    yield end, os.R_OK | (os.X_OK if end.is_dir() else 0)


def _remedy(user: User, closed: Path, home: Path) -> str:
    if closed == home or closed in home.parents:
        return (
            f"user {user.name} cannot enter {closed}, on the way to the home {home}; choose another with --home, or open it to {user.name}"
        )
    return (
        f"user {user.name} cannot read {closed}, which this Daimon runs from; put the checkout where every user may read it, such as "
        f"/opt/daimon, and make its .venv anew with the Python of the system (delete .venv, run /usr/bin/python3 ./daimon --version)"
    )


def _drop(user: User) -> None:
    os.initgroups(user.name, user.gid)
    os.setresgid(user.gid, user.gid, user.gid)
    os.setresuid(user.uid, user.uid, user.uid)
    try:
        os.setuid(0)
    except PermissionError:
        return
    raise SystemExit("daimon: this process can become root again after it has become another user; it ends here")
