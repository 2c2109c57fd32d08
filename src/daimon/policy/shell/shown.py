"""Words of a command as a person may read them."""

from collections.abc import Sequence

from daimon.policy.shell.words import FETCHED, ME, UNKNOWN

LONGEST = 120
_READ = {ord(UNKNOWN): "…", ord(FETCHED): "(what it fetched)", ord(ME): "you", ord("\n"): " "}


def shown(words: Sequence[str]) -> str:
    text = " ".join(words)[: LONGEST * 2].translate(_READ).replace("/home/you", "~")
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
