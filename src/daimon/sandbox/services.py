"""Services: commands that are kept running in the boxes of agents' sessions, watched from the gateway.

Each has a task here that leases the box, runs the command in it, and starts it again when it ended, later and later; one that dies five
times within a minute rests until somebody starts it. As long as it runs, its box stays. What is wanted is in one small file in the home,
replaced whole at every change, so that services come back after a restart of Daimon; those that were stopped by hand do not. A box that
died is no more than an end: the next start makes a new one.

    services.json   [{"owner": …, "service": {…}, "label": {…}}, …]      only those that are wanted

Like terminals they have no way out of the box.
"""

import asyncio
import os
import re
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from daimon.abi.box import Command, Ran
from daimon.abi.codec import decode, encode
from daimon.abi.errors import JournalDamaged, ToolFailed
from daimon.abi.label import UNLABELLED, Label
from daimon.abi.ports import Clock
from daimon.abi.resources import Resources
from daimon.abi.terminal import Excerpt, Service, ServiceState
from daimon.sandbox.output import Sink
from daimon.sandbox.terminal.kept import Keeping, KeptOutputs

MOST, DEATHS, WITHIN_S = 8, 5, 60.0
FIRST_S, LONGEST_S = 1.0, 60.0
FOR_EVER_S = 10 * 365 * 86_400.0
BOX_S, START_S = 10.0, 0.5
MOST_KEPT_BYTES = 4_096
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")


class Runs(Protocol):
    """A box, as services need it."""

    async def run(self, command: Command, sinks: tuple[Sink, Sink]) -> Ran: ...


@dataclass(frozen=True, slots=True)
class Wanted:
    owner: str
    service: Service
    label: Label = UNLABELLED


@dataclass(slots=True)
class _Kept:
    wanted: Wanted
    log: Keeping
    state: Literal["running", "waiting", "resting", "ended", "stopped"] = "waiting"
    since: str = ""
    restarts: int = 0
    last: str = ""
    deaths: list[float] = field(default_factory=list)
    task: "asyncio.Task[None] | None" = None
    began: asyncio.Event = field(default_factory=asyncio.Event)
    """There is a box, or there was none."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def told(self) -> ServiceState:
        return ServiceState(service=self.wanted.service, state=self.state, since=self.since, restarts=self.restarts, last=self.last)


class KeptServices:
    """`resume` once, then anything; `close` at the end, before the boxes close."""

    def __init__(self, path: Path, boxes: Resources[Runs], clock: Clock, outputs: KeptOutputs) -> None:
        self._path, self._boxes, self._clock, self._outputs = path, boxes, clock, outputs
        self._services: dict[tuple[str, str], _Kept] = {}
        self.warnings: tuple[str, ...] = ()

    def resume(self) -> None:
        """Starts what was wanted when Daimon last ended. A file that cannot be read is left as it is, and said."""
        try:
            wanted: tuple[Wanted, ...] = decode(tuple[Wanted, ...], self._path.read_bytes())
        except FileNotFoundError:
            return
        except (OSError, JournalDamaged) as broken:
            self.warnings = (f"{self._path} cannot be read, so no service was started: {broken}; mend it or remove it",)
            return
        for each in wanted:
            self._begin(each)

    async def start(self, owner: str, service: Service, label: Label) -> ServiceState:
        if not _NAME.fullmatch(service.name):
            raise ToolFailed("bad_name", f"{service.name!r:.60} is no name for a service; use small letters, digits and -")
        if "\0" in service.command + service.directory:
            raise ToolFailed("bad_command", "the command or the directory holds a zero byte, which no program can be given")
        if self.warnings:
            raise ToolFailed("unreadable", self.warnings[0])
        found = self._services.get((owner, service.name))
        if found is not None and found.wanted.service == service and found.state in ("running", "waiting"):
            return found.told()
        others = [kept for (whose, name), kept in self._services.items() if whose == owner and name != service.name and _is_up(kept)]
        if len(others) >= MOST:
            raise ToolFailed("too_many", f"{MOST} services run already; stop one of {', '.join(k.wanted.service.name for k in others)}")
        if found is not None:
            await self._end(found)
        kept = self._begin(Wanted(owner, service, label))
        self._save()
        with suppress(TimeoutError):  # so that what fails at once is told at once
            await asyncio.wait_for(kept.began.wait(), BOX_S)
            await asyncio.wait_for(kept.changed.wait(), START_S)
        return kept.told()

    async def stop(self, owner: str, name: str) -> ServiceState:
        kept = self._known(owner, name)
        await self._end(kept)
        self._set(kept, "stopped")
        self._save()
        return kept.told()

    def list(self, owner: str) -> tuple[ServiceState, ...]:
        return tuple(kept.told() for (whose, _), kept in self._services.items() if whose == owner)

    def log(self, owner: str, name: str, length: int) -> Excerpt:
        self._known(owner, name)
        return self._outputs.read(owner, f"service-{name}", -length, length)

    async def begin_anew(self, why: str) -> None:
        """Those that run are ended and started again: the files below them are others now."""
        for kept in [each for each in self._services.values() if _is_up(each)]:
            await self._end(kept)
            self._note(self._begin(kept.wanted), f"started again: {why}")

    async def close(self) -> None:
        for kept in self._services.values():
            await self._end(kept)
        self._services.clear()

    def _known(self, owner: str, name: str) -> _Kept:
        found = self._services.get((owner, name))
        if found is None:
            names = ", ".join(known for whose, known in self._services if whose == owner) or "none"
            raise ToolFailed("not_found", f"there is no service {name!r:.40}; there are: {names}")
        return found

    def _begin(self, wanted: Wanted) -> _Kept:
        log = self._outputs.of(wanted.owner).begin(f"service-{wanted.service.name}")
        kept = self._services[wanted.owner, wanted.service.name] = _Kept(wanted, log)
        self._set(kept, "waiting")
        kept.changed.clear()
        kept.task = asyncio.create_task(self._keep(kept))
        return kept

    async def _end(self, kept: _Kept) -> None:
        if kept.task is not None:
            kept.task.cancel()
            await asyncio.wait((kept.task,))
            kept.task = None
        self._outputs.of(kept.wanted.owner).finish(kept.log)

    # -- one service ---------------------------------------------------------------------------------------------------

    async def _keep(self, kept: _Kept) -> None:
        try:
            await self._kept_up(kept)
        except asyncio.CancelledError:  # whoever wanted its end may have gone before it came
            self._set(kept, "ended")
            raise

    async def _kept_up(self, kept: _Kept) -> None:
        pause_s = FIRST_S
        while True:
            began = self._clock.monotonic()
            is_failure = await self._once(kept)
            now = self._clock.monotonic()
            if not _again(kept.wanted.service, is_failure):
                return self._set(kept, "ended")
            kept.deaths = [at for at in (*kept.deaths, now) if now - at < WITHIN_S]
            if len(kept.deaths) >= DEATHS:
                self._note(kept, f"it died {len(kept.deaths)} times within {WITHIN_S:g} s and rests until it is started again")
                return self._set(kept, "resting")
            pause_s = FIRST_S if now - began > WITHIN_S else min(2 * pause_s, LONGEST_S)
            self._set(kept, "waiting")
            await self._clock.sleep(pause_s / 2)
            kept.restarts += 1

    async def _once(self, kept: _Kept) -> bool:
        """Until it ends. Did it fail?"""
        service = kept.wanted.service
        line = Command(
            argv=("/bin/sh", "-c", service.command),
            directory=service.directory,
            timeout_s=FOR_EVER_S,
            max_output_bytes=MOST_KEPT_BYTES,
            label=kept.wanted.label,
            environment={"AGENT_ID": kept.wanted.owner.partition(":")[0], "AGENT_TASK": f"service {service.name}"},
        )
        try:
            async with self._boxes.lease(kept.wanted.owner) as lease:
                self._set(kept, "running")
                kept.changed.clear()
                kept.began.set()
                ran = await lease.resource.run(line, (kept.log.add, kept.log.add))
        except Exception as failed:  # noqa: BLE001 - whatever keeps it from running is told, and it is tried again
            kept.last = str(failed)[:500]
            kept.began.set()
            self._note(kept, kept.last)
            return True
        kept.last = f"exit {ran.code}" if ran.end == "exited" else f"{ran.end}, exit {ran.code}"
        self._note(kept, f"ended: {kept.last}")
        return ran.code != 0 or ran.end != "exited"

    def _note(self, kept: _Kept, text: str) -> None:
        kept.log.add(f"[{self._clock.now():%Y-%m-%d %H:%M:%S}] {text}\n".encode(errors="replace"))

    def _set(self, kept: _Kept, state: Literal["running", "waiting", "resting", "ended", "stopped"]) -> None:
        kept.state, kept.since = state, f"{self._clock.now():%Y-%m-%d %H:%M:%S} UTC"
        kept.changed.set()

    def _save(self) -> None:
        """Whole, beside the old one, then in its place: a crash leaves one of the two."""
        wanted = tuple(kept.wanted for kept in self._services.values() if kept.state != "stopped")
        draft = self._path.with_suffix(".new")
        try:
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with open(descriptor, "wb") as file:
                file.write(encode(tuple[Wanted, ...], wanted))
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self._path)
        except OSError as error:
            raise ToolFailed(
                "not_saved", f"{self._path} could not be written: {error.strerror}; after a restart of Daimon it is as before"
            ) from None


def _again(service: Service, is_failure: bool) -> bool:
    return service.restart == "always" or (service.restart == "on-failure" and is_failure)


def _is_up(kept: _Kept) -> bool:
    return kept.state in ("running", "waiting")
