"""What the gate says, in words, and on what it stands."""

import pytest
from tests.policy.bench import MINE, STRANGE, judge, situation, tool

from daimon.abi.ids import SELF, AgentId, PrincipalId
from daimon.abi.judgement import Grant
from daimon.abi.tool import Capability
from daimon.policy.agents import Agents, Terms

SEND, READ = tool(Capability.SENDS, name="send"), tool(Capability.READS_OUTSIDE, name="read")
RECALL = tool(Capability.READS_PRIVATE, name="recall")


def test_an_assistant_acts_where_the_owner_alone_led_to_it() -> None:
    gate = judge(SEND).judge(SEND, {}, situation(MINE))
    assert (gate.verdict, gate.by, gate.rules) == ("allow", "clean", ("assistant.shown",))
    assert gate.version == judge(SEND).version


def test_after_a_strangers_words_the_same_call_is_asked_with_a_reason() -> None:
    gate = judge(SEND).judge(SEND, {}, situation(STRANGE))
    assert (gate.verdict, gate.rules) == ("ask", ("ask.unshown", "otherwise"))
    assert gate.reason == "It sends. Nothing in it is shown to be what you asked for."


def test_harmless_calls_go_on_after_a_strangers_words() -> None:
    assert judge(READ).judge(READ, {}, situation(STRANGE)).verdict == "allow"


def test_a_plan_counts_on_a_clean_context_and_is_asked_on_any_other() -> None:
    plan = tool(Capability.PLANS, name="plan")
    assert judge(plan).judge(plan, {}, situation(MINE)).verdict == "allow"
    assert judge(plan).judge(plan, {}, situation(STRANGE)).verdict == "ask"


def test_a_tool_that_the_agent_does_not_hold_is_not_called() -> None:
    asked = judge(SEND, READ, tools=("re*",))
    gate = asked.judge(SEND, {}, situation())
    assert (gate.verdict, gate.code) == ("deny", "not_held")
    assert "agents.daimon.tools" in gate.reason
    assert (asked.holds(SELF, "send"), asked.holds(SELF, "read")) == (False, True)
    assert asked.judge(READ, {}, situation()).verdict == "allow"


def test_all_three_together_are_asked_until_the_owner_allows_them() -> None:
    gate = judge(SEND, READ, RECALL).judge(SEND, {}, situation())
    assert (gate.verdict, gate.rules, gate.by) == ("ask", ("ask.all_three", "otherwise"), "clean")
    assert gate.reason.startswith("It sends. The agent can read what is private")
    assert judge(SEND, READ, RECALL, may_hold_all=True).judge(SEND, {}, situation()).verdict == "allow"
    assert judge(SEND, READ, RECALL, tools=("send", "read")).judge(SEND, {}, situation()).verdict == "allow"


def test_a_grant_covers_even_an_agent_that_holds_all_three() -> None:
    grant = Grant("7", SELF, (Capability.SENDS,), "send")
    gate = judge(SEND, READ, RECALL).judge(SEND, {}, situation(STRANGE, grants=(grant,)))
    assert (gate.verdict, gate.by, gate.rules) == ("allow", "grant:7", ("grant:7",))


def test_an_agent_that_nobody_wrote_down_is_a_reader() -> None:
    asked = judge(SEND, READ)
    scout = AgentId("scout")
    assert asked.judge(READ, {}, situation(agent=scout)).verdict == "allow"
    assert asked.judge(SEND, {}, situation(agent=scout)).verdict == "ask"


def test_for_somebody_else_the_owner_is_asked() -> None:
    bob = PrincipalId("bob")
    assert judge(SEND).judge(SEND, {}, situation(principal=bob)).verdict == "ask"
    assert judge(READ).judge(READ, {}, situation(principal=bob)).verdict == "allow"


def test_what_the_owners_own_policy_allows_says_so() -> None:
    own = '@id("own.send") permit (principal, action == Action::"act", resource == Tool::"send");'
    gate = judge(SEND, own=own).judge(SEND, {}, situation(STRANGE))
    assert (gate.verdict, gate.by) == ("allow", "policy:own.send")


@pytest.mark.parametrize("says", ['@says("Not on my watch.")', ""])
def test_a_forbidden_call_names_the_policy(says: str) -> None:
    gate = judge(SEND, own=f'@id("own.no") {says} forbid (principal, action, resource == Tool::"send");').judge(SEND, {}, situation())
    assert (gate.verdict, gate.code, gate.rules) == ("deny", "forbidden", ("own.no",))
    assert gate.reason == "the owner's policy forbids it (own.no)" + (": Not on my watch." if says else "")


def test_others_can_be_put_in_force_while_it_runs() -> None:
    asked = judge(SEND)
    other = judge(SEND, own='@id("own.no") forbid (principal, action, resource);')
    asked.change(other.rules, Agents({SELF: Terms("assistant")}, [SEND]))
    assert asked.judge(SEND, {}, situation()).verdict == "deny"
    assert asked.version == other.version
