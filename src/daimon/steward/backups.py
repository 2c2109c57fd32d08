"""Backups, for the page. Making and verifying is done by a process of its own, one at a time: packing gigabytes is no work for the process
that answers. It goes on when the page is closed; how it went stands in the view until the next one."""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal

from daimon import settings_file
from daimon.abi.errors import BadInput, DaimonError, NotFound
from daimon.abi.ports import Clock
from daimon.backup import shelf
from daimon.backup.plan import Plan, plan_of
from daimon.backup.schedule import ran
from daimon.gateway.room import settings_backup as shown
from daimon.gateway.room.settings_backup import BackupWork, NewSchedule
from daimon.gateway.room.settings_changed import Changed
from daimon.steward.estate import Estate

MOST_LISTED = 200


class HomeBackups:
    def __init__(self, estate: Estate, clock: Clock, warnings: Callable[[], tuple[str, ...]]) -> None:
        self._estate, self._clock, self._warnings = estate, clock, warnings
        self._work: BackupWork | None = None
        self._task: asyncio.Task[None] | None = None

    async def view(self) -> shown.BackupsView:
        return await asyncio.to_thread(self._view)

    def _view(self) -> shown.BackupsView:
        asked, plan = self._estate.settings().backup, self._plan()
        rows = tuple(map(_row, shelf.listed(plan.to)[:MOST_LISTED]))
        kept = (asked.keep_daily, asked.keep_weekly, asked.keep_monthly)
        return shown.BackupsView(self._estate.version, str(plan.to), asked.every, *kept, self._warnings(), rows, self._work)

    def _plan(self) -> Plan:
        return plan_of(self._estate.settings(), self._estate.home)

    async def make(self) -> BackupWork:
        return self._begin("make", "", "backup")

    async def verify(self, name: str) -> BackupWork:
        return self._begin("verify", name, "backups", "--check", str(await self.file(name)))

    def _begin(self, did: Literal["make", "verify"], name: str, *words: str) -> BackupWork:
        if self._work is not None and self._work.state == "running":
            raise BadInput("a backup is being made or verified already; wait until it is done")
        self._work = BackupWork(did, "running", self._clock.now(), name, "")
        self._task = asyncio.ensure_future(self._do(self._work, *words))
        return self._work

    async def _do(self, work: BackupWork, *words: str) -> None:
        try:
            told = json.loads(await ran(self._estate.home.path, *words))
            name = Path(told["path"]).name
            self._work = replace(work, state="done", name=name, said=f"{told['files']:,} files, {told['bytes']:,} bytes unpacked")
        except (DaimonError, OSError, ValueError, KeyError) as failure:
            self._work = replace(work, state="failed", said=str(failure)[:500])

    async def file(self, name: str) -> Path:
        found = await asyncio.to_thread(lambda: shelf.listed(self._plan().to))
        path = next((each.path for each in found if each.path.name == name), None)
        if path is None:
            raise NotFound(f"there is no backup {name[:100]!r}")
        return path

    async def schedule(self, new: NewSchedule) -> Changed:
        return await self._estate.edit(new.version, settings_file.set_value("backup", "every", new.every))

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task


def _row(each: shelf.Backup) -> shown.BackupRow:
    head = shelf.head_of(each)
    about = ("", "", False) if head is None else (head.home, head.version, head.has_workspaces)
    return shown.BackupRow(each.path.name, each.at, each.size, each.is_auto, head is not None, *about)
