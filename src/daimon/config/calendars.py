"""`[calendars]`: calendars on servers."""

from typing import Annotated, Literal

from pydantic import Field

from daimon.config.branch import Branch


class Calendar(Branch):
    """A calendar of `[calendars]`. `daimon calendar add` writes it."""

    url: Annotated[str, Field(pattern=r"^https?://\S+$")]
    """Of the calendar, or of a CalDAV server that has one."""
    user: str = ""
    """Left out: nobody is asked who you are there."""
    password: Annotated[str, Field(pattern=r"^vault:.+$")] | None = None
    """`vault:NAME`, a secret of the vault for `calendars`. Left out: `vault:calendar-NAME`."""
    address: str = ""
    """Your mail address there: you invite under it."""
    others: Literal["none", "invite", "read"] = "invite"
    """Who else has to do with it. `none`: nobody, so its words are yours. `invite`: others put events into it, so its words are
    strangers'. `read`: they also see what is written there, so writing is asked like a message."""
    changeable: bool = True
    """May the agent write there?"""
    default: bool = False
    """New events go there. Left out everywhere: into the first that is changeable."""
