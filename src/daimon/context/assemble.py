"""From a turn to a request: system text, earlier turns, this turn, within the budget.

The bytes of a request are laid out so that what comes before the newest message stays the same, from step to step and from turn to turn:
providers charge little for a beginning that they have seen before. So earlier turns stand in it just as they were sent, and the window
on them begins where it began last time. When the budget is short it is cut once, to half of what there is room for, and then grows again;
never this turn's own messages. `prepare` reads earlier turns; the reply records which, as references, so that a resumed or replayed turn
reads the same ones. `assemble` is pure but for one thing: what it shows is cleaned of secrets, known and shaped, by what is known today.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import accumulate

from daimon.abi.cleaning import cleaned
from daimon.abi.codec import blob_hash, encode
from daimon.abi.context import Background, Prompt, Scene
from daimon.abi.errors import JournalDamaged, NotFound
from daimon.abi.event import Event
from daimon.abi.ids import AgentId, EventId, Key, TurnId
from daimon.abi.label import Author, Label, Origin, join
from daimon.abi.message import Message, Role, said
from daimon.abi.model import Request
from daimon.abi.ports import Past
from daimon.abi.secret import Redactor
from daimon.abi.step import ContextRef, Happened, Intended, Received, Replied, Step
from daimon.abi.tool import Manifest
from daimon.abi.turn import Turn
from daimon.context import held
from daimon.context.render import from_event
from daimon.context.tokens import estimate, of_tool

SYSTEM_LABEL = Label.of(Origin(Author.SERVICE, "daimon"))
MOST_EARLIER = 64
"""So many earlier turns are looked at; a window that would hold more is cut to half of them."""
MOST_KEPT = 512
"""So many turns are kept in memory, over all conversations."""


class Pager:
    def __init__(
        self, archive: Past, system: str, budget_tokens: int, redactor: Redactor, systems: Mapping[AgentId, str] | None = None
    ) -> None:
        """`systems` are the texts of agents that have one of their own."""
        self._archive = archive
        self._redactor = redactor
        self._kept: OrderedDict[TurnId, _Kept] = OrderedDict()
        self._erasures = 0
        self._system = said(Role.SYSTEM, system, SYSTEM_LABEL)
        self._systems = {agent: said(Role.SYSTEM, text, SYSTEM_LABEL) for agent, text in (systems or {}).items()}
        self._budget_tokens = budget_tokens

    async def prepare(self, scene: Scene) -> Background:
        refs = _recorded_refs(scene.steps)
        await self._forget_erased()
        turns = await self._earlier(scene.turn) if refs is None else [TurnId(ref.ref) for ref in refs]
        earlier = [(ContextRef("turn", turn), (await self._past(turn)).messages) for turn in turns]
        return Background(tuple(earlier), await self._events(scene.steps))

    def assemble(self, scene: Scene, background: Background, tools: tuple[Manifest, ...]) -> Prompt:
        current = self._clean((from_event(scene.event), *_messages(scene.steps, background.events)))
        (system,) = self._clean((self._systems.get(scene.agent, self._system),))
        left = self._budget_tokens - estimate(system) - sum(map(of_tool, tools)) - sum(map(estimate, current))
        refs, earlier = _fit(background, left)
        messages = (system, *self._clean(earlier), *current)
        request = Request(messages, tools, label=join(m.label for m in messages), context=refs, thread=_thread(scene.turn))
        chunks = (encode(Message, system), encode(tuple[Manifest, ...], tools), *(encode(Message, m) for m in messages[1:]))
        return Prompt(request, chunks)

    def _clean(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        clean = self._redactor.clean
        return tuple(m if (parts := cleaned(m.parts, clean)) is m.parts else replace(m, parts=parts) for m in messages)

    async def _earlier(self, turn: Turn) -> list[TurnId]:
        """The turns of the window, the oldest first: from where it began for the last turn that asked a model."""
        recent = await self._archive.turns(turn.space, MOST_EARLIER, turn.conversation)
        over = [t.id for t in recent if t.id < turn.id and t.ended_at is not None]
        for last in over:
            refs = (await self._past(last)).refs
            if refs is not None:
                begins = min([last, *(ref.ref for ref in refs)])
                window = [id_ for id_ in reversed(over) if id_ >= begins]
                return window if begins == window[0] else window[-(MOST_EARLIER // 2) :]
        return over[: MOST_EARLIER // 2][::-1]

    async def _past(self, turn: TurnId) -> "_Kept":
        """A turn that is over does not change, so what was read of it is kept."""
        kept = self._kept.get(turn) or await self._read(turn)
        self._kept[turn] = kept
        self._kept.move_to_end(turn)
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return kept

    async def _forget_erased(self) -> None:
        erasures = await self._archive.erasures()
        if erasures != self._erasures:
            self._kept.clear()
        self._erasures = erasures

    async def _read(self, turn: TurnId) -> "_Kept":
        """An earlier turn, just as it was sent while it ran, and its last word."""
        try:
            asked = from_event(await self._archive.event((await self._archive.turn(turn)).event))
            steps = await self._archive.steps(turn)
            return _Kept((asked, *_messages(steps, await self._events(steps))), _recorded_refs(steps))
        except (NotFound, JournalDamaged):
            return _Kept((), None)

    async def _events(self, steps: tuple[Step, ...]) -> dict[EventId, Event]:
        """What else was said while a turn ran."""
        later = [step.body.event for step in steps if isinstance(step.body, Received) and step.body.resolves is None]
        return {id_: await self._archive.event(id_) for id_ in later}


@dataclass(frozen=True, slots=True)
class _Kept:
    messages: tuple[Message, ...]
    refs: tuple[ContextRef, ...] | None
    """What its last reply had before it."""


def _thread(turn: Turn) -> str:
    """A name for the conversation that tells a provider nothing else about it."""
    return blob_hash(str(turn.where).encode())[:32]


def _recorded_refs(steps: tuple[Step, ...]) -> tuple[ContextRef, ...] | None:
    """What the last reply had before it."""
    for step in reversed(steps):
        if isinstance(step.body, Replied):
            return step.body.context
    return None


def _messages(steps: tuple[Step, ...], events: Mapping[EventId, Event]) -> list[Message]:
    """A turn so far: each reply, then the results of its calls in the order of the intents, then what else was said."""
    messages: list[Message] = []
    outcomes = {step.body.intent: step for step in steps if isinstance(step.body, Happened)}
    for step in steps:
        match step.body:
            case Replied(parts=parts) if parts:
                messages.append(Message(Role.ASSISTANT, parts, step.label))
            case Intended(key=key) if step.n in outcomes:
                messages.append(_result(key, outcomes[step.n]))
            case Received(event=event, resolves=None):
                messages.append(from_event(events[event]))
            case _:
                pass
    return messages


def _result(key: Key, outcome: Step) -> Message:
    """What is held of it is not shown, and does not count for the label."""
    assert isinstance(outcome.body, Happened)
    seen = held.shown(key, outcome.body)
    return Message(Role.TOOL, (seen,), outcome.label if outcome.body.hold == "never" else seen.label)


def _fit(background: Background, tokens: int) -> tuple[tuple[ContextRef, ...], tuple[Message, ...]]:
    """All earlier turns if they fit, else the newest that fit into half of the room: so the next turns need no cut."""
    sizes = [sum(map(estimate, group)) for _, group in background.earlier]
    kept = len(sizes)
    if sum(sizes) > tokens:
        kept = sum(total <= tokens // 2 for total in accumulate(reversed(sizes)))
    window = background.earlier[len(sizes) - kept :]
    return tuple(ref for ref, _ in window), tuple(message for _, group in window for message in group)
