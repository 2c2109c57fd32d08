"""A test of an agent: the whole system in one process, with a model that follows a script.

Run it with `PYTHONPATH=examples python -m pytest examples/test_weather.py`.
"""

# ruff: noqa: S101 - assert is how tests speak

import asyncio
from pathlib import Path

from daimon.abi.step import Happened
from daimon.abi.turn import State
from daimon.boot import running
from daimon.config import Home, Model, Settings
from daimon.extension import Kit
from daimon.gateway.answers import Trace
from daimon.gateway.client import Client
from daimon.testing.model import ScriptedModel, calls, says

MODEL = ScriptedModel([calls(("forecast", {"place": "Bergen"}), ("forecast", {"place": "Atlantis"})), says("Take an umbrella.")])


def extend(kit: Kit) -> None:
    """This file is an extension too: it brings the model."""
    kit.models["scripted"] = MODEL


def test_the_agent_looks_at_the_weather_before_it_answers(tmp_path: Path) -> None:
    trace = asyncio.run(_ask(Home(tmp_path / "home"), b'{"type": "message", "text": "Do I need an umbrella in Bergen?"}'))
    outcomes = [step.body for step in trace.steps if isinstance(step.body, Happened)]
    assert trace.turn.state is State.DONE
    assert [outcome.code for outcome in outcomes] == ["", "unknown_place"]
    assert MODEL.requests[1].messages[-1].role == "tool"


async def _ask(home: Home, event: bytes) -> Trace:
    settings = Settings(model=Model(use="scripted"), extensions=("weather", __name__))
    async with running(home, settings, port=0), asyncio.timeout(60):
        client = Client(home.socket)
        taken = await asyncio.to_thread(client.send, event)
        while True:
            turn = (await asyncio.to_thread(client.event, taken.event)).turn
            if turn is not None and turn.state not in (State.QUEUED, State.RUNNING):
                return await asyncio.to_thread(client.trace, turn.id)
            await asyncio.sleep(0.01)
