"""The whole of what was left out of a window: an event, a reply, a result, by the reference that stood in its place.

It is what the model saw or would have seen, no more: of a result, what was held stays held, by the setting of the moment when it was
recorded. It is read for its own principal, in its own space, and if the label lets them read it; anybody else is told that there is no
such thing, as of what never was.
"""

from dataclasses import dataclass

from daimon.abi.errors import Erased, NotFound
from daimon.abi.event import Erased as Tombstone
from daimon.abi.ids import EventId, PrincipalId, SpaceId, StepRef
from daimon.abi.label import Label
from daimon.abi.memory import Whole
from daimon.abi.message import Message, Role
from daimon.abi.ports import Archive
from daimon.abi.step import Happened, Intended, Replied, Step
from daimon.context import held
from daimon.context.provenance import text_of
from daimon.context.render import from_event


@dataclass(frozen=True, slots=True)
class Reread:
    """Implements `abi.memory.Texts`."""

    archive: Archive

    async def whole(self, space: SpaceId, principal: PrincipalId, ref: str) -> Whole:
        found = await self._event(space, principal, ref) if ":" not in ref else await self._step(space, principal, ref)
        if found is None or not found.label.may_be_read_by(principal):
            raise NotFound(f"there is nothing to read under {ref[:80]!r}; give a ref just as it stood in the text")
        return Whole(text_of(found), found.label)

    async def _event(self, space: SpaceId, principal: PrincipalId, ref: str) -> Message | None:
        try:
            event = await self.archive.event(EventId(ref))
        except NotFound:
            return None
        if (event.space, event.principal) != (space, principal):
            return None
        if isinstance(event.body, Tombstone):
            raise Erased(f"{ref} was deleted: {event.body.reason}")
        return from_event(event)

    async def _step(self, space: SpaceId, principal: PrincipalId, ref: str) -> Message | None:
        try:
            at = StepRef.parse(ref)
        except ValueError:
            return None
        steps = {step.n: step for step in await self.archive.steps(at.turn)}
        step = steps.get(at.n)
        if step is None or (step.space, step.principal) != (space, principal):
            return None
        if isinstance(step.body, Tombstone):
            raise Erased(f"{ref} was deleted: {step.body.reason}")
        return _message(step, steps)


def _message(step: Step, steps: dict[int, Step]) -> Message | None:
    match step.body:
        case Replied(parts=parts):
            return Message(Role.ASSISTANT, parts, step.label)
        case Happened(intent=n) as outcome if (intended := steps.get(n)) is not None and isinstance(intended.body, Intended):
            seen = held.shown(intended.body.key, outcome)
            label: Label = step.label if outcome.hold == "never" else seen.label
            return Message(Role.TOOL, (seen,), label)
        case _:
            return None
