"""How far the agent is in a chat: what the owner hears, and what others do."""

import asyncio

from pydantic import JsonValue
from tests.kernel.rig import Tool, kernel

from daimon.abi.ids import PrincipalId
from daimon.abi.tool import Call, Result
from daimon.gateway import underway
from daimon.kernel.decide import Limits
from daimon.testing.clock import ManualClock
from daimon.testing.model import ScriptedModel, calls, says

DIG = ("dig", {"text": "gold"})


async def test_the_owner_hears_which_tool_is_used_and_others_that_it_goes_on() -> None:
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def dig(arguments: dict[str, JsonValue], call: Call) -> Result:
        begun.set()
        await may_end.wait()
        return Result({})

    async with kernel(model=ScriptedModel([calls(DIG), says("done")]), tools=[Tool("dig", behaviour=dig)], clock=ManualClock()) as rig:
        said = await rig.say("dig", principal=PrincipalId("bob"))
        async with asyncio.timeout(60):
            await begun.wait()
        now = rig.clock.now()
        assert await underway.told(rig.journal, "main", now, True) == "At work for 0 ms, 1 tool call so far; right now it uses dig."
        assert await underway.told(rig.journal, "main", now, False) == "At work on it for 0 ms."
        may_end.set()
        await rig.rested(said)
        assert await underway.told(rig.journal, "main", now, True) == underway.NOT_RUNNING


async def test_others_do_not_hear_what_is_waited_for() -> None:
    script = [calls(DIG), says("done")]
    async with kernel(model=ScriptedModel(script), tools=[Tool("dig")], clock=ManualClock(), limits=Limits(active_s=0.0)) as rig:
        await rig.rested(await rig.say("dig", principal=PrincipalId("bob")))
        now = rig.clock.now()
        assert "Shall it go on?" in await underway.told(rig.journal, "main", now, True)
        assert await underway.told(rig.journal, "main", now, False) == "It waits, and goes on as soon as it may."
