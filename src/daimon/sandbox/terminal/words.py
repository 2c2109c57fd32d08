"""What is said to the shell, and what it reports: text in, records out.

Every command is one `eval` of one quoted word, so that nothing in it can be unfinished for the shell that reads it: a quote that is left
open is an error of the `eval`, not a wait for more. In front of it, on the same line, stands the report that it has been read to its end:
a Ctrl-C before that would be lost, or would cut it. While it runs, the descriptors of the terminal and of the reports are closed to it.
Two lines follow that are read after it however it ended, Ctrl-C included: one reports its code and the directory, the other one puts a mark
on the terminal, up to which all that was printed belongs to it. `\\builtin` is said so because aliases and functions may have any name.

A report is `TOKEN KIND TEXT` and a zero byte. About a command, the text begins with its mark, so that one that comes late is nobody
else's. The token is new for each shell and keeps honest programs from being misread. It is no wall: the shell is inside, and may say
anything; nothing outside relies on what it says, but for what the model is told.
"""

import string
from dataclasses import dataclass

from daimon.abi.errors import ToolFailed

MOST_WAITING = 8 << 20
"""Bytes of a report that does not end."""
MOST_COMMAND = 1 << 20
_FIRST = f"_{string.ascii_letters}"
_NAMES = " ".join(f'"${{!{letter}@}}"' for letter in _FIRST)


@dataclass(frozen=True, slots=True)
class Report:
    kind: str
    text: str


class Reports:
    """Finds whole reports in what comes. What is none is passed over."""

    def __init__(self, token: str) -> None:
        self._token = f"{token} ".encode()
        self._waiting = bytearray()

    def take(self, data: bytes) -> list[Report]:
        self._waiting += data
        if b"\0" not in data and len(self._waiting) <= MOST_WAITING:
            return []
        *whole, rest = bytes(self._waiting).split(b"\0")
        self._waiting = bytearray(rest if len(rest) <= MOST_WAITING else b"")
        return [report for each in whole if (report := self._read(each)) is not None]

    def _read(self, data: bytes) -> Report | None:
        _, found, said = data.rpartition(self._token)  # whatever an honest program wrote before it
        if not found:
            return None
        kind, _, text = said.decode(errors="replace").partition(" ")
        return Report(kind, text)


def quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def command(text: str, token: str, mark: str) -> bytes:
    """Raises ToolFailed for what no shell can be told."""
    if "\0" in text:
        raise ToolFailed("bad_command", "the command holds a zero byte, which no shell can read; write the bytes to a file instead")
    data = text.encode(errors="surrogateescape")
    if len(data) > MOST_COMMAND:
        raise ToolFailed("bad_command", f"the command has {len(data):,} bytes, more than {MOST_COMMAND:,}; put it into a file and run that")
    begun = f"\\builtin printf '%s %s %s\\0' {token} begun {mark} 2>/dev/null >&9; ".encode()
    line = b"\\builtin eval " + quoted(text).encode(errors="surrogateescape") + b" 0<&8 8>&- 9>&-\n"
    return begun + line + ending(token, mark).encode()


def ending(token: str, mark: str) -> str:
    return (
        f'\\builtin printf \'%s %s %s %d %s\\0\' {token} end {mark} "$?" "$PWD" 2>/dev/null >&9\n'
        f"\\builtin printf '\\x01%s\\x02' {mark} 2>/dev/null >&8\n"
        "PS1= PS2=\n"
    )


def marked(mark: str) -> bytes:
    """As it appears on the terminal."""
    return f"\x01{mark}\x02".encode()


def dump(token: str) -> bytes:
    """All that can be carried into another shell, without starting a process. A record for each variable: their values may hold lines."""
    said = f"\\builtin printf '%s %s ' {token}"
    zero = "\\builtin printf '\\0'"
    simple = " ".join(f"{said} {kind}; {what}; {zero};" for kind, what in _KINDS.items())
    return (
        f'{{ {simple} for __daimon_name in {_NAMES}; do {said} variable; \\builtin declare -p "$__daimon_name"; {zero}; done; '
        f"{said} dumped; {zero}; \\builtin unset __daimon_name; }} 2>/dev/null >&9\n"
    ).encode()


_KINDS = {
    "umask": "\\builtin umask -p",
    "shopt": "\\builtin shopt -p",
    "options": "\\builtin set +o",
    "aliases": "\\builtin alias -p",
    "functions": "\\builtin declare -f",
}
