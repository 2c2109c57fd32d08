"""The home itself: whose it is, who can read it, how much room is left, what lies about, what the clock says."""

import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw

from daimon import config, keeper
from daimon.abi.errors import DaimonError
from daimon.backup.inventory import SCRATCH, UNFINISHED
from daimon.doctor.finding import Finding
from daimon.doctor.looking import looked_at
from daimon.machine.home import Home

AREA = "home"
PRIVATE = ("token", "vault.key", "vault.sealed", "journal.db", "memory.db", "keys.toml")
LITTLE, LEAST = 2 << 30, 200 << 20
AHEAD = timedelta(minutes=2)
OLDEST = datetime(2026, 1, 1, tzinfo=UTC)


def look(home: Home) -> tuple[Finding, ...]:
    return (*_rights(home), _room(home.path), *_left_over(home))


def settings(home: Home) -> Finding:
    try:
        config.load(home.config, os.environ)
    except DaimonError as bad:
        return Finding("error", "settings", str(bad), f"mend {home.config}; `daimon config --check` says whether it is good")
    return Finding("ok", "settings", f"{home.config} is good" if home.config.exists() else "all have their defaults")


def vault(home: Home) -> Finding:
    if not home.vault.exists():
        return Finding("ok", "vault", "there is none yet")
    if keeper.needs_passphrase(home, os.environ):
        return Finding(
            "note", "vault", "it opens with a passphrase, which was not asked for: it was not opened", "`daimon secrets list` asks"
        )
    try:
        count = len(keeper.found(home, os.environ).entries())
    except (DaimonError, OSError) as closed:
        return Finding("error", "vault", f"it does not open: {closed}", "bring its key back, or restore a backup")
    return Finding("ok", "vault", f"it opens, and holds {count} secrets")


def clock(home: Home, now: datetime) -> Finding:
    """A clock that went back, told by what was written down before."""
    newest = _newest(home.journal)
    if newest is not None and newest > now + AHEAD:
        ahead = str(newest - now).split(".")[0]
        text = f"the newest event is {ahead} ahead of the clock: the clock went back, or was wrong then"
        return Finding("warning", "clock", text, "set the clock; reminders and budgets go by it")
    if now < OLDEST:
        return Finding("warning", "clock", f"it says {now:%Y-%m-%d}, which is before this release was made", "set the clock")
    return Finding("ok", "clock", f"{now.astimezone():%Y-%m-%d %H:%M %Z}")


def _newest(journal: Path) -> datetime | None:
    if not journal.exists():
        return None
    try:
        with looked_at(journal) as db:
            at = db.execute("SELECT MAX(received_at) FROM events").get
    except apsw.Error:
        return None
    return None if at is None else datetime.fromtimestamp(int(at) / 1e6, UTC)


def _rights(home: Home) -> Iterator[Finding]:
    seen = home.path.stat()
    bad = False
    if seen.st_uid != os.geteuid():
        bad = True
        yield Finding(
            "error", AREA, f"{home.path} belongs to another user ({seen.st_uid})", "run this as its owner, or choose another --home"
        )
    if stat.S_IMODE(seen.st_mode) & 0o077:
        bad = True
        yield Finding(
            "error", AREA, f"others can look into {home.path} ({_mode(seen)})", f"chmod 700 {home.path}; the next start does so too"
        )
    for name in PRIVATE:
        path = home.path / name
        if path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o077:
            bad = True
            yield Finding("warning", AREA, f"others may read {path} ({_mode(path.stat())})", f"chmod 600 {path}")
    if not bad:
        yield Finding("ok", AREA, f"{home.path} is open to its owner alone")


def _mode(seen: os.stat_result) -> str:
    return f"mode {stat.S_IMODE(seen.st_mode):o}"


def _room(path: Path) -> Finding:
    found = os.statvfs(path)
    free = found.f_bavail * found.f_frsize
    said = f"{free / 1e9:,.1f} GB are free on its disk"
    if free < LEAST:
        return Finding("error", AREA, said, "make room: soon nothing can be written down")
    return Finding("warning" if free < LITTLE else "ok", AREA, said, "make room" if free < LITTLE else "")


def _left_over(home: Home) -> Iterator[Finding]:
    for path in sorted(home.path.glob("*.damaged-*")):
        if not path.name.endswith(("-wal", "-shm")):
            yield Finding(
                "note", AREA, f"{path.name} was set aside because it could not be used", "delete it if nobody wants to look at it"
            )
    if (home.path / SCRATCH).exists():
        yield Finding("note", AREA, f"{SCRATCH} is there: a backup is being made, or was interrupted", "the next backup removes it")
    if home.keys.exists():
        yield Finding("warning", AREA, f"{home.keys} holds keys in the clear", "the next start moves them into the vault")
    for path in sorted(home.path.parent.glob(f"{home.path.name}.restoring-*")):
        is_rubbish = (path / UNFINISHED).exists()
        what = "a restore that was interrupted" if is_rubbish else "a home that an interrupted restore left, perhaps the old one"
        yield Finding("note", AREA, f"{path} is {what}", "delete it" if is_rubbish else "look into it before you delete it")
