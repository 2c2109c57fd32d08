"""A breaker: who waits for how long."""

from daimon.abi.breaker import OPENS_AFTER, TRIAL_LOOK_S, TRIAL_S, Breaker
from daimon.testing.clock import ManualClock


class Fixed:
    def uniform(self) -> float:
        return 0.5


async def opened(clock: ManualClock) -> Breaker:
    """At the end of its pause."""
    breaker = Breaker(clock, Fixed())
    for _ in range(OPENS_AFTER):
        await clock.advance(breaker.wait_s())
        breaker.failed("down", None)
    await clock.advance(breaker.wait_s())
    return breaker


async def test_while_one_tries_it_out_the_others_look_again_soon_instead_of_going_away() -> None:
    breaker = await opened(ManualClock())
    breaker.asking()
    assert 0 < breaker.wait_s() <= TRIAL_LOOK_S


async def test_nobody_else_asks_while_one_tries_it_out() -> None:
    breaker = await opened(clock := ManualClock())
    breaker.asking()
    for _ in range(3):
        await clock.advance(breaker.wait_s())
        assert breaker.wait_s() > 0


async def test_a_trial_of_which_nobody_reports_is_given_up() -> None:
    breaker = await opened(clock := ManualClock())
    breaker.asking()
    await clock.advance(TRIAL_S)
    assert breaker.wait_s() == 0


async def test_a_trial_that_fails_makes_everybody_wait_for_the_whole_pause() -> None:
    breaker = await opened(ManualClock())
    breaker.asking()
    breaker.failed("still down", None)
    assert breaker.wait_s() > TRIAL_LOOK_S
