"""The text of the systemd unit that runs a gateway, made from where things are. Pure: a place goes in, text comes out.

There is one text for two kinds: a unit of the owner (run by the owner's own manager, as the owner), and a unit of the machine (run by
PID 1, as a user of its own, who must be named). The second one takes more away, because only root may take it.

Invariants: every path is written so that systemd reads that path and nothing else (`%`, `$`, quotes and spaces are escaped; a line end is
refused); the same place makes the same text; a unit holds no secret. It deliberately sets nothing that boxes need: bubblewrap makes
namespaces and a /proc of its own, see the comment in the text.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from daimon.abi.errors import BadInput

MARK = "# Made by `daimon service install`, which writes it anew; `systemctl edit` adds settings of your own that stay."
STATE = Path("/var/lib")
HOMES = (Path("/home"), Path("/root"), Path("/run/user"))
WATCHDOG_S = 120
_NOT_IN_A_UNIT = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Account:
    name: str
    home: Path


@dataclass(frozen=True, slots=True)
class Place:
    command: tuple[str, ...]
    """The program, as an absolute path, and what stands before `up`."""
    home: Path
    """All state."""
    account: Account | None = None
    """Whom a unit of the machine runs as; None: a unit of the owner."""
    is_usual_home: bool = True
    """It is found without being named."""


def text(place: Place) -> str:
    """The whole file. Raises BadInput for a path that cannot be written into a unit."""
    own = _OWNERS if place.account is None else _machines(place, place.account)
    named = () if place.is_usual_home else ("--home", str(place.home))
    return _WHOLE.format(
        mark=MARK,
        start=" ".join((_program(place.command[0]), *(_word(word) for word in (*place.command[1:], *named, "up")))),
        **own,
        watchdog=WATCHDOG_S,
        home=_value(place.home),
    )


def settings(unit: str) -> dict[str, str]:
    """What stands in a unit, by section and name."""
    section, found = "", dict[str, str]()
    for line in unit.splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif "=" in line and not line.startswith(("#", ";")):
            name, _, value = line.partition("=")
            found[f"{section}.{name.strip()}"] = value.strip()
    return found


def changes(old: str, new: str) -> tuple[str, ...]:
    """What another text changes, a line each."""
    before, after = settings(old), settings(new)
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return tuple(f"{name}: {before.get(name, '(unset)')} -> {after.get(name, '(unset)')}" for name in names)


def home_in(unit: str) -> Path | None:
    """The home that the unit was made for."""
    found = settings(unit).get("X-Daimon.Home")
    return Path(found.replace("%%", "%")) if found else None


def user_in(unit: str) -> str | None:
    return settings(unit).get("Service.User")


def _machines(place: Place, account: Account) -> dict[str, str]:
    is_state = account.home.parent == STATE
    writable = [] if is_state else [account.home]
    if place.home != account.home and account.home not in place.home.parents:
        writable.append(place.home)
    seen = (Path(place.command[0]), place.home, account.home)
    is_among_homes = any(top in path.parents for top in HOMES for path in seen)
    lines = [
        f"User={_value(account.name)}",
        *((f"StateDirectory={_value(account.home.name)}", "StateDirectoryMode=0700") if is_state else ()),
        f"WorkingDirectory={_value(account.home)}",
    ]
    return {
        "order": _NETWORK,
        "account": "\n".join(lines) + "\n",
        "credential": _CREDENTIAL,
        "taken": _TAKEN.format(
            homes="read-only" if is_among_homes else "yes",
            writable=f"ReadWritePaths={' '.join(_word(path) for path in writable)}\n" if writable else "",
        ),
        "target": "multi-user.target",
    }


def _value(part: object) -> str:
    """Of a setting that takes one value: only specifiers are read in it."""
    written = str(part)
    if _NOT_IN_A_UNIT.search(written) or written != written.strip():
        raise BadInput(f"{written!r} cannot be written into a systemd unit; use a path without line ends and control characters")
    return written.replace("%", "%%")


def _program(path: str) -> str:
    """systemd replaces no variable in the name of the program, and takes no quote in it."""
    if re.search(r"[\"'\\]", path):
        raise BadInput(f"systemd starts no program with a quote or a backslash in its path, such as {path!r}; move the checkout")
    return _word(path).replace("$$", "$")


def _word(part: object) -> str:
    """Of a setting that takes several."""
    written = _value(part).replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$")
    return written if re.fullmatch(r"[\w%@:,./+$=-]+", written, re.ASCII) else f'"{written}"'


_NETWORK = "Wants=network-online.target\nAfter=network-online.target\n"
_CREDENTIAL = """
# The key of the vault, sealed to this machine (its TPM, where it has one). To make it, as root:
#   openssl rand -hex 32 | systemd-creds encrypt --name=daimon-vault - /etc/credstore.encrypted/daimon-vault
#LoadCredentialEncrypted=daimon-vault:/etc/credstore.encrypted/daimon-vault
"""
_TAKEN = """\
CapabilityBoundingSet=
AmbientCapabilities=
RemoveIPC=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectKernelModules=yes
ProtectSystem=strict
# For a workspace in somebody's home: ProtectHome=tmpfs and BindPaths=/home/you/project, which this user must be able to write.
ProtectHome={homes}
{writable}"""
_OWNERS = {"order": "", "account": "", "credential": "", "taken": "", "target": "default.target"}
_WHOLE = """\
{mark}

[Unit]
Description=Daimon, an operating system for personal agents
{order}# Never give up: a full disk or a busy home may take hours to mend.
StartLimitIntervalSec=0

[Service]
# It tells when connections succeed, and then regularly that its loop and its journal are alive.
Type=notify
NotifyAccess=main
WatchdogSec={watchdog}
# The first start of a checkout installs its environment.
TimeoutStartSec=900
{account}ExecStart={start}
Restart=always
RestartSec=2
# Wrong usage (2), a damaged journal (65) and a wrong setting (78) need a person, not another try.
RestartPreventExitStatus=2 65 78
# It asks for more itself where kernel.drain_s is longer.
TimeoutStopSec=30
{credential}
# Boxes get groups of their own below this one, so that their memory and processes can be limited. A box that runs out of memory
# is killed, not the gateway.
Delegate=cpu memory pids
OOMPolicy=continue

# Everything below is inherited by boxes. bubblewrap makes user, mount, network and other namespaces and mounts a /proc of its own; so
# RestrictNamespaces=, ProtectHostname= and whatever covers parts of /proc or /sys/fs/cgroup (ProtectKernelTunables=,
# ProtectKernelLogs=, ProtectProc=, ProtectControlGroups=) must stay unset. MemoryDenyWriteExecute= would stop node and other JITs.
UMask=0077
LimitCORE=0
NoNewPrivileges=yes
KeyringMode=private
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
# netlink: bubblewrap brings up the loopback of a box.
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
{taken}
[Install]
WantedBy={target}

# For `daimon service status`; systemd does not read it.
[X-Daimon]
Home={home}
"""
