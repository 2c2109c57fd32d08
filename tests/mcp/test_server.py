"""A server in a box, from the review of its tools to its calls and its ends."""

import asyncio
from pathlib import Path

import pytest
from tests.mcp.rig import RAW, SAMPLE, approved, call, ran, rig, until

from daimon.abi.errors import ToolFailed
from daimon.abi.label import Author
from daimon.abi.tool import Capability, Effect
from daimon.mcp.bounds import Bounds
from daimon.sandbox.plan import has_bwrap
from daimon.testing.upstream import Upstream
from daimon.vault.store import Scope

pytestmark = pytest.mark.skipif(not has_bwrap(), reason="bwrap is not installed: no box can be made")

VALUE = "sk-the-real-value-0123456789abcdef"
MORE = f"""{SAMPLE}
from mcp.server.mcpserver import Context, Image
from mcp.server.mcpserver.exceptions import ToolError
@tool()
async def slow(context: Context, steps: int) -> str:
    "Takes its time."
    for n in range(steps):
        await context.report_progress(n + 1, steps, "step")
    return "done"
@tool()
def picture() -> Image:
    "A picture."
    return Image(data=b"not really a picture", format="png")
@tool()
def fail(text: str) -> str:
    "Fails."
    raise ToolError("no such thing: " + text)
@tool()
def die(text: str) -> str:
    "Ends the process."
    os._exit(3)
@tool()
def look(path: str) -> str:
    "Reads a file."
    try:
        return open(path).read()
    except OSError as error:
        raise ToolError(str(error))
@server.resource("note://one")
def one() -> str:
    return "the note"
@server.prompt()
def greet(name: str) -> str:
    return "Say hello to " + name
"""


async def test_a_server_in_a_box_serves_its_tools_resources_and_prompts_once_they_are_approved(tmp_path: Path) -> None:
    async with rig(tmp_path) as found, approved(found, found.sample(MORE)) as servers:
        (status,) = servers.states()
        assert status.state == "ready"
        assert status.version == "2026-07-28"
        assert not status.waiting
        assert (await ran(found, "sample_add", a=2, b=3)).data == {"structured": {"result": 5}}
        picture = await ran(found, "sample_picture", purpose="to see it")
        assert list(found.blobs.kept.values()) == [b"not really a picture"]
        assert len(picture.parts) == 1
        assert (await ran(found, "sample_resources", uri="note://one")).data == {"text": "the note", "attached": []}
        listed = await ran(found, "sample_prompts")
        assert isinstance(listed.data, dict)
        assert "greet" in str(listed.data["prompts"])
        assert (await ran(found, "sample_prompts", name="greet", filled_with='{"name": "Ada"}')).data == {
            "text": "Say hello to Ada", "attached": []
        }  # fmt: skip


async def test_a_tool_of_which_nothing_is_known_acts_and_is_a_strangers(tmp_path: Path) -> None:
    async with rig(tmp_path) as found, approved(found, found.sample()):
        manifest = found.tool("sample_add").manifest
        assert manifest.is_consequential
        assert manifest.is_rare
        assert manifest.effect is Effect.UNSAFE
        assert manifest.author is Author.STRANGER
        assert manifest.result.author is Author.STRANGER
        assert manifest.result.source == "mcp:sample"
        assert Capability.SENDS in manifest.capabilities


async def test_what_a_server_calls_an_error_is_told_in_its_words_and_it_goes_on(tmp_path: Path) -> None:
    async with rig(tmp_path) as found, approved(found, found.sample(MORE)):
        with pytest.raises(ToolFailed, match="no such thing: tea") as failed:
            await ran(found, "sample_fail", text="tea")
        assert failed.value.reason == "failed"
        assert (await ran(found, "sample_add", a=1, b=1)).data == {"structured": {"result": 2}}


async def test_a_server_sees_its_own_directory_and_nothing_of_the_owners(tmp_path: Path) -> None:
    (tmp_path / "diary.txt").write_text("private")
    async with rig(tmp_path) as found, approved(found, found.sample(MORE)):
        (tmp_path / "servers/sample/own.txt").write_text("its own")
        assert (await ran(found, "sample_look", path="/workspace/sample/own.txt")).data == {"structured": {"result": "its own"}}
        for path in (tmp_path / "diary.txt", tmp_path / "home/vault.key", Path("/etc/shadow")):
            with pytest.raises(ToolFailed, match=r"No such file|denied"):
                await ran(found, "sample_look", path=str(path))


FETCHES = """
import urllib.request
from mcp.server.mcpserver.exceptions import ToolError
@tool()
def fetch(url: str) -> str:
    "Fetches a page, with the token."
    request = urllib.request.Request(url, headers={"X-Token": os.environ["TOKEN"]})
    try:
        return f"{urllib.request.urlopen(request, timeout=60).status} {os.environ['TOKEN']}"
    except OSError as error:
        raise ToolError(str(error))
"""


async def test_a_server_reaches_its_hosts_and_no_others_and_holds_no_secret(tmp_path: Path) -> None:
    async with (
        Upstream() as upstream,
        rig(tmp_path, local=dict.fromkeys(("open.test", "other.test"), ("127.0.0.1", upstream.port))) as found,
    ):
        found.vault.add("token", VALUE, Scope("test", ("open.test",), ("*",)))
        settings = found.sample(FETCHES, hosts=["open.test"], secrets={"TOKEN": "token"})
        async with approved(found, settings):
            result = await ran(found, "sample_fetch", url="http://open.test/page")
            assert str(result.data).startswith("{'structured': {'result': '200 ")
            assert VALUE not in str(result)
            assert [(touched.what, touched.outcome) for touched in result.touched] == [("GET open.test:80/page", "passed")]
            assert VALUE.encode() not in upstream.bytes  # without TLS it does not leave
            with pytest.raises(ToolFailed, match="403"):
                await ran(found, "sample_fetch", url="http://other.test/page")
            assert len(upstream.got) == 1


async def test_a_server_that_dies_during_a_call_leaves_the_outcome_unknown_and_is_there_for_the_next(tmp_path: Path) -> None:
    async with rig(tmp_path) as found, approved(found, found.sample(MORE)) as servers:
        with pytest.raises(ToolFailed, match="ended with 3") as failed:
            await ran(found, "sample_die", text="now")
        assert failed.value.reason == "crashed"
        assert (await ran(found, "sample_add", a=1, b=1)).data == {"structured": {"result": 2}}
        assert servers.get("sample").state == "ready"


async def test_progress_of_a_call_is_heard(tmp_path: Path) -> None:
    async with rig(tmp_path) as found, approved(found, found.sample(MORE)) as servers:
        heard: list[tuple[float, float | None, str]] = []
        server = servers.get("sample")
        slow = server.pins.approved["slow"]
        async with asyncio.timeout(60):
            await server.call(slow, {"steps": 3}, call(), lambda *step: heard.append(step))
        assert (3.0, 3.0, "step") in heard


async def test_a_call_that_is_cancelled_is_cancelled_at_the_server(tmp_path: Path) -> None:
    code = f"{RAW}\nanswers([TOOL], lambda asked: open('began', 'w').close())\n"
    async with rig(tmp_path) as found, approved(found, found.written(code)):
        place = tmp_path / "servers/sample"
        task = asyncio.create_task(ran(found, "sample_act", text="x"))
        await until(lambda: (place / "began").exists())
        task.cancel()
        await until(lambda: (place / "cancelled").exists())


async def test_a_server_that_nobody_calls_is_stopped_and_comes_back_when_it_is_called(tmp_path: Path) -> None:
    bounds = Bounds(idle_s=0.2, handshake_s=60, grace_s=0.5)
    async with rig(tmp_path) as found, approved(found, found.sample(), bounds=bounds) as servers:
        await until(lambda: servers.get("sample").state == "idle")
        assert (await ran(found, "sample_add", a=1, b=1)).data == {"structured": {"result": 2}}


async def test_a_call_that_comes_while_a_server_is_being_stopped_goes_to_the_next(tmp_path: Path) -> None:
    async with rig(tmp_path) as found, approved(found, found.sample()) as servers:
        first = await servers.get("sample").connected()
        stopping = asyncio.create_task(first.close())
        await asyncio.sleep(0)  # it has been told, and has done nothing about it yet
        assert (await ran(found, "sample_add", a=1, b=1)).data == {"structured": {"result": 2}}
        assert await servers.get("sample").connected() is not first
        await stopping


async def test_the_tools_are_there_at_the_next_start_without_the_server_being_asked(tmp_path: Path) -> None:
    async with rig(tmp_path) as found:
        settings = found.sample()
        async with approved(found, settings):
            pass
        found.groups.clear()
        again = found.servers()
        await again.change({"sample": settings})
        assert found.tool("sample_add").manifest.name == "sample_add"
        assert again.get("sample").state == "idle"
        await again.change({})
        assert found.groups["mcp:sample"] == ()
        await again.close()


async def test_a_broken_server_affects_no_other(tmp_path: Path) -> None:
    async with rig(tmp_path) as found:
        servers = found.servers()
        broken = found.written("raise SystemExit('it cannot start')", "broken")
        lost = found.sample(name="lost", read=["relative"])
        (found.place / "home/mcp").mkdir()
        (found.place / "home/mcp/torn.json").write_text("{")
        await servers.change({"broken": broken, "lost": lost, "torn": found.sample(name="torn"), "good": found.sample(name="good")})
        changes = await servers.get("good").review()
        servers.get("good").approve(frozenset(change.hash for change in changes.waiting))
        assert (await ran(found, "good_add", a=1, b=1)).data == {"structured": {"result": 2}}
        await until(lambda: any("it cannot start" in line for line in servers.warnings))
        await until(lambda: any("expected a whole path" in line for line in servers.warnings))
        assert any("torn.json cannot be read" in line for line in servers.warnings)
        await servers.close()


async def test_a_program_that_the_box_does_not_see_is_told_with_what_to_do(tmp_path: Path) -> None:
    program = tmp_path / "tools" / "bin" / "serve"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    async with rig(tmp_path) as found:
        servers = found.servers()
        nowhere, outside = (found.written("", "server", command=[command]) for command in ("no-such-server", str(program)))
        await servers.change({"nowhere": nowhere, "out": outside})
        await until(lambda: any("this machine has no such program; install it" in line for line in servers.warnings))
        told = f"serve is there, but its box does not see it; add it with `--read {tmp_path}/tools`"
        await until(lambda: any(told in line for line in servers.warnings))
        await servers.close()
