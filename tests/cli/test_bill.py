"""What a turn took, on one line."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from daimon.abi.ids import HOME_SPACE, OWNER, SELF, EventId, TurnId
from daimon.abi.message import Text
from daimon.abi.money import Usage
from daimon.abi.step import Decided, ModelFailed, Park, Replied, Reserved, Routed, Settled, Step, StepBody
from daimon.abi.turn import Ending, State, Turn
from daimon.cli import bill

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
TURN = Turn(
    id=TurnId("t1"), conversation="main", event=EventId("e1"), principal=OWNER, agent=SELF, root=TurnId("t1"), state=State.DONE,
    space=HOME_SPACE, created_at=NOON, ending=Ending.ANSWERED, ended_at=NOON + timedelta(seconds=3.4),
)  # fmt: skip
RESERVED = Reserved("sonnet", "anthropic", 2_000, 1_000, Decimal("0.02"), "list", ())
REFLEX = Replied("reflex", (Text("hi"),), "stop")


def sonnet(usage: Usage) -> Replied:
    return Replied("sonnet", (Text("hi"),), "stop", usage)


@pytest.mark.parametrize(
    ("bodies", "line"),
    [
        ([sonnet(Usage(1200, 30, 900, 0, Decimal("0.0123")))], "sonnet · 1,200 tokens in (75 % cached), 30 out · $0.01 · 3.4 s"),
        ([sonnet(Usage(1200, 30, cost=None))], "sonnet · 1,200 tokens in, 30 out · cost unknown · 3.4 s"),
        ([REFLEX], "reflex · 3.4 s"),
        ([sonnet(Usage(10, 5))], "sonnet · 10 tokens in, 5 out · 3.4 s"),
        (
            [
                *(RESERVED, Settled(0, Usage(10, 5, cost=Decimal("0.5")), "measured"), sonnet(Usage(10, 5, cost=None))),
                *(
                    RESERVED,
                    Settled(3, Usage(20, 5, cost=Decimal("0.25")), "measured"),
                    sonnet(Usage(20, 5, cost=None)),
                    Routed("reflex", "list", ""),
                    REFLEX,
                ),
            ],
            "sonnet + reflex · 30 tokens in, 10 out · $0.75 · 3.4 s",
        ),
        (
            [RESERVED, Settled(0, Usage(2000, 1000, cost=Decimal("0.02")), "assumed"), ModelFailed("sonnet", "stopped", "it was stopped")],
            "sonnet · at most $0.02 · 3.4 s",
        ),
        (
            [
                *(RESERVED, Settled(0, Usage(2000, 1000, cost=Decimal("0.02")), "assumed"), ModelFailed("sonnet", "down", "it broke off")),
                *(RESERVED, Settled(3, Usage(20, 5, cost=Decimal("0.01")), "measured"), sonnet(Usage(20, 5, cost=None))),
            ],
            "sonnet · 20 tokens in, 5 out and more · at most $0.03 · 3.4 s",
        ),
        (
            [Routed("mine", "list", "the first that can and may"), Replied("compatible:test-model", (Text("hi"),), "stop", Usage(10, 5))],
            "mine · 10 tokens in, 5 out · 3.4 s",
        ),
        ([Decided(Park("waiting", ()), "2")], ""),
    ],
    ids=[
        "a price",
        "no price",
        "a reflex",
        "free",
        "settlements count",
        "nobody said what it took",
        "of one call nobody said what it took",
        "the owner's name",
        "no model",
    ],
)
def test_a_turn_says_what_it_took(bodies: list[StepBody], line: str) -> None:
    steps = [Step(turn=TURN.id, n=n, body=b, at=NOON, space=HOME_SPACE, principal=OWNER, agent=SELF) for n, b in enumerate(bodies)]
    assert bill.line(TURN, steps) == line
