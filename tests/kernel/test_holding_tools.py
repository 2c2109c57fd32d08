"""Who holds what, who acts without a question, and who may say yes."""

from tests.kernel.rig import Tool, kernel, outcomes

from daimon.abi.ids import OWNER, PrincipalId
from daimon.abi.step import Answered, Asked
from daimon.abi.tool import Capability, Effect, Send
from daimon.abi.turn import State
from daimon.kernel.wall import OWNERS_DESK
from daimon.policy.agents import Terms
from daimon.testing.model import ScriptedModel, calls, says


async def test_a_tool_that_the_agent_does_not_hold_is_neither_shown_nor_run() -> None:
    held, other = Tool("look"), Tool("peek")
    script = [calls(("peek", {"text": "a"})), calls(("look", {"text": "b"})), says("done")]
    async with kernel(script=script, tools=[held, other], terms=Terms(tools=("lo*",))) as rig:
        _, steps = await rig.ask("look")
        assert isinstance(rig.model, ScriptedModel)
        assert {manifest.name for request in rig.model.requests for manifest in request.tools} == {"look"}
        assert [outcome.code for outcome in outcomes(steps)] == ["not_held", ""]
        assert (len(held.calls), len(other.calls)) == (1, 0)


async def test_an_assistant_acts_for_its_owner_without_a_question() -> None:
    send = Tool("send", Effect.UNSAFE, capabilities=(Capability.SENDS,))
    async with kernel(script=[calls(("send", {"text": "bob"})), says("sent")], tools=[send], terms=Terms("assistant")) as rig:
        turn, _ = await rig.ask("write to bob")
        assert turn.state is State.DONE
        assert len(send.calls) == 1


async def test_only_the_owner_may_permit_what_somebody_else_asks_for() -> None:
    send, guest = Tool("send", Effect.UNSAFE, capabilities=(Capability.SENDS,)), PrincipalId("guest")
    async with kernel(script=[calls(("send", {"text": "bob"})), says("sent")], tools=[send], terms=Terms("assistant")) as rig:
        turn = await rig.rested(await rig.say("write to bob", principal=guest))
        asked = next(step for step in await rig.journal.steps(turn.id) if isinstance(step.body, Asked))
        assert [operation.to for operation in asked.body.operations if isinstance(operation, Send)] == [OWNERS_DESK]
        await rig.answer(asked.ref, "allow", principal=guest)
        await rig.answer(asked.ref, "allow")
        await rig.ended(turn)
        answers = [step.body.by for step in await rig.journal.steps(turn.id) if isinstance(step.body, Answered)]
        assert (answers, len(send.calls)) == ([OWNER], 1)
