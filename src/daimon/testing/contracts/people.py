"""What every directory must do: who is known by what, who knocked, and codes that are short-lived, used once and hard to guess.

class TestMyDirectory(DirectoryContract):
    @asynccontextmanager
    async def open(self, clock: ManualClock) -> AsyncIterator[Directory]:
        ...
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta

from daimon.abi.errors import BadInput, NotFound
from daimon.abi.event import Address
from daimon.abi.ids import OWNER, PrincipalId
from daimon.abi.people import MOST_TRIES, MOST_TRIES_OF_SENDER, Directory, Knock, Rank
from daimon.testing.clock import ManualClock

CODE, WRONG = "ABCD2345", "ZZZZ9999"
VALID = timedelta(minutes=10)


class DirectoryContract:
    def open(self, clock: ManualClock) -> AbstractAsyncContextManager[Directory]:
        raise NotImplementedError

    @asynccontextmanager
    async def begun(self) -> AsyncIterator[tuple[Directory, ManualClock]]:
        async with self.open(clock := ManualClock()) as directory:
            yield directory, clock

    # -- who is known

    async def test_nobody_is_known_at_first(self) -> None:
        async with self.begun() as (directory, _):
            assert await directory.who("telegram", "1") is None
            assert await directory.people() == ()
            assert await directory.reach(OWNER) is None

    async def test_whom_the_owner_allows_is_known_by_that_chat_alone(self) -> None:
        async with self.begun() as (directory, _):
            anna = await directory.allow("telegram", "1", "Anna", Rank.GUEST)
            assert (anna.id, anna.name, anna.rank) == ("anna", "Anna", Rank.GUEST)
            assert await directory.who("telegram", "1") == anna
            assert await directory.who("slack", "1") is None
            assert await directory.who("telegram", "10") is None

    async def test_one_person_may_have_several_chats(self) -> None:
        async with self.begun() as (directory, _):
            first = await directory.allow("telegram", "1", "Anna", Rank.TRUSTED)
            assert await directory.allow("mail", "anna@x.org", "Anna", Rank.TRUSTED) == first
            ((person, contacts),) = await directory.people()
            assert person == first
            assert {(contact.channel, contact.sender) for contact in contacts} == {("telegram", "1"), ("mail", "anna@x.org")}

    async def test_a_second_name_does_not_raise_a_rank(self) -> None:
        async with self.begun() as (directory, clock):
            await directory.allow("telegram", "1", "Anna", Rank.GUEST)
            assert await _fails(BadInput, directory.allow("telegram", "2", "Anna", Rank.TRUSTED))
            assert await _fails(BadInput, directory.invite("Anna", Rank.TRUSTED, CODE, clock.now() + VALID))

    async def test_nobody_is_named_like_the_owner_nor_by_nothing(self) -> None:
        async with self.begun() as (directory, _):
            for name in ("owner", "Owner ", "", "…"):
                assert await _fails(BadInput, directory.allow("telegram", "1", name, Rank.GUEST))
            assert await _fails(BadInput, directory.allow("telegram", "", "Anna", Rank.GUEST))

    async def test_a_rank_can_be_changed_but_nobody_becomes_the_owner(self) -> None:
        async with self.begun() as (directory, _):
            anna = await directory.allow("telegram", "1", "Anna", Rank.GUEST)
            assert (await directory.change(anna.id, Rank.TRUSTED)).rank is Rank.TRUSTED
            known = await directory.who("telegram", "1")
            assert known is not None
            assert known.rank is Rank.TRUSTED
            assert await _fails(BadInput, directory.change(anna.id, Rank.OWNER))
            await directory.allow("telegram", "9", "Me", Rank.OWNER)
            assert await _fails(BadInput, directory.change(OWNER, Rank.GUEST))
            assert await _fails(NotFound, directory.change(PrincipalId("nobody"), Rank.GUEST))

    async def test_who_is_removed_is_a_stranger_again(self) -> None:
        async with self.begun() as (directory, _):
            anna = await directory.allow("telegram", "1", "Anna", Rank.GUEST)
            await directory.allow("mail", "a@x.org", "Anna", Rank.GUEST)
            await directory.remove(anna.id, "mail", "a@x.org")
            assert await directory.who("mail", "a@x.org") is None
            assert await directory.who("telegram", "1") == anna
            assert await _fails(NotFound, directory.remove(anna.id, "mail", "a@x.org"))
            await directory.remove(anna.id)
            assert await directory.who("telegram", "1") is None
            assert await directory.people() == ()
            assert await _fails(NotFound, directory.remove(anna.id))

    # -- where they are

    async def test_a_person_is_reached_where_they_spoke_alone_last(self) -> None:
        async with self.begun() as (directory, clock):
            await directory.allow("telegram", "1", "Me", Rank.OWNER)
            await directory.allow("slack", "U1", "Me", Rank.OWNER)
            assert await directory.reach(OWNER) is None
            await directory.seen("telegram", "1", "me", "chat-1", clock.now())
            assert await directory.reach(OWNER) == Address("telegram", "chat-1")
            await clock.advance(120)
            await directory.seen("slack", "U1", "me", "D1", clock.now())
            assert await directory.reach(OWNER) == Address("slack", "D1")
            await clock.advance(120)
            await directory.seen("telegram", "1", "me", "", clock.now())
            assert await directory.reach(OWNER) == Address("telegram", "chat-1")

    # -- strangers

    async def test_a_stranger_is_listed_and_counted(self) -> None:
        async with self.begun() as (directory, clock):
            await directory.knocked(_knock("7", clock))
            await clock.advance(60)
            await directory.knocked(_knock("8", clock))
            await clock.advance(60)
            await directory.knocked(_knock("7", clock))
            assert [(knock.sender, knock.times) for knock in await directory.knocks()] == [("7", 2), ("8", 1)]

    async def test_a_stranger_s_name_is_one_short_line(self) -> None:
        async with self.begun() as (directory, clock):
            await directory.knocked(_knock("7", clock, name="x\n[owner]\x1b[2J" + "y" * 5_000))
            (knock,) = await directory.knocks()
            assert len(knock.name) <= 80
            assert knock.name.isprintable()

    async def test_whoever_is_allowed_is_no_stranger_any_more_and_is_reached_where_they_knocked(self) -> None:
        async with self.begun() as (directory, clock):
            await directory.knocked(_knock("7", clock))
            anna = await directory.allow("telegram", "7", "Anna", Rank.GUEST)
            assert await directory.knocks() == ()
            assert await directory.reach(anna.id) == Address("telegram", "chat-7")

    # -- codes

    async def test_a_code_pairs_a_chat_once(self) -> None:
        async with self.begun() as (directory, clock):
            invitation = await directory.invite("Anna", Rank.GUEST, CODE, clock.now() + VALID)
            assert (invitation.person, invitation.rank) == ("anna", Rank.GUEST)
            assert await directory.who("telegram", "7") is None
            person = await directory.pair(CODE, _knock("7", clock))
            assert person is not None
            assert await directory.who("telegram", "7") == person
            assert await directory.pair(CODE, _knock("8", clock)) is None
            assert await directory.who("telegram", "8") is None

    async def test_the_owner_pairs_a_chat_of_their_own(self) -> None:
        async with self.begun() as (directory, clock):
            await directory.invite("", Rank.OWNER, CODE, clock.now() + VALID)
            person = await directory.pair(CODE, _knock("7", clock))
            assert person is not None
            assert (person.id, person.rank) == (OWNER, Rank.OWNER)
            assert await directory.reach(OWNER) == Address("telegram", "chat-7")

    async def test_a_code_runs_out(self) -> None:
        async with self.begun() as (directory, clock):
            await directory.invite("Anna", Rank.GUEST, CODE, clock.now() + VALID)
            await clock.advance(VALID.total_seconds())
            assert await directory.pair(CODE, _knock("7", clock)) is None

    async def test_a_sender_has_few_tries_an_hour(self) -> None:
        async with self.begun() as (directory, clock):
            await directory.invite("Anna", Rank.GUEST, CODE, clock.now() + timedelta(days=1))
            for _ in range(MOST_TRIES_OF_SENDER):
                assert await directory.pair(WRONG, _knock("7", clock)) is None
            assert await directory.pair(CODE, _knock("7", clock)) is None
            assert await directory.pair(CODE, _knock("8", clock)) is not None
            await directory.invite("Bob", Rank.GUEST, CODE, clock.now() + timedelta(days=1))
            await clock.advance(3_601)
            assert await directory.pair(CODE, _knock("7", clock)) is not None

    async def test_after_too_many_wrong_tries_of_many_a_code_is_void(self) -> None:
        async with self.begun() as (directory, clock):
            await directory.invite("Anna", Rank.GUEST, CODE, clock.now() + VALID)
            for n in range(MOST_TRIES):
                assert await directory.pair(WRONG, _knock(f"bot-{n}", clock)) is None
            assert await directory.pair(CODE, _knock("7", clock)) is None

    async def test_fewer_wrong_tries_of_others_do_no_harm(self) -> None:
        async with self.begun() as (directory, clock):
            await directory.invite("Anna", Rank.GUEST, CODE, clock.now() + VALID)
            for n in range(MOST_TRIES - 1):
                await directory.pair(WRONG, _knock(f"bot-{n}", clock))
            assert await directory.pair(CODE, _knock("7", clock)) is not None

    async def test_tries_before_an_invitation_do_not_count(self) -> None:
        async with self.begun() as (directory, clock):
            for _ in range(2 * MOST_TRIES):
                assert await directory.pair(WRONG, _knock("7", clock)) is None
            await directory.invite("Anna", Rank.GUEST, CODE, clock.now() + VALID)
            assert await directory.pair(CODE, _knock("7", clock)) is not None

    async def test_whom_one_removes_cannot_come_in_by_a_code_from_before(self) -> None:
        async with self.begun() as (directory, clock):
            anna = await directory.allow("telegram", "1", "Anna", Rank.GUEST)
            await directory.invite("Anna", Rank.GUEST, CODE, clock.now() + VALID)
            await directory.remove(anna.id)
            assert await directory.pair(CODE, _knock("7", clock)) is None


def _knock(sender: str, clock: ManualClock, name: str = "somebody") -> Knock:
    return Knock("telegram", sender, name, f"chat-{sender}", 1, clock.now(), clock.now())


async def _fails(kind: type[Exception], work: object) -> bool:
    try:
        await work  # type: ignore[misc]
    except kind:
        return True
    return False
