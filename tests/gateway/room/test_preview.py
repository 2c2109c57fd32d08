"""What a call would change, shown before it is allowed: also where the call was made to be hard to show."""

import random
import time

import pytest

from daimon.abi.files import Glance
from daimon.abi.ids import AgentId
from daimon.gateway.room.preview import MOST_COMPARED, Preview, preview

AGENT = AgentId("daimon")
PATIENCE_S = 30.0
"""Without the bounds it is minutes, or all memory there is."""


async def shown(tool: str, text: str, **arguments: object) -> Preview:
    async def peek(agent: AgentId, path: str) -> Glance:
        return Glance("there", text)

    return await preview(tool, {"path": "a.txt", **arguments}, AGENT, peek)  # type: ignore[dict-item]


async def test_a_change_of_a_long_file_of_usual_lines_is_compared() -> None:
    text = "".join(f"def f{n}():\n    return {n % 50}\n\n" for n in range(3_000))
    found = await shown("write_file", text, content=text.replace("f1500()", "other()"))
    assert "-def f1500():" in found.diff
    assert "+def other():" in found.diff
    assert found.note == ""


async def test_two_texts_made_to_be_compared_for_minutes_are_shown_without() -> None:
    lines = [f"{n % 250}\n" for n in range(50_000)]
    other = lines.copy()
    random.Random(1).shuffle(other)
    began = time.process_time()
    found = await shown("write_file", "".join(lines), content="".join(other))
    assert time.process_time() - began < PATIENCE_S
    assert "cannot be shown here" in found.note


async def test_edits_that_double_a_file_again_and_again_are_shown_one_by_one() -> None:
    found = await shown("edit_file", "a" * 1_000, edits=[["a", "aa"]] * 60, all=True)
    assert "too long" in found.note
    assert found.diff.count("@@ replacement") == 60


@pytest.mark.parametrize("is_all", [True, False])
async def test_edits_of_usual_size_are_shown_as_they_would_stand(is_all: bool) -> None:
    found = await shown("edit_file", "one\ntwo\none\n", edits=[["one", "1"], ["two", "2"]], all=is_all)
    assert found.diff.count("+1\n") == (2 if is_all else 1)
    assert found.note == ""


async def test_a_text_that_is_not_there_is_said_to_be_missing() -> None:
    assert "not in the file" in (await shown("edit_file", "one\n", edits=[["three", "3"]])).note
    assert "cannot be shown" in (await shown("write_file", "x" * MOST_COMPARED, content="y")).note
