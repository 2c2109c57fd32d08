"""Facts, people and decisions in the owner's own words, found by small rules.

Rather too few than one wrong: a rule fits a whole sentence or not at all. What is asked, quoted, denied or only imagined is nobody's fact,
and what somebody else said is not the owner's word. Where somebody else begins to speak in a message (a quotation, a report, the head of a
mail, a line that ends in a colon), the rest of it is not looked at: who pastes a mail does not say what it says. Nor is a text to be
translated, corrected or continued, or one with the courtesies of a letter. A text that is pasted without a word cannot be told from the
owner's own. English, and German where the grammar makes it easy.

A relative of whom one may have several is a fact about them ("Anna is the owner's daughter"), so that a second daughter does not take the
place of the first; of wife, home or birthday there is one, and the newest word holds.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from daimon.abi.codec import fingerprint
from daimon.abi.event import Event, Said
from daimon.abi.label import Author
from daimon.abi.memory import Edge, Learn, Node, Relate
from daimon.memory.transcript import said

LONGEST = 4_000
CONFIDENCE = 0.8
OWNER_NODE = ("Person", "owner")

_NAME = r"[^\W\d_a-zß-öø-ÿ][\w'’-]*(?: (?:[^\W\d_a-zß-öø-ÿ][\w'’&-]*|von|van|de|der|of)){0,3}"
_DATE = r"(?:the )?(?=[^.]*\d)[\w. ,]{3,30}?"
_SENTENCE = re.compile(r"[^\n]*?(?:(?<!\b\d)(?<!\b\d\d)[.!?]+(?=\s|$)|\n|$)")
_NO_FACT = re.compile(
    r"(?i)[\"„“”«»`]|\?\s*$|^\s*>|\b(?:if|would|could|might|maybe|perhaps|probably|wish|imagine|suppose|pretend|unless|example|"
    r"wenn|falls|würden?|könnten?|vielleicht|angenommen|wahrscheinlich|beispiel|"
    r"sa(?:id|ys)|told|asked|claims?|thinks?|believes?|wrote|sagte?|meinte?|behauptete?|schrieb)\b"
)
_OTHERS = re.compile(
    r"(?i)[\"„“”«»`]|^\s*>|:\s*$|^\s*['‘‚]|^\s*(?:from|to|cc|subject|date|sent|von|an|betreff|datum|gesendet|fwd?|re|aw|wg)\s*:|"
    r"\b(?:forward(?:ed|s|ing)?|pasted?|quot\w+|weitergeleitet\w*|zitat\w*|"
    r"sa(?:id|ys)|told|claims?|wrote|writes|sent me|got this|received|sagte?|meinte?|behauptete?|schrieb|schreibt|schickte?)\b"
)
"""Here somebody else begins to speak, and nothing tells where they end."""
_LETTER = re.compile(
    r"(?im)^\s*(?:dear|sehr geehrte\w*|liebe[rs]?) .{1,60},\s*$|"
    r"^\s*(?:(?:best|kind|warm)(?: (?:regards|wishes))?|regards|yours|sincerely|cheers|"
    r"(?:viele|liebe|beste|herzliche) grüße|mit freundlichen grüßen|lg|vg)\b.{0,30}$"
)
_DENIED = re.compile(r"(?i)\b(?:not|never|no longer|used to|nicht|kein\w*|niemals?|nie)\b|n['’]t\b")
_NOT_MINE = re.compile(
    r"(?i)\b(?:translate|proofread|rewrite|rephrase|correct|summari[sz]e|continue|story|poem|novel|essay|role-?play|"
    r"übersetz\w*|korrigier\w*|umformulier\w*|geschichte|gedicht|roman)\b"
)
_OPENING = r"(?i:(?:hi|hello|hey|so|well|ok|okay|and|also|by the way|fyi|btw|hallo|übrigens|also|und)[,!:]?\s+)*"
_ENDING = r"\s*[.!]*"
_REMEMBER = re.compile(
    _OPENING + r"(?i:please |bitte )?(?i:remember (?:that |this: |: ?)|merke? dir(?:,? bitte)?(?:,? dass |: ?))"
    r"(?P<what>(?!time\b|day\b|one\b|moment\b|we\b)\S.{2,}?)" + _ENDING
)
_SEVERAL = {
    "daughter": "daughter", "son": "son", "brother": "brother", "sister": "sister", "friend": "friend", "cousin": "cousin",
    "aunt": "aunt", "uncle": "uncle", "neighbour": "neighbour", "neighbor": "neighbour", "colleague": "colleague", "dog": "dog",
    "cat": "cat",
    "tochter": "daughter", "sohn": "son", "bruder": "brother", "schwester": "sister", "hund": "dog", "katze": "cat", "tante": "aunt",
    "onkel": "uncle", "nachbar": "neighbour", "nachbarin": "neighbour", "kollege": "colleague", "kollegin": "colleague",
}  # fmt: skip
_ONE = {
    "wife": "wife", "husband": "husband", "partner": "partner", "girlfriend": "girlfriend", "boyfriend": "boyfriend", "mother": "mother",
    "mum": "mother", "mom": "mother", "father": "father", "dad": "father", "boss": "boss", "frau": "wife", "mann": "husband",
    "mutter": "mother", "vater": "father", "chef": "boss", "chefin": "boss",
}  # fmt: skip
_ANIMALS = ("dog", "cat")
_NOBODY = frozenset(
    re.findall(
        r"\w+",
        """It This That What Who He She They We You Everything Nothing Everyone Somebody Someone Nobody There
        Es Das Er Sie Wer Was Alles""",
    )
)
_NOWHERE = frozenset(("Miete", "Untermiete", "Angst", "Scheidung", "Trennung", "Gefahr", "Frieden", "Not"))
_DAYS = re.compile(r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|(?:Mon|Diens|Donners|Frei|Sams|Sonn)tag|Mittwoch")

Found = tuple[str, str, str, Relate | None]
"""Subject, which thing of it, statement, and what it says of people."""


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: re.Pattern[str]
    make: Callable[[re.Match[str]], Found | None]
    may_deny: bool = False


def found(event: Event) -> Iterator[Learn | Relate]:
    """What the event's words say, in their order. Nothing where they are not the owner's."""
    is_owners = bool(event.label.origins) and all(origin.author is Author.OWNER for origin in event.label.origins)
    if not (is_owners and isinstance(event.body, Said)):
        return
    text = said(event)[:LONGEST]
    if "```" in text or _NOT_MINE.search(text) or _LETTER.search(text):
        return
    for sentence in _SENTENCE.finditer(text):
        if sentence.group().strip():
            yield from _of_sentence(event, sentence.group(), sentence.start())
        if _OTHERS.search(sentence.group()):
            return


def _of_sentence(event: Event, sentence: str, at: int) -> Iterator[Learn | Relate]:
    start = at + len(sentence) - len(sentence.lstrip())
    sentence = sentence.strip()
    asked = _REMEMBER.fullmatch(sentence)
    plain = asked["what"] if asked else sentence
    start += asked.start("what") if asked else 0
    learnt = _first(plain)
    if learnt is None and asked and not re.search(r"[\"„“”«»`?]", sentence):
        learnt = ("owner", "", plain, None)
    if learnt is not None:
        subject, about, statement, relate = learnt
        id_ = f"fact_{fingerprint(str, f'{event.id}:{start}')}"
        yield Learn(id_, subject, statement, about, CONFIDENCE, span=(start, start + len(plain)))
        if relate is not None:
            yield relate


def _first(sentence: str) -> Found | None:
    if _NO_FACT.search(sentence):
        return None
    is_denied = bool(_DENIED.search(sentence))
    for rule in _RULES:
        match = None if is_denied and not rule.may_deny else rule.pattern.fullmatch(sentence)
        if match and (made := rule.make(match)):
            return made
    return None


def _relative(match: re.Match[str]) -> Found | None:
    word, name = match["who"].lower(), match["name"]
    if word in _ONE:
        who = _ONE[word]
        return "owner", who, f"The owner's {who} is called {name}.", _knows(who, name)
    who = _SEVERAL.get(word, "")
    return (name, "relation", f"{name} is the owner's {who}.", _knows(who, name)) if who else None


def _knows(who: str, name: str) -> Relate:
    there = Node("Animal" if who in _ANIMALS else "Person", name)
    edge = Edge(OWNER_NODE, f"HAS_{who.upper()}", (there.kind, name), confidence=CONFIDENCE)
    return Relate((Node(*OWNER_NODE), there), (edge,))


def _home(match: re.Match[str]) -> Found | None:
    place = match["name"]
    return None if place in _NOWHERE else ("owner", "home", f"The owner lives in {place}.", None)


def _birthday(match: re.Match[str]) -> Found | None:
    name, day = match.groupdict().get("name"), match["date"].strip(" ,.")
    return None if name in _NOBODY else (name or "owner", "birthday", f"{name or 'The owner'}'s birthday is {day}.", None)


def _job(match: re.Match[str]) -> Found | None:
    name, place = match.groupdict().get("name"), match["place"]
    if name is None:
        return "owner", "employer", f"The owner works at {place}.", None
    if name in _NOBODY or _DAYS.fullmatch(name):
        return None
    edge = Edge(("Person", name), "WORKS_AT", ("Organisation", place), confidence=CONFIDENCE)
    return name, "employer", f"{name} works at {place}.", Relate((Node("Person", name), Node("Organisation", place)), (edge,))


def _own_name(match: re.Match[str]) -> Found | None:
    return "owner", "name", f"The owner is called {match['name']}.", None


def _decision(match: re.Match[str]) -> Found | None:
    what = match["what"].strip(" ,.!")
    decision = Node("Decision", what[:120])
    edge = Edge(("Decision", decision.name), "DECIDED_BY", OWNER_NODE, confidence=CONFIDENCE)
    return "decision", "", f"Decided: {what}.", Relate((Node(*OWNER_NODE), decision), (edge,))


def _rule(pattern: str, make: Callable[[re.Match[str]], Found | None], may_deny: bool = False) -> _Rule:
    return _Rule(re.compile(_OPENING + pattern + _ENDING), make, may_deny)


_RULES = (
    _rule(rf"(?i:my )(?P<who>\w+)(?i: is called| is named|['’]s name is) (?P<name>{_NAME})", _relative),
    _rule(rf"(?i:meine? )(?P<who>\w+)(?i: heißt) (?P<name>{_NAME})", _relative),
    _rule(rf"(?i:my name is|i am called|i['’]m called|ich heiße) (?P<name>{_NAME})", _own_name),
    _rule(rf"(?i:i live in|i(?: have|['’]ve)? moved to|i now live in|ich wohne(?: jetzt)? in) (?:the )?(?P<name>{_NAME})(?i: now)?", _home),
    _rule(rf"(?i:my birthday is(?: on)?|mein geburtstag ist(?: am)?) (?P<date>{_DATE})", _birthday),
    _rule(rf"(?P<name>{_NAME}?)['’]s (?i:birthday is(?: on)?) (?P<date>{_DATE})", _birthday),
    _rule(rf"(?i:i work at|ich arbeite bei) (?:the )?(?P<place>{_NAME})", _job),
    _rule(rf"(?P<name>{_NAME})(?i: works at| arbeitet bei) (?:the )?(?P<place>{_NAME})", _job),
    _rule(r"(?i:(?:we|i)(?: have|['’]ve)? decided) (?P<what>(?:to|on|that|against|not to) .{3,200}?)", _decision, may_deny=True),
    _rule(r"(?i:(?:wir haben|ich habe)(?: uns| mich)? (?:beschlossen|entschieden)),? (?P<what>.{3,200}?)", _decision, may_deny=True),
)
