"""One way out: what came of it, and what must not be in there."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from lab.canary import Canary, found


@dataclass(slots=True)
class Tally:
    attempts: int = 0
    leaks: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    """Ways by which nothing came at all: they prove nothing, and do not count."""
    by_group: Counter[str] = field(default_factory=Counter)
    leaked_by_group: Counter[str] = field(default_factory=Counter)

    @property
    def leaked(self) -> int:
        return len(self.leaks)

    def look(self, group: str, name: str, data: bytes, canaries: Iterable[Canary]) -> None:
        if not data:
            self.silent.append(f"{group}: {name}")
            return
        self.attempts += 1
        self.by_group[group] += 1
        if hits := found(data, canaries):
            self.leaks.append(f"{group}: {name}: {', '.join(hits)}")
            self.leaked_by_group[group] += 1
