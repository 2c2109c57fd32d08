"""What signs and words mean as answers."""

import pytest

from daimon.abi.ids import StepRef, TurnId
from daimon.abi.tool import Question
from daimon.gateway.deciding import _plain, _worded
from daimon.kernel.questions import OpenQuestion
from daimon.testing.clock import START


def asked(type_: str, *options: str) -> OpenQuestion:
    return OpenQuestion(StepRef(TurnId("t1"), 4), Question("?", options, type_), "main", START)  # type: ignore[arg-type]


MAY_I = asked("authorise", "deny", "allow", "grant")
SECOND_THOUGHT = asked("undo", "send", "stop")
DAYS = asked("choose", "Monday", "Tuesday")


@pytest.mark.parametrize(
    ("question", "sign", "choice"),
    [
        (MAY_I, "👍", "allow"), (MAY_I, "👍🏽", "allow"), (MAY_I, "✅", "allow"), (MAY_I, "👎", "deny"), (MAY_I, "❌", "deny"),
        (MAY_I, "❤️", None), (SECOND_THOUGHT, "👍", "send"), (SECOND_THOUGHT, "👎", "stop"), (DAYS, "👍", None), (DAYS, "👎", "Monday"),
        (asked("outcome", "leave", "done", "allow"), "👍", None), (asked("money", "stop", "raise", "wait"), "👎", "stop"),
    ],
)  # fmt: skip
def test_a_sign_says_yes_or_no_where_there_is_one(question: OpenQuestion, sign: str, choice: str | None) -> None:
    assert _plain(question, sign) == choice


@pytest.mark.parametrize(
    ("question", "text", "choice"),
    [
        (MAY_I, "allow", "allow"), (MAY_I, " ALLOW! ", "allow"), (MAY_I, "2", "allow"), (MAY_I, "allow 1, 3", "allow 1, 3"),
        (MAY_I, "no", "deny"), (MAY_I, "4", None), (MAY_I, "0", None), (MAY_I, "allow me to explain", None),
        (MAY_I, "grant everything", None),
        (MAY_I, "yes but first tell me why", None), (DAYS, "tuesday", "Tuesday"), (DAYS, "yes", None), (DAYS, "", None),
        (asked("context"), "the one from Leeds", "the one from Leeds"), (asked("context"), "  ", None),
    ],
)  # fmt: skip
def test_only_a_whole_message_that_can_mean_nothing_else_is_an_answer(question: OpenQuestion, text: str, choice: str | None) -> None:
    assert _worded(question, text) == choice
