"""The first rules: what is consequential is asked, the rest is allowed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from daimon.abi.event import Address
from daimon.abi.ids import HOME_SPACE, OWNER, SELF, Conversation, Key
from daimon.abi.judgement import Situation
from daimon.abi.tool import CONSEQUENTIAL, Call, Capability, Effect, Manifest
from daimon.policy.rules import StandingRules
from daimon.testing.clock import START

HERE = Situation(Call(Key("t1:0"), HOME_SPACE, OWNER, SELF, Conversation(HOME_SPACE, "main"), Address("local", "main"), START))


def manifest(*capabilities: Capability, effect: Effect = Effect.PURE) -> Manifest:
    return Manifest(name="tool", description="does", parameters={}, effect=effect, capabilities=capabilities)


@pytest.mark.parametrize("capability", Capability)
def test_what_leaves_the_machine_spends_deletes_or_grants_is_asked(capability: Capability) -> None:
    gate = StandingRules().judge(manifest(capability), {}, HERE)
    assert gate.verdict == ("ask" if capability.value in ("sends", "spends", "deletes", "grants") else "allow")


def test_a_tool_that_can_do_nothing_is_allowed() -> None:
    assert StandingRules().judge(manifest(), {}, HERE).verdict == "allow"


def test_the_question_says_what_the_tool_does() -> None:
    gate = StandingRules().judge(manifest(Capability.SPENDS, Capability.READS_PRIVATE, Capability.SENDS), {}, HERE)
    assert (gate.verdict, gate.reason) == ("ask", "It sends, spends.")


def test_every_verdict_carries_the_version_of_the_rules() -> None:
    rules = StandingRules()
    assert {rules.judge(manifest(*given_), {}, HERE).version for given_ in ([], [Capability.SENDS])} == {rules.version}


@given(st.lists(st.sampled_from(Capability)), st.sampled_from(Effect), st.dictionaries(st.text(), st.integers()))
def test_the_same_question_has_the_same_answer_and_one_consequence_is_enough(
    capabilities: list[Capability], effect: Effect, arguments: dict[str, JsonValue]
) -> None:
    asked = manifest(*capabilities, effect=effect)
    gate = StandingRules().judge(asked, arguments, HERE)
    assert gate == StandingRules().judge(asked, arguments, HERE)
    assert (gate.verdict == "ask") == bool(CONSEQUENTIAL & set(capabilities))
