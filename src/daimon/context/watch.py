"""What is true now, kept up to date entry by entry: errors that nothing has resolved, files that are not as the model has seen them.

An error is resolved when the same tool has done the same thing (`Entry.subject`) without one. A file is stale from the moment when a call
changes it that was not about it, until it is read or written again; the call that changes a file and tells its new version is how the model
knows it. Who tried to read it again in the same way and could not knows that too. Files that others changed are found out elsewhere
(`abi.context.Freshness`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from daimon.abi.context import Entry


@dataclass(slots=True)
class Watch:
    task: int
    """Where this turn begins: errors of earlier ones are over."""
    count: int = 0
    """Entries that it has seen."""
    failed: dict[str, int] = field(default_factory=dict)
    """By what they are about."""
    read: dict[str, int] = field(default_factory=dict)
    """Files, and the entry that has them."""
    stale: dict[str, int] = field(default_factory=dict)
    """Files that were changed since, and the entry that has them as they were."""

    def follow(self, entries: Sequence[Entry]) -> None:
        for n in range(self.count, len(entries)):
            if entries[n].sort == "result":
                self._see(n, entries[n], entries)
        self.count = len(entries)

    def _see(self, n: int, entry: Entry, entries: Sequence[Entry]) -> None:
        for path in entry.changes:
            if path in self.read and path != entry.file:
                self.stale[path] = self.read[path]
        if entry.is_error:
            if n >= self.task:
                self.failed[entry.subject] = n
            if entry.file in self.read and entries[self.read[entry.file]].subject == entry.subject:
                self._forget(entry.file)
            return
        self.failed.pop(entry.subject, None)
        if entry.file and entry.version:
            self.read[entry.file] = n
            self.stale.pop(entry.file, None)
        elif entry.file in entry.changes:
            self._forget(entry.file)

    def _forget(self, path: str) -> None:
        self.read.pop(path, None)
        self.stale.pop(path, None)

    @property
    def errors(self) -> list[int]:
        return sorted(self.failed.values())


def open_errors(entries: Sequence[Entry], since: int, until: int) -> list[int]:
    """Errors of the turn that begins there, as they stood before entry `until`."""
    failed: dict[str, int] = {}
    for n in range(since, min(until, len(entries))):
        entry = entries[n]
        if entry.sort == "result" and entry.is_error:
            failed[entry.subject] = n
        elif entry.sort == "result":
            failed.pop(entry.subject, None)
    return sorted(failed.values())


def versions(entries: Sequence[Entry]) -> dict[str, str]:
    """Of the files that the model has seen, as it has seen them last. Nothing is known of one that a call changed without telling."""
    watch = Watch(len(entries))
    watch.follow(entries)
    return {path: entries[n].version for path, n in watch.read.items() if path not in watch.stale}
