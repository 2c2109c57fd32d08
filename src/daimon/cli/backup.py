"""What `daimon backup`, `daimon backups` and `daimon restore` do.

The work is done here, on connections of its own, whether a gateway runs or not.
"""

import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rich.text import Text

from daimon import config, homes
from daimon.abi.errors import BadInput, Misconfigured, NotFound
from daimon.backup import making, shelf, state
from daimon.backup import restore as restoring
from daimon.backup.inventory import Inventory, Scope
from daimon.backup.making import Made
from daimon.backup.manifest import Head, Manifest
from daimon.backup.plan import Plan, plan_of
from daimon.cli import screen
from daimon.offline import backups

ENDINGS = (".tar.gz", ".tgz")
MOST_SHOWN = 10
LOW_PRIORITY = 10
TERMINATED = 143


def make(given: Path | None, to: Path | None, scope: Scope, as_json: bool) -> None:
    home = homes.home_at(given)
    _end_in_order()
    place = _place(home, to, shelf.name_for(backups.now()))
    is_shown = not as_json and screen.hint(f"copying {home.path}, then restoring the copy to verify it …")
    try:
        made = backups.backup(home, place, scope)
    finally:
        if is_shown:
            screen.take_back()
    _tell(made, as_json)


def by_schedule(given: Path | None, as_json: bool) -> None:
    """One backup by the settings, if anything happened since the last; then those that are too many go."""
    os.nice(LOW_PRIORITY)
    _end_in_order()
    home = homes.home_at(given)
    plan = plan_of(config.settings_of(home), home)
    newest = next(iter(shelf.listed(plan.to, plan.tag)), None)
    if newest is not None and (head := shelf.head_of(newest)) is not None and head.state == state.of(home):
        _said({"unchanged": True, "path": str(newest.path)}, f"nothing happened since {newest.path}", as_json)
        return
    place = _made_directory(plan.to) / shelf.name_for(backups.now(), plan.tag)
    fits = Inventory(home.path, plan.scope, skipped=plan.to).estimate() <= plan.most_bytes
    made = backups.backup(home, place, plan.scope if fits else replace(plan.scope, workspaces=False))
    shelf.prune(plan.to, plan.tag, plan.keep, plan.most_bytes)
    _tell(made, as_json)


def show(given: Path | None, to: Path | None, as_json: bool) -> None:
    home = homes.home_at(given)
    directory = to.expanduser().absolute() if to is not None else _plan(home).to
    found = [(each, shelf.head_of(each)) for each in shelf.listed(directory)]
    if as_json:
        screen.emit_value({"directory": str(directory), "backups": [_row(each, head) for each, head in found]})
        return
    rows = screen.table("file", "made", "size", "home", "")
    for each, head in found:
        about = ("" if head.has_workspaces else "without workspaces") if head is not None else "cannot be read"
        cells = (each.path.name, f"{each.at.astimezone():%Y-%m-%d %H:%M}", _size(each.size), head.home if head else "", about)
        rows.add_row(*(Text(screen.plain(cell)) for cell in cells))
    screen.out().print(rows if found else f"there is no backup in {directory} yet")
    if found:
        screen.remark(str(directory))


def check(given: Path | None, file: Path, as_json: bool) -> None:
    home = homes.home_at(given)
    _end_in_order()
    if not file.is_file():
        raise NotFound(f"there is no file {file}")
    place = home.path.parent if home.path.parent.is_dir() else Path.home()
    told = making.prove(file, place / f".{file.name}.{os.getpid()}.scratch")
    _said({"ok": True, "path": str(file), **_counts(told)}, f"{file} is good: {_sentence(told)}", as_json)


def restore(given: Path | None, file: Path, agreed: tuple[bool, bool], as_json: bool) -> None:
    """`agreed`: to replace what is there; not to be asked."""
    may_replace, is_asked_already = agreed
    home = homes.home_at(given)
    _end_in_order()
    if restoring.has_data(home) and may_replace and not is_asked_already:
        told = restoring.examine(file)
        screen.remark(f"{file} is of {told.head.made_at.astimezone():%Y-%m-%d %H:%M}: {_sentence(told)}", "")
        _require_agreement(home)
    done = backups.restore(file, home, may_replace=may_replace)
    aside = str(done.aside) if done.aside is not None else None
    if as_json:
        screen.emit_value({"home": str(done.home), "aside": aside, "signed_out": done.signed_out, **_counts(done.manifest)})
        return
    screen.say(f"{done.home} is as it was on {done.manifest.head.made_at.astimezone():%Y-%m-%d %H:%M}: {_sentence(done.manifest)}")
    if aside is not None:
        screen.say(f"what was there before is in {aside}")
    if done.signed_out:
        screen.say(f"{done.signed_out} devices that it knew are signed out; `daimon open` lets you in again")
    for line in _again(done.manifest):
        screen.remark(line, "yellow")


def _again(told: Manifest) -> tuple[str, ...]:
    """What a start will do that may have been done already."""
    found = told.head.journal
    turns = f"{found.open_turns} turns were under way: the next start goes on with them" if found and found.open_turns else ""
    messages = f"{found.waiting} messages were not sent yet: the next start sends them" if found and found.waiting else ""
    return tuple(filter(None, (turns, messages)))


def _require_agreement(home: homes.Home) -> None:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise Misconfigured("nobody is there to agree; add --yes")
    sys.stderr.write(f"{home.path} holds data; it will be moved aside, not deleted. go on? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise BadInput("nothing was done")


def _place(home: homes.Home, to: Path | None, name: str) -> Path:
    """A directory, or the name of a file that is not there yet."""
    if to is None:
        return _made_directory(_plan(home).to) / name
    place = to.expanduser().absolute()
    if place.is_dir():
        return place / name
    if place.name.endswith(ENDINGS) or place.exists():
        return place
    raise Misconfigured(f"{place} is no directory; make it, or name a file that ends with {' or '.join(ENDINGS)}")


def _plan(home: homes.Home) -> Plan:
    """A backup is wanted most when something is broken: with settings that cannot be read, it goes to where it usually goes."""
    try:
        return plan_of(config.settings_of(home), home)
    except Misconfigured as broken:
        screen.remark(f"the settings cannot be read, so the usual ones are used: {broken}", "yellow")
        return plan_of(config.Settings(), home)


def _made_directory(directory: Path) -> Path:
    """Only the last part of the way: what lies on a disk that is not there must not be made where it would be."""
    try:
        directory.mkdir(mode=0o700, exist_ok=True)
    except OSError as failure:
        raise Misconfigured(f"{directory} cannot be made: {failure.strerror}; make it, or choose another (--to, backup.to)") from None
    return directory


def _tell(made: Made, as_json: bool) -> None:
    told = made.manifest
    if as_json:
        screen.emit_value({"path": str(made.path), "size": made.size, **_counts(told), "left_out": list(told.left_out)})
        return
    screen.say(f"{made.path}, {_size(made.size)}: {_sentence(told)}")
    for line in told.left_out[:MOST_SHOWN]:
        screen.remark(f"left out: {line}", "yellow")
    if len(told.left_out) > MOST_SHOWN:
        screen.remark(f"… and {len(told.left_out) - MOST_SHOWN} more", "yellow")
    screen.remark("verified by restoring it. It holds your words and keys, unencrypted: keep it where only you can read it")


def _counts(told: Manifest) -> Mapping[str, object]:
    head = told.head
    journal = head.journal
    found = {name: getattr(journal, name) for name in ("position", "events", "turns", "steps")} if journal is not None else None
    made = {"made_at": head.made_at.isoformat(), "version": head.version, "workspaces": head.has_workspaces}
    return {**made, "files": len(told.entries), "bytes": told.bytes, "journal": found}


def _sentence(told: Manifest) -> str:
    journal = told.head.journal
    held = f"{journal.turns:,} turns, {journal.steps:,} steps" if journal is not None else "no journal yet"
    return f"{held}, {len(told.entries):,} files, {_size(told.bytes)} unpacked{'' if told.head.has_workspaces else ', without workspaces'}"


def _row(each: shelf.Backup, head: Head | None) -> Mapping[str, object]:
    made = {"path": str(each.path), "made_at": each.at.isoformat(), "size": each.size, "by_schedule": each.is_auto}
    position = head.journal.position if head is not None and head.journal is not None else None
    about = {"home": head.home, "version": head.version, "workspaces": head.has_workspaces} if head is not None else {}
    return {**made, "readable": head is not None, **about, "position": position}


def _said(value: Mapping[str, object], text: str, as_json: bool) -> None:
    if as_json:
        screen.emit_value(value)
    else:
        screen.say(text)


def _size(size: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if size < 1_000:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1_000
    return f"{size:.1f} GB"


def _end_in_order() -> None:
    """Whoever stops this leaves no draft behind."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
