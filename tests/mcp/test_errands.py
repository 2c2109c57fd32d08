"""Long tasks of a server, through whole turns: parked, woken, after a restart, stopped. The server keeps them in its directory."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.kernel.rig import Rig as Kernel
from tests.kernel.rig import kernel, outcomes, result_text
from tests.kernel.test_recovery import journal_at
from tests.mcp.rig import QUICK, Rig, rig, until

from daimon.abi.event import Late
from daimon.abi.ids import StepRef
from daimon.abi.judgement import Gate
from daimon.abi.turn import Ending, State, Turn
from daimon.machine.clock import SystemClock
from daimon.mcp.errands import Errand, Errands
from daimon.mcp.servers import Around, Servers
from daimon.mcp.tools import Lasting
from daimon.sandbox.plan import has_bwrap
from daimon.testing.judgement import FixedPolicy
from daimon.testing.model import calls, says

pytestmark = pytest.mark.skipif(not has_bwrap(), reason="no bubblewrap on this machine, so no box for a server")
CODE = """
import json, os, sys
def say(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
    sys.stdout.flush()
os.chdir(os.path.dirname(__file__))
def task():
    status = "cancelled" if os.path.exists("cancelled") else "completed" if os.path.exists("go") else "working"
    return {"taskId": "t:1", "status": status, "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttl": None}
TOOL = {"name": "act", "description": "Takes long.", "execution": {"taskSupport": "optional"},
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}
for line in sys.stdin:
    asked = json.loads(line)
    match asked.get("method"):
        case "initialize":
            can = {"tools": {}, "tasks": {"cancel": {}, "requests": {"tools": {"call": {}}}}}
            own = {"serverInfo": {"name": "raw", "version": "1"}, "capabilities": can}
            say(id=asked["id"], result={"protocolVersion": "2025-11-25", **own})
        case "tools/list":
            say(id=asked["id"], result={"tools": [TOOL]})
        case "tools/call" if "task" in asked["params"]:
            with open("begun", "a") as file:
                file.write("x")
            say(id=asked["id"], result={"task": task()})
        case "tasks/get":
            if os.path.exists("forgot"):
                say(id=asked["id"], error={"code": -32602, "message": "no such task"})
            else:
                say(id=asked["id"], result=task())
        case "tasks/result":
            if os.path.exists("forgot"):
                say(id=asked["id"], error={"code": -32602, "message": "no such task"})
            else:
                say(id=asked["id"], result={"content": [{"type": "text", "text": "all done"}]})
        case "tasks/cancel":
            open("cancelled", "w").close()
            say(id=asked["id"], result=task())
        case _ if "id" in asked:
            say(id=asked["id"], error={"code": -32601, "message": "no such method"})
"""
ACT = calls(("sample_act", {"text": "x"}))
MANY = FixedPolicy(Gate("allow", ""))


class Hasty(SystemClock):
    """Nobody waits long for the server here."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(min(seconds, 0.01))


@asynccontextmanager
async def working(found: Rig) -> AsyncIterator[tuple[Servers, Errands]]:
    minding = Errands(Hasty())
    around = Around(shop=found.shop, clock=found.clock, blobs=found.blobs, bounds=QUICK, lasting=Lasting(errands=minding))
    servers = Servers(around, found.groups.__setitem__, lambda _: frozenset())
    try:
        await servers.change({"sample": found.written(CODE)})
        waiting = (await servers.get("sample").review()).waiting
        servers.get("sample").approve(frozenset(change.hash for change in waiting))
        yield servers, minding
    finally:
        minding.close()
        await servers.close()


@asynccontextmanager
async def minded(home: Kernel, servers: Servers, minding: Errands) -> AsyncIterator[None]:
    """What the gateway does beside a kernel."""

    async def wake(to: StepRef) -> None:
        await home.send(Late({"text": ""}), resolves=to)

    minding.wake = wake
    watching = [asyncio.ensure_future(work) for work in servers.watching(home.feed, home.journal)]
    try:
        yield
    finally:
        for task in watching:
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)


def place(tmp_path: Path) -> Path:
    return tmp_path / "servers" / "sample"


async def parked(home: Kernel) -> Turn:
    turn = await home.rested(await home.say("go"))
    assert turn.state is State.PARKED, [result_text(each) for each in outcomes(await home.journal.steps(turn.id))]
    return turn


async def test_a_turn_waits_for_a_task_and_goes_on_with_its_result(tmp_path: Path) -> None:
    async with rig(tmp_path) as found, working(found) as (servers, minding):
        tool = found.tool("sample_act")
        async with kernel(script=[ACT, says("done")], tools=[tool], policy=MANY) as home, minded(home, servers, minding):
            turn = await parked(home)
            (place(tmp_path) / "go").touch()
            turn = await home.ended(turn)
            (outcome,) = outcomes(await home.journal.steps(turn.id))
            assert (turn.ending, outcome.code, (place(tmp_path) / "begun").read_text()) == (Ending.ANSWERED, "", "x")
            assert "all done" in result_text(outcome)


async def test_a_task_that_is_over_at_once_parks_nothing(tmp_path: Path) -> None:
    async with rig(tmp_path) as found, working(found):
        (place(tmp_path) / "go").touch()
        async with kernel(script=[ACT, says("done")], tools=[found.tool("sample_act")], policy=MANY) as home:
            turn = await home.rested(await home.say("go"))
            assert turn.state is State.DONE
            assert "all done" in result_text(outcomes(await home.journal.steps(turn.id))[0])


@pytest.mark.parametrize(("sign", "said"), [("go", "all done"), ("forgot", "no such task")])
async def test_after_a_restart_the_result_is_fetched_if_the_server_still_has_it(tmp_path: Path, sign: str, said: str) -> None:
    file = tmp_path / "journal.db"
    async with rig(tmp_path) as found:
        async with working(found) as (servers, minding), journal_at(file) as journal:
            tools = [found.tool("sample_act")]
            async with kernel(script=[ACT], tools=tools, policy=MANY, journal=journal) as home, minded(home, servers, minding):
                turn = await parked(home)
        (place(tmp_path) / sign).touch()
        async with working(found) as (servers, minding), journal_at(file) as journal:
            tools = [found.tool("sample_act")]
            async with kernel(script=[says("done")], tools=tools, policy=MANY, journal=journal) as home, minded(home, servers, minding):
                turn = await home.ended(turn)
                (outcome,) = outcomes(await journal.steps(turn.id))
                assert said in result_text(outcome)
                assert (place(tmp_path) / "begun").read_text() == "x"


async def test_the_end_of_the_turn_ends_the_task_at_the_server(tmp_path: Path) -> None:
    async with rig(tmp_path) as found, working(found) as (servers, minding):
        tool = found.tool("sample_act")
        async with kernel(script=[ACT], tools=[tool], policy=MANY) as home, minded(home, servers, minding):
            turn = await parked(home)
            await home.stop(turn.id)
            await until((place(tmp_path) / "cancelled").exists)
            assert (await home.ended(turn)).ending is Ending.STOPPED


def test_a_handle_names_a_task_whatever_its_id_holds() -> None:
    assert Errand.of(Errand("notes", "a:b:c").handle) == Errand("notes", "a:b:c")
    assert Errand.of("mcp:notes:1") is None
