"""Failures of a turn, and what cured each: the next call that did what the failed one was to do.

That is the next call of the same tool that went well, or else the next one of another tool that was given one of the same values. What a
failure said is not looked at: it may be a stranger's words. What is told of it is our own word for its code, or that it failed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from daimon.abi.fields import leaves
from daimon.skills.experience import Deed

_IN_WORDS = {
    "not_found": "finds nothing",
    "missing": "finds nothing",
    "no_match": "finds nothing",
    "timeout": "takes too long",
    "rate_limited": "is called too often",
    "too_many": "is called too often",
    "too_large": "gets or gives too much",
    "bad_input": "cannot use what it is given",
    "bad_path": "cannot use the path",
    "bad_pattern": "cannot use the pattern",
    "bad_patch": "cannot use the change",
    "bad_edit": "cannot use the change",
    "bad_command": "cannot use the command",
    "bad_query": "cannot use the query",
    "changed": "finds that something has changed meanwhile",
    "exists": "finds that it is there already",
    "denied": "is not allowed",
    "not_allowed": "is not allowed",
    "no_network": "has no network",
    "lost": "loses what it worked on",
    "exit": "ends with another code than 0",
}
LEAST_SHARED = 3


@dataclass(frozen=True, slots=True)
class Recovery:
    failed: Deed
    cure: Deed

    @property
    def how(self) -> str:
        """How it failed, in our own words."""
        return _IN_WORDS.get(self.failed.code, "fails")

    @property
    def changed(self) -> tuple[str, ...]:
        """The arguments that were others in the cure."""
        names = {*self.failed.arguments, *self.cure.arguments}
        return tuple(sorted(name for name in names if self.failed.arguments.get(name) != self.cure.arguments.get(name)))


def recoveries(deeds: Sequence[Deed]) -> tuple[Recovery, ...]:
    found = []
    for i, deed in enumerate(deeds):
        if deed.code and (cure := _cure(deed, deeds[i + 1 :])) is not None:
            found.append(Recovery(deed, cure))
    return tuple(found)


def _cure(failed: Deed, later: Iterable[Deed]) -> Deed | None:
    well = [deed for deed in later if not deed.code]
    same = next((deed for deed in well if deed.tool == failed.tool), None)
    return same or next((deed for deed in well if _texts(deed) & _texts(failed)), None)


def _texts(deed: Deed) -> frozenset[str]:
    return frozenset(leaf.value for leaf in leaves(dict(deed.arguments)) if isinstance(leaf.value, str) and len(leaf.value) >= LEAST_SHARED)
