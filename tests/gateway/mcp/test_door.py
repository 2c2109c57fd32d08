"""Who may come to `/mcp`: a program with a token that was made for it. Nobody else, and with it nowhere else."""

import asyncio
import json

import anyio
import pytest
from mcp.shared.exceptions import MCPError
from tests.gateway.live import Answer, Live, read
from tests.gateway.mcp.calling import Program, let_in

HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bare", "version": "1"}},
}  # fmt: skip
USUAL = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def program(daimon: Live) -> Program:
    return let_in(daimon, "visitor", "chat", "read")


def hello(daimon: Live, *headers: tuple[str, str]) -> Answer:
    """An opening with these headers and the usual ones; `Host` as given, or ours."""
    given = {name.lower() for name, _ in headers}
    connection = daimon.connect()
    connection.putrequest("POST", "/mcp", skip_host="host" in given)
    for name, value in (*USUAL.items(), *headers):
        connection.putheader(name, value)
    body = json.dumps(HELLO).encode()
    connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    try:
        return read(connection)
    finally:
        connection.close()


def bearer(token: str) -> tuple[str, str]:
    return "Authorization", f"Bearer {token}"


def test_a_program_with_its_token_comes_in(daimon: Live, program: Program) -> None:
    answer = hello(daimon, bearer(program.token))
    assert answer.status == 200
    assert answer.headers["mcp-session-id"]
    assert b'"serverInfo"' in answer.body


def test_without_a_token_nobody_comes_in_and_is_told_which_way_there_is(daimon: Live) -> None:
    answer = hello(daimon)
    assert (answer.status, answer.code) == (401, "no_token")
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert "daimon mcp token" in answer.json["error"]["message"]


def test_the_token_of_the_home_and_the_socket_of_the_home_do_not_open_it(daimon: Live) -> None:
    assert hello(daimon, bearer(daimon.token)).status == 401
    assert daimon.call_socket("POST", "/mcp").status == 401


def test_the_token_of_a_program_opens_nothing_else(daimon: Live, program: Program) -> None:
    for path in ("/v1/status", "/v1/events", "/v1/turns", "/v1/clients"):
        assert daimon.call_as("GET", path, None, program.authority).status == 401


def test_the_token_of_a_program_is_no_cookie(daimon: Live, program: Program) -> None:
    port = daimon.connect().port
    headers = {"Cookie": f"daimon-{port}={program.token}", "Sec-Fetch-Site": "same-origin", "X-Daimon": "1"}
    answer = daimon.call_as("GET", "/v1/status", None, headers)
    assert (answer.status, answer.code) == (401, "no_session")


@pytest.mark.parametrize("host", ["evil.example", "evil.example:7310", "127.0.0.1.evil.example", ""])
def test_under_another_name_nobody_is_there(daimon: Live, program: Program, host: str) -> None:
    """A page that makes its own name point here (DNS rebinding) sends its own name as `Host`."""
    answer = hello(daimon, bearer(program.token), ("Host", host))
    assert (answer.status, answer.code) == (421, "wrong_host")


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "", "https://127.0.0.1"])
def test_a_page_of_another_origin_is_refused_with_the_right_token_too(daimon: Live, program: Program, origin: str) -> None:
    answer = hello(daimon, bearer(program.token), ("Origin", origin))
    assert (answer.status, answer.code) == (403, "foreign_origin")


def test_its_own_origin_does_no_harm(daimon: Live, program: Program) -> None:
    assert hello(daimon, bearer(program.token), ("Origin", daimon.url)).status == 200


def test_a_session_is_not_there_for_the_token_of_another(daimon: Live, program: Program) -> None:
    session = hello(daimon, bearer(program.token)).headers["mcp-session-id"]
    other = let_in(daimon, "thief", "chat", "read")
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}
    begun = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert program.post(begun, Mcp_Session_Id=session).status == 202
    assert other.post(listing, Mcp_Session_Id=session).status == 404
    assert daimon.call_as("DELETE", "/mcp", None, {**other.authority, "Mcp-Session-Id": session}).status == 404
    mine = program.post(listing, Mcp_Session_Id=session)
    assert (mine.status, b'"ask"' in mine.body) == (200, True)


def test_a_huge_message_is_refused_before_it_is_read(daimon: Live, program: Program) -> None:
    before = daimon.get("/v1/status")["count"]["events"]
    said = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask", "arguments": {"text": "x" * 1_100_000}}}
    assert program.post(said, MCP_Protocol_Version="2025-11-25").status == 413
    assert daimon.get("/v1/status")["count"]["events"] == before


def test_a_token_that_is_revoked_ends_its_session_in_mid_call(daimon: Live) -> None:
    victim = let_in(daimon, "revoked", "chat")

    async def talk() -> object:
        with daimon.feed("mcp-client:revoked/main") as feed:
            async with victim.connected() as connected, anyio.create_task_group() as tasks:
                assert await connected.tools() == {"ask", "remember", "send_event"}
                tasks.start_soon(anyio.to_thread.run_sync, lambda: (feed.until("token"), victim.revoke()))
                return await connected.call("ask", text="hang", wait_s=60)

    with pytest.raises(ExceptionGroup) as broken:  # long before the minute is over
        asyncio.run(talk())
    assert broken.group_contains(MCPError)
    assert hello(daimon, bearer(victim.token)).status == 401


def test_a_name_is_taken_once_and_freed_by_revoking(daimon: Live) -> None:
    first = let_in(daimon, "twice", "chat")
    wish = {"name": "twice", "rights": ["chat"]}
    assert daimon.call("POST", "/v1/clients", wish).code == "bad_input"
    first.revoke()
    assert daimon.call("POST", "/v1/clients", wish).status == 201


@pytest.mark.parametrize(("name", "rights"), [("Über", ["chat"]), ("a/b", ["chat"]), ("", ["chat"]), ("x", ["admin"]), ("x", [])])
def test_a_token_that_cannot_be_is_refused(daimon: Live, name: str, rights: list[str]) -> None:
    assert daimon.call("POST", "/v1/clients", {"name": name, "rights": rights}).code == "bad_input"


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28", "nonsense"])
@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b'"ask"', b"[" * 20_000, b'{"jsonrpc": "2.0", "id": 1}', b"\xff\xfe", b'{"id": ' + b"9" * 5_000 + b"}"],
)
def test_garbage_is_refused_and_nothing_else_is_affected(daimon: Live, program: Program, body: bytes, version: str) -> None:
    headers = {**USUAL, **program.authority, "MCP-Protocol-Version": version}
    answer = daimon.call_as("POST", "/mcp", body, headers)
    assert 400 <= answer.status < 500, (answer.status, answer.body)
    assert daimon.call("GET", "/readyz").status == 200
