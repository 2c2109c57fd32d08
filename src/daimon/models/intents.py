"""What a person wants, from a few words, or nothing.

A table (one per language) lists patterns for each intent. A pattern must explain the *whole* sentence, politeness aside; there is no search
for a key word inside it. Its score is how many words it names itself, less for words that had to be mended. The best one wins if it reaches
the threshold and no other intent comes close.

    what is [the] time in {place}       a word, [one that may be missing], (one|of these), {a slot of one or more words}
    remember {text:fact}                a slot that must be of a kind

Invariant: rather nothing than a wrong act. An order put as a question is no order, unless it was put politely (`can you …?`). Two orders in
one text are `Several`, and nothing is done. Only a note may run over more than one sentence. This module knows no tools and no answers.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import pairwise

from daimon.models.words import Word, cut, joined, spell

TIMER = "[timer]"
HEARTBEAT = "[heartbeat]"
WEBHOOK = "[webhook]"
AGENT = "[agent]"
SILENT = (HEARTBEAT, WEBHOOK, AGENT, "[answer]", "[outcome]", "[stop]", "[erased]")
EVENTS = (TIMER, *SILENT)
"""How the sentence begins that is written for an event that nobody said."""

THRESHOLD = 1.25
MARGIN = 0.5
STRONG = 2.0
"""From here on, a clause of a longer text counts as an order of its own."""
MENDED = 0.75
LONGEST = 4000


class Intent(StrEnum):
    HELLO = "hello"
    THANKS = "thanks"
    BYE = "bye"
    NEVER_MIND = "never_mind"
    HELP = "help"
    WHO = "who"
    STATUS = "status"
    TIME = "time"
    REMEMBER = "remember"
    RECALL = "recall"
    FORGET = "forget"
    REMIND = "remind"
    REMINDERS = "reminders"
    CANCEL = "cancel"


SMALL_TALK = frozenset({Intent.HELLO, Intent.THANKS, Intent.BYE})
ORDERS = frozenset({Intent.REMEMBER, Intent.FORGET, Intent.REMIND, Intent.CANCEL})


@dataclass(frozen=True, slots=True)
class Match:
    intent: Intent
    slots: dict[str, str]
    score: float


@dataclass(frozen=True, slots=True)
class Several:
    """More than one order in one text."""


@dataclass(frozen=True)
class Table:
    """One language."""

    patterns: dict[Intent, tuple[str, ...]]
    aliases: dict[str, str]
    """Short forms and well-known misspellings, by what they stand for."""
    keep: frozenset[str]
    """Real words that look like a mistyped one of the table."""
    opening: str
    """A pattern for one bit of politeness at the start of a sentence, and at the end."""
    closing: str
    asking: str
    """What in an opening makes a question an order."""
    begging: frozenset[str]
    """Words that are a closing even where no comma sets them apart."""
    clause: str
    """A regular expression for what parts the clauses of a sentence."""
    kinds: dict[str, "Kind"] = field(default_factory=dict)
    tidy: dict[str, Callable[[str], str]] = field(default_factory=dict)
    """What is trimmed from a slot, by its name."""

    @cached_property
    def compiled(self) -> tuple[tuple[Intent, "Pattern"], ...]:
        return tuple((intent, compiled(template)) for intent, templates in self.patterns.items() for template in templates)

    @cached_property
    def opens(self) -> re.Pattern[str]:
        return re.compile(f"(?:{compiled(self.opening).regex.pattern})+")

    @cached_property
    def closes(self) -> re.Pattern[str]:
        return re.compile(rf"(?<!\S)(?:{compiled(self.closing).regex.pattern})+$")

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        templates = [t for templates in self.patterns.values() for t in templates]
        return frozenset(re.findall(r"[a-z']+", re.sub(r"\{.*?\}", " ", " ".join([*templates, self.opening, self.closing]))))


@dataclass(frozen=True, slots=True)
class Kind:
    """What a slot must be, and how much it tells about the intent."""

    fits: Callable[[str], bool]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Pattern:
    regex: re.Pattern[str]
    kinds: dict[str, str]


def compiled(template: str) -> Pattern:
    """Matches words that are each followed by one blank."""
    kinds: dict[str, str] = {}
    parts: list[str] = []
    for token in re.findall(r"[\[\]()|]|\{[^}]*\}|[^\s\[\]()|{}]+", template):
        if token.startswith("{"):
            name, _, kind = token[1:-1].partition(":")
            kinds[name] = kind
            parts.append(rf"(?P<{name}>(?:\S+ )+?)")
        else:
            parts.append({"[": "(?:", "(": "(?:", "]": ")?", ")": ")", "|": "|"}.get(token) or f"{re.escape(token)} ")
    return Pattern(re.compile("".join(parts)), kinds)


def understand(text: str, tables: tuple[Table, ...]) -> Match | Several | None:
    """The best reading in any language."""
    readings = [reading for table in tables if (reading := _understand(text, table))]
    if any(isinstance(reading, Several) for reading in readings):
        return Several()
    return max((r for r in readings if isinstance(r, Match)), key=lambda match: match.score, default=None)


def bare(text: str, table: Table) -> str:
    """The text without politeness at its ends."""
    words, _ = next(_readings(spell(text, table.aliases, table.vocabulary, table.keep), text, table))
    return cut(text, words[0].start, words[-1].end) if words else ""


def _understand(text: str, table: Table) -> Match | Several | None:
    if len(text) > LONGEST:
        return None
    sentences = [(start, end, _best(text[start:end], table)) for start, end in _sentences(text)]
    telling = [s for s in sentences if s[2] is None or s[2].intent not in SMALL_TALK]
    if len(telling) < 2:
        match = (telling or sentences or [(0, 0, None)])[0][2]
        return Several() if match and _holds_another(match, table) else match
    if sum(_is_strong(match) for _, _, match in telling) > 1:
        return Several()
    match = _best(text[telling[0][0] : telling[-1][1]], table)
    if match is None or match.intent is not Intent.REMEMBER:
        return None
    return Several() if _holds_another(match, table) else match


def _holds_another(match: Match, table: Table) -> bool:
    """Does a later clause of a slot hold an order of its own?"""
    clauses = (c for slot in match.slots.values() for c in re.split(table.clause, slot, flags=re.IGNORECASE)[1:])
    return any(_is_strong(_best(clause, table)) for clause in clauses)


def _is_strong(match: Match | None) -> bool:
    return match is not None and match.score >= STRONG and match.intent not in SMALL_TALK


_END = re.compile(r"(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\bSt)(?<!\bProf)(?<!\b[a-zA-Z])[.!?;]+(?=\s|$)|\n+")


def _sentences(text: str) -> list[tuple[int, int]]:
    bounds = [0, *(end.end() for end in _END.finditer(text)), len(text)]
    return [(a, b) for a, b in pairwise(bounds) if text[a:b].strip()]


def _best(sentence: str, table: Table) -> Match | None:
    words = spell(sentence, table.aliases, table.vocabulary, table.keep)
    scored: dict[Intent, Match] = {}
    for reading, may_order in _readings(words, sentence, table):
        for intent, pattern in table.compiled:
            if intent in ORDERS and not may_order:
                continue
            match = _match(intent, pattern, reading, sentence, table)
            if match and match.score > (scored[intent].score if intent in scored else 0):
                scored[intent] = match
    ranked = sorted(scored.values(), key=lambda match: match.score, reverse=True)
    if not ranked or ranked[0].score < THRESHOLD:
        return None
    return None if len(ranked) > 1 and ranked[0].score - ranked[1].score < MARGIN else ranked[0]


def _readings(words: list[Word], sentence: str, table: Table) -> Iterator[tuple[list[Word], bool]]:
    """Ways to take the sentence, and whether it may be an order: without what is only polite, as it stands, and without any thanks."""
    is_question = sentence.rstrip().endswith("?")
    line = joined(words)
    polite = match.group() if (match := table.opens.match(line)) else ""
    start = polite.count(" ")
    end = len(words) - (match.group().count(" ") if (match := table.closes.search(line)) else 0)
    is_apart = start < end < len(words) and ("," in sentence[words[end - 1].end : words[end].start] or words[end].text in table.begging)
    may_order = not is_question or bool(re.search(table.asking, polite))
    yield words[start : end if is_apart else len(words)], may_order
    yield words, not is_question
    yield words[start:end], may_order


def _match(intent: Intent, pattern: Pattern, words: list[Word], sentence: str, table: Table) -> Match | None:
    line = joined(words)
    hit = pattern.regex.fullmatch(line)
    if hit is None:
        return None
    slots: dict[str, str] = {}
    named = dict(enumerate(words))
    for name, kind in pattern.kinds.items():
        if hit[name] is None:
            continue
        first, last = line.count(" ", 0, hit.start(name)), line.count(" ", 0, hit.end(name)) - 1
        value = cut(sentence, words[first].start, words[last].end)
        slots[name] = table.tidy[name](value) if name in table.tidy else value
        if not slots[name] or (kind and not table.kinds[kind].fits(slots[name])):
            return None
        named = {n: word for n, word in named.items() if not first <= n <= last}
    weight = max((table.kinds[kind].weight for kind in pattern.kinds.values() if kind), default=0.0) if slots else 1.0
    return Match(intent, slots, len(named) + weight - MENDED * sum(word.is_mended for word in named.values()))
