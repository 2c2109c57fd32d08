"""Tests that an owner writes for policies."""

import pytest
from tests.policy.bench import SHIPPED, tool

from daimon.abi.errors import BadInput
from daimon.abi.tool import Capability
from daimon.policy.agents import Agents
from daimon.policy.cases import Outcome, World
from daimon.policy.source import Source
from daimon.testing.clock import START

TOOLS = (tool(Capability.SENDS, name="send"), tool(name="look"))


def run(text: str) -> list[Outcome]:
    return list(World(SHIPPED, Agents({}, TOOLS), TOOLS, START).run(Source("mine.toml", text)))


def test_a_case_takes_agent_and_tool_as_they_are() -> None:
    [met, missed] = run(
        '[[case]]\ntool = "send"\nbasis = "clean"\nexpect = "allow"\n[[case]]\nname = "b"\ntool = "send"\nexpect = "deny"\n'
    )
    assert met.is_met
    assert (missed.is_met, missed.place, missed.name, missed.ruling.verdict) == (False, "mine.toml: case 2", "b", "ask")


def test_the_right_verdict_by_the_wrong_policy_is_not_as_expected() -> None:
    [outcome] = run('[[case]]\ntool = "look"\nbasis = "harmless"\nexpect = "allow"\npolicy = "assistant.shown"\n')
    assert not outcome.is_met


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("case = 1 2", "not valid TOML"),
        ('[[case]]\ntool = "send"\nexpct = "allow"', "case.0.expect"),
        ('[[case]]\ntool = "send"\nbasis = "luck"\nexpect = "allow"', "found 'luck'"),
        ('[[case]]\ntool = "sned"\nexpect = "allow"', "there is no tool 'sned'"),
    ],
)
def test_a_mistake_in_a_test_file_is_told_with_its_place(text: str, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        run(text)
