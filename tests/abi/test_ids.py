"""Names as text and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daimon.abi.ids import Conversation, SpaceId, StepRef, TurnId


@given(st.text(min_size=1), st.integers(min_value=0))
def test_a_step_reads_back_from_its_text(turn: str, n: int) -> None:
    ref = StepRef(TurnId(turn), n)
    assert StepRef.parse(str(ref)) == ref
    assert ref.key == str(ref)


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":",
        "t1",
        "t1:",
        ":4",
        "t1:x",
        "t1:-1",
        "t1: 4",
        "t1:4 ",
        "t1:1.5",
        "t1:+4",
        "t1:²",
        pytest.param("t1:" + "9" * 5_000, id="huge"),
    ],
)
def test_what_is_no_step_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a step; expected TURN:NUMBER"):
        StepRef.parse(text)


def test_a_turn_may_have_colons_in_its_name() -> None:
    assert StepRef.parse("fork:t1:4") == StepRef(TurnId("fork:t1"), 4)


def test_steps_sort_by_turn_then_by_number() -> None:
    refs = [StepRef.parse(text) for text in ("t2:0", "t1:10", "t1:9")]
    assert [str(ref) for ref in sorted(refs)] == ["t1:9", "t1:10", "t2:0"]


def test_a_conversation_reads_as_space_and_name() -> None:
    assert str(Conversation(SpaceId("home"), "main")) == "home/main"


def test_conversations_of_two_spaces_are_two_even_with_one_name() -> None:
    assert len({Conversation(SpaceId(space), "main") for space in ("home", "guest", "home")}) == 2
