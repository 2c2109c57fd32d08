"""From a turn to a request, within the budget: system text, page, summary, earlier turns, this turn, what must be known now.

The bytes of a request are laid out so that what comes before the newest message stays the same, from step to step and from turn to turn:
providers charge little for a beginning that they have seen before. Earlier turns stand in it just as they were sent, and the window on them
is cut where it was cut last time, until it does not fit (`policy.py`).

Two stages. `prepare` reads: earlier turns, the page, what memory has on the question, skills for it, which files have changed. It has a
deadline; what is late is left out, and recorded. `assemble` computes: it touches nothing but what is in memory. The reply records as
references which turns, blocks and cut it had before it, so that a resumed or replayed turn has the same. `assemble` is pure but for one
thing: what it shows is cleaned of secrets, known and shaped, by what is known today.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeVar

from daimon.abi.codec import decode
from daimon.abi.context import Background, Block, Entry, Freshness, Prompt, Scene, Sort, Stretch
from daimon.abi.errors import DaimonError, Erased, JournalDamaged, NotFound
from daimon.abi.event import Erased as Tombstone
from daimon.abi.event import Event
from daimon.abi.ids import SUMMARIES, SUMMARIZER, WITHOUT_TOOLS, AgentId, BlobHash, EventId, TurnId
from daimon.abi.memory import Item, Kind, Memory, Query
from daimon.abi.message import Message, Role, said
from daimon.abi.people import may_read, serves_owner
from daimon.abi.ports import Past, Store
from daimon.abi.secret import Redactor
from daimon.abi.skill import Suggests
from daimon.abi.step import ContextRef, ModelFailed, Received, Replied, Step
from daimon.abi.tool import Manifest
from daimon.abi.turn import Turn
from daimon.context import blocks, summaries
from daimon.context.blocks import OURS
from daimon.context.budget import TokenBudget
from daimon.context.entries import GONE, GONE_SKILLS, Entries, entry, lost, of_block
from daimon.context.fixed import Beginnings, Fixed
from daimon.context.layout import Layouts
from daimon.context.offers import Offers
from daimon.context.places import placed_at
from daimon.context.render import from_event
from daimon.context.watch import versions

T = TypeVar("T")
_log = logging.getLogger(__name__)
MOST_EARLIER = 128
"""So many earlier turns are looked at; a window that would hold more is cut to half of them."""
MOST_KEPT = 512
"""So many turns are kept in memory, over all conversations."""
MOST_BLOCKS = 512
MOST_QUESTION = 2_000
"""Characters of what was said that memory is asked about."""
LEAST_RECALLED, TOKENS_A_HIT = 20, 12
"""Hits to choose from: as many as there may be room for."""
MOST_SHARES, LEAST_SHARE = 4, 4
"""What was recalled stays in the window until that is cut. Once it holds that of so many questions, a new one gets so small a part."""
WRITTEN = 8
"""The newest of what a model wrote of a conversation's turns; no more have room."""
FOR_OTHERS = AgentId("daimon/for-others")
"""The system text of turns that do not serve the owner stands under this name: nothing that the owner wrote into the settings is in it."""
SKILLS_SHARE = 16
"""Skills that are suggested take at most so small a part of the room."""
_BLOCKS: tuple[tuple[str, Sort], ...] = (("recall", "memory"), ("skills", "skills"))
"""Made for a turn, in the order in which they stand before what was said: as references name them, and as entries do."""
KINDS: tuple[Kind, ...] = ("message", "note", "fact")
"""What is recalled by itself. An episode says again what its messages say."""


@dataclass(frozen=True, slots=True)
class Paging:
    """What the owner set."""

    budget: TokenBudget
    recall_tokens: int = 2_000
    """The most that is recalled for one question; 0: nothing is recalled by itself."""
    summarises: bool = False
    """A model sums up what leaves the window; what it wrote takes the place of the extracts."""
    patience_s: float = 2.0
    """So long what is read for a prompt may take, and no longer."""

    def room(self, there: int) -> int:
        """For a question, when so many tokens of what was recalled for earlier ones still stand in the window."""
        return max(self.recall_tokens // LEAST_SHARE, min(self.recall_tokens, MOST_SHARES * self.recall_tokens - there))


@dataclass(frozen=True, slots=True)
class Sources:
    """Whom the context asks. Without memory nothing is recalled and there is no page; without skills none is suggested."""

    archive: Past
    store: Store | None = None
    memory: Memory | None = None
    files: Freshness | None = None
    skills: Suggests | None = None


class Pager:
    def __init__(
        self, sources: Sources, system: str, paging: Paging, redactor: Redactor, systems: Mapping[AgentId, str] | None = None
    ) -> None:
        """`systems` are the texts of agents that have one of their own."""
        self._sources = sources
        self._archive = sources.archive
        self._paging = paging
        self._redactor = redactor
        self._kept: OrderedDict[TurnId, _Kept] = OrderedDict()
        self._blocks: OrderedDict[BlobHash, Block] = OrderedDict()
        self._turns: OrderedDict[TurnId, tuple[Stretch, ...]] = OrderedDict()
        self._made_for: OrderedDict[tuple[TurnId, Sort], Entry] = OrderedDict()
        self._erasures = 0
        self._version = redactor.version
        self._entries = Entries(redactor)
        self._layouts = Layouts(redactor, self._entries)
        self._beginnings = Beginnings(redactor)
        self._offers = Offers()
        self._system = said(Role.SYSTEM, system, OURS)
        self._systems = {agent: said(Role.SYSTEM, text, OURS) for agent, text in (systems or {}).items()}

    # -- reading ahead

    async def prepare(self, scene: Scene) -> Background:
        """What is new becomes entries, and these are laid out, here, where it may take time."""
        background = await self._background(scene)
        self._layouts.of(scene.turn.id, background).extend(self._now(scene, background))
        return background

    async def _background(self, scene: Scene) -> Background:
        await self._forget_erased()
        refs = _recorded_refs(scene.steps)
        events = await self._events(scene.steps)
        if refs is not None:
            return await self._recorded(scene, refs, events)
        if scene.agent == SUMMARIZER:
            return Background(events=events, memory=await self._to_summarise(scene))
        turns, inherited = await self._earlier(scene.turn)
        earlier = await self._stretches(scene.turn.id, turns)
        async with asyncio.TaskGroup() as reading:
            page = reading.create_task(self._in_time("the page", self._page(scene)))
            memory = reading.create_task(self._in_time("what memory has on this", self._recall(scene, earlier, _ref(inherited, "cut"))))
            skills = reading.create_task(self._in_time("skills", self._suggested(scene, earlier, _ref(inherited, "cut"))))
            stale = reading.create_task(self._in_time("which files have changed", self._stale(scene, earlier, events)))
        late = tuple(word for _, word in (page.result(), memory.result(), skills.result(), stale.result()) if word)
        summary = await self._summary(scene, turns, _ref(inherited, "summary"))
        return Background(
            earlier, events, page.result()[0], summary, memory.result()[0], skills.result()[0], _ref(inherited, "cut"),
            stale.result()[0] or (), late,
        )  # fmt: skip

    async def _recorded(self, scene: Scene, refs: tuple[ContextRef, ...], events: Mapping[EventId, Event]) -> Background:
        """What the last reply of this turn had before it."""
        earlier = await self._stretches(scene.turn.id, [TurnId(ref.ref) for ref in refs if ref.what == "turn"])
        page, summary, memory, skills = [await self._block(_ref(refs, what)) for what in ("page", "summary", "recall", "skills")]
        stale, _ = await self._in_time("which files have changed", self._stale(scene, earlier, events))
        memory, skills = memory or lost(_ref(refs, "recall")), skills or lost(_ref(refs, "skills"), "skills")
        return Background(earlier, events, page, summary, memory, skills, _ref(refs, "cut"), stale or ())

    async def _in_time(self, what: str, work: Awaitable[T]) -> tuple[T | None, str]:
        try:
            async with asyncio.timeout(self._paging.patience_s):
                return await work, ""
        except Exception as fault:  # noqa: BLE001 - a turn goes on without what nobody could read, whyever
            if not isinstance(fault, TimeoutError | DaimonError):
                _log.exception("while reading %s", what)
            return None, what

    async def _page(self, scene: Scene) -> Block | None:
        memory = self._sources.memory
        if memory is None or scene.agent in WITHOUT_TOOLS:
            return None
        return self._made(blocks.page(await memory.page(scene.turn.space, scene.turn.principal)))

    async def _recall(self, scene: Scene, earlier: tuple[Stretch, ...], cut: str) -> Block | None:
        memory, question = self._sources.memory, question_of(scene)
        if memory is None or not self._paging.recall_tokens or not question or scene.agent in WITHOUT_TOOLS:
            return None
        entries = [entry for stretch in earlier for entry in stretch.entries]
        there = _whole_blocks(entries, cut, "memory")
        again = [(await self._past(entry.turn)).recalled for entry in there]
        room = self._budget(scene).room(0, 0)
        tokens = min(self._paging.room(sum(entry.tokens[0] for entry in there)), room * 3 // 4)
        shown = frozenset({scene.event.id, *_will_be_shown(entries, room - tokens)}.union(*again))
        limit = max(LEAST_RECALLED, tokens // TOKENS_A_HIT)
        asked = Query(
            space=scene.turn.space, principal=scene.turn.principal, text=question, limit=limit, kinds=KINDS, without=shown,
            turn=scene.turn.id, trusted_only=serves_owner(scene.turn.principal), by_itself=True,
        )  # fmt: skip
        return self._made(blocks.memory(await memory.recall(asked), tokens))

    async def _suggested(self, scene: Scene, earlier: tuple[Stretch, ...], cut: str) -> Block | None:
        """Skills that may fit what was said, but for those that stand in the window from an earlier question. What somebody else said
        brings up no skill of a stranger."""
        skills, question = self._sources.skills, question_of(scene)
        if skills is None or not question or scene.agent in WITHOUT_TOOLS or not serves_owner(scene.turn.principal):
            return None
        found = [each for each in await skills.suggest(question) if each.description or scene.event.label.is_trusted]
        if not found:
            return None
        there = _whole_blocks([entry for stretch in earlier for entry in stretch.entries], cut, "skills")
        again = frozenset[str]().union(*[(await self._past(entry.turn)).suggested for entry in there])
        tokens = min(blocks.MOST_SKILLS, self._budget(scene).room(0, 0) // SKILLS_SHARE)
        return self._made(blocks.skills((each for each in found if each.called not in again), tokens))

    async def _summary(self, scene: Scene, turns: list[TurnId], hash_: str) -> Block | None:
        """The one that was shown last. What a model wrote meanwhile of the turns in it takes their place: once, since it then stays."""
        shown = await self._block(hash_)
        if shown is None or not self._paging.summarises:
            return shown
        written, _ = await self._in_time("summaries", self._written(scene, turns))
        made = self._made(blocks.rewritten(shown, written)) if written else None
        return shown if made is None or made.hash == shown.hash else made

    async def _written(self, scene: Scene, turns: list[TurnId]) -> list[Item]:
        """Of turns that are in the window again, nothing."""
        memory = self._sources.memory
        if memory is None or scene.agent in WITHOUT_TOOLS:
            return []
        place = f"{SUMMARIES}{scene.turn.conversation}"
        asked = Query(
            space=scene.turn.space, principal=scene.turn.principal, text="", limit=WRITTEN, kinds=("summary",), conversation=place
        )  # fmt: skip
        found = [hit.item for hit in (await memory.recall(asked)).hits]
        return [item for item in found if item.supersedes and not set(item.supersedes).intersection(turns)]

    async def _to_summarise(self, scene: Scene) -> Block | None:
        window = self._paging.budget.window if scene.window is None else min(self._paging.budget.window, scene.window)
        found = [Stretch(id_, (await self._past(id_)).entries) for id_ in summaries.named(scene.event) if await self._may_read(scene, id_)]
        return summaries.task(found, window)

    async def _may_read(self, scene: Scene, turn: TurnId) -> bool:
        """Nor is there anything to say of a turn that was erased."""
        try:
            about = await self._archive.turn(turn)
            return summaries.is_of(about, scene.turn) and not isinstance((await self._archive.event(about.event)).body, Tombstone)
        except (NotFound, JournalDamaged):
            return False

    async def _stale(self, scene: Scene, earlier: tuple[Stretch, ...], events: Mapping[EventId, Event]) -> tuple[str, ...]:
        files = self._sources.files
        if files is None:
            return ()
        now = self._entries.of_turn(scene.event, scene.turn.id, scene.steps, events)
        seen = versions([*(entry for stretch in earlier for entry in stretch.entries), *now])
        return await files.changed(scene.turn, scene.agent, seen) if seen else ()

    async def _block(self, hash_: str) -> Block | None:
        """One that was shown before, if it is still there."""
        known = BlobHash(hash_)
        if not hash_ or self._sources.store is None:
            return None
        if known not in self._blocks:
            with suppress(NotFound, Erased, JournalDamaged):
                self._keep(Block(known, decode(Message, await self._sources.store.get(known))))
        found = self._blocks.get(known)
        return None if found is None else self._clean(found)

    def _made(self, block: Block | None) -> Block | None:
        """Cleaned before it is hashed: what is sent is what is kept under its hash."""
        if block is None:
            return None
        made = self._clean(block)
        self._keep(replace(made, refs=()))
        return made

    def _clean(self, block: Block) -> Block:
        message = self._entries.clean(block.message)
        return block if message.parts is block.message.parts else blocks.block(message, block.refs)

    def _keep(self, block: Block) -> None:
        self._blocks[block.hash] = block
        if len(self._blocks) > MOST_BLOCKS:
            self._blocks.popitem(last=False)

    async def _earlier(self, turn: Turn) -> tuple[list[TurnId], tuple[ContextRef, ...]]:
        """The turns of the window, the oldest first, and what the last turn that asked a model had before it."""
        recent = await self._archive.turns(turn.space, MOST_EARLIER, turn.conversation)
        over = [t.id for t in recent if t.id < turn.id and t.ended_at is not None and _may_see(turn, t)]
        for last in over:
            refs = (await self._past(last)).refs
            if refs is not None:
                begins = min([last, *(ref.ref for ref in refs if ref.what == "turn")])
                window = [id_ for id_ in reversed(over) if id_ >= begins]
                is_whole = begins == window[0]
                return window if is_whole else window[-(MOST_EARLIER // 2) :], refs
        return over[: MOST_EARLIER // 2][::-1], ()

    async def _stretches(self, turn: TurnId, earlier: list[TurnId]) -> tuple[Stretch, ...]:
        """The same object for every step of a turn, so that what was laid out of it can be used again."""
        kept = self._turns.get(turn)
        if kept is None or [stretch.turn for stretch in kept] != earlier:
            kept = self._turns[turn] = tuple([Stretch(id_, (await self._past(id_)).entries) for id_ in earlier])
            if len(self._turns) > MOST_KEPT:
                self._turns.popitem(last=False)
        return kept

    async def _past(self, turn: TurnId) -> "_Kept":
        """A turn that is over does not change, so what was read of it is kept."""
        kept = self._kept.get(turn) or await self._read(turn)
        self._kept[turn] = kept
        self._kept.move_to_end(turn)
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return kept

    async def _forget_erased(self) -> None:
        """Nor is anything kept that holds a secret which was not known as one."""
        erasures, version = await self._archive.erasures(), self._redactor.version
        if (erasures, version) != (self._erasures, self._version):
            self._kept.clear()
            self._blocks.clear()
            self._turns.clear()
            self._made_for.clear()
            self._entries.clear()
            self._layouts.clear()
        self._erasures, self._version = erasures, version

    async def _read(self, turn: TurnId) -> "_Kept":
        """An earlier turn, just as it was sent while it ran, and its last word."""
        try:
            about = await self._archive.turn(turn)
            event, steps = await self._archive.event(about.event), await self._archive.steps(turn)
            entries = self._entries.of_turn(event, turn, steps, await self._events(steps))
        except (NotFound, JournalDamaged):
            return _Kept((), None)
        refs = _recorded_refs(steps)
        made = []
        for what, sort in _BLOCKS:
            hash_ = _ref(refs or (), what)
            if block := await self._block(hash_) or lost(hash_, sort):
                made.append(of_block(block, sort, turn, event.received_at))
        return _Kept((*made, *entries), refs, _named(steps, "memory"), _named(steps, "skill"))

    async def _events(self, steps: tuple[Step, ...]) -> dict[EventId, Event]:
        """What else was said while a turn ran."""
        later = [step.body.event for step in steps if isinstance(step.body, Received) and step.body.resolves is None]
        return {id_: await self._archive.event(id_) for id_ in later}

    # -- putting it together

    def assemble(self, scene: Scene, background: Background, tools: tuple[Manifest, ...]) -> Prompt:
        """`tools` are those that the agent holds; which of them the request has is decided in `offers.py`."""
        layout, budget = self._layouts.of(scene.turn.id, background), self._budget(scene)
        system, offer = self._system_of(scene), self._offers.of(tools, budget)

        def opening(mentions: Mapping[str, int]) -> Fixed:
            return self._beginnings.of(system, offer.shown(mentions))

        return layout.prompt(scene, background, self._now(scene, background), opening, budget)

    def _system_of(self, scene: Scene) -> Message:
        whose = FOR_OTHERS if not serves_owner(scene.turn.principal) else scene.agent
        return self._systems.get(scene.agent) or self._systems.get(whose, self._system)

    def _budget(self, scene: Scene) -> TokenBudget:
        budget = self._paging.budget
        if scene.window is not None:
            budget = replace(budget, window=min(budget.window, scene.window))
        return budget.shrunk(_too_long(scene.steps))

    def _now(self, scene: Scene, background: Background) -> list[Entry]:
        if scene.agent == SUMMARIZER and background.memory is not None:
            return [self._made_once(background.memory, "said", scene)]  # it stands for the event, which only names the turns
        now = self._entries.of_turn(scene.event, scene.turn.id, scene.steps, background.events)
        made = [
            self._made_once(block, sort, scene)
            for block, (_, sort) in zip((background.memory, background.skills), _BLOCKS, strict=True)
            if block is not None
        ]
        return [*made, *now] if made else now

    def _made_once(self, block: Block, sort: Sort, scene: Scene) -> Entry:
        """The same object for every step of a turn."""
        turn, at = scene.turn.id, scene.event.received_at
        kept = self._made_for.get((turn, sort))
        if kept is None or kept.whole is not block.message:
            is_task = sort == "said"
            kept = entry(scene.event.id, sort, turn, at, block.message, starts=True) if is_task else of_block(block, sort, turn, at)
            self._made_for[turn, sort] = kept
            if len(self._made_for) > MOST_KEPT:
                self._made_for.popitem(last=False)
        return kept


@dataclass(frozen=True, slots=True)
class _Kept:
    entries: tuple[Entry, ...]
    refs: tuple[ContextRef, ...] | None
    """What its last reply had before it."""
    recalled: frozenset[str] = frozenset()
    """Items of memory that stood in its prompts."""
    suggested: frozenset[str] = frozenset()
    """Skills that were named in them."""


def _may_see(turn: Turn, earlier: Turn) -> bool:
    """In a turn for somebody else than the owner: only what was theirs before, and held nothing that was not for them."""
    is_theirs = earlier.principal == turn.principal and may_read(turn.principal, earlier.label)
    return is_theirs or serves_owner(turn.principal)


def _whole_blocks(entries: list[Entry], cut: str, sort: Sort) -> list[Entry]:
    """What was recalled or suggested earlier and stands in the window as it did then."""
    brief = placed_at(entries, cut).brief
    return [entry for entry in entries[brief:] if entry.sort == sort and entry.whole is not GONE and entry.whole is not GONE_SKILLS]


def _named(steps: tuple[Step, ...], what: str) -> frozenset[str]:
    return frozenset(ref.ref for step in steps if isinstance(step.body, Replied) for ref in step.body.context if ref.what == what)


def _will_be_shown(entries: list[Entry], room: int) -> Iterator[str]:
    """Near enough: all, if it fits, else what is left after a cut. What is recalled twice does no harm; what is in neither is lost."""
    left = room if sum(entry.tokens[0] for entry in entries) <= room else room // 2
    for one in reversed(entries):
        left -= one.tokens[0]
        if left < 0:
            return
        yield one.source


def question_of(scene: Scene) -> str:
    """What memory is asked about: what was said."""
    return from_event(scene.event).text[:MOST_QUESTION].strip()


def _recorded_refs(steps: tuple[Step, ...]) -> tuple[ContextRef, ...] | None:
    """What the last reply had before it."""
    for step in reversed(steps):
        if isinstance(step.body, Replied):
            return step.body.context
    return None


def _ref(refs: tuple[ContextRef, ...], what: str) -> str:
    return next((ref.ref for ref in refs if ref.what == what), "")


def _too_long(steps: tuple[Step, ...]) -> int:
    """How often a provider said so, since the last reply."""
    times = 0
    for step in reversed(steps):
        match step.body:
            case Replied():
                break
            case ModelFailed(code="too_long"):
                times += 1
            case _:
                pass
    return times
