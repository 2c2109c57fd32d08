"""A first automation to choose from: a few that most people want, each with what it may cost at most.

A suggestion becomes an ordinary automation; from then on nothing is left of it here. The limit a day is part of it, so what the page says
it costs is what it can cost.
"""

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

from daimon.abi.automation import Draft
from daimon.abi.errors import BadInput, NotFound
from daimon.abi.watch import WatchFeed, WatchPage

Needs = Literal["", "feed", "page"]


@dataclass(frozen=True, slots=True)
class Suggestion:
    id: str
    """Also the name of the automation."""
    title: str
    text: str
    schedule: str
    task: str
    cost: Decimal
    """US dollars a day, at most."""
    needs: Needs = ""
    """An address of this sort."""
    example: str = ""
    """Of such an address."""


GALLERY = (
    Suggestion(
        "morning-brief",
        "Morning brief",
        "Each morning: what waits for you, what you asked to be reminded of, and what happened overnight.",
        "every day at 8",
        "Write me a short morning brief: open reminders and questions, what my automations found since yesterday, and what my notes say"
        " about today. Five lines at most; say nothing that you do not know.",
        Decimal("0.25"),
    ),
    Suggestion(
        "feed-reader",
        "Feed reader",
        "Reads a feed (RSS, Atom) and tells you in two lines each what is new. No model is asked while nothing is.",
        "every 2 hours",
        "New items came in this feed. Say in at most two lines each what is new and why it may matter to me, with the link.",
        Decimal("0.25"),
        "feed",
        "https://example.org/feed.xml",
    ),
    Suggestion(
        "page-watch",
        "Watch a web page",
        "Looks at a page every hour and tells you what changed on it. No model is asked while nothing does.",
        "every hour",
        "This page has changed. Say in a few words what is different and whether it matters; leave out what is only layout.",
        Decimal("0.25"),
        "page",
        "https://example.org/prices",
    ),
    Suggestion(
        "weekly-review",
        "Weekly review of notes",
        "Sunday evening: what your notes of the week say, what is still open, and what contradicts itself.",
        "every sunday at 18:00",
        "Review my notes of the last seven days: what was decided, what is still open, what contradicts itself. Ten lines at most."
        " Change nothing.",
        Decimal("0.50"),
    ),
    Suggestion(
        "backup-reminder",
        "Backup reminder",
        "Once a month: a nudge to copy the newest backup to another disk.",
        "on the 1st of each month at 10",
        "Remind me to copy the newest backup of Daimon to another disk, in one sentence. Settings, Backup shows where it is.",
        Decimal("0.05"),
    ),
)


def drafted(id_: str, schedule: str = "", address: str = "") -> Draft:
    """Raises NotFound, BadInput."""
    found = next((each for each in GALLERY if each.id == id_), None)
    if found is None:
        raise NotFound(f"there is no suggestion {id_[:60]!r}; GET /v1/setup lists those that there are")
    if found.needs and not address.strip():
        raise BadInput(f"{found.title} needs an address, such as {found.example}")
    draft = Draft(id=found.id, schedule=schedule.strip() or found.schedule, task=found.task, cost=found.cost)
    match found.needs:
        case "feed":
            return replace(draft, watch=WatchFeed((address.strip(),)))
        case "page":
            return replace(draft, watch=WatchPage(address.strip()))
        case "":
            return draft
