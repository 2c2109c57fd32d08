"""Saying what matters now: what memory is asked, and what comes of it."""

from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from daimon.abi.errors import BadInput
from daimon.abi.label import owned
from daimon.abi.memory import Hit, Item, Memory, Query, Recalled
from daimon.abi.tool import Call, Result, Tool
from daimon.testing.clock import START
from daimon.tools.focus import MOST_TEXT, focus_tools


@dataclass
class Remembered:
    """As much of a memory as is asked here."""

    texts: tuple[str, ...]
    asked: list[Query] = field(default_factory=list)

    async def recall(self, query: Query) -> Recalled:
        self.asked.append(query)
        items = (
            Item(id=f"n{i}", kind="note", text=text, at=START, label=owned(f"note{i}"), source="t1:1") for i, text in enumerate(self.texts)
        )
        return Recalled(tuple(Hit(item, 1.0, ()) for item in items), "words only")


async def focused(tool: Tool, call: Call, what: str) -> Result:
    result = await tool.run({"what": what}, call)
    assert isinstance(result, Result)
    return result


async def test_it_tells_what_memory_has_on_it_and_whose_words_that_is(call: Call) -> None:
    memory = Remembered(("The boat leaves at nine.", "word " * 1_000))
    (focus_on,) = focus_tools(cast("Memory", memory))
    result = await focused(focus_on, call, "the boat trip")
    data: Any = result.data
    assert [each["text"][:MOST_TEXT] for each in data["memory"]] == ["The boat leaves at nine.", ("word " * 1_000)[:MOST_TEXT]]
    assert result.labels == {
        "/memory/0": owned("note0"), "/memory/1": owned("note1"), "": owned("note0").joined(owned("note1")),
    }  # fmt: skip


async def test_it_asks_only_for_what_is_trusted_of_whoever_calls(call: Call) -> None:
    memory = Remembered(())
    (focus_on,) = focus_tools(cast("Memory", memory))
    assert (await focused(focus_on, call, "the boat trip")).data == {"memory": []}
    (asked,) = memory.asked
    assert (asked.text, asked.space, asked.principal, asked.trusted_only) == ("the boat trip", call.space, call.principal, True)


async def test_without_a_memory_it_still_says_what_matters(call: Call) -> None:
    (focus_on,) = focus_tools()
    assert (await focused(focus_on, call, "the boat trip")).data == {"memory": []}


async def test_to_focus_on_nothing_is_refused(call: Call) -> None:
    (focus_on,) = focus_tools()
    with pytest.raises(BadInput, match="what is"):
        await focus_on.run({"what": ""}, call)
