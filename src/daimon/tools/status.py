"""How is the system doing? Numbers only, so that nobody else's words come in with them. They are the owner's business all the same."""

from typing import Protocol

from daimon.abi.label import Author
from daimon.abi.ports import Count
from daimon.abi.tool import Call, Capability, Effect, Result, ResultLabel, Tool
from daimon.tools.schema import tool


class Counter(Protocol):
    async def count(self) -> Count: ...


def status_tools(counter: Counter) -> tuple[Tool, ...]:
    @tool(
        effect=Effect.PURE,
        capabilities={Capability.READS_PRIVATE},
        result=ResultLabel(Author.SERVICE, "status"),
        max_result_bytes=4096,
        is_rare=True,
    )
    async def status(call: Call) -> Result:
        """Tell how much this system holds and has to do."""
        found = await counter.count()
        return Result(
            {
                "turns": {state.value: number for state, number in sorted(found.turns.items())},
                "events": found.events,
                "steps": found.steps,
                "timers": found.timers,
                "outgoing": found.outgoing,
                "dead_letters": found.dead_letters,
                "bytes": found.bytes,
            }
        )

    return (status,)
