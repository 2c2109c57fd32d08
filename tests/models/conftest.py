"""A conversation with reflex through the loop's side of the port: its calls are answered by plain functions."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field

import anyio
import pytest
from pydantic import JsonValue

from daimon.abi.label import UNLABELLED, Label
from daimon.abi.message import Message, Part, Role, Text, ToolCall, ToolResult
from daimon.abi.model import Delta, Reply, Request
from daimon.abi.tool import Effect, Manifest
from daimon.models.reflex import Reflex

Answer = Callable[[dict[str, JsonValue]], JsonValue]
ARGUMENTS = {"cancel_reminder": ["timer"], "forget": ["note"]}


class Failure(Exception):
    def __init__(self, code: str, message: str, retryable: bool = False) -> None:
        self.error = {"code": code, "message": message, "retryable": retryable}


@dataclass
class Talk:
    tools: dict[str, Answer]
    messages: list[Message] = field(default_factory=list)
    calls: list[tuple[str, JsonValue]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    label: Label = UNLABELLED
    """Of what is said."""

    def say(self, *parts: str | Part) -> str:
        """Runs a turn to its end: what was answered, "" for silence."""
        self.messages.append(Message(Role.USER, tuple(Text(p) if isinstance(p, str) else p for p in parts), self.label))
        for _ in range(6):
            deltas, reply = self.ask()
            if reply.parts:
                self.messages.append(Message(Role.ASSISTANT, reply.parts))
            if reply.finish != "tools":
                text = "".join(p.text for p in reply.parts if isinstance(p, Text))
                assert "".join(delta.text for delta in deltas) == text
                return text
            for call in Message(Role.ASSISTANT, reply.parts).calls:
                self.messages.append(Message(Role.TOOL, (self._use(call),)))
        raise AssertionError(f"the turn does not end: {self.calls}")

    def ask(self) -> tuple[list[Delta], Reply]:
        request = Request(tuple(self.messages), tuple(_manifest(name) for name in self.tools))

        async def collect() -> list[Delta | Reply]:
            return [piece async for piece in Reflex().stream(request)]

        *deltas, reply = anyio.run(collect)
        assert isinstance(reply, Reply)
        return [delta for delta in deltas if isinstance(delta, Delta)], reply

    def _use(self, call: ToolCall) -> ToolResult:
        assert isinstance(call.arguments, dict)
        self.calls.append((call.tool, call.arguments))
        self.ids.append(call.call)
        try:
            body: JsonValue = {"ok": True, "data": self.tools[call.tool](call.arguments)}
        except Failure as failure:
            return ToolResult(call.call, call.tool, (Text(json.dumps({"ok": False, "error": failure.error})),), is_error=True)
        return ToolResult(call.call, call.tool, (Text(json.dumps(body)),))


def _manifest(name: str) -> Manifest:
    return Manifest(
        name=name, description=name, parameters={"type": "object", "required": list(ARGUMENTS.get(name, ()))}, effect=Effect.PURE
    )


NOTES: list[JsonValue] = [{"id": "n1", "text": "my locker code is 4711", "at": "2026-11-01T10:00:00+00:00"}]
REMINDERS: list[JsonValue] = [
    {"timer": "t1", "at": "2026-11-15T08:00:00+00:00", "about": "dentist"},
    {"timer": "t2", "at": "2026-11-16T08:00:00+00:00", "about": "call mum"},
]
NOW = "2026-11-11T10:00:00+01:00"


@pytest.fixture
def talk() -> Talk:
    return Talk(
        {
            "now": lambda a: {"time": NOW, "zone": a.get("zone", "Europe/Berlin"), "weekday": "Wednesday"},
            "remember": lambda a: {"note": "n9", "text": a["text"]},
            "recall": lambda _: {"notes": NOTES},
            "forget": lambda a: {"note": a["note"]},
            "remind": lambda a: {"timer": "t9", **a},
            "reminders": lambda _: {"reminders": REMINDERS},
            "cancel_reminder": lambda a: {"cancelled": a["reminder"]},
            "ask_owner": lambda _: {"choice": "none of them", "text": ""},
            "status": lambda _: {"turns": {"done": 3, "parked": 1}, "events": 12, "timers": 2, "bytes": 4096},
        }
    )


@pytest.fixture
def failure() -> type[Failure]:
    return Failure
