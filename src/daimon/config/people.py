"""`[asking]`, `[people]`: how people are asked, and what others than the owner may."""

from typing import Annotated

from pydantic import AfterValidator, Field

from daimon.config.branch import Branch
from daimon.kernel.manner import quiet_hours


def _quiet(hours: str) -> str:
    quiet_hours(hours)
    return hours


class Asking(Branch):
    """How people are asked."""

    timeout_h: Annotated[float, Field(gt=0, le=24 * 365)] = 72.0
    """A question whether something may be done counts as answered with no after so many hours."""
    quiet: Annotated[str, AfterValidator(_quiet)] = ""
    """Hours such as 22:00-07:00 in which no question is sent, unless it is about money; it waits for their end."""
    undo_s: Annotated[float, Field(ge=0, le=3_600)] = 0.0
    """A call that was allowed and reaches somebody waits so long for a `stop`; 0: it does not."""
    private_characters: Annotated[int, Field(ge=0)] = 20_000
    """So much free text may go to one destination in a day without a question, in turns that read something private."""
    other_characters: Annotated[int, Field(ge=0)] = 200_000
    """So much in all other turns."""
    to: str = ""
    """The channel on which the owner is asked; empty: where the owner spoke last."""


class People(Branch):
    """Who else than the owner talks to the agent."""

    guest_tools: tuple[str, ...] = ("now", "find_tools")
    """The tools that there are in a guest's turn and in groups. Whatever the rules ask about is asked of the owner all the same."""
