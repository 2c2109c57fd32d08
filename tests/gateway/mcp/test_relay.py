"""`daimon mcp serve` as a process, driven by the SDK's client over its pipes."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError
from tests.gateway.live import Live, live
from tests.gateway.mcp.calling import DEADLINE_S, let_in


def environment(token: str) -> dict[str, str]:
    return {**os.environ, "DAIMON_MCP_TOKEN": token, "PYTHONPATH": str(Path(__file__).parents[3] / "src")}


def run(home: Path, token: str, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "daimon", "mcp", *words, "--home", str(home)]
    return subprocess.run(command, env=environment(token), input="", capture_output=True, text=True, timeout=2 * DEADLINE_S, check=False)


def refused(home: Path, token: str) -> str:
    done = run(home, token, "serve")
    assert done.returncode != 0
    assert done.stdout == ""
    return done.stderr


def test_a_program_that_starts_a_command_asks_and_is_answered(daimon: Live) -> None:
    made = run(daimon.home.path, "", "token", "starter", "--rights", "chat,approve")
    assert "say yes in your place" in made.stderr
    seen: list[float] = []

    async def told(done: float, total: float | None, what: str | None) -> None:
        seen.append(done)

    async def talk() -> tuple[set[str], str]:
        args = ["-m", "daimon", "mcp", "serve", "--home", str(daimon.home.path)]
        command = StdioServerParameters(command=sys.executable, args=args, env=environment(made.stdout.strip()))
        with anyio.fail_after(DEADLINE_S):
            async with Client(command, mode="legacy") as client:
                tools = {each.name for each in (await client.list_tools()).tools}
                answer = await client.call_tool("ask", {"text": "say over the pipe"}, progress_callback=told)
                return tools, answer.content[0].text  # type: ignore[union-attr]

    tools, answer = asyncio.run(talk())
    assert tools == {"ask", "send_event", "remember", "approvals"}
    assert json.loads(answer)["reply"] == "over the pipe"
    assert seen[0] == 1
    assert seen == sorted(seen)


def test_without_a_gateway_it_says_so(tmp_path: Path) -> None:
    assert "daimon up" in refused(tmp_path / "nobody", "x")


def test_with_a_wrong_token_or_none_it_says_so_at_once(daimon: Live) -> None:
    assert "refuses this token" in refused(daimon.home.path, "wrong")
    assert "there is no token" in refused(daimon.home.path, "")


def test_it_outlives_a_restart_of_the_gateway(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with live(home) as first:
        token = let_in(first, "survivor", "chat").token
    starts = (live(home), live(home))

    async def talk() -> list[object]:
        args = ["-m", "daimon", "mcp", "serve", "--home", str(home)]
        command = StdioServerParameters(command=sys.executable, args=args, env=environment(token))
        told: list[object] = []
        with anyio.fail_after(3 * DEADLINE_S):
            await anyio.to_thread.run_sync(starts[0].__enter__)
            async with Client(command, mode="legacy") as client:
                told.append((await client.call_tool("ask", {"text": "say one"})).structured_content["reply"])  # type: ignore[index]
                await anyio.to_thread.run_sync(starts[0].__exit__, None, None, None)
                try:
                    told.append((await client.call_tool("ask", {"text": "say two"})).is_error)
                except MCPError:
                    told.append(True)
                await anyio.to_thread.run_sync(starts[1].__enter__)
                told.append((await client.call_tool("ask", {"text": "say three"})).structured_content["reply"])  # type: ignore[index]
        await anyio.to_thread.run_sync(starts[1].__exit__, None, None, None)
        return told

    assert asyncio.run(talk()) == ["one", True, "three"]
