"""`daimon mcp list`, `show`, `test`, `review` and `approve`."""

import sys
from pathlib import Path

from rich.text import Text

from daimon import homes
from daimon.abi.codec import encode
from daimon.abi.connector import ServerStatus
from daimon.abi.errors import BadInput, NotFound
from daimon.abi.server import ServerAccount, ToolAccount
from daimon.cli import consent, screen
from daimon.cli.server_reach import ask
from daimon.gateway.servers import AllServers

_MOST_LINES = 60
_THEIRS = "  | "
"""Before each line of a server's own words, also where a long one goes on: nothing of it stands where Daimon speaks."""


def show_all(given: Path | None, as_json: bool) -> None:
    found = ask(homes.home_at(given), lambda by: by.all())
    if as_json:
        screen.emit(encode(AllServers, AllServers(found)))
        return
    if not found:
        screen.say("no server is set up; `daimon mcp add NAME -- COMMAND…` connects one")
        return
    rows = screen.table("server", "state", "tools", "wait for you", "where")
    for each in found:
        rows.add_row(_text(each.name), _state(each), str(len(each.tools)), str(len(each.waiting) or ""), _text(each.where[:80]))
    screen.out().print(rows)
    for each in found:
        if each.why:
            screen.remark(each.why if each.name in each.why else f"{each.name}: {each.why}", style="yellow")
        if each.state == "locked_out":
            screen.remark(_to_sign_in(each), style="yellow")
        if each.waiting:
            screen.remark(f"`daimon mcp review {each.name}` shows what waits")


def show(given: Path | None, name: str, as_json: bool) -> None:
    _tell(ask(homes.home_at(given), lambda by: by.account(name)), as_json)


def test(given: Path | None, name: str, as_json: bool) -> None:
    found = ask(homes.home_at(given), lambda by: by.review(name))
    if as_json:
        screen.emit(encode(ServerAccount, found))
        return
    counted = f"{len(found.tools)} tools, {len(found.waiting)} of them wait for you"
    screen.say(f"{name} answers: protocol {found.status.version}, {counted}, {found.took_ms:.0f} ms")
    for note in found.status.notes:
        screen.remark(note)
    if found.waiting:
        screen.remark(f"`daimon mcp review {name}` shows what waits")


def review(given: Path | None, name: str, is_agreed: bool, as_json: bool) -> None:
    home = homes.home_at(given)
    agree(home, ask(home, lambda by: by.review(name)), is_agreed, as_json)


def agree(home: homes.Home, found: ServerAccount, is_agreed: bool, as_json: bool) -> None:
    """Shows what waits and asks once, for exactly that."""
    name = found.status.name
    if as_json and not is_agreed:
        screen.emit(encode(ServerAccount, found))
        return
    if not as_json:
        for tool in found.waiting:
            tell_tool(tool)
    if not found.waiting:
        _tell_offered(found, as_json)
        return
    if not is_agreed and not (sys.stdin.isatty() and sys.stderr.isatty()):
        screen.remark(f"nobody sits here to agree, so they wait; `daimon mcp approve {name}` does")
        return
    consent.require(f"May these {len(found.waiting)} tools of {name} be used?", is_agreed)
    hashes = tuple(tool.hash for tool in found.waiting)
    _tell_offered(ask(home, lambda by: by.approve(name, hashes)), as_json)


def approve(given: Path | None, name: str, tools: tuple[str, ...], as_json: bool) -> None:
    home = homes.home_at(given)
    found = ask(home, lambda by: by.account(name))
    waiting = {tool.tool: tool.hash for tool in found.waiting}
    if missing := [tool for tool in tools if tool not in waiting]:
        raise NotFound(f"{missing[0][:64]!r} of {name} does not wait for you; {', '.join(waiting) or 'nothing'} does")
    if not waiting:
        raise BadInput(f"nothing of {name} waits for you; `daimon mcp review {name}` asks it what it has")
    hashes = tuple(waiting[tool] for tool in tools or waiting)
    _tell_offered(ask(home, lambda by: by.approve(name, hashes)), as_json)


def tell_tool(tool: ToolAccount) -> None:
    screen.say(f"{tool.tool}: {tool.state}", style="bold")
    screen.tell(f"  it {', '.join(tool.may)}" if tool.may else "  it cannot be offered", hang="  ")
    lines = [line for line in tool.text.splitlines() if line.strip()]  # empty ones could push the rest out of sight
    for line in lines[:_MOST_LINES]:
        screen.tell(f"{_THEIRS}{line}", hang=_THEIRS)
    if (more := len(lines) - _MOST_LINES) > 0:
        screen.say(f"  … {more} more lines, which you have not seen; --json shows all", style="bold")
    for note in tool.notes:
        screen.remark(f"  {note}")


def _tell(found: ServerAccount, as_json: bool) -> None:
    if as_json:
        screen.emit(encode(ServerAccount, found))
        return
    status = found.status
    facts = (
        ("server", status.name),
        ("where", status.where),
        ("state", f"{_state(status)} {status.why}".strip()),
        ("protocol", status.version or "not connected"),
        ("its words count as", "yours" if status.is_vouched else "a stranger's"),
    )
    screen.out().print(screen.facts(facts))
    if status.state == "locked_out":
        screen.remark(_to_sign_in(status), style="yellow")
    for tool in found.tools:
        tell_tool(tool)
    for note in status.notes:
        screen.remark(note)


def _tell_offered(found: ServerAccount, as_json: bool) -> None:
    if as_json:
        screen.emit(encode(ServerAccount, found))
        return
    screen.say(f"{found.status.name}: {len(found.status.tools)} tools may be used")
    for note in found.status.notes:
        screen.remark(note)


def _state(each: ServerStatus) -> str:
    return "needs sign-in" if each.state == "locked_out" else each.state


def _to_sign_in(each: ServerStatus) -> str:
    which = f", for {', '.join(each.scopes)}" if each.scopes else ""
    return f"`daimon mcp login {each.name}` signs in{which}"


def _text(words: str) -> Text:
    return Text(screen.plain(words))
