"""What is often said and is no schedule here: a better word on it than a list of examples."""

import re
from zoneinfo import available_timezones

from daimon.heartbeat.timewords import WEEKDAYS

PARTS = {"morning": "8:00", "evening": "18:00"}
_PART = re.compile(rf"\b(?P<which>every (?:\w+ )?|(?:today|tomorrow|{'|'.join(WEEKDAYS)}) )(?P<part>morning|evening)\b")
_PLACES = (
    re.compile(r"(?P<rest>.+?)(?: in)? \(?(?P<place>[a-z_/ -]+?)(?: time)?\)?"),
    re.compile(r"(?P<rest>.+)(?<! in)(?: in)? \(?(?P<place>[a-z_/-]+)\)?"),
)
"""A city of several words, and one of one word behind a schedule without a number."""


def with_hours(text: str) -> str:
    """`every morning` is every day at 8:00, `friday evening` … at 18:00, unless another time is said."""
    found = _PART.search(text)
    if found is None:
        return text
    which = "every day" if found["which"] == "every " else found["which"].strip()
    rest = f"{text[: found.start()]}{which}{text[found.end() :]}"
    return rest if re.search(r"\bat \d|\d:\d|\d ?[ap]m\b", rest) else f"{rest} at {PARTS[found['part']]}"


def hint(text: str) -> str:
    """Empty: nothing better is known. `text` is normal."""
    if re.search(r"\bseconds?$|\bsecs?$", text) and text.startswith(("every", "in")):
        return "a minute is the least; seconds are not counted. Try 'every minute'"
    for place in _PLACES:
        if (found := place.fullmatch(text)) is not None and (zone := _zone(found["place"])):
            return f"the time zone does not belong into the schedule. Try {found['rest']!r} with --timezone {zone}"
    return ""


def _zone(place: str) -> str:
    """Its IANA name, given whole or as a city."""
    wanted = place.strip().replace(" ", "_")
    return next((zone for zone in sorted(available_timezones()) if wanted in (zone.lower(), zone.lower().rpartition("/")[2])), "")
