"""What is known while a text is read: variables, functions, files that it wrote itself, where it stands, how much more may be read.

A scene of a subshell is a copy with the same files and the same budget. Reading ends with `Never` when something is found that may not
run, and with `TooDeep` when a cap is reached; both are caught in `read`, nowhere else.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from daimon.policy.shell.paths import HOME, joined
from daimon.policy.shell.words import FETCHED, ME, UNKNOWN

if TYPE_CHECKING:
    from tree_sitter import Node

Value = str | tuple[str, ...]
MOST_STEPS, DEEPEST, MOST_CHARACTERS = 4_000, 60, 500_000
LONGEST_FILE, LONGEST_VALUE = 50_000, 10_000
GIVEN: dict[str, Value] = {
    "HOME": HOME,
    "USER": ME,
    "LOGNAME": ME,
    "IFS": " ",
    "SHELL": "/bin/bash",
    "BASH": "/bin/bash",
    "0": "bash",
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
}
STDIN = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})


class Never(Exception):
    """Carries the reason."""


class TooDeep(Exception):
    """Nothing was found, and not all was read."""


@dataclass(slots=True)
class Budget:
    steps: int = MOST_STEPS
    depth: int = 0
    characters: int = MOST_CHARACTERS

    def step(self) -> None:
        self.steps -= 1
        if self.steps < 0:
            raise TooDeep

    def take(self, text: str) -> str:
        self.characters -= len(text)
        if self.characters < 0:
            raise TooDeep
        return text

    @contextmanager
    def deeper(self) -> Iterator[None]:
        self.depth += 1
        try:
            if self.depth > DEEPEST:
                raise TooDeep
            yield
        finally:
            self.depth -= 1


@dataclass(slots=True)
class Scene:
    variables: dict[str, Value] = field(default_factory=lambda: dict(GIVEN))
    functions: dict[str, "Node"] = field(default_factory=dict)
    arguments: tuple[str, ...] | None = None
    """Of the script or function; None: nobody knows."""
    place: str = UNKNOWN
    files: dict[str, str] = field(default_factory=dict)
    """What the text itself put into files, by path."""
    calling: frozenset[str] = frozenset()
    """Functions under way: one that calls itself is not read again."""
    budget: Budget = field(default_factory=Budget)

    def copy(self) -> "Scene":
        return replace(self, variables=dict(self.variables), functions=dict(self.functions))

    @property
    def home(self) -> str:
        value = self.variables.get("HOME", HOME)
        return value if isinstance(value, str) else HOME

    def path(self, word: str) -> str:
        """The word as a path, whole as far as can be known."""
        return joined(self.place, word)

    def content(self, word: str) -> str | None:
        """What the text put into that file; None: nothing that is known."""
        return self.files.get(self.path(word))

    def write(self, word: str, text: str, is_more: bool = False) -> None:
        path = self.path(word)
        text = self.files.get(path, "") + text if is_more else text
        self.files[path] = text if len(text) <= LONGEST_FILE else like(text)


def like(*sources: str) -> str:
    """What becomes of these in hands that are not followed: unknown, or still from the network."""
    return (FETCHED if any(FETCHED in source for source in sources) else UNKNOWN) + "\n"
