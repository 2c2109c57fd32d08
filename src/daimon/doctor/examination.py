"""The whole look, in order: what holds the truth first. Each part says what it found by itself; none of them raises or changes anything."""

import asyncio

import apsw

from daimon import config, workshop
from daimon.abi.errors import DaimonError
from daimon.backup import copies
from daimon.backup.inventory import INDEX
from daimon.backup.plan import plan_of
from daimon.doctor import backups, channels, house, journal, memory
from daimon.doctor.finding import Finding
from daimon.doctor.looking import looked_at, steadily
from daimon.machine.clock import SystemClock
from daimon.machine.home import Home


async def examined(home: Home, *, everything: bool = False) -> tuple[Finding, ...]:
    """Takes seconds; with `everything`, as long as reading all of it takes."""
    if not home.path.is_dir():
        return (Finding("note", "home", f"there is nothing at {home.path} yet", "start Daimon with `daimon up`, or choose another --home"),)
    stored = await asyncio.to_thread(_stored, home, everything=everything)
    kept = await asyncio.to_thread(_kept, home, everything=everything)
    return (*stored, await _sandbox(), *await channels.look(home, _settings(home)), *kept)


def _stored(home: Home, *, everything: bool) -> tuple[Finding, ...]:
    position = journal.position(home.journal) if home.journal.exists() else None
    return (
        *journal.look(home.journal, everything=everything),
        *memory.look(home.memory, position),
        *_workspaces(home),
        *house.look(home),
        house.settings(home),
        house.vault(home),
        house.clock(home, SystemClock().now()),
    )


def _kept(home: Home, *, everything: bool) -> tuple[Finding, ...]:
    return backups.look(plan_of(_settings(home), home), SystemClock().now(), _erasures(home), everything=everything)


def _settings(home: Home) -> config.Settings:
    """Faults are said elsewhere."""
    try:
        return config.load(home.config, {})
    except DaimonError:
        return config.Settings()


def _erasures(home: Home) -> int:
    if not home.journal.exists():
        return 0
    try:
        with looked_at(home.journal) as db:
            return int(db.execute("SELECT COUNT(*) FROM erasures").get)
    except apsw.Error:
        return 0


def _workspaces(home: Home) -> tuple[Finding, ...]:
    path = home.path / INDEX
    if not path.exists():
        return ()
    return steadily(path, lambda: (_index(home),), lambda found: found[0].severity == "ok")


def _index(home: Home) -> Finding:
    try:
        with looked_at(home.path / INDEX) as db:
            fault = str(db.pragma("quick_check", 1))
            layers = copies.layers_of(db) if fault == "ok" else frozenset()
    except apsw.Error as broken:
        fault, layers = str(broken), frozenset()
    if fault != "ok":
        return Finding(
            "error", "workspaces", f"their index is damaged: {fault}", "restore a backup; your own directories are not touched by it"
        )
    gone = [f"{family}/{name}" for family, name in sorted(layers) if not (home.path / "workspaces" / family / name).is_dir()]
    if gone:
        return Finding("error", "workspaces", f"layers are missing: {', '.join(gone[:5])}", "restore a backup, or discard these workspaces")
    return Finding("ok", "workspaces", f"their index is whole, and all {len(layers)} layers are there")


async def _sandbox() -> Finding:
    try:
        bad = [f"{check.name}: {check.says}" for check in await workshop.examined() if not check.is_ok]
    except (DaimonError, OSError) as failed:
        bad = [str(failed)]
    if bad:
        return Finding(
            "warning", "sandbox", f"boxes are not as they should be: {'; '.join(bad)[:400]}", "`daimon sandbox doctor` says more"
        )
    return Finding("ok", "sandbox", "a box was made, and everything that should hold it does")
