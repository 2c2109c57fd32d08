"""What is shown of what happens, where a pseudo-terminal cannot bring it about at will."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from daimon.abi.ids import HOME_SPACE, OWNER, SELF, Conversation, StepRef, TurnId
from daimon.abi.judgement import Grant
from daimon.abi.message import Reasoning, Text, ToolResult
from daimon.abi.money import Account, Amount, Limit, Scope, Usage
from daimon.abi.step import (
    Answered,
    Asked,
    Decided,
    Granted,
    Happened,
    ModelFailed,
    Park,
    Raised,
    Replied,
    Reserved,
    Routed,
    Settled,
    Short,
    Step,
    StepBody,
)
from daimon.abi.tool import Capability, Question
from daimon.cli.speech import Speech
from daimon.cli.talk import Back, Lost, News, Quiet
from daimon.kernel.feed import Recorded, Token
from daimon.kernel.questions import OpenQuestion

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
PLACE = Conversation(HOME_SPACE, "main")
TURN = TurnId("t1")
DAY = Account(Scope.DAY, "2026-11-15", Limit(cost=Decimal(5)), NOON + timedelta(hours=12))
SHORT = Short("sonnet", DAY, Amount(9, Decimal("4.98")), Amount(), Amount(9, Decimal("0.05")), "reached")


def recorded(n: int, body: StepBody) -> Recorded:
    return Recorded(PLACE, Step(turn=TURN, n=n, body=body, at=NOON, space=HOME_SPACE, principal=OWNER, agent=SELF))


def token(text: str, offset: int, step: int = 5, of: str = "text") -> Token:
    return Token(PLACE, TURN, step, offset, text, of)  # type: ignore[arg-type]


def shown(capsys: pytest.CaptureFixture[str], *updates: Token | Recorded | News | Lost | Back | Quiet) -> str:
    speech = Speech()
    for update in updates:
        speech.show(update)
    speech.end_line()
    return capsys.readouterr().out


def test_a_reply_whose_tokens_came_is_not_shown_again_wherever_its_step_stands(capsys: pytest.CaptureFixture[str]) -> None:
    settled = Settled(4, Usage(1, 1), "measured")
    replied = Replied("sonnet", (Text("hello there"),), "stop")
    assert shown(capsys, token("hello ", 0), token("there", 6), recorded(5, settled), recorded(6, replied)) == "hello there\n"


def test_what_is_missing_of_a_reply_is_added(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, token("hello ", 0), recorded(5, Replied("sonnet", (Text("hello there"),), "stop"))) == "hello there\n"


def test_a_reply_with_a_hole_is_shown_again_from_its_beginning(capsys: pytest.CaptureFixture[str]) -> None:
    updates = (token("hello ", 0), token("there", 12), recorded(5, Replied("sonnet", (Text("hello all there"),), "stop")))
    assert shown(capsys, *updates) == "hello there\nhello all there\n"


def test_a_reply_that_starts_again_after_a_restart_is_whole(capsys: pytest.CaptureFixture[str]) -> None:
    replied = recorded(5, Replied("sonnet", (Text("hello there"),), "stop"))
    out = shown(capsys, token("hello ", 0), Lost(NOON), Back(), token("hello ", 0), token("there", 6), replied)
    assert out == "hello \n  · the gateway went away; waiting for it\n  · it is back\nhello there\n"


def test_a_reply_that_was_only_recorded_after_a_restart_is_whole(capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(capsys, token("hello ", 0), Lost(NOON), Back(), recorded(5, Replied("sonnet", (Text("hello there"),), "stop")))
    assert out.splitlines()[-1] == "hello there"


def test_thoughts_stand_on_lines_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    parts = (Reasoning("hm, well", "x"), Text("hello"))
    out = shown(
        capsys, token("hm, ", 0, of="reasoning"), token("well", 4, of="reasoning"), token("hello", 8), recorded(5, Replied("x", parts, ""))
    )
    assert out == "hm, well\nhello\n"


def test_a_failed_model_is_told_with_its_reason_and_the_next_try(capsys: pytest.CaptureFixture[str]) -> None:
    later = NOON + timedelta(minutes=1)
    out = shown(capsys, recorded(3, ModelFailed("sonnet", "overloaded", "too many", provider="anthropic", retry_at=later)))
    assert out == f"  · sonnet failed (overloaded): too many; the next try is at {later.astimezone():%H:%M:%S}\n"


def test_the_same_failure_again_and_again_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    failures = [recorded(n, ModelFailed("sonnet", "down", "no")) for n in range(10)]
    out = shown(capsys, *failures, token("hello", 0))
    assert out == "  · sonnet failed (down): no\n" * 3 + "  · and 7 more times\nhello\n"


@pytest.mark.parametrize(
    "failed",
    [ModelFailed("", "unavailable", "none", retry_at=NOON), ModelFailed("sonnet", "stopped", "it was stopped", partial="x")],
    ids=["no model", "stopped"],
)
def test_what_is_told_elsewhere_is_not_told_twice(capsys: pytest.CaptureFixture[str], failed: ModelFailed) -> None:
    assert shown(capsys, recorded(3, failed)) == ""


def test_a_limit_that_is_asked_about_is_told_by_the_question(capsys: pytest.CaptureFixture[str]) -> None:
    asked = Asked(Question("The limit for today is met. More?", ("wait", "raise"), "money"))
    assert shown(capsys, recorded(3, SHORT), recorded(4, asked), recorded(5, Decided(Park("waiting", ()), "2"))) == ""


def test_a_limit_that_nobody_is_asked_about_is_told_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(capsys, recorded(3, SHORT), recorded(4, Decided(Park("waiting", ()), "2")))
    assert out.startswith("The limit for today (budget.day) is $5.00; $4.98 is spent, and the next call of sonnet may cost up to $0.05.")


def test_what_was_allowed_and_what_nobody_answered_are_lines(capsys: pytest.CaptureFixture[str]) -> None:
    raised = Raised(Scope.DAY, "2026-11-15", Amount(0, Decimal("2.5")), OWNER)
    out = shown(capsys, recorded(3, raised), recorded(4, Answered(2, "deny", "", OWNER, None)))
    assert out == "  · $2.50 more allowed for today\n  · nobody answered in time, so: deny\n"


def test_a_grant_says_how_it_is_taken_back(capsys: pytest.CaptureFixture[str]) -> None:
    grant = Grant("t1:4", SELF, (Capability.SENDS,), "send", ("bob@x.org",))
    out = shown(capsys, recorded(4, Granted(2, grant)))
    assert out == "  · granted: send to bob@x.org; `daimon grants revoke t1:4` takes it back\n"


def test_a_long_failure_is_two_lines_of_the_terminal_at_most(capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(capsys, recorded(3, ModelFailed("sonnet", "down", "very long " * 500, provider="x")))
    assert out.startswith("  · sonnet failed (down): very long very long")
    assert out.endswith("…\n")
    assert out.count("\n") <= 2


def test_an_outage_is_asked_about_without_the_failure_that_was_shown(capsys: pytest.CaptureFixture[str]) -> None:
    asked = OpenQuestion(StepRef(TURN, 5), Question("No model can answer. x: no. Shall I try again?", ("stop", "continue")), "main", NOON)
    speech = Speech()
    speech.show(recorded(4, ModelFailed("", "unavailable", "x: no.")))
    assert speech.question(asked) == "No model can answer. x: no. Shall I try again? [stop / continue]"
    speech.show(recorded(3, ModelFailed("x", "down", "no")))
    assert speech.question(asked) == "No model can answer. Shall I try again? [stop / continue]"


def test_a_model_that_cannot_see_is_told_of_once(capsys: pytest.CaptureFixture[str]) -> None:
    routed = [recorded(n, Routed("small", "list", "nobody else can, though it cannot see images")) for n in (3, 6)]
    assert shown(capsys, *routed) == "  · small cannot see images; it was told that there is one\n"


def test_why_a_model_was_chosen_is_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, recorded(3, Routed("small", "list", "the first that can and may"))) == ""


def test_what_another_turn_says_is_told_with_what_it_answers(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, News("where is\nmy tea?", "On the table.")) == "  · on “where is my tea?”:\nOn the table.\n"


def test_what_another_turn_asks_is_only_announced(capsys: pytest.CaptureFixture[str]) -> None:
    asked = OpenQuestion(StepRef(TURN, 5), Question("Tea or coffee?", ("tea", "coffee")), "main", NOON)
    assert shown(capsys, News("ask", "Tea or coffee? (answer with …)", asked)) == "  · another question waits: Tea or coffee?\n"


def test_where_nothing_can_be_taken_back_there_is_no_sign_of_life(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, Quiet(), token("hello", 0), Quiet()) == "hello\n"


def test_bookkeeping_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    reserved = Reserved("sonnet", "anthropic", 10, 10, Decimal(1), "list", (DAY,))
    assert shown(capsys, recorded(3, reserved), recorded(4, Settled(3, Usage(), "unused"))) == ""


def test_an_outcome_of_a_call_that_nobody_saw_begin_has_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    happened = Happened(2, ToolResult("c1", "look", (Text("x"),)), how="reran")
    assert shown(capsys, recorded(3, happened)) == "  ╰ look · ok, run again · x\n"


def test_nothing_in_a_card_can_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    happened = Happened(2, ToolResult("c1", "lo\x1b[2Jok", (Text("a\x1b[31mb\nc"),)), "bad\x9b")
    out = shown(capsys, recorded(3, happened))
    assert "\x1b" not in out
    assert "\x9b" not in out
    assert out.count("\n") == 1
