"""Stating a plan: what is recorded, and what is refused in words."""

import pytest

from daimon.abi.errors import ToolFailed
from daimon.abi.ids import HOME_SPACE, OWNER, SELF, Conversation, Key
from daimon.abi.plan import Draw, Plan, Planned
from daimon.abi.tool import Call, Result, StatePlan
from daimon.testing.clock import START
from daimon.tools.planning import planning_tools

CALL = Call(Key("t1:0"), HOME_SPACE, OWNER, SELF, Conversation(HOME_SPACE, "main"), None, START)
KNOWN = {"mail_send", "mail_read"}


async def stated(*steps: str, reads: tuple[str, ...] = ()) -> Plan:
    (plan,) = planning_tools(lambda: KNOWN)
    result = await plan.run({"steps": [*steps], "reads": [*reads]}, CALL)
    assert isinstance(result, Result)
    (operation,) = result.operations
    assert isinstance(operation, StatePlan)
    return operation.plan


async def test_steps_and_reads_are_recorded_with_their_sources() -> None:
    plan = await stated("mail_send(to='bob@x.org', text=own())", reads=("mail_read(folder='inbox')",))
    assert plan == Plan((Planned("mail_send", {"to": "'bob@x.org'", "text": "own()"}),), (Draw("mail_read", {"folder": "'inbox'"}),))


async def test_a_plan_may_say_that_nothing_is_needed() -> None:
    assert await stated() == Plan()


@pytest.mark.parametrize(
    ("step", "why"),
    [
        ("mail_sned(to='bob')", "did you mean 'mail_send'"),
        ("frobnicate()", "there is no tool 'frobnicate'"),
        ("mail_send('bob')", "not of the form"),
        ("mail_send(to=open('x'))", "cannot be read like this"),
    ],
)
async def test_a_plan_that_cannot_be_kept_is_refused_with_the_reason(step: str, why: str) -> None:
    with pytest.raises(ToolFailed) as refused:
        await stated(step)
    assert refused.value.reason == "bad_plan"
    assert why in str(refused.value)
