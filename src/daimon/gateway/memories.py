"""Memory over HTTP: the port `Curator`, one entry for each of its operations. Times have a zone, as in 2026-11-15T09:30:00Z."""

from dataclasses import dataclass

from pydantic.dataclasses import dataclass as checked

from daimon.abi.access import Right
from daimon.abi.curator import Account, Curator, Forgotten, Imported, Rewound
from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.abi.memory import KINDS, Answered, Item, Kind, Page, Query, Recalled
from daimon.abi.plain import Moment
from daimon.gateway.asked import CHECKED, At, Limit, Needed
from daimon.gateway.entry import Call, Entry

MOST_BYTES = 8 << 20


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Wanted:
    text: str = ""
    """Empty: the newest."""
    kind: tuple[Kind, ...] = ()
    since: At | None = None
    until: At | None = None
    source: str = ""
    limit: Limit = 10


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Further:
    kind: tuple[Kind, ...] = ()
    after: str = ""
    """An id."""
    limit: Limit = 500


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class About:
    about: Needed


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Source:
    name: Needed


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Then:
    to: At


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Note:
    text: str
    on_page: bool = False


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Fact:
    subject: str
    statement: str
    about: str = ""


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class To:
    to: Moment


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Brought:
    items: tuple[Item, ...]
    is_own: bool = True
    """Their labels are believed."""


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Asked:
    query: str


@dataclass(frozen=True, slots=True)
class MemoryRoutes:
    curator: Curator

    def all(self) -> tuple[Entry, ...]:
        return (*self._looks(), *self._keeps(), *self._unmakes())

    def _looks(self) -> tuple[Entry, ...]:
        path, read, items = "/v1/memory", Right.READ, tuple[Item, ...]
        best, every = "The best matches, each with why; without text the newest", "All that was ever kept, in the order of ids"
        why = "An item with its receipt; `item` is null if it was deleted for good"
        history = "All that ever held of an item or a subject, the oldest first"
        if_gone, if_back = "What would go if a source were forgotten", "What would change if memory became as it was then"
        return (
            Entry("GET", f"{path}/search", self._search, Recalled, best, read, query=Wanted),
            Entry("GET", f"{path}/items", self._items, items, every, read, query=Further),
            Entry("GET", f"{path}/items/{{id:path}}", self._why, Account, why, read),
            Entry("GET", f"{path}/history", self._history, items, history, read, query=About, fails=(404,)),
            Entry("GET", f"{path}/page", self._page, Page, "What stands in every prompt", read),
            Entry("GET", f"{path}/source", self._foresee_forgetting, Forgotten, if_gone, read, query=Source, fails=(404,)),
            Entry("GET", f"{path}/rewind", self._foresee_rewinding, Rewound, if_back, read, query=Then),
            Entry("POST", f"{path}/graph", self._ask_graph, Answered, "What a query finds in the graph", read, body=Asked),
        )

    def _keeps(self) -> tuple[Entry, ...]:
        path, admin = "/v1/memory", Right.ADMIN
        many = "Take items in: how many were new, how many known. At most 8 MiB"
        return (
            Entry("POST", f"{path}/items", self._remember, Item, "Keep a note", admin, body=Note, status=201, is_act=True),
            Entry("POST", f"{path}/facts", self._learn, Item, "Keep a fact", admin, body=Fact, status=201, is_act=True),
            Entry("POST", f"{path}/import", self._take_in, Imported, many, admin, body=Brought, most_bytes=MOST_BYTES, is_act=True),
        )

    def _unmakes(self) -> tuple[Entry, ...]:
        path, admin = "/v1/memory", Right.ADMIN
        off = "Take a note off the page; the note that goes on"
        gone = "Delete for good all that came from a source; what went"
        back = "Make memory as it was then; what changed, and `undo`, the time to rewind to that takes it back"
        return (
            Entry("DELETE", f"{path}/items/{{id:path}}", self._forget, Item, "An item becomes history", admin, is_act=True),
            Entry("DELETE", f"{path}/page/{{id:path}}", self._take_off, Item, off, admin, is_act=True),
            Entry("DELETE", f"{path}/source", self._forget_source, Forgotten, gone, admin, query=Source, fails=(404,), is_act=True),
            Entry("POST", f"{path}/rewind", self._rewind, Rewound, back, admin, body=To, is_act=True),
        )

    async def _search(self, call: Call[Wanted, None]) -> Recalled:
        asked = call.query
        query = Query(
            space=HOME_SPACE, principal=OWNER, text=asked.text, limit=asked.limit, kinds=_kinds(asked.kind),
            since=asked.since, until=asked.until, source=asked.source,
        )  # fmt: skip
        return await self.curator.search(query)

    async def _items(self, call: Call[Further, None]) -> tuple[Item, ...]:
        return await self.curator.items(_kinds(call.query.kind), call.query.after, call.query.limit)

    async def _remember(self, call: Call[None, Note]) -> Item:
        return await self.curator.remember(call.body.text, call.body.on_page)

    async def _why(self, call: Call[None, None]) -> Account:
        return await self.curator.why(call.path["id"])

    async def _forget(self, call: Call[None, None]) -> Item:
        return await self.curator.forget(call.path["id"])

    async def _learn(self, call: Call[None, Fact]) -> Item:
        return await self.curator.learn(call.body.subject, call.body.statement, call.body.about)

    async def _history(self, call: Call[About, None]) -> tuple[Item, ...]:
        return await self.curator.history(call.query.about)

    async def _page(self, call: Call[None, None]) -> Page:
        return await self.curator.page()

    async def _take_off(self, call: Call[None, None]) -> Item:
        return await self.curator.take_off(call.path["id"])

    async def _foresee_forgetting(self, call: Call[Source, None]) -> Forgotten:
        return await self.curator.foresee_forgetting(call.query.name)

    async def _forget_source(self, call: Call[Source, None]) -> Forgotten:
        return await self.curator.forget_source(call.query.name)

    async def _foresee_rewinding(self, call: Call[Then, None]) -> Rewound:
        return await self.curator.foresee_rewinding(call.query.to)

    async def _rewind(self, call: Call[None, To]) -> Rewound:
        return await self.curator.rewind(call.body.to)

    async def _take_in(self, call: Call[None, Brought]) -> Imported:
        return await self.curator.take_in(call.body.items, call.body.is_own)

    async def _ask_graph(self, call: Call[None, Asked]) -> Answered:
        return await self.curator.ask_graph(call.body.query)


def _kinds(asked: tuple[Kind, ...]) -> tuple[Kind, ...]:
    return tuple(kind for kind in KINDS if kind in asked)
