from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import get_args

import pytest

from daimon.abi.event import Address, Erased, Event, Said
from daimon.abi.ids import HOME_SPACE, OWNER, SELF, BlobHash, EventId, Key, StepRef, TurnId
from daimon.abi.label import Author, Label, Origin, owned
from daimon.abi.message import Reasoning, Text, ToolCall, ToolResult
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
    HandOff,
    Happened,
    Intended,
    ModelFailed,
    Park,
    Received,
    RefreshContext,
    Replied,
    Routed,
    Started,
    Step,
    StepBody,
    Upgraded,
    Usage,
    UseTools,
    Wait,
)
from daimon.abi.tool import Effect, Question, Touched
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
BODIES: tuple[StepBody, ...] = (
    Received(EventId("e2"), 3),
    Routed("reflex", "only", "the only one", ("reflex", "other")),
    Replied(
        "reflex", (Reasoning("hm", "p"), Text("Let me see."), ToolCall("c1", "fetch", {"url": "example.org"})), "tools", Usage(10, 2, 4)
    ),
    ModelFailed("reflex", "timeout", "nothing for 120 s"),
    INTENDED,
    Started(4, "h1", QUESTION),
    Happened(4, ToolResult("c1", "fetch", (Text("<html>"),)), touched=(Touched("network", "example.org"),)),
    Happened(4, ToolResult("c1", "fetch", (Text("no"),), is_error=True), "refused_there"),
    Decided(Continue(), "1", {"steps": 3}),
    Asked(QUESTION, 4),
    Answered(9, "coffee", "with milk", OWNER, EventId("e3")),
    Answered(9, "tea", "", OWNER, None),
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
    assert "10 (4 cached) tokens in, 2 out" in entry.head


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


def test_the_request_of_a_model_call_is_not_part_of_the_words() -> None:
    told = report(TURN, EVENT, steps(Replied("m", (), "stop", request=BlobHash("ab" * 32))))
    assert told.entries[0].body == ("(silence)",)
