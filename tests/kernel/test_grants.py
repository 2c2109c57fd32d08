"""The copy of the grants that every judgement reads: never behind the journal, never ahead of a revocation."""

from dataclasses import replace
from datetime import timedelta

import pytest

from daimon.abi.errors import NotFound
from daimon.abi.ids import HOME_SPACE, OWNER, SELF, SpaceId, TurnId
from daimon.abi.judgement import Grant
from daimon.abi.step import Granted, Step
from daimon.abi.tool import Capability
from daimon.kernel.grants import Standing, ran_on
from daimon.testing.clock import START, ManualClock
from daimon.testing.contracts.ledger import Desk
from daimon.testing.ids import CountingIds
from daimon.testing.journal import MemoryJournal

GRANT = Grant("t1:0", SELF, (Capability.SENDS,), "send", ("bob@x.org",), at=START, until=START + timedelta(days=1))
STEP = Step(turn=TurnId("t1"), n=0, body=Granted(0, GRANT), at=START, space=HOME_SPACE, principal=OWNER, agent=SELF)


async def standing(is_given: bool = True) -> Standing:
    """On a journal that holds the grant, or does not."""
    clock = ManualClock()
    journal = MemoryJournal(clock, CountingIds())
    if is_given:
        await (await Desk(journal, clock).begin("a")).write(Granted(0, GRANT))
    return Standing(journal, HOME_SPACE)


async def test_what_is_in_force_at_the_start_is_loaded() -> None:
    grants = await standing()
    assert grants.current(START) == ()
    await grants.load(START)
    assert grants.current(START) == (GRANT,)


async def test_the_clock_is_asked_each_time() -> None:
    grants = await standing()
    grants.take([STEP])
    assert grants.current(START + timedelta(hours=23)) == (GRANT,)
    assert grants.current(START + timedelta(days=1)) == ()


async def test_a_grant_of_another_space_is_none_of_ours() -> None:
    grants = await standing()
    grants.take([replace(STEP, space=SpaceId("elsewhere"))])
    assert grants.current(START) == ()


async def test_one_that_was_revoked_before_we_heard_of_it_never_counts() -> None:
    grants = await standing()
    await grants.revoke(GRANT.id, OWNER)
    grants.take([STEP])
    assert grants.current(START) == ()
    assert [each.revoked_by for each in await grants.given()] == [OWNER]


async def test_what_was_never_given_cannot_be_revoked_and_takes_nothing_away() -> None:
    grants = await standing(is_given=False)
    grants.take([STEP])
    with pytest.raises(NotFound):
        await grants.revoke(GRANT.id, OWNER)
    assert grants.current(START) == (GRANT,)


@pytest.mark.parametrize(("by", "grant"), [("grant:t1:0", "t1:0"), ("clean", None), ("plan:3/1", None), ("", None)])
def test_what_a_call_ran_on_is_read_from_its_verdict(by: str, grant: str | None) -> None:
    assert ran_on(by) == grant
