"""One shell on a terminal in a box: it runs command after command, and keeps what they leave behind in it.

    command ──pipe──▶ bash ──reports──▶ code, directory, state
    typed   ──tty───▶  └ programs ──tty──▶ what they print

One command at a time. A command that takes too long gets Ctrl-C, then TERM, then KILL, with all that it started; the shell survives if it
can. What an ended command left running with `&` goes on. Invariant: whatever happens inside, `run` comes back within its time and a few
seconds: with an answer of the shell, or with the shell's end. What a shell says is told on and never relied upon.

The state is asked for at most once per command, in front of the next one, so that it costs no waiting (`state.py`).
"""

import asyncio
import secrets
import signal
import termios
from collections import deque
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from daimon.abi.box import Command, End
from daimon.abi.errors import Lost, ToolFailed
from daimon.sandbox.box import RunningBox
from daimon.sandbox.spawned import Process, now_ticks
from daimon.sandbox.terminal import words
from daimon.sandbox.terminal.line import Line
from daimon.sandbox.terminal.printing import Printing
from daimon.sandbox.terminal.state import State

START_S, ANSWER_S, GRACE_S, MARK_S = 15.0, 3.0, 1.0, 0.5
ROUNDS, LOOK_S = 20, 0.02
MOST_BETWEEN = 16_384
MOST_LATE = 16
SHELL = ("bash", "--noprofile", "--norc", "--noediting", "-i")
INTERRUPT = b"\x03"
Ending = End | Literal["shell ended"]


@dataclass(frozen=True, slots=True)
class Finish:
    end: Ending
    code: int
    directory: str
    why: str = ""
    """How the shell ended, if it did."""


@dataclass(slots=True)
class _Current:
    printing: Printing
    mark: bytes
    since: int
    reported: "asyncio.Future[int]"
    is_begun: asyncio.Event
    """The shell has read all of it."""
    is_complete: asyncio.Event
    """All that it printed is there."""


class Session:
    """Made by `begin`."""

    def __init__(self, box: RunningBox, environment: dict[str, str]) -> None:
        self._box, self._token, self._line = box, secrets.token_hex(8), Line()
        command = Command(argv=SHELL, environment={**environment, "PS1": "", "PS2": "", "SHELL": "/bin/bash"})
        try:
            self._spawned = box.spawn(command, self._line.give())
        except BaseException:
            self._line.close()
            raise
        self._reports = words.Reports(self._token)
        self._dumping: list[words.Report] = []
        self._dumped = asyncio.Event()
        self._is_dirty = False
        self._current: _Current | None = None
        self._carry = b""
        self._late: deque[bytes] = deque(maxlen=MOST_LATE)
        """Marks of commands that nobody could wait for: a busy machine brings them when the next one runs."""
        self._between = bytearray()
        self._saved = State()
        self.directory = box.directory
        self._line.listen(self._take, self._heard)

    @classmethod
    async def begin(cls, box: RunningBox, environment: dict[str, str], saved: State) -> "Session":
        """Raises ToolFailed where there is no bash, Lost where the box is gone."""
        async with box.used():
            return await cls._begun(box, environment, saved)

    @classmethod
    async def _begun(cls, box: RunningBox, environment: dict[str, str], saved: State) -> "Session":
        session = cls(box, environment)
        try:
            async with asyncio.timeout(START_S):
                await session._quietly(f"\\builtin set +o history +H\n\\builtin unset HISTFILE\n{saved.script(box.directory)}")
        except (TimeoutError, OSError):
            why = session._spawned.how() if session._spawned.has_ended else f"no answer within {START_S:g} s"
            await session.close()
            raise ToolFailed("no_shell", f"no shell began in the box ({why}); terminals need bash, among the role's commands too") from None
        except BaseException:
            await session.close()
            raise
        session._between.clear()
        session._saved = saved.at(session.directory)
        return session

    @property
    def is_alive(self) -> bool:
        return not self._spawned.has_ended

    @property
    def is_busy(self) -> bool:
        return self._current is not None

    @property
    def saved(self) -> State:
        """As last dumped, at the directory that was last reported."""
        return self._saved.at(self.directory)

    async def run(self, text: str, timeout_s: float, printing: Printing) -> Finish:
        """Raises ToolFailed while another one runs; Lost never: the shell's end is an answer."""
        async with self._box.used():
            self._require_idle()
            mark = secrets.token_hex(8)
            line = words.command(text, self._token, mark)
            if self._is_dirty:
                line = words.dump(self._token) + line
                self._dumping.clear()
            return await self._run(line, timeout_s, self._begin(printing, mark))

    async def _run(self, line: bytes, timeout_s: float, current: _Current) -> Finish:
        end: Ending = "exited"
        try:
            self._spawned.busy(True)
            try:
                async with asyncio.timeout(timeout_s):
                    await self._line.command(line)
                    await self._answer(current)
            except TimeoutError:
                end = "timeout"
                await self._stop(current)
            except OSError:  # the shell reads no more
                await self._gone()
            await self._complete(current)
            return await self._finish(current, end)
        except asyncio.CancelledError:
            with suppress(Lost):
                await self._stop(current)
                await self._complete(current)
            raise
        except Lost as lost:
            return Finish("shell ended", 128 + signal.SIGKILL, self.directory, str(lost))
        finally:
            self._spawned.busy(False)
            self._current, self._is_dirty = None, True
            current.printing.finish()
            if self.is_alive:
                self._line.tidy()

    async def type(self, data: bytes) -> None:
        """To the program that runs. Raises ToolFailed when it does not read."""
        try:
            async with asyncio.timeout(ANSWER_S):
                await self._line.type(data)
        except (TimeoutError, OSError):
            raise ToolFailed("not_read", "the program does not read what is typed; no more can be sent to it now", retryable=True) from None

    async def jobs(self) -> tuple[Process, ...]:
        """What runs below the shell; while a command runs, that too."""
        return await self._spawned.below()

    async def stop(self, pid: int) -> bool:
        """One of them, and what is below it. Is it gone? Raises Lost."""
        for which in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            await self._spawned.below(signal.SIGCONT, pid=pid)
            await self._spawned.below(which, pid=pid)
            for _ in range(ROUNDS):
                if not any(each.pid == pid for each in await self._spawned.below()):
                    return True
                await asyncio.sleep(GRACE_S / ROUNDS)
        return False

    async def state(self) -> State:
        """Up to date, unless a command runs."""
        if self._is_dirty and not self.is_busy and self.is_alive:
            self._dumping.clear()
            self._dumped.clear()
            with suppress(TimeoutError, OSError):
                async with asyncio.timeout(ANSWER_S):
                    await self._line.command(words.dump(self._token))
                    await self._dumped.wait()
        return self.saved

    async def leave(self) -> None:
        """Out of the workspace, so that nothing of it is held. `enter` goes back."""
        if not self.is_busy and self.is_alive:
            back = self.directory
            await self._in_time(self._quietly("\\builtin cd /"))
            self.directory = back

    async def enter(self) -> bool:
        """Is the directory that it was in still there?"""
        if self.is_busy or not self.is_alive:
            return True
        wanted = self.directory
        await self._in_time(self._quietly(State(directory=wanted).cd(self._box.directory)))
        return self.directory == wanted

    async def ended(self) -> Finish:
        """How, of one that ended while nothing ran in it."""
        over = self._spawned.took_over()
        await self.close()
        return Finish(over or "shell ended", 128 + signal.SIGKILL, self.directory, self._spawned.how())

    def meanwhile(self) -> bytes:
        """What was printed while no command ran, since the last question: at most its end."""
        said, self._between = bytes(self._between), bytearray()
        return said

    async def close(self) -> None:
        """The shell, and all that it started."""
        with suppress(Lost):
            await self._spawned.kill()
        await self._spawned.clear()
        self._line.close()

    # -- hearing -------------------------------------------------------------------------------------------------------

    def _heard(self, data: bytes) -> None:
        for report in self._reports.take(data):
            if report.kind == "begun":
                self._begun_with(report.text)
            elif report.kind == "end":
                self._ended(report.text)
            elif report.kind == "dumped":
                self._saved = State.of(self._dumping, self.directory) or self._saved
                self._dumping.clear()
                self._is_dirty = False
                self._dumped.set()
            elif len(self._dumping) < 10_000:
                self._dumping.append(report)

    def _begun_with(self, mark: str) -> None:
        if self._current is not None and words.marked(mark) == self._current.mark:
            self._current.is_begun.set()

    def _ended(self, text: str) -> None:
        mark, _, rest = text.partition(" ")
        code, _, directory = rest.partition(" ")
        current = self._current
        if current is None or words.marked(mark) != current.mark or current.reported.done() or not code.isdigit():
            return
        if directory.startswith("/") and len(directory) < 4_096:
            self.directory = directory
        current.reported.set_result(int(code) & 0xFF)

    def _take(self, data: bytes) -> None:
        current, data, self._carry = self._current, self._carry + data, b""
        for late in [mark for mark in self._late if mark in data]:
            data = data.replace(late, b"")
            self._late.remove(late)
        if current is None or current.is_complete.is_set():
            return self._aside(data)
        before, found, after = data.partition(current.mark)
        if found:
            current.printing.add(before)
            current.is_complete.set()
            return self._aside(after)
        start = data.rfind(b"\x01", max(0, len(data) - len(current.mark)))  # it may be the beginning of the mark
        if start >= 0:
            data, self._carry = data[:start], data[start:]
        current.printing.add(data)
        return None

    def _aside(self, data: bytes) -> None:
        self._between += data
        del self._between[:-MOST_BETWEEN]

    # -- a command's course --------------------------------------------------------------------------------------------

    def _require_idle(self) -> None:
        if self.is_busy:
            raise ToolFailed("busy", "a command runs in this terminal; wait for it, send it input, or use another terminal", retryable=True)
        if not self.is_alive:
            raise Lost(f"the shell is gone: {self._spawned.how()}")

    def _begin(self, printing: Printing, mark: str) -> _Current:
        reported: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._carry = b""
        self._current = _Current(printing, words.marked(mark), now_ticks(), reported, asyncio.Event(), asyncio.Event())
        return self._current

    async def _answer(self, current: _Current) -> None:
        """A report, or the shell's end. Raises Lost with the box."""
        await asyncio.wait((current.reported, self._spawned.ended), return_when=asyncio.FIRST_COMPLETED)
        if self._spawned.has_ended:
            self._spawned.ended.result()

    async def _gone(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._spawned.ended), ANSWER_S)
        await self._spawned.kill()

    async def _stop(self, current: _Current) -> None:
        """Ctrl-C, TERM, KILL to what the command started; if the shell still does not come back, the shell. Then what is left goes. On a
        busy machine, time may be over before the shell has read the command; a Ctrl-C would not stop it then."""
        await self._within(ANSWER_S, self._begun_or_gone(current))
        self._line.type_now(INTERRUPT)
        if not await self._within(GRACE_S, self._answer(current)):
            await self._spawned.below(signal.SIGINT, current.since)
            for which, patience_s in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, ANSWER_S)):
                await self._spawned.below(which, current.since)
                if await self._within(patience_s, self._answer(current)):
                    break
            else:
                await self._spawned.kill()
        with suppress(TimeoutError):
            async with asyncio.timeout(ANSWER_S):
                while await self._spawned.below(signal.SIGKILL, current.since):  # noqa: ASYNC110 - nobody tells
                    await asyncio.sleep(LOOK_S)

    async def _begun_or_gone(self, current: _Current) -> None:
        begun = asyncio.ensure_future(current.is_begun.wait())
        try:
            await asyncio.wait((begun, self._spawned.ended), return_when=asyncio.FIRST_COMPLETED)
        finally:
            begun.cancel()

    async def _complete(self, current: _Current) -> None:
        """The terminal brings what is printed a little later than the pipe brings the report."""
        if not self._spawned.has_ended:
            with suppress(termios.error, TimeoutError):
                await asyncio.wait_for(current.is_complete.wait(), MARK_S)
        else:
            await asyncio.sleep(0.01)
        self._line.drain(self._take)
        if not current.is_complete.is_set():
            current.printing.add(self._carry)
            self._carry = b""
            self._late.append(current.mark)

    async def _finish(self, current: _Current, end: Ending) -> Finish:
        over = self._spawned.took_over()
        if self._spawned.has_ended:
            await self._spawned.clear()
            return Finish(over or (end if end == "timeout" else "shell ended"), self._code(current), self.directory, self._spawned.how())
        code = self._code(current)
        if over is None and end == "exited" and code == 128 + signal.SIGKILL and await self._box.ran_out_of_memory():
            over = "memory"
        return Finish(over or end, code, self.directory)

    def _code(self, current: _Current) -> int:
        return current.reported.result() if current.reported.done() else 128 + signal.SIGKILL

    async def _quietly(self, script: str) -> None:
        """Something of our own between commands. Raises OSError when the shell is gone."""
        current = self._begin(Printing.nowhere(), secrets.token_hex(8))
        mark = current.mark.strip(b"\x01\x02").decode()
        try:
            await self._line.command(f"{script}\n{words.ending(self._token, mark)}".encode(errors="surrogateescape"))
            await self._answer(current)
            if self._spawned.has_ended:
                raise BrokenPipeError
            with suppress(TimeoutError):
                await asyncio.wait_for(current.is_complete.wait(), MARK_S)
        finally:
            self._current = None
            if not current.is_complete.is_set():
                self._late.append(current.mark)

    async def _in_time(self, work: Awaitable[None]) -> None:
        with suppress(TimeoutError, OSError, Lost):
            await asyncio.wait_for(work, ANSWER_S)

    async def _within(self, seconds: float, work: Awaitable[None]) -> bool:
        try:
            await asyncio.wait_for(work, seconds)
        except TimeoutError:
            return False
        return True
