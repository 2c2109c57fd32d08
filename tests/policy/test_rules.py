"""Policies in Cedar: what the shipped ones promise, what the owner's add, and what happens to a broken one."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import get_args

import cedarpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.policy.bench import MINE, SHIPPED, STRANGE, situation, tool

from daimon import law
from daimon.abi.errors import Misconfigured
from daimon.abi.ids import SELF, PrincipalId
from daimon.abi.tool import Capability, Effect
from daimon.law import rules_of
from daimon.policy.agents import Agent, Agents
from daimon.policy.cases import World
from daimon.policy.facts import Basis, Facts
from daimon.policy.rules import _context, _described
from daimon.policy.source import Source
from daimon.testing.clock import START

ASSISTANT = Agent(SELF, "assistant", tools=frozenset({"tool"}), acts=True)
PRINCIPALS = ("owner", "bob", "service:github", "agent:x")


def test_the_shipped_policies_are_without_fault_and_each_says_what_it_means() -> None:
    SHIPPED.check()
    assert all(statement.says and statement.effect == "permit" for statement in SHIPPED.statements)


def test_the_shipped_tests_hold() -> None:
    world = World(SHIPPED, Agents({}, ()), (), START)
    outcomes = list(world.run(Source("default_tests.toml", law.shipped_tests())))
    assert len(outcomes) > 15
    assert [outcome for outcome in outcomes if not outcome.is_met] == []


everything = st.tuples(
    st.lists(st.sampled_from(Capability)), st.sampled_from(get_args(Basis)), st.sampled_from(("assistant", "reader", "cook")),
    st.lists(st.booleans(), min_size=5, max_size=5), st.sampled_from(PRINCIPALS), st.sampled_from((MINE, STRANGE)),
)  # fmt: skip


@given(everything)
def test_nothing_off_plan_passes_and_nothing_else_is_denied(drawn: tuple) -> None:  # type: ignore[type-arg]
    capabilities, basis, role, (private, outside, acts, may, is_active), principal, label = drawn
    agent = Agent(SELF, role, may, private=private, outside=outside, acts=acts)
    manifest, here = tool(*capabilities), situation(label, principal=PrincipalId(principal))
    ruling = SHIPPED.decide(agent, manifest, here, Facts(basis=basis, is_active=is_active))
    assert (ruling.verdict == "deny") == (basis == "off_plan")
    assert not ruling.fault
    if ruling.verdict == "allow" and basis != "harmless":
        assert role == "assistant"
        assert basis in ("clean", "plan", "words")
        assert principal == "owner"
        assert not agent.is_held_back
    assert ruling == SHIPPED.decide(agent, manifest, here, Facts(basis=basis, is_active=is_active))


@given(everything, st.lists(st.text()))
def test_what_the_engine_is_told_is_what_the_schema_promises(drawn: tuple, texts: list[str]) -> None:  # type: ignore[type-arg]
    capabilities, basis, role, (private, outside, acts, may, is_active), principal, label = drawn
    agent = Agent(SELF, role, may, private=private, outside=outside, acts=acts)
    facts = Facts(basis=basis, destinations=tuple(texts), is_active=is_active)
    context = json.dumps(_context(situation(label, principal=PrincipalId(principal)), facts))
    request = {"principal": 'Agent::"daimon"', "action": 'Action::"act"', "resource": 'Tool::"tool"', "context": context}
    entities = json.dumps(_described(agent, tool(*capabilities)))
    found = cedarpy.is_authorized(request, "permit(principal, action, resource);", entities, schema=SHIPPED._schema)
    assert (found.decision, found.diagnostics.errors) == (cedarpy.Decision.Allow, [])


def test_a_forbid_of_the_owner_outweighs_what_is_permitted() -> None:
    own = '@id("no.shop") @says("Never there.") forbid (principal, action, resource) when { context.destinations.contains("shop.org") };'
    rules = rules_of({"own.cedar": own})
    rules.check()
    send, words = tool(Capability.SENDS), Facts(basis="words", destinations=("shop.org",))
    assert rules.decide(ASSISTANT, send, situation(), words).verdict == "deny"
    assert rules.decide(ASSISTANT, send, situation(), words).policies == ("no.shop",)
    assert rules.decide(ASSISTANT, send, situation(), replace(words, destinations=("bob@x.org",))).verdict == "allow"
    assert rules.says("no.shop") == "Never there."


def test_a_forbid_of_acting_leaves_the_question() -> None:
    own = '@id("ask.first") forbid (principal, action == Action::"act", resource == Tool::"tool");'
    ruling = rules_of({"own.cedar": own}).decide(ASSISTANT, tool(Capability.SENDS), situation(), Facts(basis="clean"))
    assert (ruling.verdict, ruling.policies) == ("ask", ("ask.first", "otherwise"))


def test_a_permit_of_the_owner_makes_a_role_of_its_own_useful() -> None:
    own = '@id("cook.orders") permit (principal in Role::"cook", action == Action::"act", resource) when { context.basis == "words" };'
    rules, cook = rules_of({"own.cedar": own}), Agent(SELF, "cook")
    assert rules.decide(cook, tool(Capability.SPENDS), situation(), Facts(basis="words")).verdict == "allow"
    assert rules.decide(cook, tool(Capability.SPENDS), situation(), Facts(basis="none")).verdict == "ask"


@pytest.mark.parametrize(("action", "verdict"), [('action == Action::"act"', "ask"), ("action", "deny")])
def test_a_policy_that_fails_while_it_is_evaluated_denies_that_action(action: str, verdict: str) -> None:
    rules = rules_of({"own.cedar": f'@id("sum") forbid (principal, {action}, resource) when {{ 9223372036854775807 + 1 < 0 }};'})
    rules.check()
    ruling = rules.decide(ASSISTANT, tool(), situation(), Facts(basis="harmless"))
    assert ruling.verdict == verdict
    assert "overflow" in ruling.fault


def test_what_no_engine_can_read_is_denied() -> None:
    ruling = SHIPPED.decide(ASSISTANT, tool(Capability.SENDS), situation(), Facts(basis="words", destinations=("\ud800",)))
    assert ruling.verdict == "deny"
    assert ruling.fault


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("permit(principal, action, resource)", "own.cedar:1", "unexpected end of input"),
        ("// all\n\npermit(principal, action, resource);\nperm(it;", "own.cedar:4", "unexpected token"),
        ('\npermit(principal, action, resource) when { context.base == "x" };', "own.cedar:2", "attribute `base`"),
        ("permit(principal, action, resource) when { 1 };", "own.cedar:1", "expected Bool"),
        ("permit(principal == ?principal, action, resource);", "own.cedar:1", "templates"),
        ('@id("read") permit(principal, action, resource);', "own.cedar:1", "'read' is taken by default.cedar:4"),
        ('@id("grant:1") permit(principal, action, resource);', "own.cedar:1", "kept for grants"),
        ('permit(principal in Rolle::"x", action, resource);', "own.cedar:1", "Rolle"),
    ],
)
def test_a_broken_policy_is_told_with_its_file_line_and_reason(text: str, place: str, reason: str) -> None:
    with pytest.raises(Misconfigured) as told:
        rules_of({"own.cedar": text}).check()
    assert str(told.value).startswith(place)
    assert reason in str(told.value)


def test_semicolons_in_words_and_comments_cut_nothing() -> None:
    own = '// one; two\n@id("a;b") @says("say \\"no; \\" twice;") forbid(principal, action, resource == Tool::"x;y");\n\n// end;'
    [statement] = [s for s in rules_of({"own.cedar": own}).statements if s.place.startswith("own")]
    assert (statement.id, statement.says, statement.place) == ("a;b", 'say "no; " twice;', "own.cedar:2")


def test_the_version_follows_the_texts() -> None:
    forbid = "forbid(principal, action, resource);"
    assert rules_of({}).version == SHIPPED.version
    assert rules_of({"a": forbid}).version == rules_of({"b": forbid}).version != SHIPPED.version
    assert rules_of({"a": forbid}).version != rules_of({"a": f"{forbid} "}).version


def test_the_effect_of_a_tool_can_be_asked_about() -> None:
    own = '@id("unsafe") forbid(principal, action, resource) when { resource.effect == "unsafe" };'
    rules = rules_of({"own.cedar": own})
    assert rules.decide(ASSISTANT, tool(effect=Effect.UNSAFE), situation(), Facts(basis="harmless")).verdict == "deny"
    assert rules.decide(ASSISTANT, tool(effect=Effect.PURE), situation(), Facts(basis="harmless")).verdict == "allow"


@pytest.mark.parametrize(
    "condition",
    [
        "(" * 20_000 + "true" + ")" * 20_000,
        "[" * 20_000 + "]" * 20_000 + " == 1",
        "true" + " && true" * 20_000,
        "context" + ".a" * 20_000,
        "if true then " * 9_000 + "true" + " else false" * 9_000,
    ],
)
def test_a_policy_that_would_overflow_the_engine_is_refused_before_it_sees_it(condition: str) -> None:
    with pytest.raises(Misconfigured, match=r"mine\.cedar:1: this policy cannot be read: it.* at most"):
        rules_of({"mine.cedar": f"forbid(principal, action, resource) when {{ {condition} }};"}).check()


def test_a_long_policy_of_usual_depth_is_read() -> None:
    hosts = ", ".join(f'Tool::"t{n}.a.b.c"' for n in range(2_000))
    known = " || ".join(f'(resource == Tool::"x{n}")' for n in range(100))
    rules = rules_of({"mine.cedar": f"forbid(principal, action, resource) when {{ resource in [{hosts}] && ({known}) }};"})
    rules.check()
    assert rules.statements[-1].effect == "forbid"


def test_a_policy_that_looks_at_the_time_is_asked_each_time_and_others_are_not() -> None:
    until = '@id("late")\nforbid(principal, action, resource) when { context.now >= datetime("2026-01-02T00:00:00Z") };'
    here, manifest, facts = situation(MINE), tool(Capability.WRITES), Facts(basis="harmless")
    early, late = (replace(here, call=replace(here.call, now=datetime(2026, 1, day, tzinfo=UTC))) for day in (1, 3))
    timed = rules_of({"mine.cedar": until})
    assert [timed.decide(ASSISTANT, manifest, each, facts).verdict for each in (early, late, early)] == ["allow", "deny", "allow"]
    timeless = rules_of({})
    assert timeless.decide(ASSISTANT, manifest, early, facts) is timeless.decide(ASSISTANT, manifest, late, facts)
    other = replace(manifest, capabilities=(Capability.SENDS,))
    assert timeless.decide(ASSISTANT, other, late, Facts(basis="none")).verdict == "ask"
    assert timeless.decide(ASSISTANT, manifest, late, Facts(basis="off_plan")).verdict == "deny"
