"""The words of a request that say what it is about: for a skill's name, its triggers, and whether two requests are alike."""

import re
import unicodedata
from collections.abc import Collection, Iterable
from itertools import chain, count

from daimon.abi.skill import MOST_NAME

ALIKE = 0.5
"""Of the words of both."""
MOST_IN_NAME = 5
_WORD = re.compile(r"[^\W\d_]{3,}")
_PLACEHOLDER = re.compile(r"<[^<>\n]{1,40}>")
_EMPTY = frozenset(
    """about after again all also and any are but can could did does doing for from get give had has have her here him his how into its
    just let like make may might much must not now off one only our out over own please put really shall she should some such than that
    the their them then there these they thing things this those through till too under until use very want wants was were what when
    where which while who why will with without would you your yes aber alle als also auch auf aus bei bin bis bitte das dass dein deine
    dem den denn der des dich die dies diese diesen dir doch dort du ein eine einem einen einer eines für haben hat hier ich ihm ihn ihr
    ihre immer ist kann kein keine mach mache mal mein meine meinem meinen mich mir mit muss nach nicht noch nur oder ohne schon sehr
    sein seine sich sie sind soll über und uns unter vom von vor war was wenn wer werden wie wir wird wo zu zum zur""".split()  # noqa: SIM905 - as a list it would be a page
)


def words(text: str) -> tuple[str, ...]:
    """In order, each once, without those that say nothing and without placeholders."""
    found = (_folded(each) for each in _WORD.findall(_PLACEHOLDER.sub(" ", text)))
    return tuple(dict.fromkeys(each for each in found if each not in _EMPTY))


def alike(one: Iterable[str], other: Iterable[str]) -> bool:
    """Are most of the words of both in both?"""
    a, b = frozenset(one), frozenset(other)
    return bool(a and b) and len(a & b) >= ALIKE * min(len(a), len(b)) and len(a & b) >= min(2, len(a), len(b))


def slug(chosen: Iterable[str], otherwise: str, taken: Collection[str] = ()) -> str:
    """As names of skills are written; with a number where others have the name."""
    parts = [plain for each in chosen if (plain := _ascii(each))][:MOST_IN_NAME]
    name = "-".join(parts)[: MOST_NAME - 4].strip("-") or otherwise
    numbered = (f"{name}-{n}" for n in count(2))
    return next(each for each in chain((name,), numbered) if each not in taken)


def _folded(word: str) -> str:
    return unicodedata.normalize("NFKC", word).casefold()


def _ascii(word: str) -> str:
    spelled = word.replace("ä", "ae").replace("ö", "oe").replace("ü", "ue")
    plain = unicodedata.normalize("NFKD", spelled).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]", "", plain.lower())
