"""What the box of a server may do: nothing but what its settings say. Pure, but for a look at where its directories are.

A box has one tree that it may write. So a server has one such directory at most, and in the box that is found below /workspace; where its
command or its environment names the directory, the name of the box is put in. What it reads stands where it stands outside.
"""

import os
import re
import shutil
from pathlib import Path

from daimon import config
from daimon.abi.box import Command, Limits, Role
from daimon.abi.errors import Misconfigured
from daimon.abi.secret import FROM_VAULT
from daimon.sandbox.plan import name_of
from daimon.sandbox.spec import HOME, WORKSPACES
from daimon.workshop import place_of

_LIMITS = Limits(memory_mb=1_024, processes=128, cpu_s=86_400)
_DAY_S = 86_400.0
_NAMED = re.compile(rf"\{{{FROM_VAULT}([A-Za-z0-9._-]{{1,128}})\}}")
_ITS_OWN = ("/tmp/", f"{WORKSPACES}/", f"{HOME}/")  # noqa: S108


def role_of(name: str, server: config.Server) -> Role:
    """Raises Misconfigured."""
    if len(server.write) > 1:
        raise Misconfigured(f"mcp.{name}.write names {len(server.write)} directories, and a box has one; name one that holds them all")
    for each in server.read:
        if not Path(each).expanduser().is_absolute() or str(Path(each).expanduser()).startswith(_ITS_OWN):
            raise Misconfigured(f"mcp.{name}.read names {each}: expected a whole path, not below /tmp, which each box has for itself")
    return Role(
        name=f"mcp-{name}",
        read=(".", *(str(Path(each).expanduser()) for each in server.read)),
        write=(".",) if server.write else (),
        places=tuple(place_of(host) for host in server.hosts),
        secrets={variable: secret_of(value) for variable, value in server.secrets.items()} if server.command else {},
        environment={variable: _as_inside(value, server) for variable, value in server.environment.items()},
        limits=_LIMITS,
    )


def command_of(server: config.Server) -> Command:
    return Command(argv=tuple(_as_inside(word, server) for word in server.command), timeout_s=_DAY_S)


def unseen(name: str, server: config.Server) -> str:
    """What to do where the box says that there is no such program: mostly it is there, and the box does not see it."""
    program = shutil.which(server.command[0])
    if program is None:
        return "this machine has no such program; install it, or give its whole path"
    if any(Path(program).is_relative_to(Path(each).expanduser()) for each in (*server.read, *server.write)):
        return "the box sees it, but not what runs it, which its first line names, or what it is a link to"
    place = Path(program).parent
    top = place.parent if place.name in ("bin", ".bin") else place
    return f"{program} is there, but its box does not see it; add it with `--read {top}`, or name that in mcp.{name}.read"


def tree_of(server: config.Server, home: Path) -> Path:
    """What the box has as its workspace. One that writes nothing gets an empty directory, read-only."""
    if server.write:
        return Path(server.write[0]).expanduser()
    empty = home / "mcp" / "empty"
    empty.mkdir(mode=0o700, parents=True, exist_ok=True)
    return empty


def secret_of(value: str) -> str:
    """The name of a secret, however it is written: `github`, `vault:github`, `{vault:github}`."""
    return value.strip().removeprefix("{").removesuffix("}").removeprefix(FROM_VAULT)


def secrets_in(value: str) -> tuple[str, ...]:
    """Those that a header names, as in `Bearer {vault:github}`."""
    return tuple(_NAMED.findall(value))


def _as_inside(word: str, server: config.Server) -> str:
    for directory in server.write:
        path = Path(directory).expanduser()
        for known in dict.fromkeys((directory.rstrip("/"), str(path), os.path.realpath(path))):
            if known and (word == known or word.startswith(f"{known}/")):
                return f"{WORKSPACES}/{name_of(Path(os.path.realpath(path)))}{word.removeprefix(known)}"
    return word
