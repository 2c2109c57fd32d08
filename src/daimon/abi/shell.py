"""Whoever reads commands for the floor.

Reading needs a parser in C, and what it reads is a model's word. So it is done elsewhere: a text may end the reader, never the one who
asked. The answer is then that nobody knows, and the floor says what follows from that.
"""

from collections.abc import Sequence
from typing import Protocol


class ShellReader(Protocol):
    def read(self, command: str | Sequence[str], never: Sequence[tuple[str, ...]]) -> str | None:
        """Why this command, a line of shell or words that no shell cuts, may not run; empty if it may; None if it could not be read.

        `never`: what the owner added, as words with * and ?. Takes a few seconds at most, and never raises because of the text.
        """
        ...
