"""What can be learned from an expensive turn: a skill, drawn from the record.

No model is asked. The name and when to use it come from the owner's own request, the steps are the calls that worked (`steps.py`), what to
check are the failures that were met with what cured them (`recovery.py`) and the owner's corrections. Before a word is written down it is
made general (`private.py`). The same record gives the same draft.

    experience → expense → draft → (the owner reads it) → a skill
"""

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from daimon.abi.tool import Manifest
from daimon.skills import telling, writing
from daimon.skills.expense import Expense, expense
from daimon.skills.experience import Correction, Deed, Experience
from daimon.skills.private import Privacy
from daimon.skills.recovery import Recovery
from daimon.skills.steps import ABOUT_TOOLS, Teller, Told, teller_of, tools_of

MOST_REQUEST, MOST_TRIGGERS, MOST_CHECKS, LONG_WORD = 240, 3, 12, 6
MOST_READ, LAST_WORDS = 1_000, 4
"""Where a long request is cut, its last words may be half of something personal."""
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED = re.compile(r"^\s*>.*$", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    name: str
    text: str
    """Of its `SKILL.md`."""
    why: str
    tools: tuple[str, ...]
    words: tuple[str, ...]
    """What the request was about."""
    checks: tuple[str, ...]
    asked: str
    """The request, without what is personal."""

    @property
    def fingerprint(self) -> str:
        """Of the lesson, whatever it was asked for with."""
        return hashlib.sha256("\0".join((*sorted(self.tools), "", *sorted(self.words))).encode()).hexdigest()[:16]


def draft(lived: Experience, manifests: Mapping[str, Manifest], privacy: Privacy, taken: Collection[str] = ()) -> Draft | None:
    """None: it was not expensive, or nothing of it can be told. `taken`: names that others have."""
    costs = expense(lived)
    teller = teller_of(lived, manifests, privacy)
    steps = teller.steps(_worked(lived)) if costs.is_any else ()
    tools, asked = tools_of(steps), request(lived.asked, privacy)
    words = telling.words(asked)
    if not tools or not words:
        return None
    checks = checks_of(lived, costs, teller, privacy)
    name = telling.slug(words, "lesson-" + hashlib.sha256(" ".join(words).encode()).hexdigest()[:8], taken)
    return Draft(
        name=name, text=_text(name, asked, steps, checks, lived), why=costs.in_words, tools=tools, words=words, checks=checks, asked=asked
    )


def request(said: str, privacy: Privacy) -> str:
    """What was asked, made general: the first sentences. What is quoted in it may be somebody else's words, and goes. Secrets go before
    anything is cut, so that no piece of one is left."""
    own = " ".join(_QUOTED.sub(" ", _FENCED.sub(" ", privacy.clean(said))).split())
    if len(own) > MOST_READ:
        own = " ".join(own[:MOST_READ].split(" ")[:-LAST_WORDS])
    kept = ""
    for sentence in _SENTENCE.split(own):
        if kept and len(kept) + len(sentence) >= MOST_REQUEST:
            break
        kept = f"{kept} {sentence}".strip()
    general = privacy.general(kept)
    return general if len(general) <= MOST_REQUEST else general[: MOST_REQUEST - 1].rsplit(" ", 1)[0] + "…"


def checks_of(lived: Experience, costs: Expense, teller: Teller, privacy: Privacy) -> tuple[str, ...]:
    found = [line for each in costs.recovered if (line := _cured(each, teller))]
    found += [line for each in lived.corrections if (line := _corrected(each, teller, privacy))]
    return tuple(dict.fromkeys(found))[:MOST_CHECKS]


def _worked(lived: Experience) -> list[Deed]:
    """The calls that went well; not those that were made again, otherwise, after the owner put it right."""
    well = [deed for deed in lived.deeds if not deed.code]
    replaced: set[int] = set()
    for correction in lived.corrections:
        again = {deed.tool: deed for deed in well if deed.n > correction.after}
        for deed in reversed([each for each in well if each.n <= correction.after]):
            later = again.pop(deed.tool, None)
            if later is not None and later.arguments != deed.arguments:
                replaced.add(deed.n)
    return [deed for deed in well if deed.n not in replaced]


def _cured(each: Recovery, teller: Teller) -> str:
    failed, cure = teller.vouched(each.failed.tool), teller.vouched(each.cure.tool)
    if failed is None or cure is None or {failed.name, cure.name} & ABOUT_TOOLS:
        return ""
    if failed.name != cure.name:
        return f"Where `{failed.name}` {each.how}: `{cure.name}` worked instead."
    if command := teller.command_of(each.cure):
        return f"Where `{failed.name}` {each.how}: it worked with {command}."
    properties = failed.parameters.get("properties")
    known = [name for name in each.changed if isinstance(properties, dict) and name in properties]
    named = ", ".join(f"`{name}`" for name in known)
    return f"Where `{failed.name}` {each.how}: " + (f"it worked with another {named}." if named else "it worked when it was tried again.")


def _corrected(each: Correction, teller: Teller, privacy: Privacy) -> str:
    if each.how == "denied":
        return f"The owner said no to a call of `{each.tool}`: ask, or do without it." if teller.vouched(each.tool) else ""
    return f"The owner put it right: {words}" if (words := request(each.words, privacy)) else ""


def _text(name: str, asked: str, steps: tuple[Told, ...], checks: tuple[str, ...], lived: Experience) -> str:
    page = writing.Page(
        name=name, description=f"Steps that worked before. Use when the owner asks for something like: {asked}", asked=asked,
        triggers=triggers(asked), tools=tools_of(steps), steps=tuple(step.lines for step in steps), checks=checks, turns=lived.turns,
    )  # fmt: skip
    return writing.written(page)


def triggers(asked: str) -> tuple[str, ...]:
    """Two telling words that stand side by side; else the longest one."""
    known = set(telling.words(asked))
    side_by_side = re.findall(r"(?=(?<![\w<])([^\W\d_]{3,} [^\W\d_]{3,})(?![\w>]))", asked)
    pairs = [pair.casefold() for pair in side_by_side if all(word.casefold() in known for word in pair.split())]
    if pairs:
        return tuple(dict.fromkeys(pairs))[:MOST_TRIGGERS]
    longest = max(sorted(known), key=len, default="")
    return (longest,) if len(longest) >= LONG_WORD else ()
