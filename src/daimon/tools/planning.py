"""Saying what a request needs before reading what others wrote.

The tool itself does nothing to the world: what it records licenses later calls of this turn. Whether it counts at once or has to be shown
to the owner first is decided at the gate, by what the model had read when it stated the plan.
"""

import difflib
from collections.abc import Callable, Collection
from typing import Annotated

from pydantic import Field

from daimon.abi.errors import BadInput, ToolFailed
from daimon.abi.label import Author
from daimon.abi.plan import Draw, Plan, Planned
from daimon.abi.source import parse_call
from daimon.abi.tool import Call, Capability, Effect, Result, ResultLabel, StatePlan, Tool
from daimon.tools.schema import tool

_Steps = Annotated[list[Annotated[str, Field(min_length=3, max_length=8_000)]], Field(max_length=32)]
_Reads = Annotated[list[Annotated[str, Field(min_length=3, max_length=2_000)]], Field(max_length=64)]


def planning_tools(known: Callable[[], Collection[str]] = tuple) -> tuple[Tool, ...]:
    """`known` are the names of all tools at that moment, as far as they are to be checked."""

    @tool(effect=Effect.PURE, capabilities={Capability.PLANS}, result=ResultLabel(Author.SERVICE, "plan"), max_result_bytes=4096)
    async def plan(
        call: Call,
        steps: Annotated[
            _Steps,
            "Each call that sends, spends, deletes or grants, as tool(argument=source, …); none if the request needs none. A source is a "
            "literal from the request ('bob@x.org', 12.5), a field of what another tool will return (seen('payments', sender='X').amount, "
            "one_of(seen('hotels'))), "
            "arithmetic or + on these, own() for text that you will write, or ask('why') for what only others' words can tell.",
        ],
        reads: Annotated[_Reads | None, "The reads whose content that text may carry: tool(argument='value'), or tool() for any."] = None,
    ) -> Result:
        """State, before you read mail, pages, files or anything else that others wrote, which consequential calls the request needs and
        where each argument comes from. Such calls then run without asking the owner, once each. Others may be refused."""
        try:
            planned = tuple(Planned(*parse_call(step)) for step in steps)
            draws = tuple(Draw(*parse_call(read)) for read in reads or ())
            _require_known([*(step.tool for step in planned), *(draw.tool for draw in draws)], known())
        except BadInput as bad:
            raise ToolFailed("bad_plan", str(bad)) from bad
        return Result({"planned": [step.tool for step in planned]}, operations=(StatePlan(Plan(planned, draws)),))

    return (plan,)


def _require_known(named: list[str], known: Collection[str]) -> None:
    for name in named:
        if known and name not in known:
            nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
            raise BadInput(f"there is no tool {name[:64]!r}" + (f"; did you mean {nearest[0]!r}?" if nearest else ""))
