"""What the agent keeps for later: remember, recall, forget.

Remembering and forgetting are operations: they take effect in the transaction that records the outcome, so a killed call has done
nothing and may simply be run again. A note's id comes from the call's key; run twice, it is the same note.

A note is labelled with the step that made it. Its words are the model's, so the result of `remember` carries what the model was under
(`call.label`): a stranger's words do not come out of the notebook as trusted ones. `recall` hands back every note with the label that
it was stored with, and their join for the whole.
"""

from typing import Annotated

from pydantic import Field, JsonValue

from daimon.abi.codec import fingerprint
from daimon.abi.label import Author, join
from daimon.abi.memory import Forget, Remember
from daimon.abi.ports import Notes
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Result, ResultLabel, Tool
from daimon.tools.schema import tool

_Text = Annotated[str, Field(min_length=1, max_length=4000)]


def notes_tools(notes: Notes) -> tuple[Tool, ...]:
    @tool(effect=Effect.PURE, capabilities={Capability.WRITES}, result=ResultLabel(Author.SERVICE, "notes"))
    async def remember(
        call: Call,
        text: Annotated[_Text, ArgumentRole.CONTENT, "What to keep, complete in itself: names, dates, context."],
    ) -> Result:
        """Keep a note for later turns: facts, wishes and promises that will matter again."""
        note = f"note_{fingerprint(str, call.key)}"
        return Result({"note": note}, operations=(Remember(text, note),), labels={"": call.label})

    @tool(effect=Effect.PURE, capabilities={Capability.READS_PRIVATE}, result=ResultLabel(Author.SERVICE, "notes"))
    async def recall(
        call: Call,
        query: Annotated[str, ArgumentRole.QUERY, "Words to look for. Empty: the newest notes.", Field(max_length=400)],
        limit: Annotated[int, "How many notes at most.", Field(ge=1, le=20)] = 8,
    ) -> Result:
        """Search the notes that remember kept, best first."""
        found = await notes.search(call.space, call.principal, query, limit)
        data: list[JsonValue] = [{"id": n.id, "text": n.text, "at": n.at.isoformat(timespec="seconds")} for n in found]
        labels = {f"/notes/{i}": n.label for i, n in enumerate(found)}
        return Result({"notes": data}, labels=labels | ({"": join(labels.values())} if labels else {}))

    @tool(effect=Effect.PURE, capabilities={Capability.WRITES}, result=ResultLabel(Author.SERVICE, "notes"))
    async def forget(
        call: Call,
        note: Annotated[str, ArgumentRole.TARGET, "The id of the note, as recall gave it.", Field(min_length=1, max_length=64)],
    ) -> Result:
        """Forget a note that is wrong, outdated or no longer wanted."""
        return Result({"forgotten": note}, operations=(Forget(note),), labels={"": call.label})

    return (remember, recall, forget)
