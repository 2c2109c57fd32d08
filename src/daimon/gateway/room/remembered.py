"""Memory as the page shows it: everything that one screen needs, long texts cut, lists in pages.

What was kept by the agent may be a stranger's words; nothing here looks at them. Whatever is cut says so, and the item itself
(`GET /v1/memory/items/ID`) has the whole. An item is changed by replacing it, so its id is its version: who changes one that was replaced
meanwhile is told so (`outdated`), and nothing is lost.
"""

from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass as checked

from daimon.abi.access import Right
from daimon.abi.curator import Curator, Rewound
from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.abi.memory import Item, Kind, Page, Query, Reason
from daimon.abi.plain import Moment
from daimon.abi.survey import Counts, Listing, Portrait, Spring, Standing, Things, Turned
from daimon.gateway.asked import CHECKED, At
from daimon.gateway.entry import Call, Entry

MOST_TEXT = 1_000
MOST_FORESEEN = 100
Limit = Annotated[int, Field(ge=1, le=200)]
Short = Annotated[str, Field(max_length=1_000)]


@dataclass(frozen=True, slots=True)
class Row:
    item: Item
    is_cut: bool
    """The text is only its beginning."""
    why: tuple[Reason, ...] = ()
    """Of what was searched for."""


@dataclass(frozen=True, slots=True)
class Rows:
    rows: tuple[Row, ...]
    total: int
    next: str = ""
    how: str = ""
    """Of a search: by what."""


@dataclass(frozen=True, slots=True)
class Overview:
    counts: Counts
    page: Page
    characters: int
    """Of the page that are taken."""


@dataclass(frozen=True, slots=True)
class Rewinding:
    """What a rewinding would change, or changed; of each side so many as can be shown."""

    to: Moment
    ended: int
    returned: int
    claims: int
    ended_rows: tuple[Row, ...]
    returned_rows: tuple[Row, ...]
    undo: Moment | None = None


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Searched:
    text: Short
    kind: tuple[Kind, ...] = ()
    source: Short = ""
    limit: Limit = 30


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Browsed:
    kind: tuple[Kind, ...] = ()
    standing: Standing = "holds"
    subject: Short = ""
    source: Short = ""
    after: Annotated[str, Field(max_length=18, pattern=r"^[0-9]*$")] = ""
    limit: Limit = 50


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Looked:
    text: Short = ""
    limit: Limit = 100


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Named:
    name: Annotated[str, Field(min_length=1, max_length=1_000)]


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Many:
    limit: Limit = 50


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Then:
    to: At


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Back:
    to: Moment


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Corrected:
    text: str
    on_page: bool | None = None


@dataclass(frozen=True, slots=True)
class RememberedRoutes:
    curator: Curator

    def all(self) -> tuple[Entry, ...]:
        return (*self._looks(), *self._changes())

    def _looks(self) -> tuple[Entry, ...]:
        path, read = "/v1/room/memory", Right.READ
        overview = "How much memory holds, and the page that stands in every prompt"
        ahead, late = "What a rewinding would change; of each side the first", "What was kept and what ended, the newest first"
        return (
            Entry("GET", path, self._overview, Overview, overview, read),
            Entry("GET", f"{path}/search", self._search, Rows, "The best matches, cut, each with why it was found", read, query=Searched),
            Entry("GET", f"{path}/items", self._items, Rows, "What is kept, cut, the newest first", read, query=Browsed),
            Entry("GET", f"{path}/sources", self._sources, tuple[Spring, ...], "Where items come from, and how many", read),
            Entry("GET", f"{path}/things", self._things, Things, "Who and what is known by name", read, query=Looked),
            Entry("GET", f"{path}/thing", self._thing, Portrait, "One of them, with facts and relations", read, query=Named, fails=(404,)),
            Entry("GET", f"{path}/changes", self._latest, tuple[Turned, ...], late, read, query=Many),
            Entry("GET", f"{path}/rewind", self._foresee, Rewinding, ahead, read, query=Then),
        )

    def _changes(self) -> tuple[Entry, ...]:
        path, admin = "/v1/room/memory", Right.ADMIN
        worded = "Put a note or fact in other words; the new one. Refused where it holds no longer"
        back, rewound = "What is over holds again, under a new id", "Make memory as it was then; what changed, cut"
        return (
            Entry("PUT", f"{path}/items/{{id:path}}", self._correct, Item, worded, admin, body=Corrected, fails=(409,), is_act=True),
            Entry("POST", f"{path}/back/{{id:path}}", self._bring_back, Item, back, admin, is_act=True),
            Entry("POST", f"{path}/rewind", self._rewind, Rewinding, rewound, admin, body=Back, is_act=True),
        )

    async def _overview(self, call: Call[None, None]) -> Overview:
        page = await self.curator.page()
        return Overview(await self.curator.counts(), page, page.characters)

    async def _search(self, call: Call[Searched, None]) -> Rows:
        wish = call.query
        query = Query(space=HOME_SPACE, principal=OWNER, text=wish.text, limit=wish.limit, kinds=wish.kind, source=wish.source)
        found = await self.curator.search(query)
        return Rows(tuple(replace(_row(hit.item), why=hit.why) for hit in found.hits), len(found.hits), how=found.how)

    async def _items(self, call: Call[Browsed, None]) -> Rows:
        wish = call.query
        listing = Listing(
            kinds=wish.kind, standing=wish.standing, subject=wish.subject, source=wish.source, after=wish.after, limit=wish.limit
        )
        found = await self.curator.listed(listing)
        return Rows(tuple(map(_row, found.items)), found.total, found.next)

    async def _correct(self, call: Call[None, Corrected]) -> Item:
        return await self.curator.correct(call.path["id"], call.body.text, call.body.on_page)

    async def _bring_back(self, call: Call[None, None]) -> Item:
        return await self.curator.bring_back(call.path["id"])

    async def _sources(self, call: Call[None, None]) -> tuple[Spring, ...]:
        return await self.curator.springs()

    async def _things(self, call: Call[Looked, None]) -> Things:
        return await self.curator.things(call.query.text, call.query.limit)

    async def _thing(self, call: Call[Named, None]) -> Portrait:
        found = await self.curator.portrait(call.query.name)
        return replace(found, facts=tuple(_row(fact).item for fact in found.facts))

    async def _latest(self, call: Call[Many, None]) -> tuple[Turned, ...]:
        return tuple(replace(each, item=_row(each.item).item) for each in await self.curator.turned(call.query.limit))

    async def _foresee(self, call: Call[Then, None]) -> Rewinding:
        return _rewinding(await self.curator.foresee_rewinding(call.query.to))

    async def _rewind(self, call: Call[None, Back]) -> Rewinding:
        return _rewinding(await self.curator.rewind(call.body.to))


def _row(item: Item) -> Row:
    is_cut = len(item.text) > MOST_TEXT
    return Row(replace(item, text=item.text[:MOST_TEXT]) if is_cut else item, is_cut)


def _rewinding(found: Rewound) -> Rewinding:
    ended, returned = (tuple(map(_row, rows[:MOST_FORESEEN])) for rows in (found.ended, found.returned))
    return Rewinding(found.to, len(found.ended), len(found.returned), found.claims, ended, returned, found.undo)
