"""What an answer to a question about permission means.

    deny                              no, to all
    allow                             yes, once, to all
    allow 1 3                         yes to these, no to the others
    grant [1 3] [until 2026-12-01 | for 7 days | for 2 weeks] [this tool] [this automation]
                                      yes, and from now on without asking, for 30 days if nothing else is said

A grant is bound to its tool and, in an automation, to that automation, whether that is said or not. Whatever else is said means no: a word
that could mean two things is not a yes, and `allow no` is none.
"""

import re
from dataclasses import dataclass
from datetime import date, timedelta

from pydantic import JsonValue, ValidationError

from daimon.abi.codec import adapter
from daimon.abi.tool import Question
from daimon.kernel.offers import Offer
from daimon.kernel.permission import ALLOW, DENY, GRANT

MOST_DAYS = 366
WORDS = re.compile(r"[^\s,;]+")
NUMBER = re.compile(r"\d{1,3}\.?", re.ASCII)
SPAN = {"day": 1, "days": 1, "week": 7, "weeks": 7}


@dataclass(frozen=True, slots=True)
class Verdict:
    choice: str
    only: tuple[int, ...] = ()
    """Calls as the question counts them, from 1; empty: all."""
    until: date | None = None
    """Of a grant: its last day, if one was named."""
    fault: str = ""
    """Why it was not understood, and so means no."""


def read(question: Question, choice: str, text: str, today: date) -> Verdict:
    if choice not in (ALLOW, GRANT):
        return Verdict(DENY)
    said = [word.casefold() for word in WORDS.findall(text)]
    count, offered = _calls(question), offers_in(question)
    numbers = _numbers(said)
    rest = [word for word in said[len(numbers) :] if word != "and"]
    only = tuple(sorted({int(number.rstrip(".")) for number in numbers if number.rstrip(".").isdecimal()}))
    if only and not 1 <= only[0] <= only[-1] <= count:
        return Verdict(DENY, fault=f"there are calls 1 to {count}" if count > 1 else "there is one call only")
    if choice == ALLOW:
        some = f", or `{ALLOW} 1 3` for some of them" if count > 1 else ", and nothing else"
        return Verdict(ALLOW, only) if not rest else Verdict(DENY, fault=f"say `{ALLOW}`{some}")
    chosen = [offer for offer in offered if not only or offer.call in only]
    return _grant(rest, only, chosen, today) if chosen else Verdict(DENY, fault="nothing of this can be granted")


def offers_in(question: Question) -> tuple[Offer, ...]:
    """What the question offered to grant. Questions of earlier releases offered nothing."""
    details = question.details
    try:
        found: tuple[Offer, ...] = (
            adapter(tuple[Offer, ...]).validate_python(details.get("offers", ())) if isinstance(details, dict) else ()
        )
    except ValidationError:
        return ()
    return found


def _calls(question: Question) -> int:
    calls: JsonValue = question.details.get("calls") if isinstance(question.details, dict) else None
    return len(calls) if isinstance(calls, list) else 1


def _numbers(said: list[str]) -> list[str]:
    """The leading ones; `all` counts as one, and names none."""
    found = []
    for word in said:
        if not (NUMBER.fullmatch(word) or word in ("and", "all")):
            break
        found.append(word)
    return found


def _grant(said: list[str], only: tuple[int, ...], chosen: list[Offer], today: date) -> Verdict:
    until: date | None = None
    while said:
        match said:
            case ["until", day, *rest] if (named := _day(day)) is not None and until is None:
                until = named
            case ["for", number, span, *rest] if NUMBER.fullmatch(number) and span in SPAN and until is None:
                until = today + timedelta(days=int(number.rstrip(".")) * SPAN[span])
            case ["this", "tool", *rest] | ["tool", *rest]:
                pass
            case ["this", "automation", *rest] if all(offer.grant.job for offer in chosen):
                pass
            case ["this", "automation", *_]:
                return Verdict(DENY, fault="this is no automation")
            case _:
                strange = " ".join(said)[:40]
                return Verdict(
                    DENY, fault=f"{strange!r} is no time; say `{GRANT} until 2026-12-01` or `{GRANT} for 7 days`, a year at most"
                )
        said = rest
    if until is not None and not today <= until <= today + timedelta(days=MOST_DAYS):
        return Verdict(DENY, fault=f"a grant may end from today to {MOST_DAYS} days from now, not on {until}")
    return Verdict(GRANT, only, until)


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
