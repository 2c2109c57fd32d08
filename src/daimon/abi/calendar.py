"""Calendars, as tools see them: what stands in them, and what may be done there.

An event is named by its id, which is made here and holds no word of whoever wrote it: `NAME.3f09…` is an event of the calendar NAME, with
all its repetitions; `NAME.3f09…@20261120T090000Z` is the one repetition that was first meant for that time. Times carry their zone; a day
has none.

Every change is made under the key of its call. A call that is made again finds what it did, so a crash neither loses nor repeats it.
"""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from daimon.abi.tool import Call, Touched


@dataclass(frozen=True, slots=True)
class Timed:
    starts: datetime
    ends: datetime


@dataclass(frozen=True, slots=True)
class Days:
    first: date
    last: date
    """It belongs to the event."""


When = Timed | Days


@dataclass(frozen=True, slots=True)
class Guest:
    address: str
    name: str = ""
    answer: str = ""
    """`accepted`, `declined`, `tentative`; empty: none yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One time at which something takes place."""

    id: str
    calendar: str
    when: When
    title: str = ""
    place: str = ""
    text: str = ""
    organiser: str = ""
    """An address. Empty: nobody is named."""
    guests: tuple[Guest, ...] = ()
    series: str = ""
    """The id of all its repetitions. Empty: it takes place once."""
    is_own: bool = False
    """Its words are the owner's."""
    is_busy: bool = True
    """It takes up the owner's time."""
    note: str = ""
    """What could not be understood about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    title: str
    when: When
    calendar: str = ""
    """Empty: the one for new events."""
    place: str = ""
    text: str = ""
    repeats: str = ""
    """A rule of iCalendar, such as FREQ=WEEKLY;BYDAY=MO."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """None: stays as it is."""

    title: str | None = None
    start: date | datetime | None = None
    end: date | datetime | None = None
    """Of a day: with all of it. None: as long as it was."""
    place: str | None = None
    text: str | None = None
    guests: tuple[str, ...] | None = None
    """Addresses of all who are guests from then on, and are told of the change."""


@dataclass(frozen=True, slots=True)
class Found:
    events: tuple[Event, ...]
    """By time."""
    note: str = ""
    touched: tuple[Touched, ...] = ()


@dataclass(frozen=True, slots=True)
class Done:
    event: Event
    touched: tuple[Touched, ...] = ()
    before: Event | None = None
    """What a change made another thing of; None: it was new, or a call that was made again found what it had done."""


class Calendars(Protocol):
    """All of them raise ToolFailed with words for the model."""

    async def events(self, since: datetime, until: datetime, calendar: str, call: Call) -> Found:
        """All that takes place between the two, in one calendar, or in all if it is empty. `note` says what is missing."""
        ...

    async def add(self, draft: Draft, call: Call) -> Done: ...

    async def change(self, event: str, change: Change, call: Call) -> Done:
        """Whoever has guests tells them of a change; so all of them must stand in it."""
        ...

    async def remove(self, event: str, guests: tuple[str, ...], call: Call) -> Done: ...

    async def is_gone(self, event: str, call: Call) -> bool:
        """There is no such event in its calendar, now."""
        ...
