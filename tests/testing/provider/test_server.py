"""The server itself: its door, its record, its connections."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import httpx2
import pytest
from tests.testing.provider.clients import CLIENTS, MODEL, failed, openai_client

from daimon.testing.provider.line import Fault, Line
from daimon.testing.provider.server import ProviderServer, serve

BODY = {"model": MODEL, "messages": [{"role": "user", "content": "hi"}]}
BEARER = {"authorization": "Bearer test-key"}
WRONG_KEY = {
    "openai": (401, {"type": "invalid_request_error", "code": "invalid_api_key"}),
    "anthropic": (401, {"type": "authentication_error"}),
    "google": (400, {"status": "INVALID_ARGUMENT", "message": "API key not valid. Please pass a valid API key."}),
}
UNKNOWN_MODEL = {
    "openai": {"code": "model_not_found"},
    "anthropic": {"type": "not_found_error", "message": f"model: {MODEL}"},
    "google": {"status": "NOT_FOUND"},
}


async def test_a_wrong_key_is_turned_away(shape: str, how: str) -> None:
    async with ProviderServer(key="the-right-one") as server, CLIENTS[shape](server, key="a-wrong-one") as client:
        with pytest.raises(client.failure) as raised:
            await getattr(client, how)("?")
    status, body = failed(raised.value)
    expected, words = WRONG_KEY[shape]
    assert status == expected
    assert words.items() <= json.loads(body)["error"].items()
    assert server.requests[0].answered == "wrong_key"


async def test_an_unknown_model_is_not_found(shape: str, how: str) -> None:
    async with ProviderServer(models=["another"]) as server, CLIENTS[shape](server) as client:
        with pytest.raises(client.failure) as raised:
            await getattr(client, how)("?")
    status, body = failed(raised.value)
    assert status == 404
    assert UNKNOWN_MODEL[shape].items() <= json.loads(body)["error"].items()
    assert server.requests[0].answered == "unknown_model"


async def test_a_key_of_google_may_stand_in_the_address() -> None:
    async with ProviderServer() as server, httpx2.AsyncClient(timeout=60) as client:
        body = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
        reply = await client.post(f"{server.url}/v1beta/models/m:generateContent?key=test-key", json=body)
    assert reply.status_code == 200
    assert "test-key" not in repr(server.requests[0])


async def test_a_path_that_nobody_has_is_not_found() -> None:
    async with ProviderServer() as server, httpx2.AsyncClient(timeout=60) as client:
        reply = await client.get(f"{server.url}/v1/teapots")
    assert (reply.status_code, reply.json()["error"]["message"]) == (404, "Invalid URL (GET /v1/teapots)")
    assert server.requests[0].answered == "unknown_path"


async def test_every_request_is_kept_as_it_came_but_for_the_key(shape: str) -> None:
    async with ProviderServer([Line(text="one"), Line(fault=Fault("500"))]) as server, CLIENTS[shape](server) as client:
        await client.whole("one")
        with pytest.raises(client.failure):
            await client.stream("two")
    first, second = server.requests
    assert [(seen.number, seen.shape, seen.method, seen.answered) for seen in server.requests] == [
        (1, shape, "POST", "reply"),
        (2, shape, "POST", "500"),
    ]
    assert json.loads(first.body) == first.json
    assert b"two" in second.body
    assert "test-key" not in repr(server.requests)
    assert "***" in first.headers.values()


async def test_a_body_in_chunks_is_read() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for letter in json.dumps(BODY):
            yield letter.encode()

    async with ProviderServer() as server, httpx2.AsyncClient(timeout=60) as client:
        reply = await client.post(f"{server.url}/v1/chat/completions", content=pieces(), headers=BEARER)
    assert reply.status_code == 200
    assert server.requests[0].json == BODY


async def test_one_connection_carries_many_requests() -> None:
    """Whole replies and streams alike leave it fit for the next."""
    async with ProviderServer() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))
        for request in (BODY, {**BODY, "stream": True}, BODY):
            body = json.dumps(request).encode()
            head = f"POST /v1/chat/completions HTTP/1.1\r\nauthorization: Bearer test-key\r\ncontent-length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            with anyio.fail_after(60):
                answer = await reader.readuntil(b"0\r\n\r\n" if "stream" in request else b"}}}")
            assert b"HTTP/1.1 200 OK" in answer
        writer.close()


@pytest.mark.parametrize("bad", [b"hello\r\n\r\n", b"GET / HTTP/1.1\r\nno colon\r\n\r\n", b"POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n"])
async def test_what_is_no_request_is_told_so(bad: bytes) -> None:
    async with ProviderServer() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))
        writer.write(bad)
        with anyio.fail_after(60):
            answer = await reader.read()
        writer.close()
    assert answer.startswith(b"HTTP/1.1 400 Bad Request")
    assert server.requests == []


async def test_fifty_streams_run_side_by_side() -> None:
    texts = [f"answer {number} " * 20 for number in range(50)]
    heard: set[str] = set()
    async with ProviderServer([Line(text=text, pause_s=0.001) for text in texts]) as server, openai_client(server) as client:

        async def listen() -> None:
            heard.add((await client.stream("?")).text)

        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                for _ in texts:
                    group.start_soon(listen)
    assert heard == set(texts)


async def test_closing_cuts_every_connection_at_once() -> None:
    failures: list[Exception] = []
    faults = ("hang", "stall", "slow_first_byte")

    async def ask(server: ProviderServer) -> None:
        async with openai_client(server, timeout_s=60) as client:
            try:
                await client.stream("?")
            except client.broken as failure:
                failures.append(failure)

    with anyio.fail_after(60):
        script = [Line(text="x" * 50, fault=Fault(name, delay_s=60)) for name in faults]
        async with anyio.create_task_group() as group, ProviderServer(script) as server:
            for _ in faults:
                group.start_soon(ask, server)
            await server.request(3)
    assert len(failures) == 3


async def test_a_client_that_leaves_is_no_failure() -> None:
    script = [Line(text="x" * 5_000, pause_s=0.001), Line(fault=Fault("hang")), Line(text="still here")]
    async with ProviderServer(script) as server:
        for number in (1, 2):
            async with openai_client(server) as client, anyio.create_task_group() as group:
                group.start_soon(client.stream, "?")
                await server.request(number)
                group.cancel_scope.cancel()
        async with openai_client(server) as client:
            assert (await client.whole("?")).text == "still here"


async def test_the_command_says_a_line_for_each_request(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('[{"text": "one"}, {"fault": "500"}]')
    said: asyncio.Queue[str] = asyncio.Queue(maxsize=10)
    async with anyio.create_task_group() as group:
        group.start_soon(serve, script, 0, said.put_nowait)
        with anyio.fail_after(60):
            url = (await said.get()).split()[2].rstrip(",")
            async with httpx2.AsyncClient(timeout=60) as client:
                for path in ("/v1/chat/completions", "/v1/chat/completions", "/nowhere"):
                    await client.post(url + path, json=BODY, headers=BEARER)
            lines = [await said.get() for _ in range(3)]
        group.cancel_scope.cancel()
    assert lines == ["1 POST /v1/chat/completions → reply", "2 POST /v1/chat/completions → 500", "3 POST /nowhere → unknown_path"]
