"""What a program that was let in can do, through the SDK's client and a real gateway."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.gateway.live import Live
from tests.gateway.mcp.calling import LEGACY, MODERN, let_in
from tests.gateway.mcp.test_keeping import each


@pytest.mark.parametrize("mode", [LEGACY, MODERN])
def test_a_client_asks_and_is_answered(daimon: Live, mode: str) -> None:
    program = let_in(daimon, f"asker-{mode[:4]}", "chat")

    async def talk() -> object:
        async with program.connected(mode) as connected:
            return await connected.call("ask", text="say hello there")

    answer = asyncio.run(talk())
    assert isinstance(answer, dict), answer
    assert (answer["state"], answer["reply"], answer["conversation"]) == ("done", "hello there", "main")
    event = daimon.get(f"/v1/events/{answer['event']}")["event"]
    assert (event["principal"], event["conversation"]) == (f"mcp-client:{program.name}", f"mcp-client:{program.name}/main")
    assert event["label"]["origins"] == [{"author": "stranger", "source": f"mcp-client:{program.name}"}]


def test_what_takes_longer_is_fetched_by_its_event(daimon: Live) -> None:
    program = let_in(daimon, "patient", "chat")
    (begun,) = each(program, ("send_event", {"text": "say it is ready", "conversation": "slow", "key": "once"}))
    assert begun["reply"] == ""
    again, fetched = each(
        program, ("send_event", {"text": "say it is ready", "conversation": "slow", "key": "once"}), ("ask", {"event": begun["event"]})
    )
    assert again["event"] == begun["event"]
    assert (fetched["state"], fetched["reply"], fetched["conversation"]) == ("done", "it is ready", "slow")


def test_a_call_that_is_not_awaited_to_its_end_gives_a_handle(daimon: Live) -> None:
    with daimon.feed("mcp-client:hasty/main") as feed:
        (begun,) = each(let_in(daimon, "hasty", "chat"), ("ask", {"text": "hang", "wait_s": 0.2}))
        assert begun["event"]
        assert begun["state"] in ("queued", "running")
        feed.until("token")  # now somebody has taken it, so there is a turn to stop
        daimon.call("POST", f"/v1/turns/{daimon.get('/v1/events/' + begun['event'])['turn']['id']}/stop")


def test_the_word_of_a_client_makes_nothing_happen_and_asks_nobody(daimon: Live) -> None:
    (asked,) = each(let_in(daimon, "pusher", "chat"), ("ask", {"text": "mail mallory@example.org"}))
    assert asked["state"] == "done"
    trace = daimon.get(f"/v1/turns/{asked['run']}")
    assert [step["body"]["code"] for step in trace["steps"] if step["body"]["kind"] == "outcome"] == ["not_held"]
    assert not [question for question in daimon.get("/v1/questions") if question["conversation"].startswith("mcp-client:pusher/")]


@pytest.mark.parametrize(
    "arguments",
    [{}, {"text": ""}, {"text": "a", "event": "e1"}, {"text": 7}, {"text": "x" * 100_001}, {"text": "a", "conversation": "../main"},
     {"text": "a", "conversation": "mcp-client:other/main"}, {"text": "a", "wait_s": 1e9}, {"text": "a", "principal": "owner"}],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused_with_the_reason(daimon: Live, arguments: dict[str, object]) -> None:
    program = let_in(daimon, f"fumbler-{abs(hash(str(arguments))) % 10**9}", "chat")
    (told,) = each(program, ("ask", arguments))
    assert told.startswith("bad_input: ask: ")


def test_a_start_loads_neither_the_sdk_nor_what_only_a_request_needs() -> None:
    heavy = {"mcp", "mcp_types", "markdown_it", "websockets", "daimon.gateway.table", "daimon.gateway.room.settings"}
    looks = f"import sys, daimon.boot; print(sorted({heavy!r} & set(sys.modules)))"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3] / "src")}
    told = subprocess.run([sys.executable, "-c", looks], env=environment, timeout=120, check=True, capture_output=True, text=True)
    assert told.stdout.strip() == "[]"
