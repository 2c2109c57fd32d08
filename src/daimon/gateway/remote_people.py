"""The people of a running gateway, managed as those of a home that nobody runs."""

import asyncio
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from daimon.abi.codec import encode
from daimon.abi.ids import PrincipalId
from daimon.abi.people import Invitation, Person, Rank
from daimon.gateway.client import Client
from daimon.gateway.introductions import Everybody

T = TypeVar("T")


class RemoteIntroductions:
    def __init__(self, socket: Path) -> None:
        self._client = Client(socket)

    async def everybody(self) -> Everybody:
        return await asyncio.to_thread(self._client.ask, Everybody, "GET", "/v1/people")

    async def invite(self, name: str, rank: Rank) -> Invitation:
        return await self._post(Invitation, "invitations", name=name, rank=rank)

    async def allow(self, channel: str, sender: str, name: str, rank: Rank) -> Person:
        return await self._post(Person, "contacts", channel=channel, sender=sender, name=name, rank=rank)

    async def change(self, person: PrincipalId, rank: Rank) -> Person:
        return await self._post(Person, f"{quote(person, safe='')}/rank", rank=rank)

    async def remove(self, person: PrincipalId, channel: str = "", sender: str = "") -> None:
        query = {"channel": channel, "sender": sender} if channel else {}
        await asyncio.to_thread(self._client.ask, dict[str, str], "DELETE", f"/v1/people/{quote(person, safe='')}", None, query)

    async def _post(self, answer: type[T], path: str, /, **wish: str) -> T:
        return await asyncio.to_thread(self._client.ask, answer, "POST", f"/v1/people/{path}", encode(dict[str, str], wish))
