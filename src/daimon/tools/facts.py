"""What the agent knows of somebody or something: learn.

A fact is an operation, like a note, with the step that learnt it as its receipt. It carries what the model was under (`call.label`): what
was learnt among a stranger's words is a stranger's, stands beside what the owner said as disputed, and takes the place of none of it.
Facts are found again with `recall`, and given up with `forget`.
"""

from typing import Annotated

from pydantic import Field

from daimon.abi.codec import fingerprint
from daimon.abi.label import Author
from daimon.abi.memory import Learn
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Result, ResultLabel, Tool
from daimon.tools.schema import tool

_Name = Annotated[str, Field(min_length=1, max_length=200)]
_Id = Annotated[str, Field(min_length=1, max_length=64)]


def fact_tools() -> tuple[Tool, ...]:
    @tool(effect=Effect.PURE, capabilities={Capability.WRITES}, result=ResultLabel(Author.SERVICE, "facts"), is_rare=True)
    async def learn(
        call: Call,
        subject: Annotated[_Name, ArgumentRole.TITLE, "Whom or what it is about; `owner` for your owner."],
        statement: Annotated[str, ArgumentRole.CONTENT, "A whole sentence.", Field(min_length=1, max_length=4000)],
        about: Annotated[str, "Which thing of it (city, birthday): a newer fact about it replaces this one.", Field(max_length=200)] = "",
        replaces: Annotated[tuple[_Id, ...], ArgumentRole.TARGET, "Facts or notes it replaces.", Field(max_length=20)] = (),
    ) -> Result:
        """Keep a fact with its receipt: what holds of somebody or something, and since when. What held before stays as history."""
        fact = f"fact_{fingerprint(str, call.key)}"
        kept = Learn(fact, subject, statement, about.strip(), supersedes=tuple(replaces))
        return Result({"fact": fact}, operations=(kept,), labels={"": call.label})

    return (learn,)
