"""Turns that really ran, in a kernel with a scripted model, read as experiences."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import JsonValue
from tests.kernel.rig import Rig

from daimon.abi.errors import ToolFailed
from daimon.abi.label import Author
from daimon.abi.step import Received
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Manifest, Result, ResultLabel, Tool
from daimon.abi.turn import Turn
from daimon.skills.experience import Experience, experience
from daimon.skills.learning import Draft, draft
from daimon.skills.private import Privacy
from daimon.tools.schema import tool
from daimon.vault.redact import Known, SecretRedactor


@dataclass(slots=True)
class World:
    """What the tools find. A failure is a text that the tool says when it fails."""

    found: JsonValue = "n7"
    page: JsonValue = "a page"
    failures: list[str] = field(default_factory=list)
    meanwhile: Callable[[], Awaitable[object]] | None = None
    """What happens while a room is looked for."""

    def tools(self) -> tuple[Tool, ...]:
        @tool(effect=Effect.PURE, capabilities={Capability.READS_PRIVATE}, result=ResultLabel(Author.SERVICE, "rooms"))
        async def find_room(call: Call, query: Annotated[str, ArgumentRole.QUERY, "What to look for."]) -> Result:
            """Find a room."""
            if self.meanwhile is not None:
                await self.meanwhile()
            return Result({"room": self.found})

        @tool(effect=Effect.PURE, capabilities={Capability.READS_OUTSIDE}, result=ResultLabel(Author.STRANGER, "web"))
        async def look_up(call: Call, url: Annotated[str, ArgumentRole.DESTINATION, "Where."]) -> Result:
            """Read a page."""
            return Result({"page": self.page})

        @tool(effect=Effect.PURE, result=ResultLabel(Author.SERVICE, "rooms"))
        async def book_room(
            call: Call,
            room: Annotated[str, ArgumentRole.TARGET, "Its id."],
            day: Annotated[str, ArgumentRole.TIME, "When."],
            note: Annotated[str, ArgumentRole.CONTENT, "What it is for."] = "",
        ) -> Result:
            """Book a room."""
            if self.failures:
                raise ToolFailed("not_found", self.failures.pop(0))
            return Result({"booked": True})

        return (find_room, look_up, book_room)


def manifests(tools: tuple[Tool, ...]) -> Mapping[str, Manifest]:
    return {each.manifest.name: each.manifest for each in tools}


def privacy(*names: str, known: tuple[Known, ...] = ()) -> Privacy:
    return Privacy(SecretRedactor(lambda: known).clean, frozenset(names))


async def lived(rig: Rig, turn: Turn) -> Experience | None:
    steps = await rig.journal.steps(turn.id)
    taken = {step.body.event: await rig.journal.event(step.body.event) for step in steps if isinstance(step.body, Received)}
    return experience(turn, await rig.journal.event(turn.event), steps, taken)


async def drafted(rig: Rig, turn: Turn, world: World, home: Privacy) -> Draft | None:
    found = await lived(rig, turn)
    return None if found is None else draft(found, manifests(world.tools()), home)
