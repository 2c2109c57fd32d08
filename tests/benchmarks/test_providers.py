"""The benchmark of providers can say no: what is broken on purpose is counted as unhandled, and what is whole is not."""

import asyncio
import copy
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import providers
import pytest
from lab.encounter import KEY, Case, Sight, meet
from lab.handling import judge
from lab.process import CHECKOUT
from lab.trouble import HALF, troubles

from daimon.testing.provider.faults import FAULTS

KNOWN = troubles(FAULTS)
HICCUP = Case("500", KNOWN["500"], "compatible", "once")
Trace = dict[str, Any]


@pytest.mark.parametrize("is_quick", [True, False])
def test_every_fault_meets_every_shape(is_quick: bool) -> None:
    tried = {(case.name, case.vendor) for case in providers.plan(is_quick)}
    assert tried >= {(fault, shape) for fault in FAULTS for shape in ("compatible", "anthropic", "google")}


# -- the checker, on the traces of a Daimon that is whole ------------------------------------------------------------------


@pytest.fixture(scope="module")
def recovered(tmp_path_factory: pytest.TempPathFactory) -> Sight:
    """It was asked again after an error of the provider."""
    return asyncio.run(meet(HICCUP, tmp_path_factory.mktemp("recovered") / "home"))


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> tuple[Case, Sight]:
    """The key was refused, the owner was asked, and it went on."""
    case = Case("401", KNOWN["401"], "compatible", "once")
    return case, asyncio.run(meet(case, tmp_path_factory.mktemp("asking") / "home"))


def test_a_daimon_that_recovered_is_acquitted(recovered: Sight) -> None:
    assert (judge(HICCUP, recovered).outcome, judge(HICCUP, recovered).problems) == ("retried", [])


def test_a_daimon_that_asked_is_acquitted(asking: tuple[Case, Sight]) -> None:
    assert (judge(*asking).outcome, judge(*asking).problems) == ("asked", [])


def first(trace: Trace, kind: str) -> Trace:
    return next(step["body"] for step in trace["steps"] if step["body"]["kind"] == kind)


def never_rests(trace: Trace) -> None:
    trace["turn"] |= {"state": "running", "ending": None}


def parks_for_nothing(trace: Trace) -> None:
    trace["turn"] |= {"state": "parked", "ending": None}


def gives_up(trace: Trace) -> None:
    trace["turn"] |= {"state": "failed", "ending": "failed"}


def says_half(trace: Trace) -> None:
    first(trace, "reply")["parts"] = [{"text": HALF[:20], "kind": "text"}]


def says_something_else(trace: Trace) -> None:
    first(trace, "reply")["parts"] = [{"text": "It is done.", "kind": "text"}]


def names_another_reason(trace: Trace) -> None:
    first(trace, "model_failed")["code"] = "auth"


def shows_the_key(trace: Trace) -> None:
    first(trace, "model_failed")["message"] += KEY


def loses_a_step(trace: Trace) -> None:
    del trace["steps"][2]


def settles_nothing(trace: Trace) -> None:
    first(trace, "settle")["kind"] = "checkpoint"


def changes_the_event(trace: Trace) -> None:
    trace["event"]["body"]["parts"][0]["text"] = "Please"


def runs_half_a_call(trace: Trace) -> None:
    n = len(trace["steps"])
    intent = {"kind": "intent", "tool": "remember", "arguments": {"text": "The key of the"}, "call": "c", "gate": {"verdict": "allow"}}
    outcome = {"kind": "outcome", "intent": n, "how": "ran", "code": ""}
    trace["steps"] += [{"n": n, "body": intent}, {"n": n + 1, "body": outcome}]


@pytest.mark.parametrize(
    "harm",
    [
        never_rests, parks_for_nothing, gives_up, says_half, says_something_else, names_another_reason, shows_the_key, loses_a_step,
        settles_nothing, changes_the_event, runs_half_a_call,
    ],
)  # fmt: skip
def test_a_turn_that_went_wrong_is_unhandled(recovered: Sight, harm: Callable[[Trace], None]) -> None:
    trace = copy.deepcopy(recovered.ended)
    harm(trace)
    assert judge(HICCUP, replace(recovered, rested=trace, ended=trace)).problems


@pytest.mark.parametrize("wrong", [{"under_way": 1}, {"turns": 2}, {"requests": 3}, {"requests": 1}])
def test_what_was_left_doubled_or_not_written_down_is_unhandled(recovered: Sight, wrong: dict[str, int]) -> None:
    assert judge(HICCUP, replace(recovered, **wrong)).problems


def test_a_question_that_names_no_remedy_is_unhandled(asking: tuple[Case, Sight]) -> None:
    case, sight = asking
    questions = copy.deepcopy(sight.questions)
    questions[0]["question"]["text"] = "No model can answer. Shall I try again?"
    assert judge(case, replace(sight, questions=questions)).problems


def test_a_provider_that_is_asked_again_too_early_is_unhandled(recovered: Sight) -> None:
    assert judge(replace(HICCUP, trouble=replace(HICCUP.trouble, waits_s=30.0)), recovered).problems


# -- the whole, with a system that is broken on purpose --------------------------------------------------------------------


async def test_a_daimon_that_waits_for_ever_is_unhandled(tmp_path: Path) -> None:
    hang = replace(KNOWN["hang"], patience_s=600.0)
    case = Case("hang", hang, "compatible", "once", "kernel.drain_s = 0", rest_s=1.0)
    assert judge(case, await meet(case, tmp_path / "home")).outcome == "unhandled"


WORKER = """
import asyncio, sys
from pathlib import Path
from lab.encounter import Case, meet
from lab.handling import judge
from lab.trouble import troubles
case = Case("500", troubles(["500"])["500"], "compatible", "always", 'kernel.drain_s = 0\\nextensions = ["sabotage"]', rest_s=10.0)
print(judge(case, asyncio.run(meet(case, Path(sys.argv[1])))).outcome)
"""


def test_a_router_that_never_learns_is_unhandled(tmp_path: Path) -> None:
    paths = os.pathsep.join(str(CHECKOUT / part) for part in ("benchmarks", "src", "tests/benchmarks"))
    done = subprocess.run(
        [sys.executable, "-c", WORKER, str(tmp_path / "home")], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": paths, "LAB_SABOTAGE": "unteachable"},
    )  # fmt: skip
    assert done.stdout.split() == ["unhandled"]
