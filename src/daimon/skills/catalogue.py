"""Which skills may help with what was said. Pure.

A skill whose trigger was said is always among them: whole words, whatever their case and accents. The order is by triggers, the longer ones
more, by words that a skill's name, triggers, description and headings share with what was said (`index.py`), and by how close they are in
meaning, where somebody can tell. Under a threshold there is nothing: "hello" brings up no skill, and costs nothing.

Of a skill that nobody vouches for no word is ever told, and that it is there only where one of its triggers, or its name, stands in what
was said. Its name is its author's word as much as its description, and 64 signs are room for an order: it is told where the owner has just
said it, word for word; else an alias stands for it, with the words of the owner's that brought it up. Its description ranks nothing here.
When somebody looks for skills (`find`) all that they say counts, since what is found is labelled as theirs.

A catalogue does not change. `Chooser` has a new one made when the skills are others. Making one and asking it is work for a thread: with
five hundred skills the first question takes a tenth of a second, for which nobody else is to wait.
"""

import asyncio
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from daimon.abi.label import Author, Label, Origin
from daimon.abi.skill import Installed, Suggestion
from daimon.skills.index import Field, Index
from daimon.skills.wording import COMMON, stem, terms, words

OF_NAME, OF_TRIGGERS, OF_DESCRIPTION, OF_HEADINGS = 2.5, 2.0, 1.0, 0.3
BY_TRIGGER, BY_MEANING = 2.0, 9.0
"""What a word of a trigger counts, and a meaning that is the same. A word that only one skill has counts one to two."""
LEAST_SCORE, LEAST_NEAR = 0.85, 0.38
"""Below both nothing is suggested: about one rare word of a description; a likeness that no small talk has."""
SHORT, SHORT_BY_MEANING = 2, 6.0
LEAST_SHORT, LEAST_SHORT_IN_ALL = 1.0, 3.5
"""Of a remark of so few words that count, one may be the word of some skill by chance ("the meeting went well"): more is asked of it, by
words alone, and by words and meaning together."""
LEAST_SHARE = 0.35
"""Of the best score: what shares much less than the best one is not worth its tokens."""
MOST_QUESTION = 2_000
MOST_TRIGGERS, LEAST_TRIGGER = 32, 3
"""Of one skill, and characters of one."""
MOST_HEADINGS = 12
MOST_STRANGERS = 1
"""Of those that are suggested: triggers are an author's choice, and must not take the places of what the owner vouches for."""
NAMED = Label.of(Origin(Author.SERVICE, "daimon"))
"""Of an alias, or of a name that the owner has just said: nobody else had a word in it."""
NOTHING: Mapping[str, float] = MappingProxyType({})
Called = Mapping[int, tuple[str, ...]]
"""By skill: the words of the owner's in which it was called for."""
Near = Callable[[str, Sequence[Installed]], Awaitable[Mapping[str, float]]]
"""How close skills are to a question by meaning, from -1 to 1, by name; those that nobody knows of are left out. Never raises."""
_HEADING = re.compile(r"^#{1,4} +(.{1,120})$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Trigger:
    words: tuple[str, ...]
    skill: int


class Catalogue:
    def __init__(self, skills: Iterable[Installed]) -> None:
        self.skills = tuple(skills)
        self._triggers: defaultdict[str, list[_Trigger]] = defaultdict(list)
        for n, each in enumerate(self.skills):
            for trigger in _triggers(each):
                self._triggers[trigger[0]].append(_Trigger(trigger, n))
        self._names = [(_name(each), n) for n, each in enumerate(self.skills) if not each.is_vouched]

    def choose(self, question: str, most: int, near: Mapping[str, float] = NOTHING) -> tuple[Suggestion, ...]:
        """The best first; none where nothing fits. `near`: how close skills are to it by meaning, by name, as far as somebody knows."""
        question = question[:MOST_QUESTION]
        if most <= 0 or not self.skills or not terms(question):
            return ()
        called, words = self._called(question), self._words(question)
        told = self._candidates(called, words, near) if self._is_enough(question, called, words, near) else {*called}
        score = {n: BY_TRIGGER * len(called.get(n, ())) + words.get(n, 0.0) + self._meant(n, near) for n in told}
        least = LEAST_SHARE * max(score.values(), default=0.0)
        best = sorted(score, key=lambda n: (-score[n], not self.skills[n].is_vouched, self.skills[n].name))
        beyond = [n for n in best if not self.skills[n].is_vouched][MOST_STRANGERS:]
        first = sorted((n for n in best if n not in beyond), key=lambda n: n not in called)[:most]  # who has a trigger in it has a place
        kept = (n for n in best if n in first and (n in called or score[n] >= least))
        return tuple(self._suggestion(n, question, called, _why(n, called, words)) for n in kept)

    def find(self, query: str) -> tuple[Installed, ...]:
        """Those that share a word with the query, the best first; an empty query finds all, by name."""
        if not query.strip():
            return tuple(sorted(self.skills, key=lambda each: each.name))
        query = query[:MOST_QUESTION]
        called, scores = self._called(query), self._all.scores(query)
        found = sorted({*called, *scores}, key=lambda n: (-len(called.get(n, ())), -scores.get(n, 0.0), self.skills[n].name))
        return tuple(self.skills[n] for n in found)

    def _called(self, question: str) -> dict[int, tuple[str, ...]]:
        """The longest trigger of each that stands in the question, or its name where nobody vouches for it: as the owner said it."""
        said = words(question)
        stems = [stem(word) for word in said]
        first: dict[str, str] = {}
        for each, word in zip(stems, said, strict=True):
            first.setdefault(each, word)
        found = {n: tuple(first[each] for each in first if each in name) for name, n in self._names if name and name <= first.keys()}
        for at, word in enumerate(stems):
            for trigger in self._triggers.get(word, ()):
                length = len(trigger.words)
                if length > len(found.get(trigger.skill, ())) and tuple(stems[at : at + length]) == trigger.words:
                    found[trigger.skill] = tuple(said[at : at + length])
        return found

    def _suggestion(self, n: int, question: str, called: Called, why: str) -> Suggestion:
        found = self.skills[n]
        if found.is_vouched:
            return Suggestion(found.name, found.skill.description, found.label, why, found.called)
        is_said = _says(question, found.name)
        return Suggestion(found.name, "", NAMED, why, found.name if is_said else found.called, " ".join(called[n]))

    def _words(self, question: str) -> dict[int, float]:
        """Of skills that somebody vouches for: how many words they share with the question, and how rare those are."""
        return {self._vouched[n]: score for n, score in self._told.scores(question).items()}

    def _candidates(self, called: Called, words: Mapping[int, float], near: Mapping[str, float]) -> set[int]:
        """Those with a trigger in it, and all that have something of the question."""
        nearest = max(near.values(), default=0.0)
        close = (name for name, likeness in near.items() if likeness >= nearest / 2)
        return {*called, *words, *(self._numbers[name] for name in close if name in self._numbers)}

    def _is_enough(self, question: str, called: Called, words: Mapping[int, float], near: Mapping[str, float]) -> bool:
        """Is any skill close enough to the question? Where one was called for by a trigger, it is no small talk."""
        best = max(words.values(), default=0.0)
        if best < LEAST_SCORE and max(near.values(), default=0.0) < LEAST_NEAR:
            return False
        if called or len({*terms(question)}) > SHORT:
            return True
        if not near:
            return best >= LEAST_SHORT
        both = (words.get(n, 0.0) + SHORT_BY_MEANING * near.get(self.skills[n].name, 0.0) for n in self._vouched)
        return max(both, default=0.0) >= LEAST_SHORT_IN_ALL

    def _meant(self, n: int, near: Mapping[str, float]) -> float:
        return BY_MEANING * max(0.0, near.get(self.skills[n].name, 0.0)) if self.skills[n].is_vouched else 0.0

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {self.skills[n].name: n for n in self._vouched}

    @cached_property
    def _vouched(self) -> list[int]:
        return [n for n, each in enumerate(self.skills) if each.is_vouched]

    @cached_property
    def _told(self) -> Index:
        return Index([_fields(self.skills[n]) for n in self._vouched])

    @cached_property
    def _all(self) -> Index:
        return Index([_fields(each) for each in self.skills])


class Chooser:
    """The port `Suggests`, over skills that come and go."""

    def __init__(self, ready: Callable[[], Sequence[Installed]], most: int, near: Near | None = None) -> None:
        """`ready` are those that may be used, at any time; `near` is whoever knows meanings."""
        self._ready, self._most, self._near = ready, most, near
        self._catalogue = Catalogue(())
        self._making = asyncio.Lock()

    async def catalogue(self) -> Catalogue:
        """Of those that may be used now."""
        async with self._making:
            skills = tuple(self._ready())
            if skills != self._catalogue.skills:
                self._catalogue = await asyncio.to_thread(Catalogue, skills)
            return self._catalogue

    async def suggest(self, question: str) -> tuple[Suggestion, ...]:
        if not self._most or not terms(question[:MOST_QUESTION]):
            return ()
        catalogue = await self.catalogue()
        vouched = [each for each in catalogue.skills if each.is_vouched]
        near = await self._near(question[:MOST_QUESTION], vouched) if self._near is not None and vouched else NOTHING
        return await asyncio.to_thread(catalogue.choose, question, self._most, near)

    async def find(self, query: str) -> tuple[Installed, ...]:
        return await asyncio.to_thread((await self.catalogue()).find, query)


def _why(n: int, called: Called, words: Mapping[int, float]) -> str:
    return "trigger" if n in called else "words" if n in words else "meaning"


def _says(question: str, name: str) -> bool:
    """Word for word, and in its order: other words of the owner's, put together anew, would be somebody else's sentence."""
    said, wanted = words(question), words(name)
    return any(said[at : at + len(wanted)] == wanted for at in range(len(said)))


def _triggers(found: Installed) -> set[tuple[str, ...]]:
    """What consists of common words only is none: it would stand in everything that is said."""
    apart = [words(each) for each in found.skill.triggers[:MOST_TRIGGERS] if len(each) >= LEAST_TRIGGER]
    return {tuple(map(stem, each)) for each in apart if each and not COMMON.issuperset(each)}


def _name(found: Installed) -> frozenset[str]:
    """Its words, unless they are common ones."""
    apart = words(found.name)
    return frozenset() if COMMON.issuperset(apart) else frozenset(map(stem, apart))


def _fields(found: Installed) -> tuple[Field, ...]:
    skill = found.skill
    return (
        Field(skill.name, OF_NAME),
        Field(" ".join(skill.triggers[:MOST_TRIGGERS]), OF_TRIGGERS),
        Field(skill.description, OF_DESCRIPTION),
        Field(" ".join(_HEADING.findall(skill.body)[:MOST_HEADINGS]), OF_HEADINGS),
    )
