"""What was counted of skills, on disk: `HOME/lessons/uses.json`, replaced as a whole after each turn of the owner's.

The counts and how far they go stand in one file, so that after a crash a turn is counted once. `since` is when the last counted turn ended,
`recent` are the last ones that were: turns can end in the same moment. What was counted can be had again from nowhere; a file that cannot
be read is told and counting begins anew.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from daimon.abi.codec import decode, encode
from daimon.abi.errors import JournalDamaged, NoSpace
from daimon.abi.lesson import Service
from daimon.abi.plain import Moment
from daimon.machine import files

MOST_RECENT = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    since: Moment
    recent: tuple[str, ...] = ()
    erasures: int = 0
    """How often something was erased from the journal, when it was looked at last."""
    skills: dict[str, Service] = field(default_factory=dict)

    def of(self, skill: str) -> Service:
        return self.skills.get(skill) or Service(skill=skill)

    def counted(self, turn: str, ended_at: datetime, *changed: Service) -> "Tally":
        return replace(self.changed(*changed), since=max(self.since, ended_at), recent=(*self.recent[-MOST_RECENT + 1 :], turn))

    def changed(self, *services: Service) -> "Tally":
        return replace(self, skills={**self.skills, **{each.skill: each for each in services}})


def read(path: Path, now: datetime) -> tuple[Tally, str]:
    """And what to tell the owner. In a home that never counted, counting begins now."""
    try:
        return decode(Tally, path.read_bytes()), ""
    except FileNotFoundError:
        return Tally(since=now), ""
    except (OSError, JournalDamaged):
        return Tally(since=now), f"{path} cannot be read, so uses of skills are counted anew from now on"


def write(path: Path, tally: Tally) -> None:
    """Raises NoSpace."""
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        files.replace(path, encode(Tally, tally), 0o600)
    except OSError as failure:
        raise NoSpace(f"{path} cannot be written: {failure.strerror}; nothing was changed") from None
