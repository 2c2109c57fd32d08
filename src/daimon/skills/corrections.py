"""Does the owner put right what was done before? Told by how a message begins, in a few languages.

People are polite first: "Thanks, but …", "Hm, okay. No, …". So what only opens a conversation is passed over, and so is what comes before a
"but"; further on, words like these are about something else.

It is a guess, and a cheap one: a message that is wrongly taken for a correction makes a proposal that the owner can reject. One that is
missed makes none.
"""

import re

MOST_READ, MOST_CLAUSES = 240, 5
_NO = "no|nope|nein|non|nej|nee|nö|não"
_NO_MATTER = "problems?|worries|thanks|thank you|need|rush|hurry|doubt|idea|danke|merci|gracias|sorge|eile|stress"
_POLITE = re.compile(rf"(?:{_NO})[,.!]?\s+(?:{_NO_MATTER})\b", re.IGNORECASE)
_BUT = r"(?:but|however|aber|jedoch|mais|pero|ma|maar)\b"
_FILLER = re.compile(
    rf"""(?:{_BUT}|(?:thanks?|thank\s+you|thx|ok(?:ay)?|well|hmm*|oh|ah|uh|hey|hi|sorry|please|good|great|nice|right|sure|almost|nearly|wait
    |and|danke|vielen\s+dank|gut|schön|na\s?ja|ach|äh|halt|warte|moment|fast|und|bitte|entschuldigung|tut\s+mir\s+leid|leider
    |merci|d'accord|pardon|attends|gracias|vale|perdón|espera|grazie|scusa)\b)[\s,.!:;…–—-]*""",
    re.IGNORECASE | re.VERBOSE,
)
_IT = r"(?:that|this|it|those|these|the \w+)"
_NOT = r"not\b(?! (?:bad|easy|necessary|too|so|a problem|only))"
_SAID = r"meant|said|asked (?:you )?(?:for|to)|wanted|did(?: not|n['’]t) (?:say|ask|mean|want)|meinte|wollte|sagte|hatte gesagt"
_MISSED = r"forgot|missed|should(?: not|n['’]t)? have|were supposed|solltest|hast\b.{0,40}\b(?:vergessen|übersehen)"
_OPENINGS = (
    rf"(?:{_NO})(?:[,.!:;–—-]|\s+[,–—-]|\s+(?:that|this|it|i|not|the|you|das|ich|nicht|so|es|eso|no)\b|\s*$)",
    r"(?:wrong|incorrect|falsch|undo|revert|rückgängig|stop that|instead|sondern|stattdessen|fout|verkeerd|sbagliato|incorrecto|faux)\b",
    rf"{_IT}(?:'s|’s| is| was| are| were) (?:still |all |just )?(?:{_NOT}|wrong\b|incorrect\b|the wrong\b)",
    rf"{_IT} (?:(?:is|was|are|were|should)n['’]t|should (?:be|have)|must be)\b",
    r"not (?:that|what|like|the|this|so|there|with|by|in|as)\b",
    rf"(?:i|ich) (?:{_SAID})\b",
    r"(?:das|es|die|der) (?:\w+ )?(?:ist|war|sind|waren) (?:leider |immer noch )?(?:falsch|nicht|verkehrt)\b",
    rf"(?:you|du) (?:{_MISSED})",
    r"nicht (?:so|das|die|den|der|dort|mit|als|in)\b",
    r"mach(?:e)? (?:das|es) (?:wieder )?rückgängig",
    r"actually,? (?:no|not|i|it|the|use|make|take)\b",
    r"(?:use|take|make it|nimm|nehme|mach es|benutze?) [^.!?]{1,60}\b(?:instead|not|stattdessen|statt|nicht)\b",
    r"(?:ce n['’]est pas|c['’]est faux|je voulais|je parlais|pas (?:ça|celui|celle|le|la))\b",
    r"(?:eso no|no es|está mal|quería|me refería|no era)\b",
    r"(?:non è|volevo|intendevo)\b",
    r"(?:dat is niet|niet (?:dat|die|zo)|ik bedoelde)\b",
)
_CORRECTS = re.compile("|".join(_OPENINGS), re.IGNORECASE)
_CLAUSE = re.compile(rf"(?<=[.!?;:,…–—])\s+|\n+|\s+(?={_BUT})", re.IGNORECASE)
_CONTRARY = re.compile(_BUT, re.IGNORECASE)


def is_correction(text: str) -> bool:
    left, is_behind = text[:MOST_READ].strip(), False
    for _ in range(MOST_CLAUSES):
        bare = _bare(left)
        if bare and (not is_behind or _CONTRARY.match(left)):
            if _CORRECTS.match(bare) and not _POLITE.match(bare):
                return True
            is_behind = True  # something else was said: only a "but" turns that round
        _, *more = _CLAUSE.split(left, maxsplit=1)
        left = more[0] if more else ""
    return False


def _bare(left: str) -> str:
    """Without what only opens it."""
    bare = re.sub(r"^\W+", "", left)
    while found := _FILLER.match(bare):
        bare = bare[found.end() :]
    return bare
