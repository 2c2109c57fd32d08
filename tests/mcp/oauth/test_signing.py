"""A server at an address that wants a token: signed in, not signed in, and signed out in the middle."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer
from pydantic import AnyHttpUrl
from tests.mcp.oauth.rig import CERTIFICATES, Rig, rigged
from tests.mcp.rig import QUICK, ran, rig
from tests.mcp.test_addressed import at, listening

from daimon.abi.errors import Lost, ToolFailed
from daimon.mcp.hooks import Hooks
from daimon.mcp.oauth.signing import Signing
from daimon.mcp.servers import Around, Servers
from daimon.testing.oauth import ISSUER, SERVER, Service


@dataclass
class Verifier:
    service: Service

    async def verify_token(self, token: str) -> AccessToken | None:
        return AccessToken(token=token, client_id="x", scopes=["read"]) if token in self.service.good else None


def guarded(service: Service) -> MCPServer:
    settings = AuthSettings(
        issuer_url=AnyHttpUrl(ISSUER), resource_server_url=AnyHttpUrl(SERVER), required_scopes=["read"], validate_token_resource=False
    )
    server = MCPServer("notes", token_verifier=Verifier(service), auth=settings)

    @server.tool()
    def add(a: int, b: int) -> int:
        """Adds."""
        return a + b

    return server


def homely(place: Path) -> Path:
    (place / "signed").mkdir()
    return place / "signed"


def stingy(service: Service) -> Callable[[Any], Any]:
    """Lets a call of a tool through only for who was asked for `write` at the page."""
    wants = b'Bearer error="insufficient_scope", scope="read write bad\\scope"'

    def behind(app: Any) -> Any:
        async def serve(scope: Any, receive: Any, send: Any) -> None:
            if (b"mcp-method", b"tools/call") not in scope.get("headers", ()) or "write" in service.scopes:
                await app(scope, receive, send)
                return
            await send({"type": "http.response.start", "status": 403, "headers": [(b"www-authenticate", wants)]})
            await send({"type": "http.response.body", "body": b"no"})

        return serve

    return behind


@asynccontextmanager
async def connected(place: Path, signed: Rig, behind: Callable[[Any], Any] = lambda app: app) -> AsyncIterator[tuple[Servers, Any]]:
    pem = place / "serving.pem"
    pem.write_bytes(CERTIFICATES.pair("mcp.test"))
    async with listening(guarded(signed.service), pem, behind=behind) as port, rig(place, local={"mcp.test": ("127.0.0.1", port)}) as found:
        around = Around(
            shop=found.shop, clock=found.clock, blobs=found.blobs, bounds=QUICK, trusted=CERTIFICATES.trusting(),
            hooks=lambda name, server: Hooks(
                auth=Signing(signed.tokens, signed.vault, name, server.url), lacks=partial(signed.tokens.lacking, name, server.url)
            ),
        )  # fmt: skip
        servers = Servers(around, found.groups.__setitem__, lambda _: frozenset())
        try:
            await servers.change({"notes": at(SERVER, oauth=True)})
            yield servers, found
        finally:
            await servers.close()


async def test_a_call_carries_the_token_and_a_token_that_is_refused_is_renewed_in_between(tmp_path: Path) -> None:
    async with rigged(homely(tmp_path)) as signed:
        await signed.sign_in()
        async with connected(tmp_path, signed) as (servers, found):
            changes = await servers.get("notes").review()
            servers.get("notes").approve(frozenset(change.hash for change in changes.waiting))
            assert (await ran(found, "notes_add", a=2, b=3)).data == {"structured": {"result": 5}}
            signed.service.good.clear()
            assert (await ran(found, "notes_add", a=2, b=4)).data == {"structured": {"result": 6}}
            signed.service.good.clear()
            signed.service.is_over = True
            for _ in range(2):
                with pytest.raises(Lost, match="sign in at notes with `daimon mcp login notes`"):  # nothing happened, and that is known
                    await ran(found, "notes_add", a=2, b=5)
            assert servers.get("notes").state == "locked_out"
            assert len(signed.told) == 1


async def test_a_server_at_which_nobody_signed_in_says_how_to(tmp_path: Path) -> None:
    async with rigged(homely(tmp_path)) as signed, connected(tmp_path, signed) as (servers, _):
        with pytest.raises(ToolFailed, match="sign in with `daimon mcp login notes`"):
            await servers.get("notes").review()
        (status,) = servers.states()
        assert (status.state, status.scopes) == ("locked_out", ())


async def test_a_server_that_wants_a_sign_in_of_which_the_settings_say_nothing_is_locked_out_too(tmp_path: Path) -> None:
    pem = tmp_path / "serving.pem"
    pem.write_bytes(CERTIFICATES.pair("mcp.test"))
    async with listening(guarded(Service()), pem) as port, rig(tmp_path, local={"mcp.test": ("127.0.0.1", port)}) as found:
        found.trusted = CERTIFICATES.trusting()
        servers = found.servers()
        try:
            await servers.change({"notes": at(SERVER)})
            with pytest.raises(ToolFailed, match="answered 401; sign in with `daimon mcp login`"):
                await servers.get("notes").review()
            assert servers.get("notes").state == "locked_out"
        finally:
            await servers.close()


async def test_a_call_that_wants_more_rights_marks_the_server_and_the_next_sign_in_asks_for_both(tmp_path: Path) -> None:
    async with rigged(homely(tmp_path)) as signed:
        await signed.sign_in()
        async with connected(tmp_path, signed, stingy(signed.service)) as (servers, found):
            changes = await servers.get("notes").review()
            servers.get("notes").approve(frozenset(change.hash for change in changes.waiting))
            assert servers.get("notes").state == "ready"
            for _ in range(2):
                with pytest.raises(ToolFailed, match="does not cover this: sign in again") as failed:
                    await ran(found, "notes_add", a=2, b=3)
                assert failed.value.reason == "refused"  # it did not happen, and nobody was asked in the middle of it
            (status,) = servers.states()
            assert (status.state, status.scopes) == ("locked_out", ("read", "write"))
            assert any("daimon mcp login notes`, for read, write" in line for line in servers.warnings)
            assert len(signed.told) == 1
            assert await servers.get("notes").review()  # what it may do already goes on
            await signed.sign_in()
            assert signed.service.scopes == {"read", "offline_access", "write"}
            assert servers.get("notes").state == "ready"
            assert (await ran(found, "notes_add", a=2, b=3)).data == {"structured": {"result": 5}}
