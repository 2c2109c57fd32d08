"""What is written to the terminal, and how it is made safe to look at.

Text from strangers may hold escape sequences that rewrite a screen or hide words. Everything that was not written here goes through
`plain` first. Results go to stdout, remarks to stderr, so that a pipe gets results only.
"""

import json
import re
import sys
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_PICTURES = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\n\t"}
_HIDERS = (0x7F, *range(0x80, 0xA0), 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_VISIBLE = _PICTURES | {ord("\r"): ""} | dict.fromkeys(_HIDERS, "\ufffd") | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
_ODD_IN_JSON = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
WIDE = 400
"""Columns where nobody looks: a pipe gets every row on one line."""


def plain(text: str) -> str:
    """The text with everything visible that would steer a terminal."""
    return text.translate(_VISIBLE)


@cache
def out() -> "Console":
    return _console(stderr=False)


@cache
def remarks() -> "Console":
    return _console(stderr=True)


def say(text: str, style: str | None = None, end: str = "\n") -> None:
    """To stdout, as it is: no wrapping, no markup."""
    out().out(plain(text), style=style, highlight=False, end=end)
    sys.stdout.flush()


def tell(text: str, style: str | None = None, hang: str = "") -> None:
    """Prose to stdout; `hang` stands before what does not fit on its line."""
    say(_readable(text, out(), hang), style)


def remark(text: str, style: str = "dim") -> None:
    """Prose to stderr."""
    remarks().out(readable(text), style=style, highlight=False)


def verbatim(text: str, style: str = "dim") -> None:
    """To stderr, as it is: a command that may be copied is not broken."""
    remarks().out(plain(text), style=style, highlight=False)


def readable(text: str, hang: str = "") -> str:
    """Prose for stderr, as `remark` would write it."""
    return _readable(text, remarks(), hang)


def _readable(text: str, to: "Console", hang: str = "") -> str:
    """A terminal would break lines wherever its last column is; in a pipe they stay whole."""
    from daimon.cli.wrap import fill  # which measures by this module

    return fill(text, hang, to.width) if to.is_terminal else plain(text)


def hint(text: str) -> bool:
    """To stdout, until `take_back`; False where a line cannot be taken back."""
    is_able = out().is_terminal and not out().is_dumb_terminal and len(text) < out().width
    if is_able:
        say(text, "dim", end="")
    return is_able


def take_back() -> None:
    """The line where the cursor stands is empty again."""
    sys.stdout.write("\r\x1b[K")
    sys.stdout.flush()


def emit(data: bytes) -> None:
    """JSON to stdout, one line."""
    safe = _ODD_IN_JSON.sub(lambda odd: f"\\u{ord(odd[0]):04x}", data.decode("utf-8"))
    sys.stdout.write(safe + "\n")
    sys.stdout.flush()


def emit_value(value: Mapping[str, object]) -> None:
    emit(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))


def raw(data: bytes) -> None:
    """To stdout, byte for byte; on a terminal, made visible."""
    if sys.stdout.isatty():
        say(data.decode("utf-8", "backslashreplace"))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)


def table(*columns: str) -> "Table":
    """The first column is what people copy: it is never folded."""
    from rich.table import Table

    made = Table(box=None, pad_edge=False, header_style="dim", show_edge=False)
    for n, column in enumerate(columns):
        made.add_column(column, overflow="fold", no_wrap=n == 0)
    return made


def facts(rows: tuple[tuple[str, str], ...]) -> "Table":
    from rich.text import Text

    made = table("", "")
    made.show_header = False
    for name, value in rows:
        made.add_row(Text(name, "dim"), Text(plain(value)))
    return made


def _console(stderr: bool) -> "Console":
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, highlight=False, markup=False, emoji=False, width=None if stream.isatty() else WIDE)
