"""What an exchange makes of updates that come late, where a gateway cannot bring it about at will."""

from datetime import UTC, datetime

from daimon.abi.event import Event, Said
from daimon.abi.ids import HOME_SPACE, OWNER, SELF, Conversation, EventId, StepRef, TurnId
from daimon.abi.label import owned
from daimon.abi.message import Text
from daimon.abi.step import Received, Started, Step, StepBody
from daimon.abi.tool import Question
from daimon.abi.turn import State, Turn
from daimon.cli.interrupt import Interrupt
from daimon.cli.reach import Line
from daimon.cli.talk import Exchange, Heard
from daimon.gateway.answers import Taken, Trace
from daimon.kernel.feed import Changed, Recorded

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
PLACE = Conversation(HOME_SPACE, "main")
TURN = TurnId("t1")
ASKED, ANSWER = EventId("e1"), EventId("e2")


def step(n: int, body: StepBody) -> Step:
    return Step(turn=TURN, n=n, body=body, at=NOON, space=HOME_SPACE, principal=OWNER, agent=SELF)


QUESTION = step(0, Started(0, Question("Tea or coffee?", ("tea", "coffee"))))
TAKEN_IN = step(1, Received(ANSWER, resolves=0))


class Gateway:
    """What the journal holds, as far as it got."""

    def __init__(self) -> None:
        self.steps = [QUESTION]

    def send(self, event: bytes, key: str | None = None) -> Taken:
        return Taken(ANSWER, 2, "main", True)

    def trace(self, turn: TurnId) -> Trace:
        return Trace(
            Turn(id=TURN, conversation="main", event=ASKED, principal=OWNER, agent=SELF, root=TURN, state=State.PARKED, space=HOME_SPACE,
                 created_at=NOON),
            Event(id=ASKED, space=HOME_SPACE, source="chat", key="k", conversation="main", principal=OWNER, body=Said((Text("ask"),)),
                  label=owned("chat"), occurred_at=NOON, received_at=NOON),
            tuple(self.steps),
        )  # fmt: skip


class Updates:
    """Of the feed, in the order in which they come; a step is in the journal when it comes."""

    def __init__(self, gateway: Gateway, *heard: Heard) -> None:
        self._gateway, self._heard = gateway, list(heard)

    def next(self, timeout_s: float) -> Heard:
        heard = self._heard.pop(0)
        if isinstance(heard, Recorded):
            self._gateway.steps.append(heard.step)
        return heard


def test_a_turn_that_parked_when_it_asked_has_not_taken_in_its_answer() -> None:
    gateway = Gateway()
    late, taken_in = Changed(PLACE, TURN, State.PARKED), Recorded(PLACE, TAKEN_IN)
    updates = Updates(gateway, late, Changed(PLACE, TURN, State.RUNNING), taken_in, Changed(PLACE, TURN, State.PARKED))
    exchange = Exchange(Line(gateway, 0.0, is_own=True), updates, Interrupt(), ASKED, gateway.trace(TURN))  # type: ignore[arg-type]
    exchange.answer(StepRef(TURN, 0), "tea")
    assert list(exchange) == [taken_in]
