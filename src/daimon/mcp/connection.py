"""One session with a server, from the handshake to its end.

The session lives in a task of its own, because whoever opens it must close it. Calls come from any task. When the session ends, by our will
or not, every call that waits gets to know; `why` says what ended it. A session is not opened twice: the next one is another connection.

    open → tools, call, read, prompt, … → close

What the SDK raises becomes one of ours here:

    Lost                    the session was over before the request left: nothing happened
    ToolFailed("crashed")   it ended while a call was under way: nobody knows whether it took effect
    ToolFailed("timeout")   no answer in time: the same
    ToolFailed("refused")   the server answered with an error; the words are its own
"""

import asyncio
import contextvars
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import JsonValue, ValidationError

from daimon import __version__
from daimon.abi.errors import DaimonError, Lost, ToolFailed
from daimon.abi.tool import Call, Touched
from daimon.mcp.bounds import BOUNDS, IN_DOUBT, NOT_SENT, Bounds
from daimon.mcp.hooks import Hooks
from daimon.mcp.way import Way
from daimon.mcp.words import shown

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.client.client import Client

T = TypeVar("T")
Step = Callable[[float, float | None, str], None]
"""How far a call is: progress, of how much, and what it says about that."""
OF_CALL: contextvars.ContextVar[str] = contextvars.ContextVar("mcp_call", default="")
"""The call that something came with, where that can be told: newer servers ask within it, and an address answers each request apart."""
_LOG = logging.getLogger(__name__)
_WORDS = 2_000
_LISTENS = 100
_ENDS_S = 30.0
"""For a box to be taken down, which takes its time on a busy machine."""
_TALKATIVE = ("mcp", "client")
"""Loggers of the SDK. They write down what a server sends, as often as it likes to."""


class Connection:
    def __init__(self, name: str, way: Way, hooks: Hooks | None = None, bounds: Bounds = BOUNDS) -> None:
        self.name = name
        self._way, self._hooks, self._bounds = way, hooks or Hooks(), bounds
        self._client: Client | None = None
        self._task: asyncio.Task[None] | None = None
        self._leaving = asyncio.Event()
        self._fault, self._was_up = "", False
        self.calls: dict[int, Call] = {}
        """Those that are under way: what the server asks meanwhile, it asks for one of them."""

    @property
    def is_open(self) -> bool:
        return self._client is not None and not self._leaving.is_set() and self._task is not None and not self._task.done()

    @property
    def is_over(self) -> bool:
        """Nothing of it is left, no process either."""
        return self._task is not None and self._task.done()

    @property
    def why(self) -> str:
        """What ended it, in words for the owner."""
        return self._way.why or self._fault

    @property
    def is_refused(self) -> bool:
        """It wants somebody to sign in first."""
        return self._way.is_refused

    @property
    def notes(self) -> tuple[str, ...]:
        return self._way.notes

    @property
    def client(self) -> "Client":
        """The SDK's own. Raises Lost where there is none any more."""
        if self._client is None or not self.is_open:
            raise Lost(self._said(self.why or "it is not connected"))
        return self._client

    async def open(self) -> None:
        """Raises Lost, with what went wrong."""
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        alone = contextvars.copy_context()
        alone.run(OF_CALL.set, "")  # what the server asks later is not for whoever opened it
        self._task = asyncio.create_task(self._live(ready), name=f"mcp {self.name}", context=alone)
        try:
            async with asyncio.timeout(self._bounds.handshake_s):
                await asyncio.shield(ready)
        except TimeoutError:
            await self.close()
            self._fault = f"it did not finish the handshake within {self._bounds.handshake_s:g} s"
            raise Lost(self._said(self.why)) from None
        except BaseException:
            await self.close()
            raise

    async def ended(self) -> None:
        """Returns when it is over."""
        if self._task is not None:
            await asyncio.wait((self._task,))

    async def close(self) -> None:
        self._leaving.set()
        if self._task is None:
            return
        if not self._was_up:  # it does not look whether somebody leaves yet
            self._task.cancel()
        done, _ = await asyncio.wait((self._task,), timeout=self._bounds.grace_s + _ENDS_S)
        if not done:
            self._task.cancel()
            await asyncio.wait((self._task,), timeout=_ENDS_S)

    # -- what is asked of it ---------------------------------------------------------------------------------------------

    async def tools(self) -> "tuple[types.Tool, ...]":
        """All, page by page. Raises ToolFailed, also where there are too many."""
        found: list[types.Tool] = []
        cursor, size = None, 0
        if self.client.server_capabilities.tools is None:
            return ()
        for _ in range(self._bounds.pages):
            page = await self._asked(self.client.list_tools(cursor=cursor), self._bounds.handshake_s)
            found += page.tools
            size += sum(len(tool.model_dump_json()) for tool in page.tools)
            if len(found) > self._bounds.tools or size > self._bounds.list_bytes:
                raise ToolFailed("too_many", self._said(f"it says too much of its tools: {len(found)} of them, {size:,} bytes"))
            cursor = page.next_cursor
            if cursor is None:
                return tuple(found)
        raise ToolFailed("too_many", self._said(f"its list of tools has no end after {self._bounds.pages} pages"))

    async def call(
        self, tool: str, arguments: dict[str, JsonValue], timeout_s: float, call: Call | None = None, step: Step | None = None
    ) -> "types.CallToolResult":
        """Raises ToolFailed. One that is cancelled is cancelled at the server too."""

        async def stepped(progress: float, total: float | None, message: str | None) -> None:
            if step is not None:
                step(progress, total, shown(message or "", 200))

        number = id(call)
        if call is not None:
            self.calls[number] = call
            self._way.admit(call.label)
        try:
            asked = self.client.call_tool(tool, arguments, read_timeout_seconds=timeout_s, progress_callback=stepped if step else None)
            return await self._asked(asked, timeout_s)
        finally:
            self.calls.pop(number, None)

    async def asked(self, request: Awaitable[T], timeout_s: float) -> T:
        """Any other request of the SDK's client. Raises ToolFailed."""
        return await self._asked(request, timeout_s)

    async def is_alive(self) -> bool:
        """Does it still answer?"""
        import warnings

        try:
            client = self.client
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a ping is of the older versions, and they are spoken too
                asked = client.session.send_discover(client.protocol_version) if _is_modern(client) else client.send_ping()
            await self._asked(asked, self._bounds.ping_s)
        except ToolFailed:
            return False
        return True

    def touched(self) -> tuple[Touched, ...]:
        return self._way.touched()

    async def _asked(self, request: Awaitable[T], timeout_s: float) -> T:
        from mcp.shared.exceptions import MCPError
        from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT

        try:
            async with asyncio.timeout(timeout_s + 1):
                return await request
        except TimeoutError:
            raise ToolFailed("timeout", self._said(f"it gave no answer within {timeout_s:g} s"), retryable=True) from None
        except MCPError as error:
            if error.code == REQUEST_TIMEOUT:
                raise ToolFailed("timeout", self._said(f"it gave no answer within {timeout_s:g} s"), retryable=True) from None
            if error.code == NOT_SENT:
                raise Lost(self._said(shown(error.message, _WORDS))) from None
            if error.code in (CONNECTION_CLOSED, IN_DOUBT):
                await self._over(error.code)
                raise ToolFailed("crashed", self._said(f"the connection ended during the call: {self.why or 'without a word'}")) from None
            raise ToolFailed("refused", self._said(f"it answered with an error: {shown(error.message, _WORDS)}")) from None
        except (ValidationError, RuntimeError) as wrong:  # it does not keep to the protocol, or to what it says of its tool
            raise ToolFailed("bad_answer", self._said(f"its answer is not what it promised: {_first_line(wrong)}")) from None

    async def _over(self, code: int) -> None:
        """What ended it is known when the task has cleared up."""
        if self._task is not None and code != IN_DOUBT:
            await asyncio.wait((self._task,), timeout=self._bounds.grace_s + _ENDS_S)

    def _said(self, what: str) -> str:
        return f"the server {self.name}: {what}"

    # -- its life --------------------------------------------------------------------------------------------------------

    async def _live(self, ready: "asyncio.Future[None]") -> None:
        try:
            async with self._made() as client:
                self._client, self._was_up = client, True
                ready.set_result(None)
                await self._until_over(client)
        except asyncio.CancelledError:
            self._fault = self._fault or "it was stopped"
            raise
        except Exception as error:  # noqa: BLE001 - the SDK, and whoever is at the other end, may raise anything
            self._fault = self._fault or _reason(error)
        finally:
            self._client = None
            if not ready.done():
                ready.set_exception(Lost(self._said("; ".join((self.why or "it ended before the handshake was over", *self.notes)))))
                ready.exception()

    def _made(self) -> "Client":
        from mcp.client.client import Client
        from mcp_types import Implementation

        for name in _TALKATIVE:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        hooks = self._hooks
        return Client(
            self._way.streams(),
            mode="auto",
            cache=None,
            client_info=Implementation(name="daimon", version=__version__),
            elicitation_callback=hooks.elicit,
            sampling_callback=hooks.sample,
            message_handler=self._hear,
            extensions=hooks.extensions or None,
        )

    async def _until_over(self, client: "Client") -> None:
        """Until somebody closes it, or the other side ends."""
        async with asyncio.TaskGroup() as watching:
            listening = watching.create_task(self._listen(client))
            ended = watching.create_task(self._way.ended())
            leaving = watching.create_task(self._leaving.wait())
            await asyncio.wait((ended, leaving), return_when=asyncio.FIRST_COMPLETED)
            self._client = None  # from here on nothing is sent, so a call that comes now has not happened
            for task in (listening, ended, leaving):
                task.cancel()

    async def _listen(self, client: "Client") -> None:
        """Newer servers tell of changes only to who listens for them."""
        capability = client.server_capabilities.tools
        if not _is_modern(client) or capability is None or not capability.list_changed:
            return
        for _ in range(_LISTENS):
            try:
                async with client.listen(tools_list_changed=True) as changes:
                    async for _ in changes:
                        self._hooks.changed()
            except Exception as error:  # noqa: BLE001 - to hear of changes is a courtesy; the tools are checked at the next start anyway
                _LOG.info("the server %s does not tell of changes any more: %s", self.name, _reason(error))
            await asyncio.sleep(self._bounds.listen_s)
            self._hooks.changed()  # what happened meanwhile, nobody told

    async def _hear(self, message: Any) -> None:
        from mcp_types import ToolListChangedNotification

        if isinstance(message, ToolListChangedNotification):
            self._hooks.changed()


def _is_modern(client: "Client") -> bool:
    from mcp_types.version import MODERN_PROTOCOL_VERSIONS

    return client.protocol_version in MODERN_PROTOCOL_VERSIONS


def _reason(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) if isinstance(error, DaimonError) else shown(f"{type(error).__name__}: {error}", 500)


def _first_line(error: Exception) -> str:
    return shown(str(error).partition("\n\n")[0], 500)
