"""Patterns for paths: `*`, `?`, `[...]` within a name, `**` for any number of directories, `{a,b}` for either. Nothing looks at files.

A pattern without a `/` is about the name, at any depth. Names are compared part by part, each with an expression that cannot run away.
"""

import re
from fnmatch import translate

from daimon.abi.errors import ToolFailed

MOST_CHARACTERS, MOST_CHOICES, MOST_PARTS = 1_000, 64, 64
_CHOICE = re.compile(r"\{([^{}]*)\}")
_Parts = list[re.Pattern[str] | None]


class Glob:
    def __init__(self, pattern: str) -> None:
        if not pattern or len(pattern) > MOST_CHARACTERS or "\0" in pattern:
            raise ToolFailed("bad_pattern", f"a pattern for paths has 1 to {MOST_CHARACTERS:,} characters, none of them NUL")
        self._choices = [_compiled(each) for each in _spelled(pattern.removeprefix("./"))]
        self._names = [choice[1] for choice in self._choices if len(choice) == 2 and choice[0] is None and choice[1] is not None]
        self._is_about_names = len(self._names) == len(self._choices)

    def matches(self, path: str) -> bool:
        if self._is_about_names:
            name = path.rpartition("/")[2]
            return any(each.match(name) for each in self._names)
        parts = path.split("/")
        return any(_fits(choice, parts) for choice in self._choices)

    @property
    def names(self) -> str:
        """An expression that the name of whatever matches fits; other names may fit it too."""
        last = [choice[-1] for choice in self._choices]
        return "|".join(f"(?:{one.pattern if one else '.'})" for one in last)


def _compiled(pattern: str) -> _Parts:
    words = [word for word in pattern.strip("/").split("/") if word]
    if len(words) > MOST_PARTS:
        raise ToolFailed("bad_pattern", f"the pattern has {len(words)} parts, more than {MOST_PARTS}")
    if "/" not in pattern:
        words = ["**", *words]
    return [None if word == "**" else re.compile(translate(word)) for word in words] or [None]


def _spelled(pattern: str) -> list[str]:
    """With each choice made."""
    done, open_ = list[str](), [pattern]
    while open_:
        one = open_.pop()
        found = _CHOICE.search(one)
        if found is None:
            done.append(one)
        else:
            open_ += [one[: found.start()] + choice + one[found.end() :] for choice in found[1].split(",")]
        if len(done) + len(open_) > MOST_CHOICES:
            raise ToolFailed("bad_pattern", f"the pattern stands for more than {MOST_CHOICES} others")
    return done


def _fits(choice: _Parts, parts: list[str]) -> bool:
    """Which beginnings of the path fit the parts of the pattern so far; so the work is bounded by their product."""
    reached = {0}
    for one in choice:
        if one is None:
            reached = set(range(min(reached), len(parts) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(parts) and one.match(parts[at])}
        if not reached:
            return False
    return len(parts) in reached
