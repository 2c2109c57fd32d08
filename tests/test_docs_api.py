"""docs/gateway.md is true: its examples are sent to a real gateway and answered as the page says."""

import asyncio
import http.client
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from daimon.abi.ids import EventId
from daimon.abi.turn import State, Turn
from daimon.boot import running
from daimon.config import Home, Settings
from daimon.gateway import wire
from daimon.gateway.client import Client
from daimon.machine.chance import SystemRandom
from daimon.machine.clock import SystemClock
from daimon.machine.ids import SortableIds

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "gateway.md").read_text(encoding="utf-8")
RESTING = (State.DONE, State.FAILED, State.PARKED)
CHORES = ("remind me tomorrow at 9:00 to call mum", "remind me tomorrow at 10:00 to call dad", "cancel my reminder")


@dataclass(frozen=True, slots=True)
class Example:
    method: str
    path: str
    headers: dict[str, str]
    body: str
    status: int
    answer: Any


def examples() -> list[Example]:
    return [_example(block) for block in re.findall(r"^```http\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)]


def _example(block: str) -> Example:
    sent, status, answer = re.split(r"^(\d{3})\n", block, maxsplit=1, flags=re.MULTILINE)
    head, _, body = sent.partition("\n\n")
    first, *lines = head.splitlines()
    method, path = first.split()
    headers = dict(line.split(": ", 1) for line in lines)
    return Example(method, path, headers, body.strip(), int(status), json.loads(answer))


@dataclass(slots=True)
class Caller:
    url: str
    token: str
    client: Client
    names: dict[str, str] = field(default_factory=dict)
    """What EVENT, TURN and QUESTION stand for."""

    def call(self, method: str, path: str, headers: dict[str, str], body: str = "") -> tuple[int, Any]:
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=60)
        try:
            connection.request(method, path, body or None, {"Authorization": f"Bearer {self.token}", **headers})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def named(self, text: str) -> str:
        for name, value in self.names.items():
            text = text.replace(name, value)
        return text

    def rested(self, event: str) -> Turn | None:
        turn = self.client.event(EventId(event)).turn
        return turn if turn is not None and turn.state in RESTING else None

    async def settle(self, event: str) -> None:
        """Waits until the event's turn rests, and remembers what things are called."""
        async with asyncio.timeout(60):
            while not (turn := await asyncio.to_thread(self.rested, event)):  # noqa: ASYNC110 - the API has no event to wait for
                await asyncio.sleep(0.01)
        self.names |= {"EVENT": event, "TURN": turn.id}
        for question in await asyncio.to_thread(self.client.questions):
            self.names["QUESTION"] = str(question.to)


@asynccontextmanager
async def caller(home: Home) -> AsyncIterator[Caller]:
    async with running(home, Settings(), port=0) as daimon:
        yield Caller(daimon.url, home.token(), Client(home.socket))


async def test_every_example_is_answered_as_the_page_says(tmp_path: Path) -> None:
    async with caller(Home(tmp_path / "home")) as daimon:
        for text in CHORES:
            event = json.dumps({"type": "message", "text": text, "conversation": "chores"})
            await daimon.settle((await asyncio.to_thread(daimon.call, "POST", "/v1/events", {}, event))[1]["event"])
        for example in examples():
            path, body = daimon.named(example.path), daimon.named(example.body)
            status, answer = await asyncio.to_thread(daimon.call, example.method, path, example.headers, body)
            assert status == example.status, f"{example.method} {path}: {answer}"
            assert differences(example.answer, answer, f"{example.method} {path}") == []
            if example.status == 202:
                await daimon.settle(answer["event"])


def differences(told: Any, found: Any, place: str) -> list[str]:
    """Where the page and the answer differ. `…` in the page stands for anything."""
    if isinstance(told, str) and "…" in told:
        pattern = ".*".join(map(re.escape, told.split("…")))
        return [] if told == "…" or re.fullmatch(pattern, str(found), re.DOTALL) else [f"{place}: {found!r}"]
    if isinstance(told, dict) and isinstance(found, dict) and told.keys() == found.keys():
        return [fault for name in told for fault in differences(told[name], found[name], f"{place}.{name}")]
    if isinstance(told, list) and isinstance(found, list) and len(told) == len(found):
        return [fault for i, item in enumerate(told) for fault in differences(item, found[i], f"{place}[{i}]")]
    return [] if told == found else [f"{place}: {found!r}, the page says {told!r}"]


def test_the_page_lists_the_operations_of_the_api() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "api_page.py"), "--check"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, f"{done.stderr}run scripts/api_page.py"


@pytest.mark.parametrize("line", "".join(re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)).splitlines())
def test_every_event_in_the_page_can_be_handed_in(line: str) -> None:
    clock = SystemClock()
    event = wire.to_event(wire.read(line.encode(), 10_000), clock, SortableIds(clock, SystemRandom()))
    assert event.conversation


def test_the_page_lists_every_type_of_event_and_its_keys() -> None:
    kinds = [wire.MessageIn, wire.HeartbeatIn, wire.WebhookIn, wire.AgentIn, wire.AnswerIn, wire.OutcomeIn, wire.StopIn]
    told = dict(re.findall(r"^\| `(\w+)` \| (.+?) \| (?:the|a|an) .*\|$", PAGE, re.MULTILINE))
    for kind in kinds:
        name = kind.model_fields["type"].annotation.__args__[0]
        own = kind.model_fields.keys() - wire.MessageIn.__base__.model_fields.keys() - {"type"}
        assert set(re.findall(r"`(\w+)`", told[name])) == own
    for key in wire.MessageIn.__base__.model_fields:
        assert f"| `{key}` |" in PAGE
