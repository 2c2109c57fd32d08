"""The exit codes, all of them. `docs/cli.md` and `--help` show this table.

Small numbers are about the call, those from sysexits.h (64 to 78) about the machine. A code is a promise to scripts: it never changes its
meaning.
"""

from dataclasses import dataclass

from daimon.abi.errors import (
    BadInput,
    DaimonError,
    HomeBusy,
    JournalDamaged,
    JournalFailed,
    JournalFull,
    Misconfigured,
    NoSpace,
    NotFound,
    NotRunning,
)

OK, FAILED, USAGE, NOT_FOUND, BAD_INPUT = 0, 1, 2, 3, 4
DAMAGED, NOT_RUNNING, BUG, FULL, STOPPED, BUSY, MISCONFIGURED = 65, 69, 70, 73, 74, 75, 78
NO_BOX, INTERRUPTED = 125, 130


@dataclass(frozen=True, slots=True)
class Exit:
    code: int
    meaning: str
    errors: tuple[type[DaimonError], ...] = ()


TABLE = (
    Exit(OK, "done"),
    Exit(FAILED, "something failed, such as a turn or a check", (DaimonError,)),
    Exit(USAGE, "wrong usage: an unknown command or option"),
    Exit(NOT_FOUND, "not found, or nothing in this home yet; of `floor check`: it never runs", (NotFound,)),
    Exit(BAD_INPUT, "bad input; an event is kept as a dead letter", (BadInput,)),
    Exit(DAMAGED, "the journal is damaged, foreign, or from a newer release", (JournalDamaged,)),
    Exit(NOT_RUNNING, "no gateway answers, or it went away", (NotRunning,)),
    Exit(BUG, "an error in Daimon itself; --debug shows where"),
    Exit(FULL, "the disk is full", (JournalFull, NoSpace)),
    Exit(STOPPED, "the journal cannot be read or written", (JournalFailed,)),
    Exit(BUSY, "another process holds this home", (HomeBusy,)),
    Exit(MISCONFIGURED, "a setting or the machine is not as it must be", (Misconfigured,)),
    Exit(NO_BOX, "no box could be made for `daimon sandbox run`; any other code of it is the command's own"),
    Exit(INTERRUPTED, "interrupted from the keyboard"),
)


def code_for(error: DaimonError) -> int:
    """The code of the nearest class in the table."""
    codes = {kind: row.code for row in TABLE for kind in row.errors}
    return next(codes[kind] for kind in type(error).__mro__ if kind in codes)


def as_help() -> str:
    """For the end of `--help`."""
    return "\n".join(["Exit codes:", *(f"{row.code:>3}  {row.meaning}" for row in TABLE)])
