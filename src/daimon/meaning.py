"""Who makes vectors of texts, as the settings say: the model on this machine, a server of `[models]`, or nobody.

Nobody is an answer too: then things are found by their words only, and `why` says so in words. Nothing is started here.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass

from daimon import config, endpoints
from daimon.abi.errors import Misconfigured
from daimon.abi.ports import Clock
from daimon.keeper import Vault
from daimon.memory.embedded import Embedding, Run
from daimon.memory.embedding.process import PROGRAM, LocalEmbedder
from daimon.memory.embedding.remote import RemoteEmbedder, Server
from daimon.memory.embedding.weights import missing

LOCAL, OFF = "local", "off"
AFTER_S = 5.0
"""So long after something was said vectors are made of it."""
AGAIN_S = 600.0
_LOG = logging.getLogger(__name__)
_CLOSED = "from daimon.machine.privacy import close_memory\nclose_memory()\n"
"""The process holds what people said: nobody of the same user looks into it."""


@dataclass(frozen=True, slots=True)
class Meaning:
    embedder: LocalEmbedder | RemoteEmbedder | None
    """Whoever asked for it closes it."""
    why: str = ""
    """Where there is none."""

    async def close(self) -> None:
        if self.embedder is not None:
            await self.embedder.close()

    async def work(self, run: Run, clock: Clock) -> None:
        """Gives all that is kept its vectors, until it is cancelled."""
        while self.embedder is not None:
            try:
                await Embedding(self.embedder, run, clock, AFTER_S).work()
            except Exception:  # noqa: BLE001 - whatever is wrong with vectors, the gateway goes on
                _LOG.exception("vectors cannot be made; tried again in %d s", AGAIN_S)
                await clock.sleep(AGAIN_S)
        await asyncio.Event().wait()

    @property
    def on_this_machine(self) -> LocalEmbedder | None:
        """For whoever must not show the words to anybody else."""
        return self.embedder if isinstance(self.embedder, LocalEmbedder) else None


def meaning_of(settings: config.Settings, vault: Vault, environment: Mapping[str, str], clock: Clock) -> Meaning:
    """Raises Misconfigured for a name that is none of `[models]`, and for one that speaks another language."""
    name = settings.memory.embeddings
    if name == OFF:
        return Meaning(None, "memory.embeddings is off")
    if name == LOCAL:
        lacking = missing()
        return Meaning(None, lacking) if lacking else Meaning(LocalEmbedder(clock, program=_CLOSED + PROGRAM))
    if name not in settings.models:
        known = ", ".join([LOCAL, OFF, *sorted(settings.models)])
        raise Misconfigured(f"memory.embeddings names {name!r}, but there is no such model; known are {known}")
    endpoint = endpoints.endpoint_of(name, settings, vault, environment)
    if endpoint.served_by.shape != "openai":
        text = f"memory.embeddings names {name!r}, but {endpoint.served_by.title} has no /v1/embeddings; name a server that has, or local"
        raise Misconfigured(text)
    return Meaning(RemoteEmbedder(Server(endpoint.address, endpoint.model, endpoint.credentials, endpoint.hide, endpoint.is_near), clock))
