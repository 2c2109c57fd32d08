"""The terminals of one box, by name: shells made when they are first needed, made anew with what they knew when they ended.

Each runs one command at a time; a command may go on by itself (`begin`), then its terminal is taken until it ends. What is left out for
the model is in the kept output. A shell that ended is told with the result of the command that ended it, with what ran in it then.
"""

import asyncio
import re
import secrets
import time
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from daimon.abi.box import Attempt
from daimon.abi.errors import Lost, ToolFailed
from daimon.abi.label import Label
from daimon.abi.terminal import Done, Job, Line, Seen, Show, Under
from daimon.sandbox.box import RunningBox
from daimon.sandbox.terminal.kept import Kept
from daimon.sandbox.terminal.plain import rendered
from daimon.sandbox.terminal.printing import Printing, cut
from daimon.sandbox.terminal.session import Finish, Session
from daimon.sandbox.terminal.state import State

MOST = 8
MOST_ENDED = 32
QUIET_S, LOOK_S = 0.3, 0.05
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
_INNOCENT = frozenset({"D", "R", "S", "T", "I"})


class Watchman(Protocol):
    """Whoever knows what may go into the box and what tries to get out of it."""

    def admit(self, label: Label) -> None:
        """Something of this label goes in. Raises ToolFailed while it may not."""
        ...

    def attempts(self) -> tuple[Attempt, ...]:
        """To reach something, since the last question."""
        ...


@dataclass(slots=True)
class _Run:
    line: Line
    printing: Printing
    began: float = field(default_factory=time.monotonic)
    task: "asyncio.Task[Done] | None" = None
    seen: int = 0
    """Bytes that somebody has looked at."""


@dataclass(slots=True)
class _Terminal:
    session: Session
    told: str
    """The directory that was last told."""
    lost: list[str] = field(default_factory=list)
    jobs: tuple[Job, ...] = ()
    run: _Run | None = None


class ShellTerminals:
    def __init__(self, box: RunningBox, agent: str, kept: Kept, watchman: Watchman, saved: MutableMapping[str, State]) -> None:
        """`saved` outlives the box: states by name."""
        self._box, self._agent, self._kept, self._watchman, self._saved = box, agent, kept, watchman, saved
        self._terminals: dict[str, _Terminal] = {}
        self._ended: dict[str, Under] = {}
        self._making = asyncio.Lock()
        self._anew: dict[str, list[str]] = {}
        """Why terminals began anew, until it is told."""

    @property
    def is_idle(self) -> bool:
        """Does no command run in any of them?"""
        return all(terminal.run is None for terminal in self._terminals.values())

    @property
    def has_work(self) -> bool:
        """Does a command run, or did one leave something running when last asked?"""
        return any(each.run is not None or (each.jobs and each.session.is_alive) for each in self._terminals.values())

    async def run(self, line: Line, show: Show) -> Done:
        terminal, run = await self._prepare(line, show)
        return await self._through(terminal, run)

    async def begin(self, line: Line, show: Show) -> str:
        terminal, run = await self._prepare(line, show)
        run.task = asyncio.create_task(self._by_itself(terminal, run))
        await asyncio.sleep(0)  # one that is cancelled before it has begun would leave the terminal taken
        return run.printing.keeping.id

    async def send(self, terminal: str, text: str, wait_s: float, label: Label) -> Seen:
        found = self._terminals.get(terminal)
        if found is None or found.run is None:
            return self._too_late(terminal)
        self._watchman.admit(label)
        run, before = found.run, found.run.printing.size
        await found.session.type(text.encode(errors="surrogateescape"))
        await self._silent(run, before, wait_s)
        new, run.seen = run.printing.since(run.seen), run.printing.size
        output = run.printing.keeping.id
        ended = self._ended.pop(output, None)
        return Seen(cut(rendered(new), run.line.most).text, output, ended.done if ended else None)

    async def jobs(self) -> tuple[tuple[Under, ...], tuple[Job, ...]]:
        under = [
            Under(run.printing.keeping.id, run.line.terminal, run.line.command, time.monotonic() - run.began)
            for terminal in self._terminals.values()
            if (run := terminal.run) is not None
        ]
        ended, self._ended = tuple(self._ended.values()), {}
        found: dict[int, Job] = {}
        for name, terminal in tuple(self._terminals.items()):  # while one is asked, another may end
            for job in await self._jobs(name, terminal):
                found.setdefault(job.pid, job)
        return (*under, *ended), tuple(found.values())

    async def stop(self, what: str) -> str:
        for terminal in self._terminals.values():
            run = terminal.run
            if run is not None and run.task is not None and run.printing.keeping.id == what:
                run.task.cancel()
                await asyncio.wait((run.task,))
                return f"{what} was stopped"
        if not what.isdigit():
            raise ToolFailed("not_found", f"{what:.80} does not run; `jobs` without arguments lists what does")
        for name, terminal in tuple(self._terminals.items()):
            if any(job.pid == int(what) for job in await self._jobs(name, terminal)):
                return f"{what} was stopped" if await terminal.session.stop(int(what)) else f"{what} could not be stopped"
        raise ToolFailed("not_found", f"{what} is no process of your terminals; `jobs` without arguments lists them")

    async def state(self) -> dict[str, State]:
        """Of all that were ever here."""
        for name, terminal in tuple(self._terminals.items()):
            self._saved[name] = await terminal.session.state()
        return dict(self._saved)

    async def leave(self) -> tuple[str, ...]:
        """Every idle shell out of the workspace. Names of those that are not idle."""
        for terminal in tuple(self._terminals.values()):
            await terminal.session.leave()
        return tuple(name for name, terminal in self._terminals.items() if terminal.session.is_busy)

    async def enter(self) -> None:
        """Back. Where a directory is gone, that is told with the next result. Rules by pattern are about the tree that was there: a
        shell under such rules is left, and the next command begins another one with what it knew."""
        if self._box.has_rules_by_pattern:
            await self._leave_shells()
        for terminal in tuple(self._terminals.values()):
            wanted = terminal.session.directory
            if not await terminal.session.enter():
                terminal.lost.append(f"the directory {wanted} is gone; the terminal is in {terminal.session.directory} now")
                terminal.told = terminal.session.directory

    async def _leave_shells(self) -> None:
        idle = [name for name, terminal in self._terminals.items() if terminal.run is None and not terminal.jobs]
        for name in idle:
            terminal = self._terminals.pop(name)
            self._saved[name] = await terminal.session.state()
            await terminal.session.close()

    async def close(self) -> None:
        """Saves first what can be saved; a box that does not answer is not waited for long."""
        for terminal in tuple(self._terminals.values()):  # a shell may go with its command
            if terminal.run is not None and terminal.run.task is not None:
                terminal.run.task.cancel()
                await asyncio.wait((terminal.run.task,))
        with suppress(Lost):
            await self.state()
        for terminal in tuple(self._terminals.values()):
            await terminal.session.close()
        self._terminals.clear()

    async def begin_anew(self, saved: Mapping[str, State], why: str) -> None:
        """Ends every shell and what runs in it. The next command in each finds what is handed over here, and hears why."""
        names = tuple(self._terminals)
        await self.close()
        self._saved.clear()
        self._saved.update(saved)
        self._anew = {name: [f"the terminal {name} began anew, and what ran in it has ended: {why}"] for name in names}

    # -- one command ---------------------------------------------------------------------------------------------------

    async def _prepare(self, line: Line, show: Show) -> tuple[_Terminal, _Run]:
        if not _NAME.fullmatch(line.terminal):
            raise ToolFailed("bad_name", f"{line.terminal!r:.60} is no name for a terminal; use small letters, digits and -")
        self._watchman.admit(line.label)
        async with self._making:
            terminal = await self._terminal(line)
            if terminal.run is not None:
                what = terminal.run.line.command[:80]
                raise ToolFailed(
                    "busy", f"{line.terminal} still runs {what!r}: wait, send it input, stop it, or use another terminal", True
                )
            output = f"{line.terminal}-{secrets.token_hex(3)}"
            run = terminal.run = _Run(line, Printing(self._kept.begin(output), show))
        return terminal, run

    async def _terminal(self, line: Line) -> _Terminal:
        found = self._terminals.get(line.terminal)
        if found is not None and found.session.is_alive:
            return found
        if found is None and len(self._terminals) >= MOST:
            raise ToolFailed("too_many", f"there are {MOST} terminals already ({', '.join(self._terminals)}); use one of them")
        saved = self._saved.get(line.terminal, State())
        environment = {"AGENT_ID": self._agent, "AGENT_TASK": line.task}
        session = await Session.begin(self._box, environment, saved)
        ended = [] if found is None else [*found.lost, *_losses(line.terminal, await found.session.ended(), found.jobs)]
        lost = ended or self._anew.pop(line.terminal, [])
        if saved.directory and session.directory != saved.directory:
            lost = [*lost, f"the directory {saved.directory} is gone; the terminal begins in {session.directory}"]
        made = self._terminals[line.terminal] = _Terminal(session, session.directory, lost)
        return made

    async def _through(self, terminal: _Terminal, run: _Run) -> Done:
        meanwhile = cut(rendered(terminal.session.meanwhile()).strip(), 4_000).text
        before, lost = terminal.told, terminal.lost
        terminal.lost = []
        try:
            finish = await terminal.session.run(run.line.command, run.line.timeout_s, run.printing)
        finally:
            self._kept.finish(run.printing.keeping)
            terminal.run = None
            self._saved[run.line.terminal] = terminal.session.saved
            if not terminal.session.is_alive:
                await terminal.session.close()
                self._terminals.pop(run.line.terminal, None)
        lost += _losses(run.line.terminal, finish, terminal.jobs)
        terminal.jobs = await self._jobs(run.line.terminal, terminal)
        terminal.told = finish.directory
        text = run.printing.text(run.line.most)
        return Done(
            end=finish.end,
            code=finish.code,
            text=text.text,
            output=run.printing.keeping.id,
            is_cut=text.is_cut,
            directory=finish.directory if finish.directory != before else "",
            jobs=terminal.jobs,
            lost=tuple(lost),
            meanwhile=meanwhile,
            attempts=self._watchman.attempts(),
            set_aside=self._box.swept(),
        )

    async def _by_itself(self, terminal: _Terminal, run: _Run) -> Done:
        done = await self._through(terminal, run)
        output = run.printing.keeping.id
        self._ended[output] = Under(output, run.line.terminal, run.line.command, time.monotonic() - run.began, done)
        while len(self._ended) > MOST_ENDED:
            del self._ended[next(iter(self._ended))]
        return done

    async def _silent(self, run: _Run, before: int, wait_s: float) -> None:
        """Until what came after these bytes is followed by silence, the command has ended, or the time is over."""
        ends_at, size, changed_at = time.monotonic() + wait_s, before, time.monotonic()
        while (now := time.monotonic()) < ends_at and (run.task is None or not run.task.done()):
            if run.printing.size != size:
                size, changed_at = run.printing.size, now
            elif size != before and now - changed_at >= QUIET_S:
                return
            await asyncio.sleep(LOOK_S)

    def _too_late(self, terminal: str) -> Seen:
        """It may have ended just before, and its end is worth more than an error."""
        for output, under in self._ended.items():
            if under.terminal == terminal:
                del self._ended[output]
                return Seen("", output, under.done)
        raise ToolFailed("not_running", f"nothing runs in the terminal {terminal:.40}; start it with `run` and background=true")

    async def _jobs(self, name: str, terminal: _Terminal) -> tuple[Job, ...]:
        try:
            found = await terminal.session.jobs() if terminal.session.is_alive else ()
        except Lost:
            return ()
        return tuple(Job(name, each.pid, each.line, each.age_s, each.state if each.state in _INNOCENT else "?") for each in found)


def _losses(name: str, finish: Finish, jobs: tuple[Job, ...]) -> list[str]:
    if not finish.why:
        return []
    ran = f"; with it ended {', '.join(f'{job.pid} {job.line}' for job in jobs)}" if jobs else ""
    kept = "the next command gets a new one, with the directory, variables, functions, aliases and options from before this command"
    return [f"the shell of terminal {name} is gone ({finish.why}){ran}; {kept}"]
