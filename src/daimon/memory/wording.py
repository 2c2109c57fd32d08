"""How an item is worded for the indexes.

Questions ask who said what and when, so by words an item is found with its date and speaker: "what did Anna say in May?". The message
before it stands in a field of its own that counts less: an answer often says only half of what it means. By meaning it is found by its
text alone, since dates and names draw vectors together that have nothing else in common.

Names of months and days are written here and not taken from the machine's locale, because a rebuild has to give the same rows.
"""

from datetime import datetime

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def own(at: datetime, speaker: str, text: str) -> str:
    date = f"{_DAYS[at.weekday()]} {at.day} {_MONTHS[at.month - 1]} {at.year}"
    return f"{date}, {before(speaker, text)}"


def before(speaker: str, text: str) -> str:
    """As the message before another one. Without its date, which is the other one's as well."""
    return f"{speaker}: {text}" if speaker else text
