"""Tests that an owner writes for policies."""

import re
from pathlib import Path

import pytest
from tests.policy.bench import SHIPPED, tool

from daimon.abi.errors import BadInput
from daimon.abi.tool import Capability
from daimon.law import rules_of
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
        ('[[case]]\ntool = "send"\nexpct = "allow"', "case 1: expect: Field required"),
        ('[[case]]\ntool = "send"\nbasis = "luck"\nexpect = "allow"', "found 'luck'"),
        ('[[case]]\ntool = "sned"\nexpect = "allow"', "mine.toml: case 1: there is no tool 'sned'"),
        ('[[case]]\ntol = "send"\nexpect = "allow"', "mine.toml: case 1: unknown key 'tol'; known are name, agent"),
        ("[[cases]]\nexpect = 1", "mine.toml: unknown key 'cases'; known are"),
    ],
)
def test_a_mistake_in_a_test_file_is_told_with_its_place(text: str, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        run(text)


def test_a_tool_without_consequences_is_harmless_unless_the_case_says_otherwise() -> None:
    [look, send, asked] = run(
        '[[case]]\ntool = "look"\nexpect = "allow"\n[[case]]\ntool = "send"\nexpect = "ask"\n'
        '[[case]]\ntool = "look"\nbasis = "none"\nexpect = "ask"\n'
    )
    assert [look.is_met, send.is_met, asked.is_met] == [True, True, True]


def test_the_example_of_the_page_does_what_its_test_says_and_opens_nothing_else() -> None:
    page = (Path(__file__).parents[2] / "docs" / "policy.md").read_text(encoding="utf-8")
    policies, case = re.findall(r"```cedar\n(.*?)```", page, re.DOTALL)[0], re.findall(r"```\n(\[\[case\]\].*?)```", page, re.DOTALL)[0]
    rules, tools = rules_of({"own.cedar": policies}), (tool(Capability.SENDS, name="mail_send"),)
    rules.check()
    nowhere = '[[case]]\nname = "to nobody knows whom"\ntool = "mail_send"\nexpect = "ask"\n'
    assert all(outcome.is_met for outcome in World(rules, Agents({}, tools), tools, START).run(Source("page", case + nowhere)))
