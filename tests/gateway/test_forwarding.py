"""Where the owner is."""

import pytest

from daimon.abi.event import TO_OWNER, Address
from daimon.abi.people import Rank
from daimon.gateway.forwarding import Forwarding
from daimon.kernel.wall import OWNERS_DESK
from daimon.testing.clock import ManualClock
from daimon.testing.people import MemoryDirectory


async def owner_on_two_channels() -> MemoryDirectory:
    clock = ManualClock()
    directory = MemoryDirectory(clock)
    for channel, place in (("slack", "D1"), ("telegram", "chat-1")):
        await directory.allow(channel, "1", "Me", Rank.OWNER)
        await directory.seen(channel, "1", "me", place, clock.now())
        await clock.advance(60)
    return directory


@pytest.mark.parametrize("to", [OWNERS_DESK, TO_OWNER])
async def test_what_is_for_the_owner_goes_where_the_owner_spoke_last(to: Address) -> None:
    assert await Forwarding(await owner_on_two_channels()).where(to) == Address("telegram", "chat-1")


async def test_the_channel_that_the_owner_named_comes_first() -> None:
    assert await Forwarding(await owner_on_two_channels(), lambda: "slack").where(TO_OWNER) == Address("slack", "D1")


async def test_a_channel_where_the_owner_has_no_chat_is_passed_over() -> None:
    assert await Forwarding(await owner_on_two_channels(), lambda: "mail").where(TO_OWNER) == Address("telegram", "chat-1")


async def test_without_a_chat_it_stays_at_the_desk_and_anything_else_goes_where_it_is_addressed_to() -> None:
    forwarding = Forwarding(MemoryDirectory(ManualClock()))
    assert await forwarding.where(TO_OWNER) == OWNERS_DESK
    assert await forwarding.where(Address("mail", "bob@x.org")) == Address("mail", "bob@x.org")


async def test_a_channel_that_is_not_set_up_any_more_is_passed_over() -> None:
    people = await owner_on_two_channels()
    assert await Forwarding(people, is_set_up={"slack"}.__contains__).where(TO_OWNER) == Address("slack", "D1")
    assert await Forwarding(people, lambda: "telegram", {"slack"}.__contains__).where(TO_OWNER) == Address("slack", "D1")
    assert await Forwarding(people, is_set_up=frozenset[str]().__contains__).where(TO_OWNER) == OWNERS_DESK
