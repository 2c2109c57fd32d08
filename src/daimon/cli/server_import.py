"""`daimon mcp import`: servers as other clients write them down, as settings of ours.

    {"mcpServers": {NAME: {"command", "args", "env", "url", "headers"}}}     Claude Desktop, Cursor and others
    {"servers": {NAME: {…}}}, or {"mcp": {"servers": …}}                     VS Code

Nothing is run and nothing is approved. Values of the environment or of headers that look like secrets go into the vault, after the owner
said yes; without that, their server is left out. What a command of ours needs besides (hosts that it reaches, directories that it sees) no
such file says: that is told, and is the owner's to add.
"""

import json
import os
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from daimon import config, homes, keeper, settings_file
from daimon.abi.errors import BadInput
from daimon.abi.ids import SELF
from daimon.cli import consent, hidden, screen
from daimon.cli.reloading import reloaded
from daimon.cli.server_reach import CHANGED

MOST_BYTES = 1 << 20
MOST_SERVERS = 200
_SECRET_NAME = re.compile(
    r"(?i)(?:^|[_-])(?:token|secret|password|passwd|pwd|api_?key|apikey|auth|authorization|credential|pat|key)s?(?:$|[_-])"
)
_FETCHERS = {
    **dict.fromkeys(("npx", "npx.cmd", "bunx", "pnpm"), "npm"), **dict.fromkeys(("uvx", "uv", "pipx"), "Python"), "docker": "container",
}  # fmt: skip
_VARIABLE = re.compile(r"\$\{[^}]*\}")


@dataclass(frozen=True, slots=True)
class Found:
    name: str
    said: dict[str, Any]
    secrets: dict[str, str] = field(default_factory=dict, repr=False)
    """Variable or header, and its value."""
    notes: tuple[str, ...] = ()
    fault: str = ""


def take_over(given: Path | None, file: Path, only: tuple[str, ...], is_agreed: bool, as_json: bool) -> None:
    home = homes.home_at(given)
    there = config.load(home.config, os.environ).mcp
    found = [each for each in read(file, frozenset(there)) if not only or each.name in only]
    good = [each for each in found if not each.fault]
    home.ensure()
    if any(each.secrets for each in good):
        named = ", ".join(f"{variable} of {each.name}" for each in good for variable in each.secrets)
        consent.require(f"These look like secrets: {named}. Move them into the vault?", is_agreed)
    said = _kept(home, good)
    if good:
        settings_file.edit(home.config, *(settings_file.put_server(each.name, said[each.name]) for each in good))
        reloaded(home, CHANGED)
    if as_json:
        left = {each.name: each.fault for each in found if each.fault}
        screen.emit_value({"added": [each.name for each in good], "left_out": left, "notes": {e.name: list(e.notes) for e in good}})
        return
    for each in found:
        screen.say(f"{each.name}: {each.fault or 'added'}")
        for note in each.notes if not each.fault else ():
            screen.remark(f"  {note}")
    if good:
        screen.remark("`daimon mcp review NAME` starts one and shows its tools; until then none of them can be used")


def read(file: Path, taken: frozenset[str] = frozenset()) -> Iterator[Found]:
    """Raises BadInput for a file that is none of these."""
    try:
        data = file.read_bytes()[: MOST_BYTES + 1]
        tree = json.loads(data)
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise BadInput(f"{file} is no JSON (comments in it are not understood), or longer than {MOST_BYTES:,} bytes") from None
    servers = _servers(tree)
    if servers is None:
        raise BadInput(f"{file} has no `mcpServers` and no `servers`")
    names = set(taken)
    for written, entry in list(servers.items())[:MOST_SERVERS]:
        name = re.sub(r"[^a-z0-9]", "", written.lower()).lstrip("0123456789")[:32]
        yield _found(written, name, entry, names)
        names.add(name)


def _servers(tree: Any) -> dict[str, Any] | None:
    for path in (("mcpServers",), ("servers",), ("mcp", "servers")):
        found = tree
        for part in path:
            found = found.get(part) if isinstance(found, dict) else None
        if isinstance(found, dict):
            return found
    return None


def _found(written: str, name: str, entry: Any, taken: set[str]) -> Found:
    shown = name or screen.plain(written)[:40]
    if not name or name in taken:
        return Found(shown, {}, fault="left out: a server of that name is there already" if name else "left out: no name can be made of it")
    if not isinstance(entry, dict) or isinstance(entry.get("command"), str) == isinstance(entry.get("url"), str):
        return Found(shown, {}, fault="left out: it is neither a command nor a url")
    said: dict[str, Any] = {}
    if isinstance(entry.get("url"), str):
        said["url"], pairs = entry["url"], _texts(entry.get("headers"))
    else:
        said["command"], pairs = [entry["command"], *(a for a in entry.get("args", ()) if isinstance(a, str))], _texts(entry.get("env"))
    if _VARIABLE.search(json.dumps([said, pairs])):
        return Found(shown, {}, fault="left out: it holds variables of that client, such as ${input:…}; add it by hand")
    if any(keeper.looks_secret(word) for word in said.get("command", ())):
        return Found(shown, {}, fault="left out: a secret stands in its command line, where every process can read it; add it by hand")
    secrets = {variable: value for variable, value in pairs.items() if "url" in said or _is_secret(variable, value)}
    plain = {variable: value for variable, value in pairs.items() if variable not in secrets}
    said |= {"environment": plain} if plain else {}
    said |= {"is_on": False} if entry.get("disabled") is True else {}
    return Found(name, said, secrets, tuple(_notes(said, secrets)))


def _notes(said: dict[str, Any], secrets: dict[str, str]) -> Iterator[str]:
    command = said.get("command", ())
    if command and (kind := _FETCHERS.get(Path(command[0]).name)):
        yield (
            f"it fetches a {kind} package whenever it starts: install it and name its program instead, or add the hosts that it is "
            "fetched from to `hosts`"
        )
    if command:
        yield "it reaches no host and sees no directory; add what it needs to `hosts`, `read` and `write`"
    if secrets and command:
        yield "its secrets have no host yet: `daimon secrets scope NAME --host HOST` says where each may go"


def _is_secret(variable: str, value: str) -> bool:
    is_named = bool(_SECRET_NAME.search(variable)) and not value.startswith(("/", "~", "http://", "https://"))
    return is_named or keeper.looks_secret(value)


def _texts(found: Any) -> dict[str, str]:
    pairs = found.items() if isinstance(found, dict) else ()
    return {str(name): str(value) for name, value in pairs if isinstance(value, str | int | float) and str(value)}


def _kept(home: homes.Home, good: list[Found]) -> dict[str, dict[str, Any]]:
    """The settings of each, with the names of its secrets, which are in the vault now."""
    said = {each.name: dict(each.said) for each in good}
    if not any(each.secrets for each in good):
        return said
    with closing(keeper.opened(home, os.environ, hidden.passphrase)) as vault:
        for each in good:
            for variable, value in each.secrets.items():
                name = keeper.name_for(f"mcp-{each.name}-{variable.lower()}")
                hosts = (_host(each.said["url"]),) if "url" in each.said else ()
                vault.keep(name, value, f"MCP server {each.name}", hosts)
                vault.scope(name, keeper.Scope(agents=(SELF,)))
                said[each.name].setdefault("secrets", {})[variable] = f"{{vault:{name}}}"
    return said


def _host(url: str) -> str:
    from daimon.mcp.oauth.asking import host_of

    return host_of(url)
