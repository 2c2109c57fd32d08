"""A model that somebody serves, in the house or far away, as the kernel sees it.

    endpoint ──► history.mended ──► translate ──► the library's stream ──► reading ──► deltas and one reply

The library speaks the provider's protocol; what it cannot know (our parts, our reasons for failing, what a call costs) is put around
it here. Above stands the router; below are only the libraries. It keeps nothing of a conversation.

Invariant: whoever closes the stream closes the connection, and whatever goes wrong at the provider leaves as `ProviderFailed`.
"""

import asyncio
from collections.abc import AsyncIterator

from daimon.abi.model import Delta, Profile, Reply, Request
from daimon.abi.ports import Store
from daimon.models.asking import settings
from daimon.models.clients import Library, build
from daimon.models.contents import fetched
from daimon.models.endpoint import Endpoint
from daimon.models.failures import failed
from daimon.models.history import mended
from daimon.models.reading import Answered, delta, reply
from daimon.models.translate import Reader, parameters, translated


class ProviderModel:
    def __init__(self, endpoint: Endpoint, store: Store) -> None:
        self._endpoint = endpoint
        self._store = store
        self._library: Library | None = None
        self._loading = asyncio.Lock()

    @property
    def name(self) -> str:
        return self._endpoint.name

    async def profile(self) -> Profile:
        library = await self._load()
        endpoint = self._endpoint
        return Profile(
            provider=endpoint.provider,
            price=library.price,
            max_output_tokens=endpoint.max_output_tokens,
            context_tokens=library.context_tokens,
            is_local=endpoint.stays_home,
            has_tools=endpoint.has_tools,
            has_images=endpoint.takes_images,
        )

    def objection(self, request: Request) -> str:
        return ""

    def stands_in(self, request: Request) -> bool:
        return False

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        library = await self._load()
        endpoint, traits = self._endpoint, library.traits
        history = mended(request.messages)
        reader = Reader(
            provider=endpoint.provider,
            system=traits.system,
            senses=traits.senses,
            has_strict_ids=endpoint.vendor in ("anthropic", "openai"),
            id_length=traits.id_length,
            signs_thoughts=endpoint.vendor == "anthropic",
        )
        blobs = await fetched(history, reader.senses, self._store)
        chosen, remarks = settings(endpoint, traits, request)
        asked = translated(history, reader, blobs), chosen, parameters(history, request.tools if endpoint.has_tools else ())
        is_open = False
        try:
            async with library.wire.call(library.model.request_stream(*asked)) as answer:
                is_open = True
                async for event in answer:
                    if piece := delta(event):
                        yield piece
                response = answer.get()
        except Exception as error:  # a provider may answer anything, and the libraries raise anything at it
            raise failed(error, endpoint, is_open) from error
        yield reply(Answered(response, endpoint, library.price, request, remarks))

    async def close(self) -> None:
        """It may be asked again after that, and opens what it needs."""
        library, self._library = self._library, None
        if library is not None:
            await library.wire.close()

    async def _load(self) -> Library:
        async with self._loading:
            if self._library is None:
                self._library = await asyncio.to_thread(build, self._endpoint)
            return self._library
