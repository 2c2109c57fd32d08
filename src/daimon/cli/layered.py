"""What `daimon workspace` and `daimon undo` do. Through the running gateway, else in the home itself."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from rich.text import Text

from daimon import homes
from daimon.abi.cleaning import cleaned
from daimon.abi.codec import encode
from daimon.abi.errors import BadInput, DaimonError, NotFound
from daimon.abi.plain import clean
from daimon.abi.workspace import Change, Checkpoint, CheckpointId, Outcome, Trials, Tried, Workspace, WorkspaceId, Workspaces
from daimon.cli import exits, failures, screen
from daimon.cli.awake import is_awake
from daimon.gateway.remote import RemoteWorkspaces

T = TypeVar("T")
SIGNS = {"added": "A", "changed": "M", "removed": "D"}
MOST_SHOWN = 200
NONE_YET = "one is made when an agent first writes or runs something, and `daimon workspace new DIR` makes one of a directory of yours"
ADVICE = {
    "apply": "name other paths to apply those, or put these back as they were (`daimon workspace diff --text` shows both sides)",
    "merge": "change one side so that both agree, or discard the fork",
}


def new(given: Path | None, directory: Path, name: str, as_json: bool) -> None:
    made = _done(given, lambda all_: all_.new(str(directory.expanduser().absolute()), name))
    _said(Workspace, made, f"{made.id}: {made.base} stays as it is until `daimon workspace apply --of {made.id}`", as_json)


def show(given: Path | None, which: str, as_json: bool) -> None:
    if which:
        _show_checkpoints(given, which, as_json)
        return
    found = _done(given, lambda all_: all_.list())
    if as_json:
        screen.emit(encode(tuple[Workspace, ...], cleaned(found, clean)))
        return
    rows = screen.table("id", "name", "directory", "at", "forked from", "")
    for each in found:
        rows.add_row(*(Text(screen.plain(cell)) for cell in _row(each)))
    if found:
        screen.out().print(rows)
    else:
        screen.tell(f"there is no workspace yet; {NONE_YET}")


def checkpoint(given: Path | None, which: str, why: str, as_json: bool) -> None:
    async def make(all_: Workspaces) -> Checkpoint:
        return await all_.checkpoint(await _chosen(given, all_, which), why)

    made = _done(given, make)
    _said(Checkpoint, made, f"{made.id}{'' if made.is_sealed else ' (not sealed: a program still has files open in it)'}", as_json)


def fork(given: Path | None, which: str, name: str, at: str, as_json: bool) -> None:
    async def make(all_: Workspaces) -> Workspace:
        return await all_.fork(await _chosen(given, all_, which), name, _point(at))

    made = _done(given, make)
    _said(Workspace, made, f"{made.id}, from {made.forked_from}", as_json)


def run(given: Path | None, which: str, command: tuple[str, ...], role: str) -> None:
    async def tried() -> Tried:
        async with _arranged(homes.home_at(given)) as found:
            return await found.trials.run(await _chosen(given, found.workspaces, which), command, role)

    try:
        ran = asyncio.run(tried())
    except DaimonError as refused:
        failures.tell(refused)
        raise SystemExit(exits.NO_BOX) from None
    screen.raw(ran.out.encode(errors="replace"))
    for line in ran.err.splitlines():
        screen.remark(line, "")
    if ran.end not in ("exited", "signalled"):
        screen.remark(f"stopped by the box: {ran.end}", "yellow")
    for change in ran.changes[:MOST_SHOWN]:
        screen.remark(f"{SIGNS[change.what]} {_shown(change.path)}")
    raise SystemExit(ran.code)


def diff(given: Path | None, which: str, span: tuple[str, str], with_text: bool, as_json: bool) -> None:
    since, until = (_point(each) for each in span)

    async def look(all_: Workspaces) -> tuple[tuple[Change, ...], str]:
        workspace = await _chosen(given, all_, which)
        return await all_.diff(workspace, since, until), await all_.text(workspace, (), since, until) if with_text else ""

    changes, text = _done(given, look)
    if as_json:
        screen.emit_value({"changes": [_plain(change) for change in changes], **({"text": clean(text)} if with_text else {})})
        return
    for change in changes:
        screen.say(f"{SIGNS[change.what]} {_shown(change.path)}")
    if text:
        screen.say("")
        screen.raw(clean(text).encode(errors="replace"))
    if not changes:
        screen.say("nothing changed")


def merge(given: Path | None, which: str, into: str, as_json: bool) -> None:
    async def take(all_: Workspaces) -> Outcome:
        fork = await _chosen(given, all_, which)
        return await all_.merge(fork, await _chosen(given, all_, into) if into else await _origin(all_, fork))

    _tell(_done(given, take), as_json)


def restore(given: Path | None, of: str, to: str, as_json: bool) -> None:
    async def go(all_: Workspaces) -> Outcome:
        return await all_.restore(await _chosen(given, all_, of), CheckpointId(to))

    _tell(_done(given, go), as_json)


def discard(given: Path | None, which: str, is_meant: bool, as_json: bool) -> None:
    async def drop(all_: Workspaces) -> WorkspaceId:
        workspace = await _chosen(given, all_, which)
        found = next(each for each in await all_.list() if each.id == workspace)
        if found.forked_from is None and not is_meant:
            raise BadInput(f"{which} is no fork: what was not applied to {found.base} would be gone for good; add --yes")
        await all_.discard(workspace)
        return workspace

    gone = _done(given, drop)
    _said(dict[str, str], {"discarded": gone}, f"discarded {gone}", as_json)


def apply(given: Path | None, of: str, paths: tuple[str, ...], with_programs: bool, as_json: bool) -> None:
    async def write(all_: Workspaces) -> Outcome:
        workspace = await _chosen(given, all_, of)
        base = next(each.base for each in await all_.list() if each.id == workspace)
        return await all_.apply(workspace, tuple(_inside(path, base) for path in paths), with_programs=with_programs)

    _tell(_done(given, write), as_json)


def undo(given: Path | None, which: str, as_json: bool) -> None:
    async def take_back(all_: Workspaces) -> Outcome:
        own = [each.id for each in await all_.list() if each.base == await asyncio.to_thread(_own, given) and each.forked_from is None]
        return await all_.undo(await _chosen(given, all_, which) if which else own[0] if own else None)

    _tell(_done(given, take_back), as_json)


def _shown(path: str) -> str:
    """On one line, whatever is in a name."""
    return path.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")


def _show_checkpoints(given: Path | None, which: str, as_json: bool) -> None:
    async def look(all_: Workspaces) -> tuple[Checkpoint, ...]:
        return await all_.checkpoints(await _chosen(given, all_, which))

    found = _done(given, look)
    if as_json:
        screen.emit(encode(tuple[Checkpoint, ...], cleaned(found, clean)))
        return
    rows = screen.table("id", "made", "after", "why", "")
    for each in found:
        sealed = "" if each.is_sealed else "not sealed"
        rows.add_row(each.id, f"{each.at.astimezone():%Y-%m-%d %H:%M:%S}", each.parent or "", Text(screen.plain(each.why)), sealed)
    screen.out().print(rows)


def _tell(outcome: Outcome, as_json: bool) -> None:
    if as_json:
        screen.emit(encode(Outcome, cleaned(outcome, clean)))
    else:
        for each in outcome.conflicts:
            screen.say(f"conflict: {_shown(each.path)}: {each.why}", "red")
        for change in outcome.changes[:MOST_SHOWN]:
            screen.say(f"{SIGNS[change.what]} {_shown(change.path)}")
        if len(outcome.changes) > MOST_SHOWN:
            screen.say(f"… and {len(outcome.changes) - MOST_SHOWN} more")
        for path in outcome.left_out:
            screen.remark(f"left out, since it would run by itself (--with-programs takes it) or is no file: {_shown(path)}", "yellow")
        for note in outcome.notes:
            screen.remark(note, "yellow")
        screen.remark(_summary(outcome))
    if outcome.conflicts:
        raise SystemExit(exits.FAILED)


def _summary(outcome: Outcome) -> str:
    if outcome.conflicts:
        return f"nothing was changed; {ADVICE.get(outcome.did, 'mend these, then try again')}"
    if not outcome.changes:
        return f"{outcome.did}: nothing to do"
    what = f"{outcome.did} in {outcome.workspace}: {len(outcome.changes)} changed"
    if outcome.of == "apply":  # it was in the owner's own directory
        return f"{what} in your directory {outcome.where}; `daimon workspace apply --of {outcome.workspace}` applies it again"
    if outcome.did == "apply":
        return f"{what} in your directory {outcome.where}, now at {outcome.after}; `daimon undo {outcome.workspace}` takes it back"
    return f"{what}, now at {outcome.after}; `daimon workspace restore {outcome.before} --of {outcome.workspace}` goes back"


def _said(kind: type[T], value: T, text: str, as_json: bool) -> None:
    if as_json:
        screen.emit(encode(kind, cleaned(value, clean)))
    else:
        screen.say(text)


def _row(workspace: Workspace) -> tuple[str, ...]:
    slow = "" if workspace.engine == "overlay" else "by copies, which is slower"
    return (
        *(workspace.id, workspace.name, workspace.base, workspace.head, workspace.forked_from or ""),
        ", ".join(filter(None, ("changed since" if workspace.is_changed else "", slow))),
    )


def _plain(change: Change) -> dict[str, object]:
    return {"path": clean(change.path), "what": change.what}


def _point(text: str) -> CheckpointId | None:
    return CheckpointId(text) if text else None


async def _chosen(given: Path | None, all_: Workspaces, which: str) -> WorkspaceId:
    """By id, by name, or the agent's own."""
    found = await all_.list()
    if which:
        fitting = [each.id for each in found if each.id == which] or [each.id for each in found if each.name == which]
        if len(fitting) > 1:
            raise BadInput(f"{len(fitting)} workspaces are called {which}: {', '.join(fitting)}; give an id")
    else:
        own = await asyncio.to_thread(_own, given)
        fitting = [each.id for each in found if each.base == own and each.forked_from is None]
    if not fitting:
        if not which:
            others = f"name one of those that there are: {', '.join(each.name or each.id for each in found[:5])}" if found else NONE_YET
            raise NotFound(f"there is no workspace of the agent's own yet; {others}")
        raise NotFound(f"there is no workspace {which}; `daimon workspace list` shows which there are")
    return fitting[0]


async def _origin(all_: Workspaces, fork: WorkspaceId) -> WorkspaceId:
    """Where a fork began."""
    found = await all_.list()
    began = next(each.forked_from for each in found if each.id == fork)
    for each in found:
        if began is not None and each.id != fork and began in {point.id for point in await all_.checkpoints(each.id)}:
            return each.id
    raise BadInput(f"{fork} is no fork of a workspace that is there; say with --into where its changes go")


def _inside(path: str, base: str) -> str:
    """As it is called in the tree."""
    given = os.path.normpath(os.path.expanduser(path))
    return os.path.relpath(given, base) if os.path.isabs(given) and Path(given).is_relative_to(base) else given


def _own(given: Path | None) -> str:
    from daimon.offline.workspaces import own_workspace

    return own_workspace(homes.home_at(given))


def _done(given: Path | None, do: Callable[[Workspaces], Awaitable[T]]) -> T:
    async def whole() -> T:
        async with _arranged(homes.home_at(given)) as found:
            return await do(found.workspaces)

    return asyncio.run(whole())


@dataclass(frozen=True, slots=True)
class Arranged:
    workspaces: Workspaces
    trials: Trials


@asynccontextmanager
async def _arranged(home: homes.Home) -> AsyncIterator[Arranged]:
    if is_awake(home):
        remote = RemoteWorkspaces(home.socket)
        yield Arranged(remote, remote)
        return
    from daimon.offline.workspaces import arranging

    async with arranging(home) as (workspaces, trials):
        yield Arranged(workspaces, trials)
