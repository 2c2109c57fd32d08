"""Skills without a directory, for tests of whatever holds the port."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from daimon.abi.errors import NotFound
from daimon.abi.skill import Installed, Skill

AT = datetime(2026, 1, 1, tzinfo=UTC)


def installed(name: str, description: str = "", *, is_vouched: bool = True, **more: Any) -> Installed:
    return Installed(skill=Skill(name, description or f"does {name}", **more), version="v1", source="test", at=AT, is_vouched=is_vouched)


class FakeShelf:
    """A skill is found by any word of its description."""

    def __init__(self, skills: Iterable[Installed] = (), texts: dict[tuple[str, str], str] | None = None) -> None:
        """`texts`: of files besides `SKILL.md`, by skill and path."""
        self.skills = list(skills)
        self.texts = texts or {}

    def ready(self) -> tuple[Installed, ...]:
        return tuple(sorted((each for each in self.skills if each.state == "ready"), key=lambda each: each.name))

    async def find(self, query: str) -> tuple[Installed, ...]:
        asked = set(query.lower().split())
        return tuple(each for each in self.ready() if asked & {each.name, *each.skill.description.lower().split()})

    async def read(self, name: str, path: str = "SKILL.md") -> tuple[Installed, str]:
        for each in self.ready():
            if each.name == name and path == "SKILL.md":
                return each, each.skill.body
            if each.name == name and (name, path) in self.texts:
                return each, self.texts[name, path]
        raise NotFound(f"there is no {path} of a skill {name}")
