"""What is odd about a skill, and no reason to refuse it: links that lead nowhere or in a circle, fields that count for nothing here.

References are read one by one, when somebody asks for one, and never followed by a program: a circle costs nothing here, but a model that
walks it does not arrive.
"""

import posixpath
import re
from itertools import islice

from daimon.abi.skill import Skill
from daimon.skills import format as form
from daimon.skills import requirements as asked
from daimon.skills.bundle import Bundle, shown

_LINK = re.compile(r"\]\(\s*<?([^)\s>#]+)")
_KNOWN = {form.TRIGGERS, form.ORIGIN, form.USES, asked.TOOLS, asked.HOSTS, asked.SECRETS, asked.FILES}
MOST = 5
"""Of each kind."""
MOST_LINKS, MOST_READ = 200, 256 << 10
"""Of one file that are looked at, and characters."""


def remarks_on(skill: Skill, bundle: Bundle) -> tuple[str, ...]:
    links = {path: _links(path, bundle) for path in sorted(bundle) if path.endswith((".md", ".txt"))}
    missing = [f"{shown(path)} names {shown(to)}, which is not there" for path, found in links.items() for to in found if to not in bundle]
    circle = _circle(links)
    unknown = sorted(name for name in skill.metadata if name.startswith(asked.PREFIX) and name not in _KNOWN)
    return (
        *missing[:MOST],
        *((f"{_way(circle)}: these references lead round in a circle",) if circle else ()),
        *(f"metadata names {shown(name)}, which means nothing to this Daimon" for name in unknown[:MOST]),
        *((f"allowed-tools ({', '.join(skill.allowed_tools)[:200]!a}) grants nothing here",) if skill.allowed_tools else ()),
    )


def _links(path: str, bundle: Bundle) -> tuple[str, ...]:
    """To other files of the skill, as paths of it."""
    text = bundle[path].data[:MOST_READ].decode("utf-8", "replace")
    named = (each[1] for each in islice(_LINK.finditer(text), MOST_LINKS))
    found = (to for to in named if "://" not in to and not to.startswith(("mailto:", "/", "#")))
    below = posixpath.dirname(path)
    return tuple(dict.fromkeys(posixpath.normpath(posixpath.join(below, to)) for to in found))


def _way(circle: list[str]) -> str:
    """Its beginning and its end."""
    told = [shown(path) for path in circle]
    return " → ".join(told if len(told) <= 2 * MOST else [*told[:MOST], "…", told[-1]])


def _circle(links: dict[str, tuple[str, ...]]) -> list[str]:
    """The first that is found, from its beginning to its beginning. By steps, not by recursion, and past each file once: depth and number
    of ways are a stranger's choice."""
    done: set[str] = set()
    for start in links:
        way, left = [start], [iter(links[start])]
        while left:
            to = next((each for each in left[-1] if each in links and each not in done), None)
            if to is None:
                done.add(way.pop())
                left.pop()
            elif to in way:
                return [*way[way.index(to) :], to]
            else:
                way.append(to)
                left.append(iter(links[to]))
    return []
