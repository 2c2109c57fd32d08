"""Proposals on disk: `HOME/lessons/ID.json`, one file each, replaced as a whole.

The id is made of the lesson, so a lesson that is drawn twice, after a crash or from another turn, finds itself here: an open one gets the
turn as further evidence, a decided one stays as it was decided. A request that is alike and needed the same tools is the same lesson. There
are at most `MOST_OPEN` that wait: beyond that nothing new is proposed, since nobody would read it. Of decided ones `MOST_DECIDED` are
remembered, without their text.

Files that cannot be read are left where they are and told (`warnings`). One process at a time: whoever holds the home.
"""

from dataclasses import replace
from pathlib import Path

from daimon.abi.codec import decode, encode
from daimon.abi.errors import JournalDamaged, NoSpace, NotFound
from daimon.abi.lesson import Evidence, Proposal, Standing
from daimon.abi.ports import Clock
from daimon.machine import files
from daimon.skills.telling import alike

MOST_OPEN, MOST_DECIDED, MOST_EVIDENCE = 20, 500, 8


class Proposals:
    def __init__(self, top: Path, clock: Clock) -> None:
        self._top = top
        self._clock = clock
        self._broken: list[str] = []
        self._kept = {each.id: each for each in self._read()}

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(f"the proposal {path} cannot be read; delete it, or put it back from a backup" for path in self._broken)

    def all(self) -> tuple[Proposal, ...]:
        """The newest first."""
        return tuple(sorted(self._kept.values(), key=lambda each: (each.at, each.id), reverse=True))

    def open(self) -> tuple[Proposal, ...]:
        return tuple(each for each in self.all() if each.state == "open")

    def get(self, id_: str) -> Proposal:
        """Raises NotFound."""
        if id_ not in self._kept:
            there = ", ".join(each.id for each in self.open()) or "none"
            raise NotFound(f"there is no proposal {id_[:80]!r}; these wait: {there}")
        return self._kept[id_]

    def add(self, wanted: Proposal) -> bool:
        """False: it is known, or too many wait. Raises NoSpace."""
        if (known := self._like(wanted)) is not None:
            if known.state == "open":
                self._join(known, wanted.evidence)
            return False
        if len(self.open()) >= MOST_OPEN:
            return False
        self._write(wanted)
        return True

    def decide(self, id_: str, state: Standing) -> Proposal:
        """Only what tells it from others is kept of it."""
        decided = replace(self.get(id_), state=state, decided_at=self._clock.now())
        self._write(replace(decided, text="", diff=""))
        for old in [each for each in self.all() if each.state != "open"][MOST_DECIDED:]:
            self._drop(old.id)
        return decided

    def forget(self, turn: str) -> tuple[str, ...]:
        """What rests on a turn whose words were erased: those that wait go, of those that were decided the evidence. Names of skills that
        were learned from it."""
        resting = [each for each in self._kept.values() if any(seen.turn == turn for seen in each.evidence)]
        for each in resting:
            if each.state == "open":
                self._drop(each.id)
            else:
                self._write(replace(each, evidence=tuple(seen for seen in each.evidence if seen.turn != turn)))
        return tuple(sorted({each.skill for each in resting if each.state == "accepted"}))

    def forget_skill(self, name: str) -> None:
        """What would change it holds its words: it goes with the skill."""
        for each in [each for each in self._kept.values() if each.skill == name and each.state == "open" and each.kind != "new"]:
            self._drop(each.id)

    def _like(self, wanted: Proposal) -> Proposal | None:
        known = self._kept.get(wanted.id)
        if known is not None or wanted.kind != "new":
            return known
        news = (each for each in self._kept.values() if each.kind == "new" and each.tools == wanted.tools)
        return next((each for each in news if alike(each.words, wanted.words)), None)

    def _join(self, known: Proposal, more: tuple[Evidence, ...]) -> None:
        turns = {each.turn for each in known.evidence}
        new = tuple(each for each in more if each.turn not in turns)
        if new and len(known.evidence) < MOST_EVIDENCE:
            self._write(replace(known, evidence=(*known.evidence, *new)[:MOST_EVIDENCE]))

    def _write(self, proposal: Proposal) -> None:
        try:
            self._top.mkdir(mode=0o700, exist_ok=True)
            files.replace(self._place(proposal.id), encode(Proposal, proposal), 0o600)
        except OSError as failure:
            raise NoSpace(f"{self._top} cannot be written: {failure.strerror}; nothing was changed") from None
        self._kept[proposal.id] = proposal

    def _drop(self, id_: str) -> None:
        try:
            self._place(id_).unlink(missing_ok=True)
        except OSError as failure:
            raise NoSpace(f"{self._place(id_)} cannot be deleted: {failure.strerror}") from None
        del self._kept[id_]

    def _place(self, id_: str) -> Path:
        return self._top / f"{id_}.json"

    def _read(self) -> list[Proposal]:
        found = []
        for path in sorted(self._top.glob("p-*.json")) if self._top.is_dir() else ():
            try:
                read = decode(Proposal, path.read_bytes())
            except (OSError, JournalDamaged):
                self._broken.append(str(path))
                continue
            if path.name == f"{read.id}.json":
                found.append(read)
            else:
                self._broken.append(str(path))
        return found
