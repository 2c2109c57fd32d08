from datetime import timedelta

import pytest

from daimon.abi.errors import BadInput, ToolFailed
from daimon.abi.label import Author
from daimon.abi.tool import Call, Pending, Question
from daimon.tools.people import people_tools

(ask_owner,) = people_tools()


async def test_an_open_question_waits_without_end_for_any_text(call: Call) -> None:
    assert await ask_owner.run({"question": "Which hotel?"}, call) == Pending("t1:4", Question("Which hotel?", type="context"), None)


async def test_a_choice_expires_and_keeps_its_options_in_order(call: Call) -> None:
    until = call.now + timedelta(hours=2.5)
    assert await ask_owner.run({"question": "Book it?", "options": ["no", "yes"], "hours": 2.5}, call) == Pending(
        "t1:4", Question("Book it?", ("no", "yes"), type="choose", expires_at=until), until
    )


async def test_two_equal_options_are_no_choice(call: Call) -> None:
    with pytest.raises(ToolFailed, match="two options are the same"):
        await ask_owner.run({"question": "Book it?", "options": ["yes", "yes"]}, call)


@pytest.mark.parametrize("arguments", [{"question": ""}, {"question": "q", "options": []}, {"question": "q", "hours": 0}])
async def test_a_question_that_nobody_could_answer_is_refused(call: Call, arguments: dict[str, object]) -> None:
    with pytest.raises(BadInput):
        await ask_owner.run(arguments, call)  # type: ignore[arg-type]


def test_an_answer_is_the_owners_own_word() -> None:
    assert ask_owner.manifest.result.author is Author.OWNER
