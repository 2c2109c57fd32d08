"""Handles: what they stand for, who may have it, and where it goes.

The model passes a handle on without having read what it stands for (`context/held.py`). This is the order:

    fetch    before the gate and before the run: the values of all handles in the arguments, as far as they may be had here
    gate     sees the handles, and their values with true labels in `Situation.held`; a handle without a value is refused
    filled   after the gate: the values take the places of the handles, and only the tool sees them

The intent records the handle. A handle stands for something only in the conversation whose result showed it (or where that conversation's
work goes on: a child, a fork), for the same principal, and only if the value's label lets that principal read it. Anybody may write a
handle that looks right; it gives nobody more than its writer's conversation has.

A held value goes only into an argument with a role: of any other no rule could say what it does there. Whatever a tool returns after it
was given held values may repeat them, and carries their labels.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import JsonValue

from daimon.abi.errors import BadInput, JournalDamaged, NotFound
from daimon.abi.form import is_closed
from daimon.abi.ids import StepRef
from daimon.abi.judgement import Held
from daimon.abi.label import EMPTY, Label, join
from daimon.abi.message import Content, Text
from daimon.abi.ports import Archive
from daimon.abi.step import Happened, Hold, Intended, Started, Step
from daimon.abi.tool import Manifest
from daimon.context import held
from daimon.kernel.log import Log


@dataclass(frozen=True, slots=True)
class Holding:
    archive: Archive
    rule: Hold = "never"
    closed_answers: int = 20
    """In one turn: each carries little, but little adds up."""

    async def fetch(self, log: Log, *values: JsonValue) -> None:
        """Reads what the handles in these values stand for into the log. What cannot be had is left out."""
        for handle in sorted({handle for value in values for handle in held.handles(value)} - log.held.keys()):
            ref, index = held.place(handle)
            found = _outcome(await self._steps(log, ref), ref)
            kept = () if found is None else held.held(ref.key, found)
            if 1 <= index <= len(kept) and kept[index - 1].label.may_be_read_by(log.claim.turn.principal):
                log.held[handle] = kept[index - 1]

    async def said(self, log: Log, reply: tuple[Content, ...]) -> tuple[tuple[Content, ...], Label]:
        """A reply as people read it, and the label of the words that came in."""
        texts: list[JsonValue] = [part.text for part in reply if isinstance(part, Text)]
        await self.fetch(log, texts)
        known = known_in(log, texts)
        whole = tuple(Text(str(held.filled(part.text, known))) if isinstance(part, Text) else part for part in reply)
        return whole, label_of(known.values())

    def is_used_up(self, log: Log, started: Started) -> bool:
        """Has this turn had all the closed answers that it may have?"""
        before = sum(_asks_closed(step.body) for step in log.progress.steps if isinstance(step.body, Started))
        return _asks_closed(started) and before >= self.closed_answers

    async def _steps(self, log: Log, ref: StepRef) -> tuple[Step, ...]:
        here = log.claim.turn
        steps = tuple(log.progress.steps)
        if ref.turn == here.id or _outcome(steps, ref) is not None:
            return steps
        try:
            turn = await self.archive.turn(ref.turn)
            is_ours = (
                turn.space == here.space and turn.principal == here.principal and turn.conversation in (here.conversation, here.origin)
            )
            return await self.archive.steps(ref.turn) if is_ours else ()
        except (NotFound, JournalDamaged):
            return ()


def known_in(log: Log, value: JsonValue) -> dict[str, Held]:
    """What the handles in a value stand for, as far as it was fetched."""
    return {handle: log.held[handle] for handle in held.handles(value) if handle in log.held}


def label_of(values: Iterable[Held]) -> Label:
    return join([EMPTY, *(value.label for value in values)])


def require_known(manifest: Manifest, arguments: dict[str, JsonValue], known: dict[str, Held]) -> None:
    """Raises BadInput for a handle that stands for nothing here, or stands where no held value may go."""
    for name, value in arguments.items():
        for handle in held.handles(value):
            if handle not in known:
                raise BadInput(f"{handle} stands for nothing here; use a handle just as a result of this conversation shows it")
            if name not in manifest.roles:
                raise BadInput(f"{name} of {manifest.name} takes no held value; write out what you mean")


def filled(arguments: dict[str, JsonValue], known: dict[str, Held]) -> dict[str, JsonValue]:
    return {name: held.filled(value, known) for name, value in arguments.items()}


def _outcome(steps: tuple[Step, ...], ref: StepRef) -> Happened | None:
    """Of the intent with this key: a fork has copies of steps that keep theirs."""
    intent = next((step.n for step in steps if isinstance(step.body, Intended) and step.body.key == ref.key), None)
    return next((step.body for step in steps if isinstance(step.body, Happened) and step.body.intent == intent), None)


def _asks_closed(started: Started) -> bool:
    return started.expects is not None and is_closed(started.expects)
