"""Dialogues with questions, as LoCoMo has them: dated sessions of turns, and for each question the turns that hold its answer.

Evidence is written by hand (`D8:6; D9:17`, `D:11:26`), so it is read leniently; what names no turn is counted and left out. A picture is
the words that describe it. Turns of a session have one date; half a minute is put between them.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop", 5: "adversarial"}
COUNTED = (1, 2, 3, 4)
"""Adversarial questions name the wrong person, and are reported apart."""
PAUSE = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Line:
    id: str
    speaker: str
    text: str
    picture: str
    at: datetime

    @property
    def words(self) -> str:
        return f"{self.text}\n{self.picture}" if self.picture else self.text


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Dialogue:
    name: str
    lines: tuple[Line, ...]
    questions: tuple[Question, ...]
    unresolved: int
    """Evidence that names no turn."""


def load(path: Path) -> list[Dialogue]:
    return [_dialogue(each) for each in json.loads(path.read_text())]


def _dialogue(raw: dict[str, Any]) -> Dialogue:
    lines = tuple(_lines(raw["conversation"]))
    known = {line.id for line in lines}
    named = [(asked, _named(asked.get("evidence", ()))) for asked in raw["qa"]]
    questions = [Question(asked["question"], asked["category"], frozenset(ids & known)) for asked, ids in named]
    unresolved = sum(len(ids - known) for _, ids in named)
    return Dialogue(raw.get("sample_id", "?"), lines, tuple(one for one in questions if one.evidence), unresolved)


def _lines(conversation: dict[str, Any]) -> Iterator[Line]:
    sessions = sorted(int(key.removeprefix("session_")) for key in conversation if re.fullmatch(r"session_\d+", key))
    for session in sessions:
        start = datetime.strptime(conversation[f"session_{session}_date_time"].replace(",", ""), "%I:%M %p on %d %B %Y").replace(tzinfo=UTC)
        for place, turn in enumerate(conversation[f"session_{session}"]):
            text, picture = turn.get("text", ""), turn.get("blip_caption", "")
            yield Line(turn["dia_id"], turn["speaker"], text, f"[shares {picture}]" if picture else "", start + place * PAUSE)


def _named(evidence: list[str]) -> set[str]:
    return {f"D{int(session)}:{int(turn)}" for one in evidence for session, turn in re.findall(r"D:?\s*(\d+):\s*(\d+)", str(one))}
