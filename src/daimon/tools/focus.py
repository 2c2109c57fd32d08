"""Saying what matters now. It changes nothing in the world: the context reads it from the record of the call.

When a window is cut, what is about the last `focus_on` stays whole (`context/policy.py`), as far as a quarter of the room goes. The call
also tells what memory has on it. Only what is trusted is told: to look at something must not put a stranger's words before the model that
nobody asked for; `recall` finds those too.
"""

from typing import Annotated

from pydantic import Field, JsonValue

from daimon.abi.label import Author, join
from daimon.abi.memory import Memory, Query
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Result, ResultLabel, Tool
from daimon.tools.schema import tool

MOST_HITS = 5
MOST_TEXT = 400
_What = Annotated[str, Field(min_length=3, max_length=200)]


def focus_tools(memory: Memory | None = None) -> tuple[Tool, ...]:
    @tool(effect=Effect.PURE, capabilities={Capability.READS_PRIVATE}, result=ResultLabel(Author.SERVICE, "focus"))
    async def focus_on(call: Call, what: Annotated[_What, ArgumentRole.QUERY, "A file, a name, a topic, in its own words."]) -> Result:
        """Say what matters now, in long work: what you have seen of it stays before you. Tells what memory has on it."""
        if memory is None:
            return Result({"memory": []})
        asked = Query(space=call.space, principal=call.principal, text=what, limit=MOST_HITS, trusted_only=True)
        items = [hit.item for hit in (await memory.recall(asked)).hits]
        data: list[JsonValue] = [
            {"id": item.id, "text": item.text[:MOST_TEXT], "at": item.at.isoformat(timespec="seconds")} for item in items
        ]
        labels = {f"/memory/{i}": item.label for i, item in enumerate(items)}
        return Result({"memory": data}, labels=labels | ({"": join(labels.values())} if labels else {}))

    return (focus_on,)
