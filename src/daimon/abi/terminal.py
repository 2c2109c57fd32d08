"""Terminals, as tools see them: shells that stay, in the box of an agent's session, each under a name.

A `Line` is one command for one of them, `Done` what came of it. What a command left running on purpose goes on, and is a `Job`. None of
this trusts what is inside: codes, directories and names of processes are what the inside says about itself.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from daimon.abi.box import Attempt, Box, End
from daimon.abi.label import UNLABELLED, Label

MAIN = "main"
Show = Callable[[str], None]
"""Gets what is printed while it comes, as text. Of a flood it gets a part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    command: str
    terminal: str = MAIN
    timeout_s: float = 120.0
    label: Label = UNLABELLED
    """What it was decided under."""
    task: str = ""
    """Known to programs as AGENT_TASK, in a shell that begins with this line."""
    most: int = 32_768
    """Characters of what it prints that are told; all of it is kept."""


@dataclass(frozen=True, slots=True)
class Job:
    """A process that runs on in a terminal."""

    terminal: str
    pid: int
    line: str
    age_s: float
    state: str
    """As /proc says it: R, S, D, T."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    end: End | Literal["shell ended"]
    code: int
    text: str
    output: str
    """Under which it is kept."""
    is_cut: bool = False
    directory: str = ""
    """Where the shell is now, if it is somewhere else than before."""
    jobs: tuple[Job, ...] = ()
    lost: tuple[str, ...] = ()
    """What is gone that was there before, each in a sentence."""
    meanwhile: str = ""
    """What was printed in this terminal since the last command ended."""
    attempts: tuple[Attempt, ...] = ()
    set_aside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Seen:
    """What a running program printed since somebody last looked; when it has ended, how."""

    text: str
    output: str
    done: Done | None = None


@dataclass(frozen=True, slots=True)
class Under:
    """A command that goes on by itself."""

    output: str
    terminal: str
    command: str
    for_s: float
    done: Done | None = None


@dataclass(frozen=True, slots=True)
class Excerpt:
    text: str
    start: int
    """Bytes from the beginning."""
    end: int
    size: int
    missing: int = 0
    """Bytes in the middle that were not kept."""


class Terminals(Protocol):
    async def run(self, line: Line, show: Show) -> Done:
        """Raises ToolFailed: busy, no_shell, bad_command, online."""
        ...

    async def begin(self, line: Line, show: Show) -> str:
        """As `run`, but it goes on by itself. Under which its output is kept."""
        ...

    async def send(self, terminal: str, text: str, wait_s: float, label: Label) -> Seen:
        """Types. Comes back when the program has printed and then is silent, has ended, or the time is over."""
        ...

    async def jobs(self) -> tuple[tuple[Under, ...], tuple[Job, ...]]:
        """Commands that go on by themselves, and processes that run on. Of one that has ended this tells once."""
        ...

    async def stop(self, what: str) -> str:
        """The output of a command that goes on, or the number of a process. How it went, in a few words. Raises ToolFailed."""
        ...


class Outputs(Protocol):
    def read(self, owner: str, output: str, start: int, length: int) -> Excerpt:
        """A negative start counts from the end. Raises ToolFailed."""
        ...


class Bench(Box, Protocol):
    """A running box with terminals."""

    @property
    def terminals(self) -> Terminals: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A command that is kept running."""

    name: str
    command: str
    directory: str = "."
    restart: Literal["always", "on-failure", "never"] = "on-failure"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceState:
    service: Service
    state: Literal["running", "waiting", "resting", "ended", "stopped"]
    """waiting: it is started again in a moment; resting: it died too often, and waits for somebody."""
    since: str
    restarts: int = 0
    last: str = ""
    """How it last ended."""


class Services(Protocol):
    async def start(self, owner: str, service: Service, label: Label) -> ServiceState:
        """Raises ToolFailed."""
        ...

    async def stop(self, owner: str, name: str) -> ServiceState: ...

    def list(self, owner: str) -> tuple[ServiceState, ...]: ...

    def log(self, owner: str, name: str, length: int) -> Excerpt: ...
