"""Clients as they are: curl and Python's own."""

import asyncio
import os
import shutil
import ssl
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import uvloop
from tests.net.rig import CERTIFICATES, PLACEHOLDER, VALUE, Rig, drained, key, rigged

from daimon.abi.box import Place

needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")


@pytest.fixture
def trusted(rig: Rig, tmp_path: Path) -> Path:
    """What the box trusts: the session's authority and those of the world."""
    file = tmp_path / "ca.pem"
    file.write_bytes(rig.egress.authority_pem + CERTIFICATES.pem)
    return file


async def curl(rig: Rig, trusted: Path, *arguments: str, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
    proxy = f"http://127.0.0.1:{rig.port}"
    environment = {"PATH": os.environ["PATH"], "http_proxy": proxy, "HTTPS_PROXY": proxy, "CURL_CA_BUNDLE": str(trusted)}
    command = ["curl", "--silent", "--show-error", "--max-time", "50", *arguments]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe)
    out, err = await asyncio.wait_for(process.communicate(stdin), 60)
    return process.returncode or 0, out, err


@needs_curl
async def test_curl_reaches_open_hosts_plain_tunnelled_and_opened(rig: Rig, trusted: Path) -> None:
    with rig.open("open.test", "secure.test", "api.test", secrets=[key()]):
        code, out, err = await curl(rig, trusted, "http://open.test/echo", "https://secure.test/echo")
        assert (code, err) == (0, b"")
        assert b"Host: open.test" in out
        assert b"Host: secure.test" in out
        code, out, err = await curl(rig, trusted, "-H", f"Authorization: Bearer {PLACEHOLDER.decode()}", "https://api.test/echo")
    assert (code, err) == (0, b"")
    assert PLACEHOLDER in out
    assert VALUE not in out
    assert rig.secure.got[-1].header("authorization") == f"Bearer {VALUE.decode()}"


@needs_curl
async def test_curl_signs_in_with_a_user_and_a_placeholder(rig: Rig, trusted: Path) -> None:
    with rig.open("api.test", secrets=[key()]):
        code, out, _ = await curl(rig, trusted, "--user", f"me:{PLACEHOLDER.decode()}", "https://api.test/echo")
    assert code == 0
    assert rig.secure.got[0].header("authorization").startswith("Basic ")
    assert rig.egress.taken()[0].secrets == ("api_key",)
    assert rig.secure.got[0].header("authorization").encode() not in out


@needs_curl
async def test_curl_uploads_with_and_without_a_length_and_waits_for_a_word(rig: Rig, trusted: Path) -> None:
    body = b"b" * 2_000_000
    with rig.open("open.test", "api.test", secrets=[key()]):
        for url in ("http://open.test/echo", "https://api.test/echo"):
            assert (await curl(rig, trusted, "--data-binary", "@-", url, stdin=body))[0] == 0
            assert (await curl(rig, trusted, "-T", "-", url, stdin=body))[0] == 0
    assert [got.body == body for got in rig.plain.got + rig.secure.got] == [True] * 4
    assert rig.plain.got[1].header("transfer-encoding") == "chunked"


@needs_curl
async def test_curl_is_told_why_it_does_not_get_through(rig: Rig, trusted: Path) -> None:
    with rig.open("open.test", Place("api.test", methods=("GET",))):
        code, out, _ = await curl(rig, trusted, "-L", "http://open.test/redirect?to=http://elsewhere.test/")
        assert (code, out.startswith(b"daimon: elsewhere.test is not open")) == (0, True)
        code, _, err = await curl(rig, trusted, "https://evil.test/")
        assert code == 56
        assert b"403" in err
        code, out, _ = await curl(rig, trusted, "-X", "DELETE", "https://api.test/x")
        assert b"DELETE is not allowed" in out
        code, out, _ = await curl(rig, trusted, "--data-binary", "@-", "http://evil.test/", stdin=b"x" * 500_000)
        assert b"evil.test is not open" in out
    assert rig.secure.got == []


@needs_curl
async def test_a_compressed_answer_passes_where_there_is_no_secret(rig: Rig, trusted: Path) -> None:
    with rig.open("open.test"):
        await curl(rig, trusted, "--compressed", "http://open.test/echo")
    assert "gzip" in rig.plain.got[0].header("accept-encoding")


async def test_pythons_own_client_reaches_open_hosts_and_is_refused_others(rig: Rig, trusted: Path) -> None:
    proxy = f"http://127.0.0.1:{rig.port}"

    def fetched(url: str) -> tuple[int, bytes]:
        context = ssl.create_default_context(cafile=str(trusted))
        handlers = [urllib.request.ProxyHandler({"http": proxy, "https": proxy}), urllib.request.HTTPSHandler(context=context)]
        try:
            with urllib.request.build_opener(*handlers).open(url, timeout=60) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()

    with rig.open("open.test", "secure.test", "api.test", secrets=[key()]):
        for url in ("http://open.test/chunked", "https://secure.test/chunked", "https://api.test/chunked"):
            assert await asyncio.to_thread(fetched, url) == (200, b"hello world")
        assert (await asyncio.to_thread(fetched, "http://elsewhere.test/"))[0] == 403
        with pytest.raises(OSError, match="403"):
            await asyncio.to_thread(fetched, "https://evil.test/")


def test_on_the_loop_of_production_all_three_ways_work_and_are_cut() -> None:
    async def play() -> None:
        async with rigged() as rig:
            with rig.open("open.test", "secure.test", "api.test", secrets=[key()]):
                assert (await rig.said(b"GET http://open.test/size/300000 HTTP/1.1\r\nHost: open.test\r\n\r\n")).endswith(b"x")
                ask = b"GET /echo HTTP/1.1\r\nHost: %s\r\nX-Key: " + PLACEHOLDER + b"\r\nConnection: close\r\n\r\n"
                assert VALUE not in await rig.inside("api.test", ask % b"api.test")
                assert PLACEHOLDER in await rig.inside("secure.test", ask % b"secure.test", trusted=CERTIFICATES.trusting())
                reader, _ = await rig.tunnelled("secure.test", trusted=CERTIFICATES.trusting())
            assert await drained(reader) == b""
            assert [attempt.outcome for attempt in rig.egress.taken()] == ["passed"] * 4

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(play())
