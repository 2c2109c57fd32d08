"""Grants are policies: they cover what they name, nothing more, and no value can write a policy of its own."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.policy.bench import SHIPPED, STRANGE, situation, tool

from daimon.abi.ids import SELF, AgentId, PrincipalId
from daimon.abi.judgement import Grant
from daimon.abi.tool import Capability
from daimon.law import rules_of
from daimon.policy.agents import Agent
from daimon.policy.cedar import check, read
from daimon.policy.facts import Facts
from daimon.policy.grants import as_policy, as_sources
from daimon.policy.names import canonical
from daimon.testing.clock import START

AGENT = Agent(SELF, "assistant", acts=True)
SEND = tool(Capability.SENDS, name="send")
GRANT = Grant(
    "1", SELF, (Capability.SENDS,), "send", ("bob@x.org", "amy@x.org"), ("doc1",), "feed", ("recall",), until=START + timedelta(1)
)
FITS = Facts(basis="none", destinations=("bob@x.org",), targets=("doc1",), drawn=("recall",))


def verdict(grant: Grant, facts: Facts = FITS, job: str = "feed", **more: Any) -> str:
    return SHIPPED.decide(AGENT, more.pop("tool", SEND), situation(STRANGE, grants=(grant,), job=job, **more), facts).verdict


def test_a_grant_lets_pass_what_it_names() -> None:
    assert verdict(GRANT) == "allow"
    assert verdict(GRANT, replace(FITS, drawn=())) == "allow"
    assert verdict(Grant("2", SELF, (Capability.SENDS,))) == "allow"


@pytest.mark.parametrize(
    ("change", "facts"),
    [
        ({"agent": AgentId("other")}, FITS),
        ({"capabilities": (Capability.SPENDS,)}, FITS),
        ({"capabilities": ()}, FITS),
        ({"tool": "other"}, FITS),
        ({"job": "other"}, FITS),
        ({"until": START}, FITS),
        ({"by": PrincipalId("bob")}, FITS),
        ({}, replace(FITS, destinations=("bob@x.org", "eve@x.org"))),
        ({}, replace(FITS, destinations=())),
        ({}, replace(FITS, targets=("doc2",))),
        ({}, replace(FITS, drawn=("recall", "inbox"))),
        ({}, replace(FITS, is_active=True)),
    ],
)
def test_what_goes_beyond_a_grant_is_asked(change: dict[str, Any], facts: Facts) -> None:
    assert verdict(replace(GRANT, **change), facts) == "ask"


def test_a_grant_does_not_serve_somebody_else() -> None:
    assert verdict(GRANT, principal=PrincipalId("bob")) == "ask"


def test_a_grant_lifts_what_is_not_planned_but_no_forbid() -> None:
    assert verdict(GRANT, replace(FITS, basis="off_plan")) == "allow"
    rules = rules_of({"own.cedar": '@id("no") forbid (principal, action, resource == Tool::"send");'})
    assert rules.decide(AGENT, SEND, situation(STRANGE, grants=(GRANT,), job="feed"), FITS).policies == ("no",)


def test_a_grant_that_is_gone_counts_no_more() -> None:
    assert verdict(GRANT) == "allow"
    assert SHIPPED.decide(AGENT, SEND, situation(STRANGE, job="feed"), FITS).verdict == "ask"


HOSTILE = 'a"); permit(principal, action, resource); //'


@pytest.mark.parametrize("scope", ["id", "tool", "job", "destinations", "targets", "contents", "agent", "by"])
def test_no_value_becomes_policy(scope: str) -> None:
    value: Any = (HOSTILE,) if scope in ("destinations", "targets", "contents") else HOSTILE
    hostile = replace(GRANT, **{scope: value})
    [statement] = read(as_sources((hostile,))[0])
    assert statement.id == f"grant:{hostile.id}"
    assert verdict(hostile, replace(FITS, destinations=("eve@x.org",))) == "ask"


def test_a_hostile_destination_still_names_itself() -> None:
    assert verdict(replace(GRANT, destinations=(HOSTILE,)), replace(FITS, destinations=(canonical(HOSTILE),))) == "allow"


@given(st.text(), st.text(min_size=1), st.text(min_size=1))
def test_any_text_makes_one_policy_that_fits_that_text_alone(id_: str, destination: str, other: str) -> None:
    grant = Grant(id_, SELF, (Capability.SENDS,), destinations=(destination,))
    statements = read(as_sources((grant,))[0])
    check(statements, SHIPPED._schema)
    assert len(statements) == 1
    assert verdict(grant, replace(FITS, destinations=(canonical(destination),), targets=())) == "allow"
    assert (verdict(grant, replace(FITS, destinations=(canonical(other),), targets=())) == "allow") == (
        canonical(other) == canonical(destination)
    )


def test_a_grant_says_in_words_what_it_allows() -> None:
    assert "bob" in as_policy(GRANT)
    [statement] = read(as_sources((GRANT,))[0])
    assert statement.says == (
        "owner allowed daimon ahead of time: sends, with send, to bob@x.org, amy@x.org, on doc1, with text from recall, "
        f"in the automation feed, until {START + timedelta(1):%Y-%m-%d %H:%M %Z}."
    )


def test_a_grant_for_words_to_somebody_does_not_cover_things_for_them() -> None:
    grant = Grant("g", SELF, (Capability.SENDS,), destinations=("bob@x.org",))
    assert verdict(grant, replace(FITS, targets=())) == "allow"
    assert verdict(grant, replace(FITS, targets=("secret.docx",))) == "ask"
