from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import get_args
from zoneinfo import ZoneInfo

import pytest

from daimon.abi.event import Address, Answer, Erased, Event, Said
from daimon.abi.ids import HOME_SPACE, OWNER, SELF, BlobHash, EventId, Key, StepRef, TurnId
from daimon.abi.judgement import Grant
from daimon.abi.label import Author, Label, Origin, owned
from daimon.abi.message import Reasoning, Text, ToolCall, ToolResult
from daimon.abi.money import Account, Amount, Limit, Scope, Usage
from daimon.abi.step import (
    Answered,
    Asked,
    AskHuman,
    Checkpointed,
    Complete,
    Continue,
    Decided,
    Decision,
    Gate,
    Granted,
    HandOff,
    Happened,
    Intended,
    ModelFailed,
    Park,
    Raised,
    Received,
    RefreshContext,
    Replied,
    Reserved,
    Routed,
    Settled,
    Short,
    Started,
    Step,
    StepBody,
    Upgraded,
    UseTools,
    Wait,
)
from daimon.abi.tool import Capability, Effect, Question, Touched
from daimon.abi.turn import Ending, Pins, State, Turn
from daimon.observe.trace import report

START = datetime(2026, 11, 15, 9, 0, tzinfo=UTC)
ID = TurnId("t1")
STRANGER = Label.of(Origin(Author.STRANGER, "web:example.org"))
TURN = Turn(
    id=ID, conversation="main", event=EventId("e1"), principal=OWNER, agent=SELF, root=ID, state=State.DONE, created_at=START,
    space=HOME_SPACE, label=owned("chat"), ending=Ending.ANSWERED, ended_at=START + timedelta(seconds=2), pins=Pins(model="reflex"),
)  # fmt: skip
EVENT = Event(
    id=EventId("e1"), source="chat", key=Key("k1"), conversation="main", principal=OWNER, body=Said((Text("what is new?"),)),
    occurred_at=START, received_at=START, label=owned("chat"), reply_to=Address("local", "main"),
)  # fmt: skip
QUESTION = Question("Tea or coffee?", ("tea", "coffee"))
INTENDED = Intended("c1", "fetch", {"url": "example.org"}, Key("t1:2"), Effect.PURE, "m1", Gate("allow", "it only reads", version="7"))
DAY = Account(Scope.DAY, "2026-11-15", Limit(cost=Decimal(5)), START + timedelta(hours=15))
TASK = Account(Scope.TURN, "t1", Limit(tokens=2_000_000))
RESERVED = Reserved("sonnet", "anthropic", 4_000, 8_192, Decimal("0.13"), "genai-prices 2026-11-01", (TASK, DAY))
MEASURED = Settled(0, Usage(1_200, 50, 800, cost=Decimal("0.02")), "measured")
ASSUMED = Settled(0, Usage(4_000, 8_192, cost=Decimal("0.13")), "assumed")
SHORT = Short("sonnet", DAY, Amount(90_000, Decimal("4.95")), Amount(), Amount(12_192, Decimal("0.13")), "reached")
RAISED = Raised(Scope.DAY, "2026-11-15", Amount(0, Decimal("2.5")), OWNER)
GRANTED = Granted(9, Grant("t1:10", SELF, (Capability.SENDS,), "send", ("bob@x.org",), at=START, until=START + timedelta(days=30)))
BODIES: tuple[StepBody, ...] = (
    Received(EventId("e2"), 3),
    Routed("reflex", "only", "the only one", ("reflex", "other")),
    Replied(
        "reflex", (Reasoning("hm", "p"), Text("Let me see."), ToolCall("c1", "fetch", {"url": "example.org"})), "tools", Usage(10, 2, 4)
    ),
    ModelFailed("reflex", "timeout", "nothing for 120 s"),
    RESERVED,
    MEASURED,
    SHORT,
    RAISED,
    INTENDED,
    Started(4, "h1", QUESTION),
    Happened(4, ToolResult("c1", "fetch", (Text("<html>"),)), touched=(Touched("network", "example.org"),)),
    Happened(4, ToolResult("c1", "fetch", (Text("no"),), is_error=True), "refused_there"),
    Decided(Continue(), "1", {"steps": 3}),
    Asked(QUESTION, 4),
    Answered(9, "coffee", "with milk", OWNER, EventId("e3")),
    Answered(9, "tea", "", OWNER, None),
    GRANTED,
    Checkpointed("workspace", "w1"),
    Upgraded(Pins(model="a"), Pins(model="b")),
    Erased("h", START, "the owner wanted it"),
)
DECISIONS: tuple[Decision, ...] = (
    Continue(), UseTools((3, 4)), RefreshContext("it changed"), Park("waiting", (Wait("answer", StepRef(ID, 9)),)), AskHuman(QUESTION),
    HandOff(SELF, "it knows more"), Complete(Ending.LIMIT, "200 steps"),
)  # fmt: skip


def steps(*bodies: StepBody, label: Label = TURN.label) -> tuple[Step, ...]:
    return tuple(
        Step(turn=ID, n=n, body=body, at=START + timedelta(seconds=n), space=HOME_SPACE, principal=OWNER, agent=SELF, label=label)
        for n, body in enumerate(bodies)
    )


def test_every_kind_of_step_and_decision_is_told() -> None:
    assert {type(body) for body in BODIES} == set(get_args(get_args(StepBody)[0]))
    assert {type(decision) for decision in DECISIONS} == set(get_args(get_args(Decision)[0]))

    told = report(TURN, EVENT, steps(*BODIES, *(Decided(decision, "1") for decision in DECISIONS)))

    assert [entry.n for entry in told.entries] == list(range(len(BODIES) + len(DECISIONS)))
    assert all(entry.head for entry in told.entries)
    assert [entry.after_s for entry in told.entries[:3]] == [0.0, 1.0, 2.0]


def test_an_event_that_changes_nothing_is_shown_with_the_reason() -> None:
    counts, ignored = report(TURN, EVENT, steps(Received(EventId("e2"), 3), Received(EventId("e4"), 3, "it was settled before"))).entries
    assert (counts.head, counts.tone) == ("event e2 for step 3", "plain")
    assert (ignored.head, ignored.tone) == ("event e4 for step 3: ignored, it was settled before", "bad")


def test_what_came_when_the_turn_was_over_is_shown() -> None:
    answer = replace(EVENT, id=EventId("e9"), body=Answer("allow"), resolves=StepRef(ID, 3))
    assert report(TURN, EVENT, ()).late == ()
    (line,) = report(TURN, EVENT, (), [answer]).late
    assert line.startswith("event e9 (answer 'allow' of owner for step 3) at 2026-")
    assert line.endswith(": ignored, the turn was over")


def test_a_question_about_several_calls_and_its_answer_name_them() -> None:
    asked, answer, granted = report(
        TURN, EVENT, steps(Asked(QUESTION, 4, (), (5,)), Answered(0, "allow", "2", OWNER, None, (5,)), GRANTED)
    ).entries
    assert asked.head == "asks about 4, 5"
    assert answer.head == "to 0: allow, only 5, nobody answered in time"
    assert "owner granted t1:10, asked at 9: send to bob@x.org" in granted.head


def test_a_tool_call_shows_arguments_verdict_and_outcome() -> None:
    intent, outcome = report(TURN, EVENT, steps(INTENDED, Happened(0, ToolResult("c1", "fetch", (Text("<html>"),)), "timeout"))).entries
    assert intent.head == 'fetch(url="example.org")'
    assert "gate says allow: it only reads" in intent.body[0]
    assert "rules 7" in intent.body[0]
    assert "timeout" in outcome.head
    assert outcome.tone == "bad"
    assert outcome.body == ("<html>",)


def test_a_reply_shows_what_was_thought_said_and_called() -> None:
    (entry,) = report(TURN, EVENT, steps(BODIES[2])).entries
    assert entry.body == ("thinks: hm", "Let me see.", '→ fetch(url="example.org")')
    assert "10 tokens in (6 fresh, 4 cached: 40 %), 2 out" in entry.head


def test_odd_replies_say_what_was_put_right_and_what_was_kept() -> None:
    reply = Replied("m", (Text("hi"),), "stop", logprobs=BlobHash("cd" * 32), remarks=("a call was found in the text",))
    (entry,) = report(TURN, EVENT, steps(reply)).entries
    assert entry.body == ("hi", "remark: a call was found in the text", f"log-probabilities kept in blob {'cd' * 32}")


def test_a_route_says_who_was_passed_over_and_what_the_choice_may_cost() -> None:
    over = {"reflex": "it is not sure", "opus": "a call may cost $1.00"}
    chosen = Routed("sonnet", "list", "the first that may", ("reflex", "sonnet"), {"sonnet": 0.5}, over, Decimal("0.13"))
    (entry,) = report(TURN, EVENT, steps(chosen)).entries
    assert entry.head == "sonnet among reflex, sonnet: the first that may, up to $0.13  [policy list]"
    assert entry.body == ("passed over reflex: it is not sure", "passed over opus: a call may cost $1.00", "scores: sonnet 0.5")


def test_a_reservation_shows_its_worst_case_its_price_and_whom_it_is_charged_to() -> None:
    known, unknown = report(TURN, EVENT, steps(RESERVED, replace(RESERVED, cost=None, price="unknown", accounts=()))).entries
    assert known.head == "sonnet at anthropic: up to 4,000 tokens in and 8,192 out, up to $0.13 (price: genai-prices 2026-11-01)"
    assert known.body == ("turn t1: 2,000,000 tokens", "day 2026-11-15: $5.00")
    assert unknown.head == "sonnet at anthropic: up to 4,000 tokens in and 8,192 out, price unknown"


def test_a_settlement_says_what_a_call_took_and_who_says_so() -> None:
    measured, unused, assumed = report(TURN, EVENT, steps(MEASURED, Settled(0, Usage(), "unused"), ASSUMED)).entries
    assert measured.head == "of 0: measured, 1,200 tokens in (400 fresh, 800 cached: 67 %), 50 out, cost $0.02"
    assert unused.head == "of 0: unused, 0 tokens in, 0 out, cost $0.00"
    assert assumed.head == "of 0: assumed, 4,000 tokens in, 8,192 out, cost $0.13"
    assert assumed.body == ("nobody said what the call took, so all that was reserved counts",)


def test_a_limit_that_was_met_is_told_with_what_the_turn_waits_for() -> None:
    held = replace(SHORT, why="held", held=Amount(9_000, Decimal("0.04")))
    unknown = replace(SHORT, why="unknown_price", needed=Amount(12_192, None), asked=TurnId("t2"))
    reached, waiting, priceless = report(TURN, EVENT, steps(SHORT, held, unknown)).entries
    assert reached.head == ("The limit for today (budget.day) is $5.00; $4.95 is spent, and the next call of sonnet may cost up to $0.13.")
    assert (reached.body, reached.tone) == ((), "asks")
    assert waiting.body == ("calls under way have set 9,000 tokens and $0.04 aside; it waits for them",)
    assert priceless.body == ("nobody knows what a call of sonnet costs", "turn t2 asks the owner already")


def test_a_raise_says_who_allowed_how_much_more_for_what() -> None:
    money, tokens = report(TURN, EVENT, steps(RAISED, replace(RAISED, scope=Scope.TURN, key="t1", more=Amount(10_000)))).entries
    assert money.head == "owner allowed $2.50 more for day 2026-11-15"
    assert tokens.head == "owner allowed 10,000 tokens more for turn t1"


def test_a_failed_model_says_whether_it_lasts_and_what_it_had_said() -> None:
    cut = ModelFailed("sonnet", "cut", "it broke off", provider="anthropic", partial="Dear Ad")
    barred = ModelFailed("sonnet", "auth", "the key is wrong", provider="anthropic", is_lasting=True)
    nobody = ModelFailed("", "unavailable", "sonnet: too busy.", retry_at=(START + timedelta(minutes=5)).astimezone(ZoneInfo("Asia/Tokyo")))
    first, second, third = report(TURN, EVENT, steps(cut, barred, nobody)).entries
    assert first.head == "sonnet at anthropic failed: cut, it may pass"
    assert first.body == ("it broke off", "had said: Dear Ad")
    assert second.head == "sonnet at anthropic failed: auth, lasting, until somebody changes something"
    assert third.head == "no model can be asked: unavailable, it may pass, tried again at 2026-11-15 09:05:00 UTC"


def test_a_turn_that_waits_for_money_says_until_when() -> None:
    midnight = datetime(2026, 11, 16, tzinfo=ZoneInfo("Europe/Berlin"))
    (entry,) = report(TURN, EVENT, steps(Decided(Park("waiting", (Wait("money", StepRef(ID, 4), midnight),)), "2"))).entries
    assert entry.head.startswith("park, waiting: money for t1:4 until 2026-11-15 23:00:00 UTC")


def test_whose_words_a_step_holds_is_said_with_it() -> None:
    assert report(TURN, EVENT, steps(BODIES[0])).entries[0].label == "trusted owner@chat"
    assert report(TURN, EVENT, steps(BODIES[0], label=STRANGER)).entries[0].label == "untrusted stranger@web:example.org"


def test_what_was_erased_is_shown_as_erased() -> None:
    gone = Erased("h", START, "the owner wanted it")
    told = report(TURN, replace(EVENT, body=gone), steps(gone))
    assert told.said == "erased: the owner wanted it"
    assert told.entries[0].head == "erased: the owner wanted it"
    assert told.reply == ""


def test_totals_add_up_and_an_unknown_cost_stays_unknown() -> None:
    known = Replied("m", (Text("hi"),), "stop", Usage(10, 2, cost=Decimal("0.5")))
    unknown = replace(known, usage=Usage(1, 1, cost=None))

    totals = report(TURN, EVENT, steps(known, known, INTENDED, ModelFailed("m", "cut", "x"))).totals
    assert (totals.model_calls, totals.tool_calls, totals.failures) == (3, 1, 1)
    assert (totals.input_tokens, totals.output_tokens, totals.cost, totals.took_s) == (20, 4, Decimal("1.0"), 2.0)
    assert report(TURN, EVENT, steps(known, unknown)).totals.cost is None


REPLY = Replied("sonnet", (Text("hi"),), "stop", MEASURED.usage)


def test_a_settlement_speaks_for_its_reply_and_for_calls_that_failed() -> None:
    tried = (RESERVED, ASSUMED, ModelFailed("sonnet", "cut", "x"), RESERVED, replace(MEASURED, reservation=3), REPLY)
    totals = report(TURN, EVENT, steps(*tried)).totals
    assert (totals.model_calls, totals.failures) == (2, 1)
    assert (totals.input_tokens, totals.output_tokens, totals.cached_tokens) == (5_200, 8_242, 800)
    assert (totals.cost, totals.assumed, totals.under_way) == (Decimal("0.15"), Decimal("0.13"), 0)


def test_replies_that_nobody_reserved_for_count_beside_those_that_were() -> None:
    older = Replied("m", (Text("hi"),), "stop", Usage(10, 2, cost=Decimal("0.5")))
    totals = report(TURN, EVENT, steps(older, Decided(Continue(), "1"), RESERVED, replace(MEASURED, reservation=2), REPLY)).totals
    assert (totals.input_tokens, totals.cost) == (1_210, Decimal("0.52"))


def test_a_call_that_nobody_settled_is_under_way_until_its_turn_is_over() -> None:
    going_on = report(replace(TURN, ending=None, ended_at=None), EVENT, steps(RESERVED)).totals
    assert (going_on.cost, going_on.under_way, going_on.held) == (0, 1, Decimal("0.13"))
    over = report(TURN, EVENT, steps(RESERVED)).totals
    assert (over.cost, over.assumed, over.under_way, over.held) == (Decimal("0.13"), Decimal("0.13"), 0, 0)


def test_a_call_of_unknown_cost_makes_the_sum_unknown() -> None:
    unknown = replace(RESERVED, cost=None)
    settled = Settled(0, Usage(10, 2, cost=None), "measured")
    assert report(TURN, EVENT, steps(unknown, settled)).totals.cost is None
    assert report(replace(TURN, ended_at=None), EVENT, steps(unknown)).totals.held is None


def test_a_call_that_does_not_say_its_cost_counts_as_the_ledger_counts_it() -> None:
    assert report(TURN, EVENT, steps(RESERVED, Settled(0, Usage(10, 2, cost=None), "measured"))).totals.cost == RESERVED.cost


def test_no_model_to_ask_is_a_failure_but_no_call() -> None:
    totals = report(TURN, EVENT, steps(ModelFailed("", "unavailable", "x"))).totals
    assert (totals.model_calls, totals.failures) == (0, 1)


def test_erased_steps_of_every_kind_take_their_numbers_with_them() -> None:
    gone = Erased("h", START, "the owner wanted it")
    told = report(TURN, EVENT, steps(*(gone for _ in BODIES)))
    assert {(entry.kind, entry.head, entry.body, entry.tone) for entry in told.entries} == {
        ("erased", "erased: the owner wanted it", (), "quiet")
    }
    assert (told.totals.cost, told.totals.input_tokens, told.totals.under_way) == (0, 0, 0)


@pytest.mark.parametrize(
    ("ending", "expected"),
    [
        (Ending.ANSWERED, "hi"),
        (Ending.SILENT, ""),
        (Ending.STOPPED, ""),
        (Ending.LIMIT, "It had to stop before it was done: 200 steps."),
        (None, ""),
    ],
)
def test_the_reply_is_what_the_turn_said_at_its_end(ending: Ending | None, expected: str) -> None:
    done = steps(Replied("m", (Text("first"), ToolCall("c", "t", {})), "tools"), Replied("m", (Text("hi"),), "stop"))
    limit = steps(Replied("m", (Text("hi"),), "stop"), Decided(Complete(Ending.LIMIT, "200 steps"), "1"))
    turn = replace(TURN, ending=ending)
    assert report(turn, EVENT, limit if ending is Ending.LIMIT else done).reply == expected


def test_a_fork_and_a_child_say_where_they_come_from() -> None:
    turn = replace(TURN, parent=StepRef(TurnId("t0"), 3), root=TurnId("t0"), forked_from=StepRef(TurnId("t9"), 2), effects="record")
    facts = dict(report(turn, EVENT, ()).facts)
    assert facts["parent"] == "t0:3"
    assert facts["forked from"] == "t9:2, effects from the record"
    assert "job" not in facts
    assert dict(report(replace(TURN, job="read-feed"), EVENT, ()).facts)["job"] == "read-feed"


def test_the_request_of_a_model_call_is_not_part_of_the_words() -> None:
    told = report(TURN, EVENT, steps(Replied("m", (), "stop", request=BlobHash("ab" * 32))))
    assert told.entries[0].body == ("(silence)",)
