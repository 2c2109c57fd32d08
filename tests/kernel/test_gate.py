"""No tool without a manifest, and no way to a tool but through the gate."""

import ast
from pathlib import Path

import pytest
from tests.kernel.rig import Tool

import daimon
from daimon.abi.errors import Misconfigured
from daimon.abi.ids import HOME_SPACE, OWNER, SELF, Conversation, Key
from daimon.abi.judgement import Gate, Situation
from daimon.abi.label import owned
from daimon.abi.message import ToolCall
from daimon.abi.ports import Granted, WaitFor
from daimon.abi.step import Happened
from daimon.abi.tool import Call, Effect, Rate
from daimon.kernel.dispatch import Dispatch
from daimon.kernel.held import Holding
from daimon.policy.floor import StandingFloor
from daimon.testing.clock import ManualClock
from daimon.testing.ids import CountingIds
from daimon.testing.journal import MemoryJournal
from daimon.testing.judgement import FixedLimiter, FixedPolicy, FixedReader
from daimon.testing.memory import FakeMemory, FakeTexts
from daimon.testing.redactor import PlainRedactor
from daimon.tools.clock import clock_tools
from daimon.tools.notes import notes_tools
from daimon.tools.people import people_tools
from daimon.tools.registry import Registry
from daimon.tools.reminders import reminder_tools
from daimon.tools.status import status_tools

SOURCE = Path(daimon.__file__).parent
CLOCK = ManualClock()


def call() -> Call:
    where = Conversation(HOME_SPACE, "main")
    return Call(Key("t1:3"), HOME_SPACE, OWNER, SELF, where, None, CLOCK.now(), owned("test"))


def gate(tool: Tool, policy: FixedPolicy, limiter: FixedLimiter | None = None) -> Dispatch:
    holding = Holding(MemoryJournal(CLOCK, CountingIds()))
    floor, limiter = StandingFloor(FixedReader()), limiter or FixedLimiter(Granted())
    return Dispatch(Registry([tool]), floor, policy, limiter, CLOCK, holding, PlainRedactor())


def test_every_tool_of_the_house_is_known_here_and_has_a_strict_manifest() -> None:
    journal = MemoryJournal(CLOCK, CountingIds())
    registry = Registry(
        (*clock_tools("UTC"), *notes_tools(FakeMemory(), FakeTexts()), *reminder_tools(journal), *people_tools(), *status_tools(journal))
    )
    assert [manifest.name for manifest in registry.manifests()] == [
        "ask_owner", "cancel_reminder", "forget", "now", "recall", "remember", "remind", "reminders", "status",
    ]  # fmt: skip
    for manifest in registry.manifests():
        assert manifest.parameters["additionalProperties"] is False
        assert manifest.description
        assert isinstance(manifest.effect, Effect)


def test_what_has_no_manifest_is_not_registered() -> None:
    class Bare:
        async def run(self, arguments: object, call: object) -> None: ...

    with pytest.raises(Misconfigured):
        Registry([Bare()])  # type: ignore[list-item]


def test_only_the_gate_fetches_a_tool() -> None:
    """Whoever asks the registry for a tool can run it: nobody but `kernel/dispatch.py` does."""
    fetching = {
        file.relative_to(SOURCE).as_posix()
        for file in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "get"
        and isinstance(node.func.value, ast.Attribute)
        and node.func.value.attr == "tools"
    }
    assert fetching == {"kernel/dispatch.py"}


def test_only_boot_and_the_gate_hold_the_tools() -> None:
    """The registry is made in tooling; the rest of the system sees manifests at most."""
    naming = {
        file.relative_to(SOURCE).as_posix()
        for file in SOURCE.rglob("*.py")
        if "tools.registry" in file.read_text(encoding="utf-8") and not file.is_relative_to(SOURCE / "tools")
    }
    assert naming == {"tooling.py", "boot/gate.py"}


@pytest.mark.parametrize("verdict", ["deny", "ask"])
async def test_what_the_policy_does_not_allow_never_reaches_the_tool(verdict: str) -> None:
    tool = Tool("echo")
    policy = FixedPolicy(Gate(verdict, "because"))  # type: ignore[arg-type]
    intended = gate(tool, policy).admit(ToolCall("c1", "echo", {"text": "x"}), Situation(call()))
    assert (intended.gate.verdict, intended.gate.reason) == (verdict, "because")
    assert [manifest.name for manifest, _, _ in policy.asked] == ["echo"]
    assert tool.calls == []


async def test_an_allowed_call_runs_with_its_own_key() -> None:
    tool = Tool("echo")
    dispatch = gate(tool, FixedPolicy(Gate("allow")))
    intended = dispatch.admit(ToolCall("c1", "echo", {"text": "x"}), Situation(call()))
    outcome = await dispatch.run(3, intended, Situation(call()))
    assert isinstance(outcome, Happened)
    assert (outcome.code, intended.key, [c.key for c in tool.calls]) == ("", "t1:3", ["t1:3"])


async def test_a_call_that_was_allowed_is_not_run_if_the_rules_of_today_deny_it() -> None:
    tool = Tool("echo")
    intended = gate(tool, FixedPolicy(Gate("allow"))).admit(ToolCall("c1", "echo", {"text": "x"}), Situation(call()))
    outcome = await gate(tool, FixedPolicy(Gate("deny", "not any more"))).run(3, intended, Situation(call()))
    assert isinstance(outcome, Happened)
    assert (outcome.code, tool.calls) == ("denied", [])


async def test_a_call_that_a_person_allowed_is_run_though_the_rules_would_ask() -> None:
    tool = Tool("echo")
    dispatch = gate(tool, FixedPolicy(Gate("ask")))
    outcome = await dispatch.run(3, dispatch.admit(ToolCall("c1", "echo", {"text": "x"}), Situation(call())), Situation(call()))
    assert isinstance(outcome, Happened)
    assert (outcome.code, len(tool.calls)) == ("", 1)


async def test_a_limiter_that_says_wait_keeps_the_tool_from_running() -> None:
    tool = Tool("echo", rate=Rate(1, 60.0))
    dispatch = gate(tool, FixedPolicy(Gate("allow")), FixedLimiter(WaitFor(42.0)))
    outcome = await dispatch.run(3, dispatch.admit(ToolCall("c1", "echo", {"text": "x"}), Situation(call())), Situation(call()))
    assert isinstance(outcome, Happened)
    assert (outcome.code, tool.calls) == ("rate_limited", [])
