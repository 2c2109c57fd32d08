"""A turn as entries: made once, in the order that providers want, with what is known of files."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.context.line import Round, Turning, grown, rounds

from daimon.abi.codec import encode
from daimon.abi.context import Entry
from daimon.abi.message import Message, Text, ToolCall
from daimon.context.entries import Entries, subject
from daimon.context.tokens import estimate
from daimon.testing.redactor import PlainRedactor


def made(turn: Turning, kept: Entries | None = None) -> list[Entry]:
    return list((kept or Entries()).of_turn(turn.claim.event, turn.claim.turn.id, tuple(turn.steps), turn.events))


@settings(max_examples=40, deadline=None)
@given(st.lists(rounds, max_size=5))
def test_sizes_never_grow_and_bytes_are_those_of_the_forms(done: list[Round]) -> None:
    for each in made(grown("t1", "go", done)):
        forms = (each.whole, each.brief, each.bare)
        assert each.tokens == tuple(map(estimate, forms))
        assert list(each.tokens) == sorted(each.tokens, reverse=True)
        assert each.chunks == tuple(encode(Message, form) for form in forms)


@settings(max_examples=40, deadline=None)
@given(st.lists(rounds, max_size=6))
def test_a_turn_that_grew_gives_what_reading_it_anew_gives_and_the_same_objects(done: list[Round]) -> None:
    turn, kept = Turning("t1", "go"), Entries()
    before: list[Entry] = []
    for each in done:
        turn.go(each)
        now = made(turn, kept)
        assert now == made(turn)
        assert all(a is b for a, b in zip(before, now, strict=False))
        before = now


def test_an_outcome_that_comes_late_stands_behind_its_reply() -> None:
    turn, kept = Turning("t1", "go"), Entries()
    turn.reply(ToolCall("c1", "look", {}), ToolCall("c2", "look", {}))
    slow, fast = turn.intend("c1", "look", {}), turn.intend("c2", "look", {})
    turn.happen(fast, Text("fast"))
    turn.hear("hurry")
    turn.reply(Text("one moment"))
    assert [each.sort for each in made(turn, kept)] == ["said", "reply", "result", "said", "reply"]
    turn.happen(slow, Text("slow"))
    now = made(turn, kept)
    assert [each.sort for each in now] == ["said", "reply", "result", "result", "said", "reply"]
    assert "slow" in str(now[2].whole)
    assert now == made(turn)


def test_another_history_of_the_same_turn_is_read_anew() -> None:
    turn, kept = grown("t1", "go", [Round("a", 1, ("x",))]), Entries()
    made(turn, kept)
    turn.steps[-1] = replace(turn.steps[-1], body=replace(turn.steps[-1].body, code="failed"))  # type: ignore[type-var]
    assert made(turn, kept)[-1].is_error


def test_a_file_is_known_by_its_plain_path_and_its_version_wherever_that_stands() -> None:
    turn = Turning("t1", "go")
    turn.call("read_file", {"path": "./src//a.py"}, '{"ok": true, "data": {"text": "' + "x" * 900 + '", "version": "v1"}}')
    diff = '{"ok": true, "data": {"files": [{"path": "src/a.py", "what": "changed", "version": "v2", "diff": "' + "+" * 900 + '"}]}}'
    turn.call("edit_file", {"path": "src/a.py"}, diff, touched=("./src/a.py",))
    read, edited = made(turn)[2], made(turn)[4]
    assert (read.file, read.version) == ("src/a.py", "v1")
    assert (edited.file, edited.version, edited.changes) == ("src/a.py", "v2", ("src/a.py",))


def test_a_text_in_a_file_is_not_taken_for_its_version() -> None:
    turn = Turning("t1", "go")
    turn.call("read_file", {"path": "a.json"}, '{"ok": true, "data": {"text": "{\\"version\\": \\"9\\"}", "version": "v1"}}')
    assert made(turn)[2].version == "v1"


def test_what_is_shortened_was_cleaned_before() -> None:
    secret = "s3cret" * 400
    turn = Turning("t1", f"my key is {secret}")
    turn.call("look", {"at": secret}, f"{secret} {'word ' * 2_000}")
    for each in made(turn, Entries(PlainRedactor({"key": secret}))):
        assert "s3crets3cret" not in str((each.whole, each.brief, each.bare))


def test_a_subject_is_the_tool_and_the_first_text() -> None:
    assert subject("look", {"n": 1, "at": "a  b"}) == "look a b"
    assert subject("look", [1]) == "look"
