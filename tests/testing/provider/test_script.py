"""Scripts: as files, as lists, as programs."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.testing.provider.clients import CLIENTS, openai_client

from daimon.abi.errors import Misconfigured
from daimon.testing.provider.line import Call, Fault, Line, Usage
from daimon.testing.provider.script import load
from daimon.testing.provider.seen import Seen
from daimon.testing.provider.server import ProviderServer

EXAMPLE = Path(__file__).parents[2] / "data/provider-script.json"


def test_the_example_says_all_that_a_file_can_say() -> None:
    first, limited, cut, text, garbage, short = load(EXAMPLE)
    assert first.calls == (Call("search", {"query": "green tea"}), Call("search", {"query": "black tea"}))
    assert first.reasoning.startswith("The question")
    assert limited.fault == Fault("429", retry_after=2)
    assert cut.fault == Fault("cut", after=3)
    assert (text.usage, text.chunk) == (Usage(900, 12, 600), 5)
    assert garbage.calls == (Call("order", '{"item": "green tea", '),)
    assert (short.finish, short.model) == ("length", "a-smaller-one")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("[{", "is not JSON"),
        ('{"text": "x"}', "found dict, expected a list of lines"),
        ('[{"text": "x"}, 5]', "line 1: found 5, expected"),
        ('[{"txt": "x"}]', "line 0, txt: no such field; did you mean text?"),
        ('[{"shrug": 1}]', "line 0, shrug: no such field, expected one of text, calls"),
        ('[{"text": 5}]', "line 0, text: found 5, expected: Input should be a valid string"),
        ('[{"fault": "sulk"}]', "line 0, fault: found 'sulk', expected: Value error, one of 401, 402"),
        ('[{"calls": [{"arguments": {}}]}]', "line 0, calls.0.tool: found {'arguments': {}}, expected: Field required"),
        ('[{"finish": "bored"}]', "line 0, finish: found 'bored', expected: Input should be 'stop'"),
        ('[{"chunk": 0}]', "line 0, chunk: found 0, expected: Input should be greater than or equal to 1"),
    ],
)
def test_a_bad_file_is_told_apart(content: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text(content)
    with pytest.raises(Misconfigured) as raised:
        load(path)
    assert str(path) in str(raised.value)
    assert complaint in str(raised.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"nowhere\.json cannot be read: No such file"):
        load(tmp_path / "nowhere.json")


async def test_lines_are_taken_in_order_of_arrival(shape: str) -> None:
    async with ProviderServer([Line(text="one"), Line(text="two")]) as server, CLIENTS[shape](server) as client:
        assert [(await client.whole("?")).text for _ in range(3)] == ["one", "two", "You said: ?"]


async def test_a_program_sees_the_request_and_answers_it() -> None:
    def program(seen: Seen) -> Line:
        body: Any = seen.json
        return Line(text=f"{seen.shape} {seen.number} {body['messages'][0]['content'].upper()}")

    async with ProviderServer(program) as server, openai_client(server) as client:
        assert (await client.whole("loud")).text == "openai 1 LOUD"


async def test_what_goes_wrong_in_a_program_is_raised_by_the_server() -> None:
    def program(seen: Seen) -> Line:
        raise RuntimeError(f"no idea what to say to {seen.number}")

    async def ask_and_shrug() -> None:
        async with ProviderServer(program) as server, openai_client(server) as client:
            with suppress(*client.broken):
                await client.whole("?")

    with pytest.raises(RuntimeError, match="no idea what to say to 1"):
        await ask_and_shrug()


async def test_a_fault_that_does_not_exist_is_said_to_whoever_waits_for_the_answer() -> None:
    with pytest.raises(Exception, match="Connection error") as raised:
        async with ProviderServer([Line(fault=Fault("sulk"))]) as server, openai_client(server) as client:
            await client.whole("?")
    assert any("not 'sulk'" in note for note in raised.value.__notes__)


async def test_a_rejected_request_takes_no_line() -> None:
    async with ProviderServer([Line(text="one")]) as server, openai_client(server) as client:
        with pytest.raises(client.failure):
            await client.client.chat.completions.create(model="m", messages=[])
        assert (await client.whole("?")).text == "one"


def test_arguments_go_out_as_the_file_has_them() -> None:
    assert json.loads(Call("x", {"ü": [1, None]}).text) == {"ü": [1, None]}
    assert Call("x", "{oops").text == "{oops"
