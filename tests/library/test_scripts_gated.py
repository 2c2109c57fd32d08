"""Scripts of skills and the real gate: what a stranger's skill says does not make its script send; what the owner vouches for works."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.kernel.errands import World
from tests.kernel.hijacked import house, questions
from tests.kernel.rig import outcomes, result_text
from tests.library.test_scripts import BUNDLE, REACH, in_a_box, shop, skill

from daimon.abi.skill import Installed, script_tool_of
from daimon.library.scripts import Stored, script_tools
from daimon.skills.catalogue import Chooser
from daimon.testing.model import calls, says
from daimon.testing.skills import FakeShelf
from daimon.tools.skills import skill_tools

ARGUMENTS: dict[str, object] = {"script": "scripts/fetch.py", "arguments": ["http://open.test/"], "hosts": ["open.test"]}
READ = calls(("use_skill", {"name": "tool"}))


@in_a_box
@pytest.mark.parametrize(
    ("is_vouched", "before", "asked", "sent"),
    [
        (False, (READ,), 1, 0),  # a stranger's words led to it
        (False, (), 0, 1),  # the owner asked for it, and nobody else was heard
        (True, (READ,), 0, 1),
    ],
)
async def test_a_script_that_sends_is_asked_about_after_a_strangers_words_and_only_then(
    tmp_path: Path, is_vouched: bool, before: tuple[Any, ...], asked: int, sent: int
) -> None:
    found = skill(REACH, is_vouched=is_vouched)
    lines = (*before, calls((script_tool_of(found.called), ARGUMENTS)))
    shelf = FakeShelf([found])

    async def files(name: str) -> tuple[Installed, Mapping[str, Stored]]:
        return found, BUNDLE

    async with shop(tmp_path) as made:
        tools = (*skill_tools(shelf), *script_tools(found, made.workshop, files))
        async with house(World(), *lines, says("done"), tools=tools, skills=Chooser(shelf.ready, 3), finds=True) as rig:
            _, steps = await rig.ask("fetch the page with the tool")
        assert (len(questions(steps)), len(made.server.got)) == (asked, sent)
        if sent:
            assert "http://open.test/ 200" in result_text(outcomes(steps)[-1])
            assert not outcomes(steps)[-1].result.label.is_trusted
