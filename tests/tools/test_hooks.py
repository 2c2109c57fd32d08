"""An agent makes a webhook: it is an operation of its outcome, needs a grant, and shows no secret."""

from typing import Any

import pytest

from daimon.abi.errors import ToolFailed
from daimon.abi.hook import Filter, MakeHook
from daimon.abi.tool import Call, Capability, Effect, Result
from daimon.tools.hooks import hook_tools

(MAKE,) = hook_tools()
WISH = {"name": "ci", "scheme": "github", "task": "Tell me of failed builds."}


def test_it_opens_a_way_in_and_so_needs_leave() -> None:
    assert Capability.GRANTS in MAKE.manifest.capabilities
    assert MAKE.manifest.effect is Effect.IDEMPOTENT
    assert MAKE.manifest.is_consequential


async def test_the_hook_comes_with_the_outcome_and_its_secret_stays_with_the_system(call: Call) -> None:
    first = await MAKE.run({**WISH, "only_at": "/action", "only_if": ["failed"]}, call)
    again = await MAKE.run({**WISH, "only_at": "/action", "only_if": ["failed"]}, call)
    assert isinstance(first, Result)
    assert first == again
    (made,) = first.operations
    assert isinstance(made, MakeHook)
    assert (made.hook.name, made.hook.secret, made.hook.filters) == ("ci", "hook-ci", (Filter("/action", ("failed",)),))
    assert made.hook.to == call.reply_to
    assert "daimon hooks show ci --secret" in str(first.data)


@pytest.mark.parametrize("wrong", [{"name": "Bad Name"}, {"name": "telegram"}, {"only_at": "/a"}, {"only_at": "a", "only_if": ["b"]}])
async def test_what_cannot_be_made_is_told_to_the_model(call: Call, wrong: dict[str, Any]) -> None:
    with pytest.raises(ToolFailed):
        await MAKE.run({**WISH, **wrong}, call)
