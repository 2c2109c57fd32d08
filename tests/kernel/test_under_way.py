"""Who looks in the middle of a reply sees all of it so far, and nothing of one that is over."""

from dataclasses import dataclass

from daimon.abi.ids import TurnId
from daimon.kernel.under_way import MOST, UnderWay


@dataclass(frozen=True, slots=True)
class Bit:
    turn: TurnId
    offset: int
    text: str
    of: str = "text"


T1, T2 = TurnId("t1"), TurnId("t2")


def test_what_came_is_one_stretch_for_each_kind() -> None:
    under_way: UnderWay[Bit] = UnderWay()
    for bit in (Bit(T1, 0, "hm", "reasoning"), Bit(T1, 2, "m", "reasoning"), Bit(T1, 3, "yes"), Bit(T1, 6, "!"), Bit(T2, 0, "other")):
        under_way.add(bit)
    assert under_way.all() == (Bit(T1, 0, "hmm", "reasoning"), Bit(T1, 3, "yes!"), Bit(T2, 0, "other"))


def test_a_reply_that_begins_anew_takes_the_place_of_what_was_there() -> None:
    under_way: UnderWay[Bit] = UnderWay()
    for bit in (Bit(T1, 0, "no"), Bit(T1, 0, "yes")):
        under_way.add(bit)
    assert under_way.all() == (Bit(T1, 0, "yes"),)


def test_nothing_is_kept_of_a_reply_that_is_over_or_whose_start_was_missed() -> None:
    under_way: UnderWay[Bit] = UnderWay()
    under_way.add(Bit(T1, 0, "over"))
    under_way.drop(T1)
    under_way.add(Bit(T1, 4, "late"))
    assert under_way.all() == ()


def test_a_reply_without_end_is_kept_to_a_limit() -> None:
    under_way: UnderWay[Bit] = UnderWay()
    for bit in (Bit(T1, 0, "a"), Bit(T1, MOST + 1, "b")):
        under_way.add(bit)
    assert under_way.all() == (Bit(T1, 0, "a"),)
