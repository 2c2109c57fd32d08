"""A wish for a reminder, taken apart: what it is about, and the time as it was said."""

import re
from dataclasses import dataclass

from daimon.models.moment import Moment
from daimon.models.timewords import find


@dataclass(frozen=True, slots=True)
class Task:
    about: str
    moment: Moment | None


def task_of(slots: dict[str, str]) -> Task:
    """From the slots of `Intent.REMIND`: a timer's length, an alarm's time, an answer to "when?", or what stood around `remind me`."""
    if length := slots.get("length"):
        return Task("timer", find(f"in {length}"))
    if alarm := slots.get("alarm"):
        return Task("alarm", find(alarm))
    if time := slots.get("time"):
        return Task(slots["about"], find(time))
    lead, body = slots.get("lead", ""), slots.get("body", "")
    moment = find(body)
    if lead and moment is None:
        return Task(_matter(body), find(lead))
    text = f"{lead} {body}"
    moment = find(text)
    return Task(_matter(moment.cut_from(text) if moment else text), moment)


def _matter(text: str) -> str:
    """`to call mum` → `call mum`, `about the dentist` → `dentist`."""
    plain = text.strip(" .,;!?")
    return re.sub(r"^(?:(?:to|that)(?:\s+|$)|:\s*|(?:about|of|for)(?:\s+|$)(?:(?:the|my)\s+)?)+", "", plain, flags=re.IGNORECASE)
