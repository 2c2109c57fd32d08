"""The owner's hand on what was learned: `abi.lesson.Lessons`, over the proposals, the counts and the library.

Accepting installs the text that the owner has read, with the source `learned` and vouched for, and only then is the proposal marked: after
a crash in between it is still open, and accepting it again changes nothing. What rests on words that were erased from the journal since is
looked for before anything is shown or decided.
"""

import asyncio
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from daimon.abi.cleaning import Clean, cleaned
from daimon.abi.errors import BadInput, NotFound, Outdated
from daimon.abi.errors import Erased as Gone
from daimon.abi.event import Erased
from daimon.abi.ids import TurnId
from daimon.abi.lesson import LEARNED, Proposal, Service
from daimon.abi.ports import Clock, Past
from daimon.library import tally
from daimon.library.library import Brought, Library
from daimon.library.proposals import Proposals
from daimon.library.tally import Tally
from daimon.skills import format as form
from daimon.skills import proposing
from daimon.skills.bundle import File, version_of
from daimon.skills.service import learned_from


class HomeLessons:
    def __init__(self, top: Path, library: Library, archive: Past, clock: Clock, clean: Clean) -> None:
        """`clean`: the redactor's; a secret may become known after something was proposed."""
        self._clean = clean
        self.library = library
        self._archive = archive
        self._clock = clock
        self._uses = top / "uses.json"
        self._kept = Proposals(top, clock)
        self._tally, self._warning = tally.read(self._uses, clock.now())
        self._turn = asyncio.Lock()

    @property
    def warnings(self) -> tuple[str, ...]:
        return (*filter(None, (self._warning,)), *self._kept.warnings)

    @property
    def waiting(self) -> int:
        """So many proposals wait for the owner."""
        return len(self._kept.open())

    @property
    def tally(self) -> Tally:
        return self._tally

    @property
    def names(self) -> frozenset[str]:
        """That a new skill cannot have."""
        return frozenset({*(each.name for each in self.library.all()), *(each.skill for each in self._kept.open())})

    async def proposals(self, is_all: bool = False) -> tuple[Proposal, ...]:
        async with self._turn:
            await self._heed_erasures()
            return cleaned(self._kept.all() if is_all else self._kept.open(), self._clean)

    async def proposal(self, id_: str) -> Proposal:
        async with self._turn:
            await self._heed_erasures()
            return cleaned(self._kept.get(id_), self._clean)

    async def accept(self, id_: str, text: str = "") -> Proposal:
        async with self._turn:
            wanted = await self._undecided(id_)
            if wanted.kind == "retire":
                await self._give_up(wanted)
            else:
                await self._install(wanted, text or self._clean(wanted.text))
            return await asyncio.to_thread(self._kept.decide, id_, "accepted")

    async def reject(self, id_: str) -> Proposal:
        async with self._turn:
            await self._undecided(id_)
            return await asyncio.to_thread(self._kept.decide, id_, "rejected")

    async def uses(self) -> tuple[Service, ...]:
        return tuple(self._tally.of(each.name) for each in self.library.all())

    async def propose(self, *wanted: Proposal) -> None:
        """What is known is not proposed again."""
        async with self._turn:
            for each in wanted:
                await asyncio.to_thread(self._kept.add, each)

    async def count(self, counted: Tally) -> None:
        """Of skills that are gone nothing is kept."""
        here = {each.name for each in self.library.all()}
        kept = {name: service for name, service in counted.skills.items() if name in here}
        async with self._turn:
            await self._keep(replace(counted, skills=kept))

    async def forget_skill(self, name: str) -> None:
        """What was proposed for it and counted of it, and what rests on words of it that are erased by now."""
        async with self._turn:
            await self._heed_erasures()
            await asyncio.to_thread(self._kept.forget_skill, name)
            if name in self._tally.skills:
                kept = {each: service for each, service in self._tally.skills.items() if each != name}
                await self._keep(replace(self._tally, skills=kept))

    async def text(self, name: str) -> str:
        """Of a skill's `SKILL.md`; empty where it cannot be read."""
        found = (await self.library.kept(name)).get(form.SKILL)
        return "" if found is None else found.data.decode("utf-8", "replace")

    async def _keep(self, counted: Tally) -> None:
        await asyncio.to_thread(tally.write, self._uses, counted)
        self._tally = counted

    async def _undecided(self, id_: str) -> Proposal:
        await self._heed_erasures()
        found = self._kept.get(id_)
        if found.state != "open":
            raise BadInput(f"the proposal {id_} was {found.state} already")
        return found

    async def _install(self, wanted: Proposal, text: str) -> None:
        held = next((each for each in self.library.all() if each.name == wanted.skill), None)
        others = {} if held is None else await self.library.kept(wanted.skill)
        bundle = {**others, form.SKILL: File(text.encode())}
        skill = form.read(wanted.skill, bundle)
        is_gone = held is None and wanted.kind == "refine"
        if is_gone or (held is not None and held.version not in (wanted.version, version_of(bundle))):
            raise Outdated(f"the skill {wanted.skill} has changed since this was proposed; reject it, or change the skill itself")
        await self.library.put(Brought(skill=skill, bundle=bundle, source=LEARNED), is_approved=True)
        await self.library.mark(wanted.skill, lambda row: replace(row, is_vouched=True))
        if wanted.kind == "new":
            await self._keep(self._tally.changed(learned_from(Service(skill=wanted.skill), wanted.evidence)))

    async def _give_up(self, wanted: Proposal) -> None:
        """The skill alone: its words were the owner's own, and so is what came of it."""
        with suppress(NotFound):  # somebody was quicker, or this is the second try
            await self.library.drop(wanted.skill)

    async def _heed_erasures(self) -> None:
        if (erasures := await self._archive.erasures()) == self._tally.erasures:
            return
        for turn in {seen.turn for each in self._kept.all() for seen in each.evidence}:
            if await self._is_erased(TurnId(turn)):
                for name in await asyncio.to_thread(self._kept.forget, turn):
                    await self._orphan(name, turn)
        await self._keep(replace(self._tally, erasures=erasures))

    async def _orphan(self, name: str, turn: str) -> None:
        held = next((each for each in self.library.all() if each.name == name and each.source == LEARNED), None)
        if held is not None:
            proposal = proposing.orphaned(held, await self.text(name), turn, self._clock.now())
            await asyncio.to_thread(self._kept.add, proposal)

    async def _is_erased(self, turn: TurnId) -> bool:
        try:
            event = await self._archive.event((await self._archive.turn(turn)).event)
        except (NotFound, Gone):
            return True
        return isinstance(event.body, Erased) or any(isinstance(step.body, Erased) for step in await self._archive.steps(turn))
