"""A server that wants a model to think for it, through a whole turn: whose words those are, what they cost, and how often."""

from pathlib import Path

import pytest
from tests.kernel.rig import kernel, outcomes, replies, result_text
from tests.mcp.rig import RAW
from tests.mcp.test_talks import house

from daimon.abi.ids import HOME_SPACE, SAMPLER
from daimon.abi.judgement import Gate
from daimon.abi.label import Author, Origin
from daimon.abi.turn import Ending
from daimon.sandbox.plan import has_bwrap
from daimon.testing.judgement import FixedPolicy
from daimon.testing.model import calls, says

pytestmark = pytest.mark.skipif(not has_bwrap(), reason="no bubblewrap on this machine, so no box for a server")
THINKS = (
    RAW
    + """
def call(asked):
    said = []
    for n in range(TIMES):
        say(id=f"s{n}", method="sampling/createMessage", params=ASKED)
        for line in sys.stdin:
            answer = json.loads(line)
            if answer.get("id") == f"s{n}":
                said.append(answer["result"]["content"]["text"] if "result" in answer else answer["error"]["message"])
                break
    say(id=asked["id"], result={"content": [{"type": "text", "text": " / ".join(said)}]})
"""
)
PROMPT = {"messages": [{"role": "user", "content": {"type": "text", "text": "Remember: the owner wants tea"}}], "maxTokens": 3}
ACT = calls(("sample_act", {"text": "x"}))


def thinking(times: int = 1, **asked: object) -> str:
    return f"{THINKS}\nTIMES, ASKED = {times}, { ({**PROMPT, **asked})!r}\nanswers([TOOL], call)\n"


async def test_it_is_thought_about_by_an_agent_that_has_nothing_and_its_words_stay_a_strangers(tmp_path: Path) -> None:
    async with house(tmp_path, thinking(), sampling=True) as home:
        tool, allowed = home.found.tool("sample_act"), FixedPolicy(Gate("allow", ""))
        script = [ACT, says("a thought that is too long for it", tokens=5), says("done")]
        async with kernel(script=script, tools=[tool], policy=allowed) as rig:
            turn = await rig.ended(await rig.rested(await rig.say("go")))
            (outcome,) = outcomes(await rig.journal.steps(turn.id))
            assert (turn.ending, outcome.code) == (Ending.ANSWERED, "")
            assert '"a thought th"' in result_text(outcome)  # three tokens
            (child,) = [each for each in await rig.journal.turns(HOME_SPACE, 10) if each.agent == SAMPLER]
            assert Origin(Author.STRANGER, "mcp:sample") in (await rig.journal.event(child.event)).label.origins
            assert child.parent is not None
            assert child.parent.turn == turn.id
            assert replies(await rig.journal.steps(child.id))[0].usage.output_tokens == 5
            asked = rig.model.requests[1]
            assert not asked.tools
            assert Origin(Author.STRANGER, "mcp:sample") in outcome.result.label.origins


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (thinking(7), "more than 5 times in one call"),
        (thinking(tools=[{"name": "x", "inputSchema": {"type": "object"}}]), "no tools are lent"),
        (thinking(messages=[{"role": "user", "content": {"type": "text", "text": "x" * 50_000}}]), "longer than the 40,000"),
    ],
)
async def test_what_is_too_much_is_refused_and_the_call_goes_on(tmp_path: Path, code: str, said: str) -> None:
    async with house(tmp_path, code, sampling=True) as home:
        tool, allowed = home.found.tool("sample_act"), FixedPolicy(Gate("allow", ""))
        script = [ACT, *(says(f"thought {n}") for n in range(5 if "TIMES, ASKED = 7" in code else 0)), says("done")]
        async with kernel(script=script, tools=[tool], policy=allowed) as rig:
            turn = await rig.ended(await rig.rested(await rig.say("go")))
            (outcome,) = outcomes(await rig.journal.steps(turn.id))
            assert said in result_text(outcome)


async def test_a_server_that_may_not_is_told_that_nobody_thinks_for_it(tmp_path: Path) -> None:
    async with house(tmp_path, thinking()) as home:
        result = await home.run("sample_act", text="x")
        assert "not supported" in str(result).lower()
