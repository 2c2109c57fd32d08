"""When a reply says nothing: to somebody who spoke, and where something happened by itself."""

import pytest
from tests.kernel.rig import kernel

from daimon.abi.event import Heartbeat, Said
from daimon.abi.message import Part, Reasoning, Text
from daimon.abi.model import Reply
from daimon.abi.turn import Ending
from daimon.testing.model import ScriptedModel

QUIET = [
    "(no answer)",
    "(An empty answer.)",
    "*(silent)*",
    "[silence]",
    '"nothing to report"',
    "(nothing)",
    "**No reply needed**",
    "<empty>",
]
SPOKEN = [
    "Nothing new.",
    "no",
    "(see the link)",
    "(no answer from the shop: it is closed)",
    "silence is golden",
    "()",
    "(nothing) but " * 9,
]


async def ending_of(body: Said | Heartbeat, *parts: Part) -> Ending | None:
    async with kernel(model=ScriptedModel([Reply(parts, "scripted")])) as rig:
        turn = await rig.rested(await rig.send(body))
        return turn.ending


@pytest.mark.parametrize("text", QUIET)
async def test_where_nobody_spoke_a_line_that_names_silence_is_silence(text: str) -> None:
    assert await ending_of(Heartbeat("brief"), Text(text)) is Ending.SILENT


@pytest.mark.parametrize("text", SPOKEN)
async def test_where_nobody_spoke_all_that_says_something_is_sent(text: str) -> None:
    assert await ending_of(Heartbeat("brief"), Text(text)) is Ending.ANSWERED


async def test_whoever_spoke_gets_what_was_said_and_nothing_blank() -> None:
    assert await ending_of(Said((Text("hi"),)), Text("(no answer)")) is Ending.ANSWERED
    assert await ending_of(Said((Text("hi"),)), Reasoning("hm", "scripted"), Text(" \n\u200b")) is Ending.SILENT
