"""Asking a person. The call ends at once as pending, the turn is parked, and the answer comes in as an event, in a minute or in a week.

The tool itself does nothing to the world: run again after a crash, it asks the same question under the same handle.
"""

from datetime import timedelta
from typing import Annotated

from pydantic import Field

from daimon.abi.errors import ToolFailed
from daimon.abi.label import Author
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Pending, Question, ResultLabel, Tool
from daimon.tools.schema import tool

_Text = Annotated[str, Field(min_length=1, max_length=2000)]
_Option = Annotated[str, Field(min_length=1, max_length=80)]
_Options = Annotated[list[_Option], Field(min_length=2, max_length=8)]
_Hours = Annotated[float, Field(ge=0.1, le=24 * 90)]


def people_tools() -> tuple[Tool, ...]:
    @tool(effect=Effect.PURE, capabilities={Capability.ASKS}, result=ResultLabel(Author.OWNER, "answer"))
    async def ask_owner(
        call: Call,
        question: Annotated[_Text, ArgumentRole.CONTENT, "With all that is needed to answer it."],
        options: Annotated[_Options | None, ArgumentRole.CONTENT, "To choose from, the safest first."] = None,
        hours: Annotated[_Hours | None, ArgumentRole.TIME, "How long to wait; then the first option counts."] = None,
    ) -> Pending:
        """Ask the owner something that only they can know or decide, and wait for the answer. Not for what a tool can find out."""
        if options and len(set(options)) < len(options):
            raise ToolFailed("same_options", "two options are the same; give each answer once")
        until = None if hours is None else call.now + timedelta(hours=hours)
        asked = Question(question, tuple(options or ()), type="choose" if options else "context", expires_at=until)
        return Pending(call.key, asked, until)

    return (ask_owner,)
