"""send_mail: a new mail from the agent's own address, where the mail channel is set up. Answers to a mail need no tool.

The mail is an operation of the call's outcome: it is in the outbox if and only if the call is in the journal, and leaves once. Whom it goes
to is a destination, so the gate asks who wrote that.
"""

import re
from typing import Annotated

from pydantic import Field, JsonValue

from daimon.abi.errors import ToolFailed
from daimon.abi.event import Address
from daimon.abi.label import Author
from daimon.abi.message import Text
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Result, ResultLabel, Send, Tool
from daimon.tools.schema import tool

CHANNEL = "mail"
_ADDRESS = re.compile(r"[^\s@<>,;:\"()]+@[^\s@<>,;:\"()]+\.[^\s@<>,;:\"()]+")
_To = Annotated[list[Annotated[str, Field(min_length=3, max_length=200)]], Field(min_length=1, max_length=20)]
_Subject = Annotated[str, Field(min_length=1, max_length=200)]
_Text = Annotated[str, Field(min_length=1, max_length=100_000)]


def mail_tools() -> tuple[Tool, ...]:
    @tool(effect=Effect.PURE, capabilities={Capability.SENDS}, result=ResultLabel(Author.SERVICE, "mail"))
    async def send_mail(
        call: Call,
        to: Annotated[_To, ArgumentRole.DESTINATION, "Mail addresses."],
        subject: Annotated[_Subject, ArgumentRole.TITLE, "In one line."],
        text: Annotated[_Text, ArgumentRole.CONTENT, "In Markdown."],
    ) -> Result:
        """Send a new mail from your own address. To answer a mail, just answer."""
        if wrong := next((each for each in to if not _ADDRESS.fullmatch(each)), None):
            raise ToolFailed("bad_address", f"{wrong!r} is no mail address; write it as name@example.org")
        whom = ", ".join(dict.fromkeys(each.lower() for each in to))
        line = " ".join(subject.split())
        told: dict[str, JsonValue] = {"to": whom, "state": "in the outbox"}
        return Result(told, operations=(Send(Address(CHANNEL, whom), (Text(f"{line}\n\n{text}"),)),), labels={"": call.label})

    return (send_mail,)
