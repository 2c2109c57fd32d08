"""`daimon mcp serve`: the protocol on standard input and output, and the gateway behind it.

For clients that start a command and know no addresses. What they ask is asked at `/mcp`, on the socket in the home, with the client's own
token, and answered as it comes: lists, calls, progress. Nothing is decided or kept here. Each call is a request of its own, so the gateway
may be started anew in between.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from daimon import __version__
from daimon.abi.errors import Forbidden, NotRunning
from daimon.gateway import unix
from daimon.gateway.access.programs import AT
from daimon.gateway.mcp.speaking import INSTRUCTIONS

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.client.client import Client
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server

AWAY = 503
LONGEST_S = 330.0
"""Longer than any call may take."""


async def relay(socket: Path, token: str) -> None:
    """Until standard input ends. Raises NotRunning, and Forbidden for a token that does not open it."""
    import httpx2
    from mcp.client.client import Client
    from mcp.client.streamable_http import streamable_http_client
    from mcp.server.stdio import stdio_server
    from mcp_types.version import LATEST_MODERN_VERSION

    from daimon.gateway.mcp.pipe import Pipe

    headers = {"Authorization": f"Bearer {token}"}
    with unix.short(socket) as address:
        async with httpx2.AsyncClient(transport=Pipe(address), headers=headers, timeout=LONGEST_S, trust_env=False) as http:
            await _require(http, socket)
            transport = streamable_http_client(f"http://localhost{AT}", http_client=http)
            async with Client(transport, mode=LATEST_MODERN_VERSION, cache=None) as gateway, stdio_server() as (read, write):
                server = _server(gateway)
                await server.run(read, write, server.create_initialization_options())


async def _require(http: Any, socket: Path) -> None:
    """Is somebody there, and does the token open it? Told at once, not with the first call."""
    answer = await http.get(f"http://localhost{AT}")
    if answer.status_code == AWAY:
        raise NotRunning(f"no gateway answers on {socket}; start one with `daimon up`")
    if answer.status_code in (401, 403, 429):
        raise Forbidden("the gateway refuses this token; `daimon mcp token NAME` makes one, `daimon devices` lists those that are in")


def _server(gateway: "Client") -> "Server[Any]":
    from mcp.server.lowlevel import Server

    async def tools(context: "ServerRequestContext[Any, Any]", params: object) -> "types.ListToolsResult":
        return await gateway.list_tools()

    async def call(context: "ServerRequestContext[Any, Any]", params: "types.CallToolRequestParams") -> "types.CallToolResult":
        return await gateway.call_tool(params.name, params.arguments, LONGEST_S, context.session.report_progress)

    return Server("daimon", version=__version__, title="Daimon", instructions=INSTRUCTIONS, on_list_tools=tools, on_call_tool=call)
