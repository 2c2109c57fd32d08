"""What was ever put into the directories that agents work in, by whoever: what leaves a box on one of them may hold any of it.

Files outlive Daimon, and so do their labels: they are in `marks.json` beside the layers, `{directory: label}`. A label is on disk before
what it is about is put in. It belongs to the directory, not to a workspace or a checkpoint: forks of a directory share it, and no way back
makes it less. A file that cannot be read says nothing, and then whatever is in any of the directories is a stranger's, for the owner alone.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from daimon.abi.codec import adapter
from daimon.abi.errors import ToolFailed
from daimon.abi.label import EMPTY, UNLABELLED, Label

FILE = "marks.json"
_LABELS = adapter(dict[str, Label])


def _nowhere() -> None:
    return


@dataclass(slots=True)
class Mark:
    """Of one directory."""

    label: Label = EMPTY
    _keep: Callable[[], None] = _nowhere

    def join(self, label: Label) -> None:
        """Raises ToolFailed where it cannot be kept; then nothing may be put in."""
        before, self.label = self.label, self.label.joined(label)
        if self.label != before:
            try:
                self._keep()
            except OSError as failure:
                self.label = before
                said = f"where this comes from cannot be written down: {failure.strerror}; it is not put into the workspace"
                raise ToolFailed("no_label", said, retryable=True) from failure


@dataclass(slots=True)
class Marks:
    path: Path | None = None
    """None: until Daimon ends."""
    _marks: dict[str, Mark] = field(default_factory=dict)
    _others: Label = EMPTY
    """Of directories that are not known."""

    @classmethod
    def at(cls, path: Path) -> "Marks":
        made = cls(path)
        try:
            made._marks = {name: Mark(label, made._keep) for name, label in _LABELS.validate_json(path.read_bytes()).items()}
        except FileNotFoundError:
            pass
        except (OSError, ValidationError):
            made._others = UNLABELLED
        return made

    def of(self, directory: str) -> Mark:
        if directory not in self._marks:
            self._marks[directory] = Mark(self._others, self._keep)
        return self._marks[directory]

    @property
    def labels(self) -> dict[str, Label]:
        return {name: mark.label for name, mark in self._marks.items()}

    def _keep(self) -> None:
        if self.path is None:
            return
        new = self.path.with_name(f"{self.path.name}.new")
        try:
            with new.open("wb") as file:
                file.write(_LABELS.dump_json(self.labels))
                file.flush()
                os.fsync(file.fileno())
            new.replace(self.path)
        except OSError:
            with suppress(OSError):
                new.unlink()
            raise
