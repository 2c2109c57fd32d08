"""The protocol, spoken by the official SDK: what the desk offers as tools, and calls of them.

The SDK is loaded when the first client comes: it takes half a second, and a home without clients does not need it. It negotiates versions
(with and without sessions), frames messages and sends progress; it decides nothing. Who calls stands in the scope of each HTTP request,
where the door left it, so an answer never depends on what a session was opened as.
"""

import json
from typing import TYPE_CHECKING, Any

from daimon import __version__
from daimon.abi.access import NOBODY, Caller
from daimon.abi.errors import DaimonError, NotFound
from daimon.gateway.entry import CALLER
from daimon.gateway.mcp.ability import Ability
from daimon.gateway.mcp.desk import Desk

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server

INSTRUCTIONS = (
    "Daimon is somebody's personal agent. What you say to it is your word, not its owner's, unless your token says otherwise; it decides "
    "what it does with it. You see your own conversations. `ask` answers with an event where it takes long: ask again with that."
)


def server_of(desk: Desk) -> "Server[Any]":
    import mcp_types as types
    from mcp.server.lowlevel import Server
    from mcp.shared.exceptions import MCPError

    async def tools(context: "ServerRequestContext[Any, Any]", params: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(each) for each in desk.offered(_caller(context))])

    async def call(context: "ServerRequestContext[Any, Any]", params: types.CallToolRequestParams) -> types.CallToolResult:
        async def progress(done: int, what: str) -> None:
            await context.session.report_progress(done, None, what)

        try:
            answer = await desk.call(_caller(context), params.name, params.arguments or {}, progress)
        except NotFound as unknown:
            if params.name not in {each.name for each in desk.abilities}:
                raise MCPError(types.INVALID_PARAMS, desk.redactor.clean(str(unknown))) from None
            return _failed(desk.redactor.clean(str(unknown)))
        except DaimonError as failure:
            return _failed(desk.redactor.clean(f"{failure.code}: {failure}"))
        except Exception as bug:  # noqa: BLE001 - the SDK would tell a stranger its whole text
            return _failed(f"bug: an error in Daimon itself ({type(bug).__name__})")
        text = answer.decode()
        return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=json.loads(text))

    return Server("daimon", version=__version__, title="Daimon", instructions=INSTRUCTIONS, on_list_tools=tools, on_call_tool=call)


def _caller(context: "ServerRequestContext[Any, Any]") -> Caller:
    """Without one nobody calls, and nobody has a right."""
    found: Caller = NOBODY if context.request is None else context.request.scope.get(CALLER, NOBODY)
    return found


def _tool(each: Ability) -> "types.Tool":
    import mcp_types as types

    return types.Tool(
        name=each.name, title=each.title, description=each.summary, input_schema=each.schema(), output_schema=each.shape(),
        annotations=types.ToolAnnotations(read_only_hint=each.is_read_only, destructive_hint=False, open_world_hint=False),
    )  # fmt: skip


def _failed(why: str) -> "types.CallToolResult":
    import mcp_types as types

    return types.CallToolResult(content=[types.TextContent(text=why)], is_error=True)
