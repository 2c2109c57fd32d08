"""From a turn to a request: system text, earlier turns, this turn, within the budget.

`prepare` reads earlier turns of the conversation; the reply records which, as references, so that a resumed or replayed turn
reads the same ones. `assemble` is pure. When the budget is short, the oldest earlier turns go first, never this turn's own
messages. The bytes of a request are laid out so that what comes before the newest message stays the same from call to call.
"""

from daimon.abi.codec import encode
from daimon.abi.context import Background, Prompt, Scene
from daimon.abi.errors import JournalDamaged, NotFound
from daimon.abi.ids import TurnId
from daimon.abi.label import Author, Label, Origin, join
from daimon.abi.message import Audio, File, Image, Message, Role, Text, said
from daimon.abi.model import Request
from daimon.abi.ports import Archive
from daimon.abi.step import ContextRef, Happened, Intended, Received, Replied, Sampling, Step
from daimon.abi.tool import Manifest
from daimon.abi.turn import Turn
from daimon.context.render import from_event
from daimon.context.tokens import estimate

SYSTEM_LABEL = Label.of(Origin(Author.SERVICE, "daimon"))
EARLIER_TURNS = 20


class Pager:
    def __init__(self, archive: Archive, system: str, budget_tokens: int, sampling: Sampling) -> None:
        self._archive = archive
        self._system = said(Role.SYSTEM, system, SYSTEM_LABEL)
        self._budget_tokens = budget_tokens
        self._sampling = sampling

    async def prepare(self, scene: Scene) -> Background:
        refs = _recorded_refs(scene.steps)
        turns = await self._earlier(scene.turn) if refs is None else [await self._archive.turn(TurnId(ref.ref)) for ref in refs]
        earlier = [(ContextRef("turn", turn.id), await self._summary(turn)) for turn in turns]
        later = [step.body.event for step in scene.steps if isinstance(step.body, Received) and step.body.resolves is None]
        return Background(tuple(earlier), {id_: await self._archive.event(id_) for id_ in later})

    def assemble(self, scene: Scene, background: Background, tools: tuple[Manifest, ...]) -> Prompt:
        current = (from_event(scene.event), *_messages(scene.steps, background))
        left = self._budget_tokens - estimate(self._system) - sum(map(estimate, current))
        refs, earlier = _fit(background, left)
        messages = (self._system, *earlier, *current)
        request = Request(messages, tools, self._sampling, join(m.label for m in messages), refs)
        chunks = (encode(Message, self._system), encode(tuple[Manifest, ...], tools), *(encode(Message, m) for m in messages[1:]))
        return Prompt(request, chunks)

    async def _earlier(self, turn: Turn) -> list[Turn]:
        recent = await self._archive.turns(turn.space, EARLIER_TURNS, turn.conversation)
        return [t for t in reversed(recent) if t.id < turn.id and t.ended_at is not None]

    async def _summary(self, turn: Turn) -> tuple[Message, ...]:
        """An earlier turn as two messages: what was asked and what was answered."""
        try:
            asked = from_event(await self._archive.event(turn.event))
            replies = [s for s in await self._archive.steps(turn.id) if isinstance(s.body, Replied)]
        except (NotFound, JournalDamaged):
            return ()
        if not replies or not isinstance(last := replies[-1].body, Replied):
            return (asked,)
        answer = tuple(p for p in last.parts if isinstance(p, Text | Image | Audio | File))
        return (asked, Message(Role.ASSISTANT, answer, replies[-1].label)) if answer else (asked,)


def _recorded_refs(steps: tuple[Step, ...]) -> tuple[ContextRef, ...] | None:
    for step in steps:
        if isinstance(step.body, Replied):
            return step.body.context
    return None


def _messages(steps: tuple[Step, ...], background: Background) -> list[Message]:
    """This turn so far: each reply, then the results of its calls in the order of the intents, then what else was said."""
    messages: list[Message] = []
    outcomes = {step.body.intent: step for step in steps if isinstance(step.body, Happened)}
    for step in steps:
        match step.body:
            case Replied(parts=parts):
                messages.append(Message(Role.ASSISTANT, parts, step.label))
            case Intended() if step.n in outcomes:
                messages.append(_result(outcomes[step.n]))
            case Received(event=event, resolves=None):
                messages.append(from_event(background.events[event]))
            case _:
                pass
    return messages


def _result(outcome: Step) -> Message:
    assert isinstance(outcome.body, Happened)
    return Message(Role.TOOL, (outcome.body.result,), outcome.label)


def _fit(background: Background, tokens: int) -> tuple[tuple[ContextRef, ...], tuple[Message, ...]]:
    """The newest earlier turns that fit, in order."""
    refs: list[ContextRef] = []
    messages: list[Message] = []
    for ref, group in reversed(background.earlier):
        tokens -= sum(map(estimate, group))
        if tokens < 0:
            break
        refs.insert(0, ref)
        messages[:0] = group
    return tuple(refs), tuple(messages)
