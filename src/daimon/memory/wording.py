"""How an item is worded for the index: with its date and speaker, so that questions about when and who find it by words."""

from datetime import datetime


def own(at: datetime, speaker: str, text: str) -> str:
    return f"{at:%d %B %Y} {speaker}: {text}"


def context(previous: str, own: str) -> str:
    """`previous` is the `own` of the message before, or nothing."""
    return f"{previous}\n{own}" if previous else own
