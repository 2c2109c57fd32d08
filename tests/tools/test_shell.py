"""Running programs by tool call: what the model is told, and what is recorded. With real boxes."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.kernel.rig import Rig, kernel, outcomes, result_text
from tests.workshop_rig import FETCH, Shop, workshop

from daimon.abi.errors import ToolFailed
from daimon.abi.label import Author
from daimon.abi.progress import unseen
from daimon.abi.step import Asked, Step
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Result, Tool
from daimon.abi.turn import State, Turn
from daimon.sandbox.plan import has_bwrap
from daimon.testing.model import calls, says
from daimon.tools.registry import Registry
from daimon.tools.shell import shell_tools
from daimon.tools.terminal import Served, terminal_tools

needs_bwrap = pytest.mark.skipif(not has_bwrap(), reason="bwrap is not installed: no box can be made")


def tools_of(shop: Shop) -> dict[str, Tool]:
    return {tool.manifest.name: tool for tool in shell_tools(shop.pool, shop.workshop.sandboxes.places())}


def all_tools(shop: Shop) -> tuple[Tool, ...]:
    return (*terminal_tools(Served(shop.pool, shop.workshop.outputs, unseen)), *tools_of(shop).values())


async def ran(tool: Tool, call: Call, **arguments: Any) -> tuple[dict[str, Any], Result]:
    result = await tool.run(arguments, call)
    assert isinstance(result, Result)
    assert isinstance(result.data, dict)
    return dict(result.data), result


@needs_bwrap
async def test_the_model_is_told_what_a_command_said_and_no_more(tmp_path: Path, call: Call) -> None:
    async with workshop(tmp_path) as shop:
        run = tools_of(shop)["run_online"]
        assert (await ran(run, call, command="echo hello", hosts=["open.test"]))[0] == {"exit": 0, "output": "hello\n"}
        told, _ = await ran(run, call, command="echo bad >&2; exit 3", hosts=["open.test"])
        assert told == {"exit": 3, "output": "", "errors": "bad\n"}
        late, _ = await ran(run, call, command="sleep 1000", timeout_s=0.2, hosts=["open.test"])
        assert late["end"] == "stopped: it took too long"
        left, _ = await ran(run, call, command="sleep 1000 > /dev/null 2>&1 &", hosts=["open.test"])
        assert len(left["ended_with_it"]) == 1
        (shop.workspace / "sub").mkdir()
        assert (await ran(run, call, command="basename $PWD", directory="sub", hosts=["open.test"]))[0]["output"] == "sub\n"
        aside, _ = await ran(run, call, command="echo evil > .envrc", hosts=["open.test"])
        assert aside["set_aside"] == [".envrc → envrc.set-aside-1"]
        long, _ = await ran(run, call, command="yes | head -c 1000000", hosts=["open.test"])
        assert "bytes left out" in long["output"]
        await shop.pool.restart(f"{call.agent}:{call.conversation}", "the owner wanted it")
        lost, _ = await ran(run, call, command="true", hosts=["open.test"])
        assert lost["lost"].startswith("the owner wanted it: what ran in the box")


@needs_bwrap
async def test_a_host_is_reached_while_the_command_runs_and_recorded(tmp_path: Path, call: Call) -> None:
    async with workshop(tmp_path) as shop:
        online = tools_of(shop)["run_online"]
        told, result = await ran(online, call, command=f"{FETCH} http://open.test/p", hosts=["open.test"])
        assert told == {"exit": 0, "output": "200\n"}
        [touched] = result.touched
        assert touched.kind == "network"
        assert touched.what == "GET open.test:80/p"
        assert touched.outcome.startswith("passed, ")
        assert touched.label is not None
        assert set(touched.label.origins) >= set(call.label.origins)


@needs_bwrap
async def test_a_host_that_was_not_named_is_refused_and_said(tmp_path: Path, call: Call) -> None:
    async with workshop(tmp_path) as shop:
        online = tools_of(shop)["run_online"]
        told, result = await ran(online, call, command=f"{FETCH} http://other.test/", hosts=["open.test"])
        assert told["exit"] != 0
        assert told["network"][0].startswith("other.test: ")
        assert [(each.outcome.partition(":")[0], each.label) for each in result.touched] == [("refused", None)]


async def test_a_host_outside_every_role_is_refused_with_those_there_are(tmp_path: Path, call: Call) -> None:
    async with workshop(tmp_path) as shop:
        online = tools_of(shop)["run_online"]
        for host in ("evil.test", "wide.test", "notwide.test", "open.test.evil.test"):
            with pytest.raises(ToolFailed, match=r"is no host that you may reach; these are: open.test, \*.wide.test"):
                await online.run({"command": "true", "hosts": [host]}, call)
        assert shop.pool.standing() == ()


async def test_without_a_place_there_is_no_way_to_ask_for_a_network(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        assert shell_tools(shop.pool, ()) == ()


async def test_the_manifests_say_what_the_policy_must_know(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        tools = {manifest.name: manifest for manifest in Registry(tools_of(shop).values()).manifests()}
        assert tools["run_online"].effect is Effect.UNSAFE
        assert Capability.SENDS in tools["run_online"].capabilities
        assert tools["run_online"].roles["hosts"] is ArgumentRole.DESTINATION
        assert {tool.roles["command"] for tool in tools.values()} == {ArgumentRole.COMMAND}


async def questions(rig: Rig, turn: Turn, number: int) -> list[Step]:
    """As soon as there are so many."""

    async def are_asked() -> bool:
        found[:] = [step for step in await rig.journal.steps(turn.id) if isinstance(step.body, Asked)]
        return len(found) == number and (await rig.journal.turn(turn.id)).state is State.PARKED

    found: list[Step] = []
    await rig.until(are_asked)
    return found


@needs_bwrap
async def test_through_a_whole_turn_the_journal_has_what_was_reached_with_its_label(tmp_path: Path) -> None:
    script = (
        calls(("run", {"command": "echo made > file; cat file"})),
        calls(("run_online", {"command": f"{FETCH} http://open.test/x", "hosts": ["open.test"]})),
        says("done"),
    )
    async with workshop(tmp_path) as shop, kernel(script=script, tools=all_tools(shop), timeout_s=60.0) as rig:
        turn, _ = await rig.ask("make a file and tell open.test")
        for number in (1, 2):
            assert turn.state is State.PARKED  # the rules ask before anything runs, and again before it sends
            steps = await questions(rig, turn, number)
            await rig.answer(steps[-1].ref, "allow")
        made, sent = outcomes(await rig.journal.steps((await rig.ended(turn)).id))
        assert json.loads(result_text(made))["data"] == {"exit": 0, "output": "made\n"}
        assert [touched.what for touched in sent.touched] == ["GET open.test:80/x"]
        label = sent.touched[0].label
        assert label is not None
        assert Author.OWNER in {origin.author for origin in label.origins}
