"""A model that thinks and thinks: what the rest of the system does meanwhile can be measured alone."""

import asyncio
from collections.abc import AsyncIterator

from daimon.abi.model import Delta, Reply, Request, Unmetered
from daimon.extension import Kit


class Patience(Unmetered):
    name = "patience"

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        await asyncio.Event().wait()
        yield Delta("")


def extend(kit: Kit) -> None:
    kit.models["patience"] = Patience()
