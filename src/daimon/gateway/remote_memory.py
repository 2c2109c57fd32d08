"""The memory of a running gateway, through the port that a local one has."""

import asyncio
from datetime import datetime
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from pydantic import JsonValue

from daimon.abi.codec import encode
from daimon.abi.curator import Account, Forgotten, Imported, Rewound
from daimon.abi.memory import Answered, Item, Kind, Page, Query, Recalled
from daimon.abi.survey import Counts, Listed, Listing, Portrait, Spring, Things, Turned
from daimon.gateway.client import Client

T = TypeVar("T")
PATIENCE_S = 3_600.0
"""Deleting for good rewrites files, however large they are."""


class RemoteCurator:
    def __init__(self, socket: Path) -> None:
        self._client = Client(socket, PATIENCE_S)

    async def search(self, query: Query) -> Recalled:
        since, until = ("" if at is None else at.isoformat() for at in (query.since, query.until))
        more = {"source": query.source, "limit": str(query.limit), "since": since, "until": until}
        return await self._get(Recalled, "search", text=query.text, kind=query.kinds, **more)

    async def items(self, kinds: tuple[Kind, ...], after: str = "", limit: int = 500) -> tuple[Item, ...]:
        return await self._get(tuple[Item, ...], "items", kind=kinds, after=after, limit=str(limit))

    async def page(self) -> Page:
        return await self._get(Page, "page")

    async def why(self, id_: str) -> Account:
        return await self._get(Account, f"items/{quote(id_)}")

    async def history(self, about: str) -> tuple[Item, ...]:
        return await self._get(tuple[Item, ...], "history", about=about)

    async def ask_graph(self, query: str) -> Answered:
        return await self._post(Answered, "graph", query=query)

    async def remember(self, text: str, on_page: bool) -> Item:
        return await self._post(Item, "items", text=text, on_page=on_page)

    async def take_off(self, id_: str) -> Item:
        return await self._ask(Item, "DELETE", f"page/{quote(id_)}")

    async def learn(self, subject: str, statement: str, about: str) -> Item:
        return await self._post(Item, "facts", subject=subject, statement=statement, about=about)

    async def correct(self, id_: str, text: str, on_page: bool | None = None) -> Item:
        body = encode(dict[str, JsonValue], {"text": text, "on_page": on_page})
        return await self._room(Item, "PUT", f"items/{quote(id_)}", body)

    async def bring_back(self, id_: str) -> Item:
        return await self._room(Item, "POST", f"back/{quote(id_)}", b"{}")

    async def counts(self) -> Counts:
        from daimon.gateway.room.remembered import Overview  # here, because the web framework comes with it

        return (await self._room(Overview, "GET", "")).counts

    async def listed(self, listing: Listing) -> Listed:
        """Of long texts the beginning; `why` has the whole."""
        from daimon.gateway.room.remembered import Rows  # likewise

        asked = {"standing": listing.standing, "subject": listing.subject, "source": listing.source, "after": listing.after}
        found = await self._room(Rows, "GET", "items", None, kind=listing.kinds, limit=str(listing.limit), **asked)
        return Listed(tuple(row.item for row in found.rows), found.total, found.next)

    async def springs(self) -> tuple[Spring, ...]:
        return await self._room(tuple[Spring, ...], "GET", "sources")

    async def things(self, text: str, limit: int) -> Things:
        return await self._room(Things, "GET", "things", None, text=text, limit=str(limit))

    async def portrait(self, name: str) -> Portrait:
        return await self._room(Portrait, "GET", "thing", None, name=name)

    async def turned(self, limit: int) -> tuple[Turned, ...]:
        return await self._room(tuple[Turned, ...], "GET", "changes", None, limit=str(limit))

    async def forget(self, id_: str) -> Item:
        return await self._ask(Item, "DELETE", f"items/{quote(id_)}")

    async def foresee_forgetting(self, source: str) -> Forgotten:
        return await self._get(Forgotten, "source", name=source)

    async def forget_source(self, source: str) -> Forgotten:
        return await self._ask(Forgotten, "DELETE", "source", name=source)

    async def foresee_rewinding(self, to: datetime) -> Rewound:
        return await self._get(Rewound, "rewind", to=to.isoformat())

    async def rewind(self, to: datetime) -> Rewound:
        return await self._post(Rewound, "rewind", to=to.isoformat())

    async def take_in(self, items: tuple[Item, ...], is_own: bool) -> Imported:
        from daimon.gateway.memories import Brought  # here, because the web framework comes with it

        body = encode(Brought, Brought(items=items, is_own=is_own))
        return await asyncio.to_thread(self._client.ask, Imported, "POST", "/v1/memory/import", body)

    async def _room(self, answer: type[T], method: str, path: str, body: bytes | None = None, /, **query: str | tuple[str, ...]) -> T:
        given = {name: value for name, value in query.items() if value}
        route = f"/v1/room/memory/{path}".rstrip("/")
        return await asyncio.to_thread(self._client.ask, answer, method, route, body, given)

    async def _get(self, answer: type[T], path: str, /, **query: str | tuple[str, ...]) -> T:
        return await self._ask(answer, "GET", path, **query)

    async def _ask(self, answer: type[T], method: str, path: str, /, **query: str | tuple[str, ...]) -> T:
        given = {name: value for name, value in query.items() if value}
        return await asyncio.to_thread(self._client.ask, answer, method, f"/v1/memory/{path}", None, given)

    async def _post(self, answer: type[T], path: str, /, **wish: JsonValue) -> T:
        body = encode(dict[str, JsonValue], wish)
        return await asyncio.to_thread(self._client.ask, answer, "POST", f"/v1/memory/{path}", body)
