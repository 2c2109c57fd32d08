"""However much is said and read: the model gets what it can take, and the turn goes on by itself."""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Annotated

import pytest
from pydantic import JsonValue
from tests.kernel.rig import kernel, outcomes, replies

from daimon.abi.errors import ProviderFailed
from daimon.abi.message import Message, Role, Text, ToolCall, ToolResult
from daimon.abi.model import Delta, Profile, Reply, Request, Unmetered
from daimon.abi.money import FREE, Usage
from daimon.abi.step import ModelFailed
from daimon.abi.tool import Call, Effect, Result
from daimon.abi.turn import Ending
from daimon.tools.schema import tool

Answer = Callable[[Request], Reply]


class Strict(Unmetered):
    """Counts in its own way, and refuses what is more than it reads, as providers do."""

    name = "strict"

    def __init__(self, reads: int, per_token: float, answer: Answer, told: int | None = None) -> None:
        self.reads, self.per_token, self.answer = reads, per_token, answer
        self.told = reads if told is None else told
        self.requests: list[Request] = []
        self.refused = 0

    async def profile(self) -> Profile:
        return Profile(provider="strict", price=FREE, max_output_tokens=500, context_tokens=self.told)

    def count(self, request: Request) -> int:
        return int(sum(len(_text(message).encode()) for message in request.messages) / self.per_token)

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        size = self.count(request)
        if size > self.reads:
            self.refused += 1
            raise ProviderFailed("too_long", f"prompt is too long: {size} tokens > {self.reads}", is_lasting=True, was_sent=False)
        self.requests.append(request)
        yield replace(self.answer(request), usage=Usage(size, 10))


def _text(message: Message) -> str:
    inner = [p for part in message.parts for p in (part.parts if isinstance(part, ToolResult) else (part,))]
    calls = [str(part.arguments) for part in message.parts if isinstance(part, ToolCall)]
    return "".join([*(p.text for p in inner if isinstance(p, Text)), *calls])


def says(text: str) -> Answer:
    return lambda request: Reply((Text(text),), "strict")


def reads_often(times: int) -> Answer:
    def answer(request: Request) -> Reply:
        done = sum(message.role is Role.TOOL for message in request.messages)
        made = sum(1 for message in request.messages for part in message.parts if isinstance(part, ToolCall))
        if answer.rounds >= times:  # type: ignore[attr-defined]
            return Reply((Text(f"done {done} {made}"),), "strict")
        answer.rounds += 1  # type: ignore[attr-defined]
        return Reply((ToolCall(f"c{answer.rounds}", "read", {"page": answer.rounds}),), "strict", "tools")  # type: ignore[attr-defined]

    answer.rounds = 0  # type: ignore[attr-defined]
    return answer


@tool(effect=Effect.PURE)
async def read(call: Call, page: Annotated[int, "Its number."]) -> Result:
    """Reads a page."""
    data: JsonValue = f"page {page}: " + "lorem ipsum " * 1_500
    return Result(data)


async def test_a_message_larger_than_the_window_is_answered() -> None:
    model = Strict(8_000, 3.0, says("I saw a long text"))
    async with kernel(model=model) as rig:
        turn, steps = await rig.ask("word " * 150_000)
    assert turn.ending is Ending.ANSWERED
    assert "left out" in _text(model.requests[-1].messages[-1])
    assert not any(isinstance(step.body, ModelFailed) for step in steps)


@pytest.mark.parametrize("per_token", [0.5, 1.0])
async def test_a_model_that_counts_more_than_we_think_gets_less_until_it_is_content(per_token: float) -> None:
    """It counts several times as many tokens as are estimated, and says nothing beforehand."""
    model = Strict(8_000, per_token, says("ok"))
    async with kernel(model=model) as rig:
        turn, steps = await rig.ask("word " * 20_000)
        assert turn.ending is Ending.ANSWERED
        assert model.refused >= 1
        assert all(step.body.code == "too_long" for step in steps if isinstance(step.body, ModelFailed))
        refused = model.refused
        again, _ = await rig.ask("and now? " * 10_000)
    assert again.ending is Ending.ANSWERED
    assert model.refused - refused <= refused


async def test_a_window_that_nobody_told_of_is_found_by_itself() -> None:
    model = Strict(2_000, 3.0, says("ok"), told=10_000_000)
    async with kernel(model=model) as rig:
        turn, _ = await rig.ask("word " * 20_000)
    assert turn.ending is Ending.ANSWERED


async def test_a_turn_that_reads_far_more_than_the_window_ends_with_its_answer() -> None:
    """Sixty pages of four and a half thousand tokens, through a window of eight thousand."""
    model = Strict(8_000, 3.0, reads_often(60))
    async with kernel(model=model, tools=[read]) as rig:
        turn, steps = await rig.ask("read all pages")
    assert turn.ending is Ending.ANSWERED
    assert len(outcomes(steps)) == 60
    assert len(replies(steps)) == 61
    for request in model.requests:
        calls = [part.call for message in request.messages for part in message.parts if isinstance(part, ToolCall)]
        results = [part.call for message in request.messages for part in message.parts if isinstance(part, ToolResult)]
        assert calls == results
        assert "read all pages" in [_text(message) for message in request.messages]


async def test_a_conversation_of_a_million_tokens_goes_on() -> None:
    model = Strict(16_000, 3.0, says("noted"))
    async with kernel(model=model) as rig:
        for n in range(100):
            turn, _ = await rig.ask(f"chapter {n}: " + f"word{n} " * 4_500)
            assert turn.ending is Ending.ANSWERED
    assert model.refused == 0
    assert all(model.count(request) <= 16_000 for request in model.requests)


async def test_a_model_that_calls_everything_too_long_is_given_up_on_in_the_end() -> None:
    model = Strict(0, 3.0, says("never"), told=8_000)
    async with kernel(model=model) as rig:
        turn, steps = await rig.ask("hello")
    assert turn.ended_at is None or turn.ending is not Ending.ANSWERED
    assert 1 <= model.refused <= 12
    assert any(step.body.kind == "question" for step in steps)
