"""The box, as the rooms above see it: what may be in it, what runs in it, what came of it.

A `Role` says what a box may do. A `Command` is one thing to run in it, `Ran` what came of that. Whatever the box tried to reach is an
`Attempt`. None of this trusts what is inside: a `Ran` is what the outside saw, plus what the inside says about itself.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from daimon.abi.label import UNLABELLED, Label

Profile = Literal["strict", "build", "debug"]
"""Which system calls there are. strict: no sockets; build: sockets for loopback and the way out; debug: ptrace among its own too."""


@dataclass(frozen=True, slots=True)
class Place:
    """A host that may be reached, through the proxy only. `*.example.org` is every name below, not example.org itself."""

    host: str
    ports: tuple[int, ...] = (443, 80)
    methods: tuple[str, ...] = ()
    """Empty: all. To check these, or paths, inside TLS, the proxy must open it with the session's own authority."""
    paths: tuple[str, ...] = ()
    """What a path must begin with; empty: any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """For the whole box, but for files and CPU time, which count for each file and each process."""

    memory_mb: int = 2_048
    processes: int = 256
    open_files: int = 1_024
    file_mb: int = 1_024
    disk_mb: int = 4_096
    cpu_s: int = 3_600


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """What a box may do. Paths are relative to the workspace, or absolute; they may hold `*`."""

    name: str
    read: tuple[str, ...] = (".",)
    write: tuple[str, ...] = ()
    execute: tuple[str, ...] = ()
    """Directories and files that may be run, besides the commands."""
    commands: tuple[str, ...] = ("*",)
    """Programs by name, as PATH finds them. This keeps an agent on its path; it is no wall."""
    places: tuple[Place, ...] = ()
    secrets: dict[str, str] = field(default_factory=dict)
    """Variables of the environment that hold a placeholder, and the secret that each stands for."""
    environment: dict[str, str] = field(default_factory=dict)
    mounts: dict[str, str] = field(default_factory=dict)
    """Where the box has directories of this machine, read-only, and which. No file of a role says this: Daimon does, for one box."""
    limits: Limits = Limits()
    profile: Profile = "build"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    argv: tuple[str, ...]
    directory: str = "."
    """Relative to the workspace."""
    environment: dict[str, str] = field(default_factory=dict)
    stdin: bytes = b""
    timeout_s: float = 120.0
    max_output_bytes: int = 256 * 1024
    """Of each stream so much is kept: its beginning and its end."""
    places: tuple[Place, ...] = ()
    """Open while it runs; each must be among those of the role."""
    label: Label = UNLABELLED
    """What the command was decided under: what leaves while it runs carries at least this."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """Something in the box tried to reach a host."""

    at: datetime
    host: str
    port: int
    method: str
    """CONNECT where the proxy saw no more than that."""
    path: str
    outcome: Literal["passed", "refused", "failed"]
    reason: str = ""
    sent_bytes: int = 0
    received_bytes: int = 0
    secrets: tuple[str, ...] = ()
    """Names of those that were put in."""
    label: Label = UNLABELLED
    """Of what left."""


@dataclass(frozen=True, slots=True)
class Output:
    """What was kept of a stream. `cut_bytes` are missing in the middle, where `tail` begins."""

    head: bytes = b""
    tail: bytes = b""
    cut_bytes: int = 0


End = Literal["exited", "signalled", "timeout", "memory", "disk", "processes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    end: End
    code: int
    """As a shell would say it: 128 and the signal's number for one that was ended by a signal."""
    out: Output
    err: Output
    duration_s: float
    left: tuple[str, ...] = ()
    """Processes that it left running. They were ended with it."""
    attempts: tuple[Attempt, ...] = ()
    """Since the last command of this box."""
    set_aside: tuple[str, ...] = ()
    """Files that would have run by themselves on the owner's machine, and the names under which they are now."""


class Box(Protocol):
    """A running one."""

    async def run(self, command: Command) -> Ran:
        """Raises ToolFailed when the box cannot run it, and Lost when the box died meanwhile."""
        ...
