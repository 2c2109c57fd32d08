"""A server at an address, through the guarded way out: real HTTP on loopback, with and without TLS."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from tests.mcp.rig import Rig, approved, ran, rig
from tests.ports import free_port

from daimon import config
from daimon.abi.errors import ToolFailed
from daimon.mcp.bounds import Bounds
from daimon.testing.certificates import Certificates
from daimon.testing.upstream import Upstream
from daimon.vault.store import Scope

VALUE = "sk-the-real-value-0123456789abcdef"
QUICK = Bounds(handshake_s=60, first_s=0.01, message_bytes=200_000)


def sample(seen: list[dict[str, str]]) -> MCPServer:
    server = MCPServer("far")

    @server.tool()
    def add(a: int, b: int, context: Context[Any, Any]) -> int:
        """Adds."""
        request = context.request_context.request
        seen.append(dict(request.headers) if request is not None else {})
        return a + b

    @server.tool()
    def echo(text: str) -> str:
        """Says it again, with the token that it got."""
        return text + seen[-1].get("authorization", "")

    @server.tool()
    def much(size: int) -> str:
        """Says a lot."""
        return "x" * size

    return server


@asynccontextmanager
async def listening(
    server: MCPServer, pem: Path | None = None, is_json: bool = False, behind: Callable[[Any], Any] = lambda app: app, port: int = 0
) -> AsyncIterator[int]:
    """The port. `behind`: who stands before it."""
    safe = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = behind(server.streamable_http_app(json_response=is_json, transport_security=safe))
    with socket.create_server(("127.0.0.1", port)) as listener:
        settings = uvicorn.Config(app, log_level="error", ssl_certfile=pem, ssl_keyfile=pem, timeout_graceful_shutdown=1)
        serving = uvicorn.Server(settings)
        task = asyncio.create_task(serving.serve([listener]))
        try:
            yield listener.getsockname()[1]
        finally:
            serving.should_exit = True
            await asyncio.wait((task,), timeout=60)


@asynccontextmanager
async def far(place: Path, seen: list[dict[str, str]], is_json: bool) -> AsyncIterator[Rig]:
    """A server as `far.test`, without TLS."""
    async with listening(sample(seen), is_json=is_json) as port, rig(place, local={"far.test": ("127.0.0.1", port)}) as found:
        yield found


def at(url: str, **settings: object) -> config.Server:
    return config.Server.model_validate({"url": url, "timeout_s": 60.0, **settings})


@pytest.mark.parametrize("is_json", [False, True])
async def test_a_server_at_an_address_that_the_owner_mapped_is_reached(tmp_path: Path, is_json: bool) -> None:
    seen: list[dict[str, str]] = []
    async with far(tmp_path, seen, is_json) as found, approved(found, at("http://far.test/mcp"), "far", QUICK) as servers:
        result = await ran(found, "far_add", a=2, b=3)
        assert result.data == {"structured": {"result": 5}}
        assert any(touched.what.startswith("POST far.test") for touched in result.touched)
        assert servers.states()[0].version == "2026-07-28"


async def test_an_address_in_the_owners_network_is_refused_unless_it_was_mapped(tmp_path: Path) -> None:
    seen: list[dict[str, str]] = []
    async with listening(sample(seen)) as port, rig(tmp_path) as found:
        servers = found.servers(QUICK)
        await servers.change({"far": at(f"http://127.0.0.1:{port}/mcp")})
        with pytest.raises(ToolFailed, match="loopback"):
            await servers.get("far").review()
        assert not seen
        await servers.close()


async def test_a_secret_goes_to_its_own_host_only_and_never_comes_back(tmp_path: Path) -> None:
    seen: list[dict[str, str]] = []
    certificates = Certificates()
    pem = tmp_path / "server.pem"
    pem.write_bytes(certificates.pair("far.test"))
    async with listening(sample(seen), pem) as port, rig(tmp_path, local={"far.test": ("127.0.0.1", port)}) as found:
        found.trusted = certificates.trusting()
        found.vault.add("token", VALUE, Scope("test", ("far.test",), ("*",)))
        settings = at("https://far.test/mcp", secrets={"Authorization": "Bearer {vault:token}"})
        async with approved(found, settings, "far", QUICK) as servers:
            await ran(found, "far_add", a=2, b=3)
            assert seen[-1]["authorization"] == f"Bearer {VALUE}"
            told = await ran(found, "far_echo", text="{vault:token} and ")
            assert VALUE not in str(told)
            assert "{vault:token} and " in str(told.data)  # what a model wrote is not filled in
            assert VALUE not in str(servers.states()) + str(servers.warnings)


async def test_a_secret_for_another_host_is_not_sent(tmp_path: Path) -> None:
    async with Upstream() as server, rig(tmp_path, local={"far.test": ("127.0.0.1", server.port)}) as found:
        found.vault.add("token", VALUE, Scope("test", ("other.test",), ("*",)))
        servers = found.servers(QUICK)
        await servers.change({"far": at("http://far.test/mcp", secrets={"Authorization": "Bearer {vault:token}"})})
        with pytest.raises(ToolFailed, match=r"token is not for far\.test"):
            await servers.get("far").review()
        assert not server.got
        await servers.close()


@pytest.mark.parametrize("is_json", [False, True])
async def test_an_answer_without_end_is_cut_off_and_the_server_goes_on(tmp_path: Path, is_json: bool) -> None:
    async with far(tmp_path, [], is_json) as found, approved(found, at("http://far.test/mcp"), "far", QUICK):
        with pytest.raises(ToolFailed) as failed:
            await ran(found, "far_much", size=1_000_000)
        assert failed.value.reason == "crashed"
        assert (await ran(found, "far_add", a=2, b=3)).data == {"structured": {"result": 5}}


async def test_a_host_that_is_gone_is_said_and_nothing_has_happened(tmp_path: Path) -> None:
    async with rig(tmp_path, local={"far.test": ("127.0.0.1", 9)}) as found:
        async with listening(sample([]), port=free_port()) as port:  # nobody else gets it afterwards
            found.shop.sandboxes.local["far.test"] = ("127.0.0.1", port)  # type: ignore[index]
            async with approved(found, at("http://far.test/mcp"), "far", QUICK):
                pass
        servers = found.servers(QUICK)
        await servers.change({"far": at("http://far.test/mcp")})
        with pytest.raises(ToolFailed, match="cannot be reached") as failed:
            await ran(found, "far_add", a=1, b=1)
        assert failed.value.reason == "lost"
        await servers.close()
