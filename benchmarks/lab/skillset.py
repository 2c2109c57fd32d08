"""Five hundred skills in families, two hundred requests with the skill that each is for, and ordinary talk that is for none.

Written by hand (`skillset.txt`): a request is what somebody would say who has the need and has not read the description. Of the words that
count, a request that says what is to be done (`>`) shares 59 % with the description of its skill, one that only tells a need (`~`) 32 %.
Families are split, every other one: one half is for whoever adjusts the ranking, the other is only measured. All skills stand to be chosen
in both. Skills and requests are by the same hand, so expect less of those of others.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from daimon.abi.skill import Installed, Skill

FILE = Path(__file__).with_name("skillset.txt")
_AT = datetime(2026, 1, 1, tzinfo=UTC)
_TALK, _TUNING_TALK = "ordinary talk", "ordinary talk to adjust with"


@dataclass(frozen=True, slots=True)
class Asked:
    text: str
    skill: str
    """Empty: none is for it."""
    is_held_out: bool
    is_need: bool
    """It tells a need and not what is to be done."""


@dataclass(frozen=True, slots=True)
class Skillset:
    skills: tuple[Installed, ...]
    asked: tuple[Asked, ...]


def load(file: Path = FILE) -> Skillset:
    skills, asked, talk, more = list[Installed](), list[Asked](), list[Asked](), list[Asked]()
    families = [block.strip().split("\n") for block in file.read_text(encoding="utf-8").split("# ") if block.strip()]
    for n, (name, *lines) in enumerate(families):
        for line in filter(None, lines):
            if line[:2] in ("> ", "~ "):
                text, _, skill = line[2:].partition(" => ")
                asked.append(Asked(text, skill, bool(n % 2), line[0] == "~"))
            elif name == _TALK:
                talk.append(Asked(line.removeprefix("- "), "", bool(len(talk) % 2), False))
            elif name == _TUNING_TALK:
                more.append(Asked(line.removeprefix("- "), "", False, False))
            else:
                skills.append(_skill(line))
    return Skillset(tuple(skills), (*asked, *talk, *more))


def _skill(line: str) -> Installed:
    name, description, *triggers = (part.strip() for part in line.split(" | "))
    words = tuple(each.strip() for each in ",".join(triggers).split(",") if each.strip())
    return Installed(skill=Skill(name, description, triggers=words), version="1", source="benchmark", at=_AT, is_vouched=True)
