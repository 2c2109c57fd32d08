"""The owner's own terminal."""

import asyncio
from typing import Literal

from daimon.abi.channel import Piece, Receipt, Reception, Traits
from daimon.abi.ports import Outgoing
from daimon.gateway.pieces import text_of


class LocalChannel:
    """What is said is on disk and in the feed, and whoever looks sees it; so nothing is sent. What is said there comes in by the API."""

    name = "local"
    traits = Traits("harmless", at_once=64)

    def pieces(self, message: Outgoing) -> tuple[Piece, ...]:
        return (Piece(text_of(message)),)

    async def send(self, piece: Piece, to: str, key: str) -> Receipt:
        return Receipt("confirmed")

    async def find(self, piece: Piece, to: str, key: str) -> Receipt | None:
        return Receipt("confirmed")

    async def show(self, to: str, doing: Literal["thinking", "nothing"]) -> None:
        return

    async def serve(self, reception: Reception) -> None:
        await asyncio.Event().wait()
