"""What the owner added to the floor: `terraform destroy`, `kubectl delete namespace *`.

A pattern is words, each with * and ?. The first is the command. Between the others options may stand, each with one word as its value, so
that `kubectl -n shop delete namespace x` is meant too; an option of the pattern may stand anywhere behind, and anything behind the last.
"""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from daimon.policy.shell.scene import Never
from daimon.policy.shell.shown import shown


def refuse(name: str, words: Sequence[str], never: Sequence[tuple[str, ...]]) -> None:
    for pattern in never:
        if fnmatchcase(name, pattern[0]) and _follows(words[1:], pattern[1:]):
            raise Never(f"`{shown(words)}` never runs: the owner's settings say so (floor.never: {' '.join(pattern)!r})")


def _follows(words: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern:
        return True
    is_option = pattern[0].startswith("-")
    for place, word in enumerate(words):
        if fnmatchcase(word, pattern[0]) and word.startswith("-") == is_option and _follows(words[place + 1 :], pattern[1:]):
            return True
        is_value = place > 0 and words[place - 1].startswith("-") and "=" not in words[place - 1]
        if not (is_option or is_value or word.startswith("-")):
            return False
    return False
