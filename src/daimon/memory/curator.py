"""The owner's hand on memory: `abi.curator.Curator` on a store and its journal.

Every change is an amendment with the owner's label, written to the journal first; memory reads it from there like everything else. What
comes from outside (a note, a fact, an import) and what goes out are without known secrets. It speaks for the owner of the home alone.

The label of what the owner says here is theirs. A note that is taken off the page keeps what its label named, so that forgetting a source
still finds it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from daimon.abi.cleaning import cleaned
from daimon.abi.curator import Account, Forgotten, Imported, Rewound
from daimon.abi.errors import BadInput, NotFound
from daimon.abi.ids import HOME_SPACE, OWNER, SpaceId
from daimon.abi.label import Author, Label, Origin, owned
from daimon.abi.memory import (
    AmendedBy,
    Amender,
    Amendment,
    Answered,
    Forget,
    ForgetSource,
    Import,
    Item,
    Kind,
    Learn,
    Page,
    Query,
    Recalled,
    Remember,
    Rewind,
)
from daimon.abi.ports import Archive, Clock, Ids
from daimon.abi.secret import Redactor
from daimon.abi.survey import Counts, Listed, Listing, Portrait, Spring, Things, Turned
from daimon.memory import accounts, exchange, forgetting, rewind, survey
from daimon.memory.graph import portrait
from daimon.memory.mending import KEPT, MOST_CHARACTERS, corrected, returned, worded
from daimon.memory.store import MemoryStore

T = TypeVar("T")
SAID_HERE = owned("memory")
MOST_NAME = 200
MOST_SOURCE = 1_000
MOST_FACTS = 200
"""Of one thing, shown with it."""
_OWN = (HOME_SPACE, OWNER)
_A_MOMENT = timedelta(microseconds=1)


class Record(Archive, Amender, Protocol):
    """The journal, as far as a curator needs it."""

    async def amendment(self, id_: str) -> Amendment:
        """One that was erased has no operations. Raises NotFound."""
        ...

    async def foresee_forgetting(self, space: SpaceId, source: str) -> int:
        """What `forget_source` would give, without doing anything. Raises BadInput where that would."""
        ...


Leaving = Callable[[str], Awaitable[None]]
"""With the name of a source. Raises DaimonError, and then nothing is forgotten."""


async def nothing_left(source: str) -> None:
    return


@dataclass(frozen=True, slots=True)
class StoreCurator:
    store: MemoryStore
    record: Record
    clock: Clock
    ids: Ids
    redactor: Redactor
    leaving: Leaving = nothing_left
    """Called before a source is forgotten: what was made of its words is known by them only until then."""
    _adding: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def search(self, query: Query) -> Recalled:
        return self._shown(await self.store.recall(replace(query, space=HOME_SPACE, principal=OWNER)))

    async def items(self, kinds: tuple[Kind, ...], after: str = "", limit: int = 500) -> tuple[Item, ...]:
        return self._shown(await self.store.items(HOME_SPACE, OWNER, kinds, after, limit))

    async def page(self) -> Page:
        return self._shown(await self.store.page(HOME_SPACE, OWNER))

    async def why(self, id_: str) -> Account:
        return self._shown(await accounts.account(self.store, self.record, id_))

    async def history(self, about: str) -> tuple[Item, ...]:
        return self._shown(await self.store.history(HOME_SPACE, OWNER, about))

    async def ask_graph(self, query: str) -> Answered:
        return self._shown(await self.store.ask_graph(HOME_SPACE, OWNER, query))

    async def remember(self, text: str, on_page: bool) -> Item:
        text = worded(text, "the note", MOST_CHARACTERS)
        note = self.ids.new("note_")
        async with self._adding:  # two at once would both find room
            if on_page:
                _require_room(await self.page(), text)
            await self._amend(Remember(text, note, on_page))
        return await self._item(note)

    async def take_off(self, id_: str) -> Item:
        on_page = {each.id: each for each in (await self.store.page(HOME_SPACE, OWNER)).notes}
        if id_ not in on_page:
            raise NotFound(f"no note {id_[:80]!r} stands on the page; there are: {', '.join(on_page) or 'none'}")
        note = self.ids.new("note_")
        await self._amend(Remember(on_page[id_].text, note, replaces=(id_,)), label=SAID_HERE.joined(on_page[id_].label))
        return await self._item(note)

    async def learn(self, subject: str, statement: str, about: str) -> Item:
        subject = worded(subject, "the subject", MOST_NAME)
        about = worded(about, "what it is about", MOST_NAME) if about else ""
        fact = self.ids.new("fact_")
        await self._amend(Learn(fact, subject, worded(statement, "the statement", MOST_CHARACTERS), about))
        return await self._item(fact)

    async def correct(self, id_: str, text: str, on_page: bool | None = None) -> Item:
        async with self._adding:
            found = await self._item(id_)
            new = self.ids.new(f"{found.kind}_")
            operation = corrected(found, text, new, on_page)
            if isinstance(operation, Remember) and operation.on_page:
                page = await self.page()
                _require_room(replace(page, notes=tuple(each for each in page.notes if each.id != id_)), operation.text)
            await self._amend(operation)
        return await self._item(new)

    async def bring_back(self, id_: str) -> Item:
        async with self._adding:
            found, page = await self._item(id_), await self.page()
            has_room = page.characters + len(found.text) < page.most_characters
            new, operation = returned(found, self.ids.new(f"{found.kind}_"), has_room)
            await self._amend(operation, label=SAID_HERE.joined(found.label))
        return await self._item(new)

    async def forget(self, id_: str) -> Item:
        found = await self._item(id_)
        if found.kind not in KEPT:
            raise BadInput(f"{id_} is a {found.kind}: it tells what happened; `forget --source {found.source}` deletes it for good")
        await self._amend(Forget(id_))
        return await self._item(id_)

    async def foresee_forgetting(self, source: str) -> Forgotten:
        source = worded(source, "the source", MOST_SOURCE)
        payloads = await self.record.foresee_forgetting(HOME_SPACE, source)
        found, claims = await self.store.run(lambda connection: forgetting.foreseen(connection, source))
        return Forgotten(source, found, claims, payloads)

    async def forget_source(self, source: str) -> Forgotten:
        foreseen = await self.foresee_forgetting(source)
        await self.leaving(foreseen.source)
        if foreseen.is_nothing:
            raise NotFound(
                f"nothing in memory or journal is from {foreseen.source[:80]!r}; `daimon memory why ID` names the sources of an item"
            )
        payloads = await self.record.forget_source(self._amendment((ForgetSource(foreseen.source),), SAID_HERE))
        await self.store.catch_up()
        return replace(foreseen, payloads=payloads)

    async def foresee_rewinding(self, to: datetime) -> Rewound:
        if to > (now := self.clock.now()):
            raise BadInput(f"{to.isoformat(timespec='seconds')} has not come yet, it is {now.isoformat(timespec='seconds')}")
        return self._shown(await self.store.run(lambda connection: rewind.foreseen(connection, HOME_SPACE, OWNER, to)))

    async def rewind(self, to: datetime) -> Rewound:
        foreseen = await self.foresee_rewinding(to)
        amendment = self._amendment((Rewind(to),), SAID_HERE)
        await self.record.amend(amendment)
        await self.store.catch_up()
        return replace(foreseen, undo=amendment.at - _A_MOMENT)

    async def take_in(self, items: tuple[Item, ...], is_own: bool) -> Imported:
        known = await self.store.run(lambda connection: exchange.known(connection, HOME_SPACE, OWNER, [item.id for item in items]))
        new = tuple(item if is_own else _theirs(item) for item in items if item.id not in known)
        if new:
            await self._amend(Import(new))
            await self.store.catch_up()
        return Imported(len(new), len(items) - len(new))

    async def counts(self) -> Counts:
        return await self.store.run(lambda connection: survey.counts(connection, _OWN))

    async def listed(self, listing: Listing) -> Listed:
        return self._shown(await self.store.run(lambda connection: survey.listed(connection, _OWN, listing)))

    async def springs(self) -> tuple[Spring, ...]:
        return self._shown(await self.store.run(lambda connection: survey.springs(connection, _OWN)))

    async def things(self, text: str, limit: int) -> Things:
        return self._shown(await self.store.run(lambda connection: portrait.things(connection, _OWN, text, limit)))

    async def turned(self, limit: int) -> tuple[Turned, ...]:
        return self._shown(await self.store.run(lambda connection: survey.turned(connection, _OWN, limit)))

    async def portrait(self, name: str) -> Portrait:
        now = self.clock.now()
        nodes, said = await self.store.run(lambda connection: portrait.nodes(connection, _OWN, name))
        relations, is_cut = await self.store.run(lambda connection: portrait.relations(connection, nodes, now))
        listing = Listing(kinds=("fact",), subject=name, limit=MOST_FACTS)
        facts = (await self.store.run(lambda connection: survey.listed(connection, _OWN, listing))).items
        if not said and not facts:
            raise NotFound(f"memory knows nobody and nothing by the name of {name[:80]!r}")
        return self._shown(Portrait(name, said, relations, is_cut, facts))

    async def _item(self, id_: str) -> Item:
        return self._shown(await self.store.item(HOME_SPACE, OWNER, id_))

    async def _amend(self, operation: AmendedBy, label: Label = SAID_HERE) -> None:
        await self.record.amend(self._amendment((cleaned(operation, self.redactor.clean_known),), label))

    def _amendment(self, operations: tuple[AmendedBy, ...], label: Label) -> Amendment:
        now = self.clock.now()
        return Amendment(id=self.ids.new("a"), space=HOME_SPACE, principal=OWNER, at=now, operations=operations, label=label)

    def _shown(self, value: T) -> T:
        return cleaned(value, self.redactor.clean_known)


def _require_room(page: Page, text: str) -> None:
    missing = page.characters + len(text) + 1 - page.most_characters
    if missing > 0:
        there = "; ".join(f"{note.id} ({len(note.text)}): {note.text[:60]}" for note in page.notes)
        told = f"the page holds {page.most_characters} characters and {missing} are missing; nothing was kept"
        raise BadInput(f"{told}. Take something off it first. On the page: {there}")


def _theirs(item: Item) -> Item:
    stranger = Label.of(Origin(Author.STRANGER, "import"), readers=(OWNER,))
    return replace(item, label=item.label.joined(stranger))
