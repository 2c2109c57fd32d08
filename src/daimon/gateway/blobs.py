"""Stored values over HTTP: bytes in, for a message to name, and out again. What is text goes out without known secrets; pictures and sounds
are handed out as they are."""

from dataclasses import dataclass

from starlette.responses import Response

from daimon.abi.access import Right
from daimon.abi.cleaning import cleaned_text
from daimon.abi.ids import BlobHash
from daimon.abi.plain import is_utf8
from daimon.abi.ports import Store
from daimon.abi.secret import Redactor
from daimon.gateway.answers import Kept
from daimon.gateway.entry import Call, Entry

MOST_BY = "gateway.max_event_bytes"
BYTES = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class BlobRoutes:
    store: Store
    redactor: Redactor
    most_bytes: int

    def all(self) -> tuple[Entry, ...]:
        path, most = "/v1/blobs", self.most_bytes
        keeping = "Store the body's bytes, for a message to name; answered when they are on disk"
        giving = "A stored value as bytes, such as the exact request of a model call"
        return (
            Entry("POST", path, self._keep, Kept, keeping, Right.CHAT, body=bytes, status=201, most_bytes=most, most_by=MOST_BY),
            Entry("GET", f"{path}/{{hash}}", self._give, bytes, giving, Right.READ, media=BYTES),
        )

    async def _keep(self, call: Call[None, bytes]) -> Kept:
        return Kept(await self.store.put(call.body), len(call.body))

    async def _give(self, call: Call[None, None]) -> Response:
        data = await self.store.get(BlobHash(call.path["hash"]))
        return Response(cleaned_text(data, self.redactor.clean_known) if is_utf8(data) else data, media_type=BYTES)
