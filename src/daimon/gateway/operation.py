"""How it runs, over HTTP: its state, its settings, its channels, its live progress, and what a service manager asks."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from pydantic.dataclasses import dataclass as checked
from starlette.responses import Response, StreamingResponse

from daimon.abi.access import Right
from daimon.abi.cleaning import cleaned_json
from daimon.abi.codec import encode
from daimon.abi.errors import NotFound
from daimon.abi.secret import Redactor
from daimon.gateway.answers import Reloaded, Status
from daimon.gateway.asked import CHECKED
from daimon.gateway.entry import Call, Entry
from daimon.gateway.readiness import Readiness
from daimon.kernel.feed import Feed, Update

READY_AGAIN_S = 5
LINES, TEXT = "application/x-ndjson", "text/plain"


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Which:
    conversation: str | None = None


@dataclass(frozen=True, slots=True)
class OperationRoutes:
    status: Callable[[], Awaitable[Status]]
    reload: Callable[[], Awaitable[Reloaded]]
    poke: Callable[[str], bool]
    readiness: Readiness
    feed: Feed
    warm: Callable[[], None]
    redactor: Redactor

    def all(self) -> tuple[Entry, ...]:
        again = (
            "Read the policies, the settings of agents, models, routes, budget and channels, and the keys again;"
            " 400 if they cannot be used, and all stays as it was"
        )
        poke = "Try a channel that is down or locked out now"
        live = "Live progress, one JSON object a line, without end"
        ready = "`ready`, or 503 with Retry-After and one line: `starting`, `ending`, `full`, `stopped` or `slow`, and why"
        return (
            Entry("GET", "/v1/status", self._status, Status, "How it is", Right.READ),
            Entry("POST", "/v1/reload", self._reload, Reloaded, again, Right.ADMIN, is_act=True),
            Entry("POST", "/v1/channels/{name}/poke", self._poke, dict[str, str], poke, Right.ADMIN, status=202, is_act=True),
            Entry("GET", "/v1/feed", self._feed, Update, live, Right.READ, query=Which, media=LINES),
            Entry("GET", "/healthz", self._health, str, "`ok` while the process runs", None, media=TEXT),
            Entry("GET", "/readyz", self._ready, str, ready, None, media=TEXT, others={503: str}),
        )

    async def _status(self, call: Call[None, None]) -> Status:
        return await self.status()

    async def _reload(self, call: Call[None, None]) -> Reloaded:
        return await self.reload()

    async def _poke(self, call: Call[None, None]) -> dict[str, str]:
        name = call.path["name"]
        if not self.poke(name):
            raise NotFound(f"there is no channel {name[:80]!r}; `daimon channel list` shows those that there are")
        return {"poked": name}

    async def _feed(self, call: Call[Which, None]) -> Response:
        self.warm()
        return StreamingResponse(self._updates(call.query.conversation), media_type=LINES)

    async def _updates(self, conversation: str | None) -> AsyncIterator[bytes]:
        with self.feed.subscribe() as updates:
            yield b"\n"  # the subscription stands: whatever is accepted from here on will be seen
            async for update in updates:
                if conversation is None or update.kind == "gap" or update.conversation.name == conversation:
                    yield cleaned_json(encode(Update, update), self.redactor.clean_known) + b"\n"

    async def _health(self, call: Call[None, None]) -> Response:
        return Response(b"ok\n", media_type=TEXT)

    async def _ready(self, call: Call[None, None]) -> Response:
        missing = await self.readiness.missing()
        later = {"retry-after": str(READY_AGAIN_S)} if missing else None
        return Response(f"{missing or 'ready'}\n", 503 if missing else 200, later, TEXT)
