"""Backups as the page makes and lists them. One is made, or verified, at a time, by a process of its own; the view says how that goes.

A backup holds the owner's words and keys, so that handing one out needs the right to change everything, and is recorded.
"""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal, Protocol

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as checked
from starlette.responses import FileResponse

from daimon.abi.access import Right
from daimon.gateway.entry import Call, Entry
from daimon.gateway.room.settings_changed import Changed

_CHECKED = ConfigDict(extra="forbid")
PACKED = "application/gzip"
Word = Annotated[str, Field(max_length=1_000)]


@dataclass(frozen=True, slots=True)
class BackupRow:
    name: str
    made_at: datetime
    size: int
    is_auto: bool
    """Made by the schedule, which also takes old ones away."""
    is_readable: bool
    home: str
    version: str
    has_workspaces: bool


@dataclass(frozen=True, slots=True)
class BackupWork:
    """What is being done, or was done last."""

    did: Literal["make", "verify"]
    state: Literal["running", "done", "failed"]
    since: datetime
    name: str
    said: str
    """What came of it."""


@dataclass(frozen=True, slots=True)
class BackupsView:
    version: str
    """Of the settings."""
    directory: str
    every: str
    """Such as 1d; `off`: never."""
    keep_daily: int
    keep_weekly: int
    keep_monthly: int
    warnings: tuple[str, ...]
    """Of the schedule."""
    backups: tuple[BackupRow, ...]
    work: BackupWork | None


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class NewSchedule:
    version: Word
    every: Annotated[str, Field(pattern=r"^(off|[1-9][0-9]{0,3}[hdw])$")]


class Backups(Protocol):
    async def view(self) -> BackupsView: ...

    async def make(self) -> BackupWork: ...

    async def verify(self, name: str) -> BackupWork: ...

    async def file(self, name: str) -> Path: ...

    async def schedule(self, new: NewSchedule) -> Changed: ...


@dataclass(frozen=True, slots=True)
class BackupRoutes:
    backups: Backups

    def all(self) -> tuple[Entry, ...]:
        path, admin, work = "/v1/settings/backups", Right.ADMIN, BackupWork
        whole = "A backup itself: it holds your words and keys"
        return (
            Entry("GET", path, self._view, BackupsView, "Backups that there are, and their schedule", Right.READ),
            Entry("POST", path, self._make, work, "Make a backup; the list says when it is done", admin, status=202, is_act=True),
            Entry("PUT", f"{path}/schedule", self._schedule, Changed, "How often backups are made", admin, body=NewSchedule, is_act=True),
            Entry("POST", f"{path}/{{name}}/verify", self._verify, work, "Restore one aside and compare", admin, status=202, is_act=True),
            Entry("GET", f"{path}/{{name}}/file", self._file, bytes, whole, admin, media=PACKED, is_act=True),
        )

    async def _view(self, call: Call[None, None]) -> BackupsView:
        return await self.backups.view()

    async def _make(self, call: Call[None, None]) -> BackupWork:
        return await self.backups.make()

    async def _schedule(self, call: Call[None, NewSchedule]) -> Changed:
        return await self.backups.schedule(call.body)

    async def _verify(self, call: Call[None, None]) -> BackupWork:
        return await self.backups.verify(call.path["name"])

    async def _file(self, call: Call[None, None]) -> FileResponse:
        path = await self.backups.file(call.path["name"])
        return FileResponse(path, media_type=PACKED, filename=path.name, headers={"cache-control": "no-store"})
