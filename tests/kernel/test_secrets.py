"""A canary goes in at each door, and comes out nowhere: not in a prompt, the journal, the feed, a message. Other words pass as they are."""

import asyncio
import base64
import json
import string
from collections.abc import AsyncIterator, Iterable
from random import Random
from typing import Any

import pytest
from pydantic import JsonValue
from tests.kernel.rig import Rig, Tool, kernel, outcomes, replies, result_text

from daimon.abi.codec import encode
from daimon.abi.errors import ProviderFailed, ToolFailed
from daimon.abi.event import Address, Late, Said, Webhook
from daimon.abi.memory import Remember
from daimon.abi.message import Reasoning, Text, ToolCall
from daimon.abi.model import Delta, Reply, Request
from daimon.abi.step import ModelFailed, Step
from daimon.abi.tool import Call, Pending, Question, Result, Send, Touched
from daimon.abi.turn import Turn
from daimon.kernel.feed import Token
from daimon.observe.trace import report
from daimon.testing.model import ScriptedModel, calls, says
from daimon.vault.redact import Known

CANARY = "cnry-Qm7xT2bLr9Zk4Wd0Hc8NfYp3"
KNOWN = (Known("canary", CANARY),)
SHAPED = "ghp_" + "".join(Random(3).choices(string.ascii_letters + string.digits, k=36))
MARK, SHAPE = "[secret canary]", "[redacted github-token]"
ORDINARY = "Grüße, 你好: commit 9fceb02d0ae598e95dc970b74767f19372d61af8, password = ${DB_PASSWORD}, \u200bzero-width kept"


async def everything(rig: Rig, turn: Turn) -> str:
    """All that anybody can read of a turn: its event, its steps, the requests to the model, what was sent, how it is told."""
    event, steps = await rig.journal.event(turn.event), await rig.journal.steps(turn.id)
    requests = [await rig.journal.get(step.body.request) for step in steps if getattr(step.body, "request", None)]
    shown = [encode(Any, event), encode(tuple[Step, ...], steps), *requests, str(report(turn, event, steps)).encode()]
    return b"\n".join(shown).decode() + "".join(str(message.content) for message in rig.channel.messages)


def telling(result: Result) -> Tool:
    async def tell(arguments: dict[str, JsonValue], call: Call) -> Result:
        return result

    return Tool("look", behaviour=tell)


LOOK = calls(("look", {"text": "x"}))
RESULTS = {
    "plain": Result(f"it is {CANARY}, and {SHAPED}"),
    "nested": Result({"a": [{"key": CANARY, CANARY: 1}], "b": f"\n{SHAPED}\n"}),
    "coded": Result({"a": base64.b64encode(f"me:{CANARY}".encode()).decode(), "b": CANARY.encode().hex(), "c": SHAPED}),
    "spelt": Result({"a": list(CANARY), "b": SHAPED}),
    "part": Result("see", parts=(Text(f"{CANARY} {SHAPED}"),)),
    "touched": Result("done", touched=(Touched("network", f"https://x.org/?k={CANARY}", SHAPED),)),
}


@pytest.mark.parametrize("name", RESULTS)
async def test_a_secret_in_a_result_reaches_nobody(name: str) -> None:
    async with kernel(script=[LOOK, says("done")], tools=[telling(RESULTS[name])], known=KNOWN) as rig:
        turn, _ = await rig.ask("look")
        told = await everything(rig, turn)
    assert CANARY not in told
    assert CANARY.encode().hex() not in told
    assert '"c", "n", "r", "y"' not in told
    assert SHAPED not in told
    assert MARK in told
    assert SHAPE in told


async def test_the_result_stays_json_and_other_words_stay_as_they_are() -> None:
    data: JsonValue = {"a": [ORDINARY, 7, None, {"b": True}], "key": CANARY}
    async with kernel(script=[LOOK, says("done")], tools=[telling(Result(data))], known=KNOWN) as rig:
        _, steps = await rig.ask("look")
    assert json.loads(result_text(outcomes(steps)[0])) == {"ok": True, "data": {"a": [ORDINARY, 7, None, {"b": True}], "key": MARK}}


@pytest.mark.parametrize("error", [ToolFailed("odd", f"{CANARY} {SHAPED}"), RuntimeError(f"{CANARY} {SHAPED}")])
async def test_a_secret_in_an_error_reaches_nobody(error: Exception) -> None:
    async def fail(arguments: dict[str, JsonValue], call: Call) -> Result:
        raise error

    async with kernel(script=[LOOK, says("done")], tools=[Tool("look", behaviour=fail)], known=KNOWN) as rig:
        turn, steps = await rig.ask("look")
        told = await everything(rig, turn)
    assert CANARY not in told
    assert SHAPED not in told
    assert MARK in result_text(outcomes(steps)[0])


async def test_what_a_tool_sends_and_notes_is_cleaned_of_known_values() -> None:
    operations = (Remember(f"note {CANARY}", "n1"), Send(Address("fake", "ann"), (Text(f"hello {CANARY} {SHAPED}"),)))
    async with kernel(script=[LOOK, says("done")], tools=[telling(Result("ok", operations=operations))], known=KNOWN) as rig:
        _, steps = await rig.ask("look")
        sent = await rig.spoken(1)
    assert encode(Any, outcomes(steps)[0].operations).decode().count(MARK) == 2
    assert f"hello {MARK} {SHAPE}" in sent


async def test_a_question_of_a_tool_is_cleaned() -> None:
    async def ask(arguments: dict[str, JsonValue], call: Call) -> Pending:
        return Pending(f"job {CANARY}", Question(f"Use {CANARY}?", ("no", f"yes {CANARY}"), details={"k": CANARY}))

    async with kernel(script=[LOOK], tools=[Tool("look", behaviour=ask)], known=KNOWN) as rig:
        turn, _ = await rig.ask("look")
        told = await everything(rig, turn)
    assert CANARY not in told
    assert f"Use {MARK}?" in told


async def test_a_secret_that_an_owner_says_by_mistake_is_never_written_nor_shown() -> None:
    async with kernel(script=[says("ok")], known=KNOWN) as rig:
        turn, _ = await rig.ask(f"my key is {CANARY}, and {SHAPED}; {ORDINARY}")
        event, told = await rig.journal.event(turn.event), await everything(rig, turn)
        assert isinstance(rig.model, ScriptedModel)
        (prompt,) = [message.text for message in rig.model.requests[0].messages if "my key" in message.text]
    assert CANARY not in told
    assert event.body == Said((Text(f"my key is {MARK}, and {SHAPED}; {ORDINARY}"),))
    assert prompt == f"my key is {MARK}, and {SHAPE}; {ORDINARY}"


async def test_a_webhook_is_cleaned_in_all_its_fields() -> None:
    async with kernel(script=[says("ok")], known=KNOWN) as rig:
        turn = await rig.rested(await rig.send(Webhook("git", {"a": {CANARY: [CANARY]}}, {"x-key": CANARY})))
        assert CANARY not in await everything(rig, turn)


async def test_the_outcome_of_a_long_job_is_cleaned() -> None:
    async def start(arguments: dict[str, JsonValue], call: Call) -> Pending:
        return Pending("job")

    async with kernel(script=[LOOK, says("done")], tools=[Tool("look", behaviour=start)], known=KNOWN) as rig:
        turn, steps = await rig.ask("look")
        intent = next(step for step in steps if step.body.kind == "intent")
        await rig.send(Late({"out": f"{CANARY} {SHAPED}"}), resolves=intent.ref)
        turn = await rig.ended(turn)
        assert CANARY not in await everything(rig, turn)
        assert isinstance(rig.model, ScriptedModel)
        seen = encode(Any, rig.model.requests[-1].messages).decode()
    assert SHAPE in seen
    assert SHAPED not in seen


async def test_a_reply_is_cleaned_before_it_is_written_or_acted_on() -> None:
    heard: list[JsonValue] = []

    async def hear(arguments: dict[str, JsonValue], call: Call) -> Result:
        heard.append(dict(arguments))
        return Result("ok")

    said = (Reasoning(f"think {CANARY}", "p", "signed"), Text(f"it is {CANARY}"), ToolCall("c", "look", {"text": f"x {CANARY}"}))
    reply = Reply(said, "scripted", finish="tools", logprobs=b"[]")
    async with kernel(script=[reply, says("done")], tools=[Tool("look", behaviour=hear)], known=KNOWN) as rig:
        turn, steps = await rig.ask("go")
        told = await everything(rig, turn)
    first = replies(steps)[0]
    assert heard == [{"text": f"x {MARK}"}]
    assert first.parts[0] == Reasoning(f"think {MARK}", "p", None)
    assert first.logprobs is None
    assert CANARY not in told


async def test_a_reply_without_secrets_stays_as_it_is() -> None:
    reply = Reply((Reasoning(ORDINARY, "p", "signed"), Text(f"{ORDINARY} {SHAPED}")), "scripted", logprobs=b"[1]")
    async with kernel(script=[reply], known=KNOWN) as rig:
        _, steps = await rig.ask("go")
    assert replies(steps)[0].parts == reply.parts
    assert replies(steps)[0].logprobs is not None


class Dripping(ScriptedModel):
    """Says its text in pieces of a given size."""

    def __init__(self, text: str, size: int, end: BaseException | None = None) -> None:
        super().__init__()
        self._pieces = [text[i : i + size] for i in range(0, len(text), size)]
        self._end = end

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        for of in ("reasoning", "text"):
            for piece in self._pieces:
                yield Delta(piece, of)  # type: ignore[arg-type]
        if self._end is not None:
            raise self._end
        yield says("".join(self._pieces))


async def shown(rig: Rig, text: str) -> tuple[Turn, list[Token]]:
    tokens: list[Token] = []
    with rig.feed.subscribe() as updates:

        async def listen() -> None:
            async for update in updates:
                if isinstance(update, Token):
                    tokens.append(update)

        listening = asyncio.ensure_future(listen())
        turn, _ = await rig.ask(text)
        await asyncio.sleep(0)
        listening.cancel()
    return turn, tokens


def joined(tokens: Iterable[Token], of: str) -> str:
    return "".join(token.text for token in tokens if token.of == of)


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
async def test_a_value_cut_by_the_stream_does_not_show(size: int) -> None:
    text = f"Well, {ORDINARY}. The key is {CANARY}, as you know; in hex {CANARY.encode().hex()}. Bye"
    async with kernel(model=Dripping(text, size), known=KNOWN) as rig:
        _, tokens = await shown(rig, "tell")
    wanted = f"Well, {ORDINARY}. The key is {MARK}, as you know; in hex {MARK}. Bye"
    assert joined(tokens, "text") == joined(tokens, "reasoning") == wanted
    assert [token.offset for token in tokens] == [sum(len(t.text) for t in tokens[:i]) for i in range(len(tokens))]


async def test_what_came_of_a_reply_that_broke_off_is_cleaned() -> None:
    model = Dripping(f"The key is {CANARY}", 5, ProviderFailed("odd", f"refused {CANARY} {SHAPED}", is_lasting=True))
    async with kernel(model=model, known=KNOWN) as rig:
        turn, steps = await rig.ask("tell")
        told = await everything(rig, turn)
    failed = next(step.body for step in steps if isinstance(step.body, ModelFailed))
    assert (failed.message, failed.partial) == (f"refused {MARK} {SHAPE}", f"The key is {MARK}")
    assert CANARY not in told


async def test_an_answer_is_cleaned_before_it_is_sent() -> None:
    async with kernel(script=[says(f"here: {SHAPED}, {CANARY}. {ORDINARY}")], known=KNOWN) as rig:
        await rig.ask("tell")
        assert await rig.spoken(1) == [f"here: {SHAPE}, {MARK}. {ORDINARY}"]
