"""What the agent said it is about stays whole when the window is cut, through the whole loop."""

from typing import Any

from pydantic import JsonValue
from tests.kernel.rig import Tool, kernel

from daimon.abi.message import Message, Role, Text, ToolResult
from daimon.abi.tool import Call, Result
from daimon.context.assemble import Paging
from daimon.context.budget import TokenBudget
from daimon.testing.model import ScriptedModel, calls, says
from daimon.tools.focus import focus_tools

LONG = 1_500
WHOLE = "engine " + "nut and bolt " * (LONG // 13)
SMALL = Paging(TokenBudget(10_000, 0, 0, 0))


async def read(arguments: dict[str, JsonValue], call: Call) -> Result:
    about = str(arguments["text"])
    return Result(WHOLE if about == "engine" else f"{about} " + "lorem ipsum " * (LONG // 12))


def results(messages: tuple[Message, ...]) -> list[str]:
    parts = [part for message in messages if message.role is Role.TOOL for part in message.parts]
    return [inner.text for part in parts if isinstance(part, ToolResult) for inner in part.parts if isinstance(inner, Text)]


async def worked(*first: Any) -> list[tuple[Message, ...]]:
    """A long turn that reads about the engine, then about thirty other things; what the model was sent."""
    others = (calls(("read", {"text": f"thing {n}"})) for n in range(30))
    script = [*first, calls(("read", {"text": "engine"})), *others, says("done")]
    async with kernel(script=script, tools=[Tool("read", behaviour=read), *focus_tools()], paging=SMALL) as rig:
        await rig.ask("read all of it")
        assert isinstance(rig.model, ScriptedModel)
        return [request.messages for request in rig.model.requests]


async def test_what_is_in_focus_is_whole_after_the_window_was_cut() -> None:
    seen = await worked(calls(("focus_on", {"what": "the engine"})))
    shortened = [messages for messages in seen if not any("thing 0 lorem" in text and len(text) > LONG // 2 for text in results(messages))]
    assert len(shortened) > 10
    assert any(WHOLE in text for text in results(seen[-1]))


async def test_without_a_focus_it_is_shortened_like_all_else() -> None:
    seen = await worked()
    assert any(WHOLE in text for text in results(seen[3]))
    assert not any(WHOLE in text for text in results(seen[-1]))
