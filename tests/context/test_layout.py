"""The window, whatever happens in it: never over budget, always legal, the same bytes until a cut."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.context.line import PICTURE, STRANGER, Round, Turning, background, check, grown, is_legal, pager, rounds, turns
from tests.journal.world import step

from daimon.abi.codec import blob_hash, encode
from daimon.abi.context import Background, Block, Prompt
from daimon.abi.ids import TurnId
from daimon.abi.message import Message, Reasoning, Role, Text, ToolCall, said
from daimon.abi.step import ContextRef, ModelFailed
from daimon.abi.tool import Effect, Manifest
from daimon.context.assemble import Pager

TOOLS = (Manifest(name="look", description="looks", parameters={"type": "object"}, effect=Effect.PURE),)
windows = st.sampled_from((600, 1_000, 2_000, 8_000, 32_000))


def block(text: str) -> Block:
    message = said(Role.USER, text, STRANGER)
    return Block(blob_hash(encode(Message, message)), message, (ContextRef("quote", "t0"),))


blocks = st.none() | st.integers(0, 6_000).map(lambda size: block("[page]\n" + "x " * size))


# -- never over budget


@settings(max_examples=80, deadline=None)
@given(turns, windows, blocks, blocks, st.lists(st.text(max_size=300), max_size=20))
def test_whatever_happened_a_request_is_legal_and_never_over_its_budget(
    told: list[tuple[str, list[Round]]], window: int, page: Block | None, recalled: Block | None, stale: list[str]
) -> None:
    *before, now = [grown(f"t{n}", text, done) for n, (text, done) in enumerate(told)]
    earlier = tuple(turn.stretch() for turn in before)
    seen = background(now, earlier, page=page, memory=recalled, stale=tuple(stale), late=("the page",))
    check(pager(window).assemble(now.scene(), seen, TOOLS), TOOLS)


@settings(max_examples=40, deadline=None)
@given(st.lists(rounds, min_size=2, max_size=8), windows)
def test_a_turn_that_grows_is_legal_at_every_step_and_a_fresh_process_gives_the_same_bytes(done: list[Round], window: int) -> None:
    turn, paging = Turning("t1", "work"), pager(window)
    earlier = tuple(grown(f"t0{n}", "earlier", [Round("old " * 50, 1, ("result " * 100,))]).stretch() for n in range(4))
    made = None
    for each in done:
        made = paging.assemble(turn.scene(), _after(made, turn, earlier), TOOLS)
        check(made, TOOLS)
        again = pager(window).assemble(turn.scene(), _after(made, turn, earlier), TOOLS)
        assert again.chunks == made.chunks
        turn.go(each)


def _after(made: Prompt | None, turn: Turning, earlier: tuple[object, ...]) -> Background:
    """What is read ahead once the request before was answered: what its references say."""
    if made is None:
        return background(turn, earlier)  # type: ignore[arg-type]
    refs = {ref.what: ref.ref for ref in made.request.context}
    shown = {ref.ref for ref in made.request.context if ref.what == "turn"}
    kept = tuple(stretch for stretch in earlier if stretch.turn in shown)  # type: ignore[attr-defined]
    summary = next((m for m in made.request.messages if blob_hash(encode(Message, m)) == refs.get("summary")), None)
    return background(turn, kept, cut=refs.get("cut", ""), summary=None if summary is None else Block(refs["summary"], summary))  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["x" * 5_000_000, "漢" * 1_700_000, "🦜" * 1_000_000, "\0" * 5_000_000, "error\n" * 800_000])
def test_a_result_of_five_megabytes_fits_into_a_small_window_and_says_where_the_rest_is(text: str) -> None:
    turn = Turning("t1", "read it")
    turn.call("look", {"at": "it"}, text)
    made = pager(2_000).assemble(turn.scene(), background(turn), TOOLS)
    check(made, TOOLS)
    assert "recall ref=t1:2" in str(made.request.messages[-1])


def test_a_thousand_calls_at_once_fit_or_only_the_question_stays() -> None:
    for window in (1_000, 8_000, 200_000):
        turn = grown("t1", "look at all", [Round("", 1_000, ("found " * 100,))])
        made = pager(window).assemble(turn.scene(), background(turn), TOOLS)
        check(made, TOOLS)
        assert "look at all" in [message.text for message in made.request.messages]


def test_a_call_with_huge_arguments_and_pictures_and_thoughts_fits() -> None:
    turn = Turning("t1", "go")
    many = {f"name{n}" * 5: "x" * 300 for n in range(500)}
    turn.reply(Reasoning("hm " * 9_000, "p", "s" * 9_000), Text("so"), ToolCall("c1", "look", many, "signed " * 5_000))  # type: ignore[arg-type]
    turn.happen(turn.intend("c1", "look", many), Text("seen"), *(PICTURE,) * 30)  # type: ignore[arg-type]
    made = pager(4_000).assemble(turn.scene(), background(turn), TOOLS)
    check(made, TOOLS)
    assert "c1" in str(made.request.messages)


def test_after_too_long_the_request_shrinks_and_what_was_asked_is_still_in_it() -> None:
    turn, paging = grown("t1", "the question", [Round("so", 1, ("word " * 1_000,))] * 6), pager(16_000)
    sizes = []
    for _ in range(4):
        made = paging.assemble(turn.scene(), background(turn), TOOLS)
        check(made, TOOLS)
        assert "the question" in [message.text for message in made.request.messages]
        sizes.append(made.account.used)
        turn.steps.append(step(turn.claim, turn.n, ModelFailed("m", "too_long", "too long")))
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < sizes[0]


# -- structure


def test_a_late_outcome_goes_to_its_call_also_after_a_cut() -> None:
    turn, paging = Turning("t1", "both"), pager(1_600)
    turn.reply(ToolCall("slow", "look", {"at": "a"}), ToolCall("fast", "look", {"at": "b"}))
    slow, fast = turn.intend("slow", "look", {"at": "a"}), turn.intend("fast", "look", {"at": "b"})
    turn.happen(fast, Text("b " * 200))
    for n in range(12):
        turn.call("look", {"at": f"{n}"}, "word " * 100)
        paging.assemble(turn.scene(), background(turn), TOOLS)
    turn.happen(slow, Text("a " * 200))
    made = paging.assemble(turn.scene(), background(turn), TOOLS)
    check(made, TOOLS)


def test_what_was_said_while_calls_ran_stands_behind_their_results() -> None:
    turn = grown("t1", "go", [Round("", 2, ("seen",), later="hurry")])
    made = pager(8_000).assemble(turn.scene(), background(turn), TOOLS)
    is_legal(made)
    assert made.request.messages[-1].text == "hurry"


def test_a_window_that_begins_in_the_middle_of_an_earlier_turn_begins_with_what_was_asked_there() -> None:
    long = grown("t1", "the old task", [Round("so", 1, ("word " * 150,))] * 12)
    made = pager(1_600).assemble(long.scene(), background(long), TOOLS)
    cut = next(ref.ref for ref in made.request.context if ref.what == "cut")
    assert not cut.startswith("-"), "rounds were to leave"
    now = grown("t2", "the new task", [Round("so", 1, ("word " * 150,))] * 3)
    seen = background(now, (long.stretch(),), cut=cut)
    after = pager(1_600).assemble(now.scene(), seen, TOOLS)
    check(after, TOOLS)
    assert "the new task" in [message.text for message in after.request.messages]


# -- notices


def test_a_notice_comes_last_and_goes_without_a_trace() -> None:
    turn, paging = Turning("t1", "go"), pager(8_000)
    turn.call("look", {"at": "a"})
    plain = paging.assemble(turn.scene(), background(turn), TOOLS)
    noticed = paging.assemble(turn.scene(), background(turn, stale=("a.py",)), TOOLS)
    assert noticed.chunks[:-1] == plain.chunks
    assert noticed.request.messages[-1].text.startswith("[now]")
    assert paging.assemble(turn.scene(), background(turn), TOOLS).chunks == plain.chunks
    assert noticed.account.notices > 0 == plain.account.notices


def test_an_error_that_left_the_window_unresolved_is_told_until_it_is_resolved() -> None:
    turn, paging = Turning("t1", "go"), pager(1_500)
    turn.call("build", {"what": "all"}, "it broke " * 150, code="failed")
    for n in range(20):
        turn.call("look", {"at": f"{n}"}, "word " * 120)
        made = paging.assemble(turn.scene(), background(turn), TOOLS)
    assert "not resolved: build failed (recall ref=t1:2)" in made.request.messages[-1].text
    turn.call("build", {"what": "all"}, "fine")
    assert "[now]" not in paging.assemble(turn.scene(), background(turn), TOOLS).request.messages[-1].text


# -- labels


def test_the_label_is_of_what_is_shown_and_of_nothing_that_left() -> None:
    turn, paging = Turning("t1", "go"), pager(1_500)
    turn.reply(ToolCall("c", "look", {}))
    turn.happen(turn.intend("c", "look", {}), Text("their words"), label=STRANGER)
    assert not paging.assemble(turn.scene(), background(turn), TOOLS).request.label.is_trusted
    page = block("[page]\n- theirs")
    other = Turning("t2", "hi")
    assert not pager(8_000).assemble(other.scene(), background(other, page=page), TOOLS).request.label.is_trusted
    assert not pager(8_000).assemble(other.scene(), background(other, memory=page), TOOLS).request.label.is_trusted
    assert not pager(8_000).assemble(other.scene(), background(other, summary=page), TOOLS).request.label.is_trusted
    assert pager(8_000).assemble(other.scene(), background(other), TOOLS).request.label.is_trusted


def test_recalled_words_that_are_left_out_do_not_taint() -> None:
    turn = Turning("t1", "x" * 60_000)
    made = pager(2_000).assemble(turn.scene(), background(turn, memory=block("[memory] " + "theirs " * 1_000)), TOOLS)
    check(made, TOOLS)
    assert made.request.label.is_trusted
    assert "theirs" not in str(made.request.messages)


# -- secrets


def test_half_of_a_secret_is_not_shown_either() -> None:
    from daimon.context.assemble import Paging, Sources
    from daimon.context.budget import TokenBudget
    from daimon.testing.clock import ManualClock
    from daimon.testing.ids import CountingIds
    from daimon.testing.journal import MemoryJournal
    from daimon.testing.redactor import PlainRedactor

    secret = "".join(chr(97 + n % 26) + str(n) for n in range(2_000))
    journal = MemoryJournal(ManualClock(), CountingIds())
    paging = Pager(Sources(journal, journal), "s", Paging(TokenBudget(1_200, 0, 0, 0)), PlainRedactor({"key": secret}))
    turn = Turning("t1", "go")
    turn.call("look", {"at": "it"}, f"{secret} {'word ' * 3_000}{secret}")
    made = paging.assemble(turn.scene(), background(turn), ())
    assert "[secret key]" in str(made.request.messages)
    assert secret[:40] not in str(made.request.messages)
    assert secret[-40:] not in str(made.request.messages)


def test_the_references_name_the_cut_and_the_turns_that_are_still_shown() -> None:
    earlier = tuple(grown(f"t{n}", f"question {n}", [Round("word " * 300, 0, ("",))]).stretch() for n in range(20))
    turn = Turning("u1", "now")
    made = pager(2_000).assemble(turn.scene(), background(turn, earlier), TOOLS)
    check(made, TOOLS)
    refs = made.request.context
    shown = [TurnId(ref.ref) for ref in refs if ref.what == "turn"]
    gone = [stretch for stretch in earlier if stretch.turn not in shown]
    assert gone, "nothing left"
    assert next(ref.ref for ref in refs if ref.what == "cut").startswith(gone[-1].entries[-1].source)
    quoted = {ref.ref for ref in refs if ref.what == "quote"}
    assert quoted
    assert quoted <= {stretch.turn for stretch in gone}
