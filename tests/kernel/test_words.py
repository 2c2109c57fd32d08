from datetime import UTC, datetime
from decimal import Decimal

import pytest

from daimon.abi.event import Answer, Body, Erased, Fired, FromAgent, Heartbeat, Late, Said, Stop, Webhook
from daimon.abi.ids import AgentId, BlobHash, TimerId, TurnId
from daimon.abi.message import Audio, File, Image, Text
from daimon.abi.money import Account, Amount, Limit, Scope, Usage
from daimon.abi.ports import Balance
from daimon.kernel import words

AT = datetime(2026, 11, 15, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (Said((Text("hello"), Image(BlobHash("h"), "image/png", "a cat"))), "hello\n[image image/png: a cat]"),
        (
            Said((Audio(BlobHash("h"), "audio/ogg", transcript="hi there"), File(BlobHash("h"), "a.txt", "text/plain", 3))),
            "hi there\n[file a.txt, 3 bytes]",
        ),
        (Webhook("github", {"a": 1}), 'github {"a": 1}'),
        (Heartbeat("read-feed"), "read-feed"),
        (Fired(TimerId("r1"), "stretch", AT, 90.0), "stretch (due 2026-11-15 09:00:00, 90.0 s late)"),
        (FromAgent(AgentId("other"), (Text("done"),)), "done"),
        (Answer("allow", "once"), "allow: once"),
        (Late({"x": 1}, is_error=True), 'failed: {"x": 1}'),
        (Stop(TurnId("t1"), "enough"), "stop t1: enough"),
        (Erased("h", AT, "asked for"), "erased: asked for"),
    ],
)
def test_every_event_is_told_in_words(body: Body, expected: str) -> None:
    assert words.said(body) == expected


def test_long_words_are_cut_to_one_line() -> None:
    assert words.short("one\n two   three", 8) == "one two…"
    assert words.short("one\ntwo", 8) == "one two"


@pytest.mark.parametrize(("seconds", "expected"), [(0.004, "4 ms"), (1.25, "1.2 s"), (125, "2 min 5 s"), (7_300, "2 h 1 min")])
def test_durations_are_told_as_people_do(seconds: float, expected: str) -> None:
    assert words.duration(seconds) == expected


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (Usage(10, 2), "10 tokens in, 2 out, cost $0.00"),
        (Usage(1_200, 50, 800, cost=Decimal("0.02")), "1,200 tokens in (400 fresh, 800 cached: 67 %), 50 out, cost $0.02"),
        (Usage(10, 2, 0, 8, None), "10 tokens in (10 fresh, 8 of it written to the cache), 2 out, unknown cost"),
        (Usage(10, 2, 11), "10 tokens in (0 fresh, 11 cached: 110 %), 2 out, cost $0.00"),
    ],
)
def test_cached_and_fresh_tokens_are_told_apart_and_an_unknown_cost_is_not_zero(usage: Usage, expected: str) -> None:
    assert words.usage(usage) == expected


@pytest.mark.parametrize(
    ("limit", "held", "waiting", "expected"),
    [
        (Limit(cost=Decimal(5)), Decimal(0), 0, "today $1.20 of $5.00"),
        (Limit(1_000), Decimal(0), 0, "today 700 of 1,000 tokens"),
        (
            Limit(1_000, Decimal(5)),
            Decimal("0.1"),
            2,
            "today $1.20 of $5.00 and 700 of 1,000 tokens, $0.10 set aside, 2 turns waiting for money",
        ),
        (Limit.NONE, Decimal(0), 0, "today $1.20, no limit"),
    ],
)
def test_a_balance_says_how_much_of_the_limit_is_spent(limit: Limit, held: Decimal, waiting: int, expected: str) -> None:
    balance = Balance(Account(Scope.DAY, "2026-11-15", limit), Amount(700, Decimal("1.20")), Amount(50, held), waiting)
    assert words.balance(balance) == expected
