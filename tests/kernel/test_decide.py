"""The scheduler policy: a table of what is decided when, and what holds for every view."""

import json
from dataclasses import fields
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.abi.values import members, numbers, of

from daimon.abi.codec import adapter, decode, encode
from daimon.abi.ids import AgentId, StepRef, TurnId
from daimon.abi.money import Account, Amount, Limit, Scope
from daimon.abi.step import (
    AskHuman,
    Complete,
    Continue,
    Decided,
    Decision,
    HandOff,
    ModelFailed,
    Park,
    RefreshContext,
    Short,
    StepBody,
    UseTools,
    Wait,
)
from daimon.abi.tool import HandOver
from daimon.abi.turn import Ending
from daimon.kernel.decide import ABANDONED, VERSION, Limits, View, decide
from daimon.testing.clock import START

LIMITS = Limits(steps=10, active_s=60.0, errors=3, pause_share=0.9)
WAIT = Wait("answer", StepRef(TurnId("t1"), 4), START)
OVER = HandOver(AgentId("specialist"), "knows better")
SHORT = Short(
    "smart", Account(Scope.DAY, "2026-01-01", Limit(cost=Decimal(2)), START), Amount(0, Decimal("1.95")), Amount(),
    Amount(900, Decimal("0.1")), "reached",
)  # fmt: skip
NO_KEY = ModelFailed("", "no_model", "the key was refused", is_lasting=True)
AWAY = ModelFailed("", "unavailable", "overloaded", retry_at=START)

amounts = st.builds(Amount, st.integers(0, 10**9), st.decimals(0, 1000, places=9))
some_limits = st.builds(Limit, st.none() | st.integers(0, 10**9), st.none() | st.decimals(0, 1000, places=9))
shorts = st.builds(
    Short, st.text(max_size=5), st.builds(Account, st.sampled_from(Scope), st.text(max_size=5), some_limits, st.none() | st.just(START)),
    amounts, amounts, amounts, st.sampled_from(["reached", "held", "unknown_price"]),
)  # fmt: skip

views = st.builds(
    View,
    steps=st.integers(0, 20), replies=st.integers(0, 5), tokens=st.integers(0, 300), active_s=st.floats(0, 200), errors=st.integers(0, 6),
    cost=st.decimals(0, 5, places=2), extensions=st.integers(0, 3), ready=st.lists(st.integers(0, 50), max_size=3).map(tuple),
    waits=st.lists(of(Wait), max_size=2).map(tuple), has_answer=st.booleans(), is_silent=st.booleans(), is_stale=st.booleans(),
    is_stopped=st.booleans(), is_interrupted=st.booleans(), hand_over=st.none() | of(HandOver),
    short=st.none() | shorts, failure=st.none() | of(ModelFailed),
)  # fmt: skip
limits = st.builds(
    Limits,
    steps=st.integers(1, 20), active_s=st.floats(0.1, 200), errors=st.integers(1, 6), pause_share=st.floats(0.01, 1),
)  # fmt: skip


# -- what is decided when


@pytest.mark.parametrize(
    ("view", "decision"),
    [
        (View(), Continue()),
        (View(is_stopped=True), Complete(Ending.STOPPED, "somebody asked it to stop")),
        (View(is_interrupted=True), Complete(Ending.INTERRUPTED, "a newer message took its place")),
        (View(ready=(3, 4)), UseTools((3, 4))),
        (View(waits=(WAIT,)), Park("waiting", (WAIT,))),
        (View(has_answer=True), Complete(Ending.ANSWERED)),
        (View(has_answer=True, is_silent=True), Complete(Ending.SILENT)),
        (View(hand_over=OVER), HandOff(OVER.agent, OVER.reason)),
        (View(is_stale=True), RefreshContext("what the model last saw has changed")),
        (View(steps=9, tokens=89, cost=Decimal("1.99"), active_s=53.9, errors=2), Continue()),
        (View(is_silent=True), Continue()),
    ],
    ids=lambda each: each.kind if not isinstance(each, View) else "",
)
def test_what_is_decided_when(view: View, decision: Decision) -> None:
    assert decide(view, LIMITS) == decision


@pytest.mark.parametrize(
    ("view", "words"),
    [
        (View(steps=10), "10 steps were taken, the limit is 10 (limits.steps)"),
        (View(steps=11), "11 steps were taken"),
    ],
)
def test_steps_end_a_turn_and_say_so(view: View, words: str) -> None:
    decision = decide(view, LIMITS)
    assert isinstance(decision, Complete)
    assert decision.ending is Ending.LIMIT
    assert words in decision.reason


@pytest.mark.parametrize(
    ("view", "words"),
    [
        (View(active_s=54.0), "54 of 60 seconds (limits.active_s)"),
        (View(errors=3), "3 attempts in a row failed (limits.errors)"),
        (View(active_s=108.0, extensions=1), "108 of 60 seconds"),
        (View(failure=NO_KEY), "No model can answer. the key was refused"),
    ],
)
def test_time_errors_and_no_model_ask_a_person_and_silence_means_stop(view: View, words: str) -> None:
    decision = decide(view, LIMITS)
    assert isinstance(decision, AskHuman)
    assert words in decision.question.text
    assert decision.question.options == ("stop", "continue")


def test_a_person_who_lets_it_go_on_gives_it_as_much_again() -> None:
    assert isinstance(decide(View(active_s=107.9, extensions=1), LIMITS), Continue)


def test_what_it_cost_is_the_budgets_business() -> None:
    assert isinstance(decide(View(cost=Decimal(10**9), tokens=10**9), Limits()), Continue)


def test_at_a_limit_of_money_the_owner_is_asked_and_time_alone_brings_it_back() -> None:
    decision = decide(View(short=SHORT), LIMITS)
    assert isinstance(decision, AskHuman)
    assert (decision.question.type, decision.question.options, decision.question.expires_at) == ("money", ("wait", "raise", "stop"), START)


def test_a_model_that_is_away_for_a_while_is_asked_again_by_itself() -> None:
    decision = decide(View(failure=AWAY), LIMITS)
    assert isinstance(decision, AskHuman)
    assert (decision.question.options, decision.question.expires_at) == (("retry", "stop"), START)


ORDER = [
    (View(is_stopped=True), Complete),
    (View(is_interrupted=True), Complete),
    (View(ready=(1,)), UseTools),
    (View(waits=(WAIT,)), Park),
    (View(has_answer=True), Complete),
    (View(steps=10), Complete),
    (View(short=SHORT), AskHuman),
    (View(failure=AWAY), AskHuman),
    (View(errors=3), AskHuman),
    (View(hand_over=OVER), HandOff),
    (View(is_stale=True), RefreshContext),
]


@pytest.mark.parametrize("first", range(len(ORDER) - 1))
def test_what_a_person_wants_comes_first_then_what_is_under_way_then_the_limits_then_the_work(first: int) -> None:
    every = {
        field.name: getattr(view, field.name)
        for view, _ in ORDER[first:]
        for field in fields(view)
        if getattr(view, field.name) != getattr(View(), field.name)
    }
    assert decide(View(**every), LIMITS) == decide(ORDER[first][0], LIMITS)


# -- what holds for every view


@given(views, limits)
def test_every_view_has_one_decision_and_always_the_same(view: View, limits: Limits) -> None:
    decision = decide(view, limits)
    assert isinstance(decision, members(Decision))
    assert decide(view, limits) == decision


@given(views, limits)
def test_a_stop_is_obeyed_whatever_else_is_the_case(view: View, limits: Limits) -> None:
    stopped = View(**{**{field.name: getattr(view, field.name) for field in fields(view)}, "is_stopped": True})
    decision = decide(stopped, limits)
    assert isinstance(decision, Complete)
    assert decision.ending is Ending.STOPPED


@given(views)
def test_the_inputs_of_a_decision_are_json_and_can_be_recorded(view: View) -> None:
    inputs = view.as_inputs()
    assert json.loads(json.dumps(inputs, allow_nan=False)) == inputs
    recorded = Decided(decide(view, Limits()), VERSION, inputs)
    assert decode(StepBody, encode(StepBody, recorded)) == recorded


@settings(deadline=None)
@given(views, limits)
def test_a_decision_can_be_recomputed_from_its_record(view: View, limits: Limits) -> None:
    read: Any = adapter(View).validate_python(json.loads(json.dumps(view.as_inputs())))
    assert read == view
    assert decide(read, limits) == decide(view, limits)


def test_an_empty_view_leaves_nothing_to_record() -> None:
    assert View().as_inputs() == {}


@given(numbers)
def test_only_what_differs_is_recorded(active_s: float) -> None:
    assert View(active_s=active_s, tokens=5).as_inputs() == {"tokens": 5, **({"active_s": active_s} if active_s else {})}


@pytest.mark.parametrize("doubt", [{"short": SHORT}, {"failure": NO_KEY}, {"failure": AWAY}, {"waits": (WAIT,)}, {"errors": 3}])
def test_what_nobody_waits_for_ends_where_others_would_ask_or_wait(doubt: dict[str, Any]) -> None:
    assert decide(View(**doubt, is_unattended=True), LIMITS) == Complete(Ending.LIMIT, ABANDONED)
    assert isinstance(decide(View(**doubt), LIMITS), AskHuman | Park)
