"""What every dispatcher must do.

    class TestMyDispatcher(DispatcherContract):
        @asynccontextmanager
        async def open(self, clock: ManualClock) -> AsyncIterator[Dispatcher]:
            ...

Each test opens a fresh dispatcher and serves it with a handler that waits to be let go. Time is by hand. A dispatcher may double its
wake-ups; none of these tests counts how often a conversation is served, except that it is once more after a wake-up.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from datetime import timedelta

from daimon.abi.ids import HOME_SPACE, Conversation
from daimon.abi.ports import Depth, Dispatcher, Done, RetryAt
from daimon.testing.clock import ManualClock

DEADLINE_S = 60.0
A, B, C = (Conversation(HOME_SPACE, name) for name in "abc")


class DispatcherContract:
    def open(self, clock: ManualClock) -> AbstractAsyncContextManager[Dispatcher]:
        raise NotImplementedError

    # -- waking

    async def test_whoever_is_woken_is_served(self) -> None:
        async with self.open(ManualClock()) as dispatcher, _serving(dispatcher) as desk:
            for conversation in (A, B, C):
                await dispatcher.wake(conversation)
            await desk.until(lambda: set(desk.begun) == {A, B, C})

    async def test_whoever_was_woken_before_anybody_served_is_served(self) -> None:
        async with self.open(ManualClock()) as dispatcher:
            await dispatcher.wake(A)
            async with _serving(dispatcher) as desk:
                await desk.until(lambda: desk.begun[A] > 0)

    async def test_many_are_all_served(self) -> None:
        many = {Conversation(HOME_SPACE, f"c{n}") for n in range(300)}
        async with self.open(ManualClock()) as dispatcher, _serving(dispatcher) as desk:
            for conversation in many:
                await dispatcher.wake(conversation)
            await desk.until(lambda: set(desk.begun) == many)

    async def test_one_who_was_served_is_served_again_when_woken_again(self) -> None:
        async with self.open(ManualClock()) as dispatcher, _serving(dispatcher) as desk:
            for _ in range(3):
                before = desk.ended[A]
                await dispatcher.wake(A)
                await desk.until(lambda before=before: desk.ended[A] > before)  # type: ignore[misc]

    # -- never twice at once

    async def test_one_conversation_is_never_served_twice_at_once(self) -> None:
        async with self.open(ManualClock()) as dispatcher, _serving(dispatcher) as desk:
            desk.hold(A)
            for _ in range(10):
                await dispatcher.wake(A)
            await desk.until(lambda: desk.begun[A] == 1)
            await _settle()
            assert desk.most_at_once[A] == 1
            desk.let_go(A)
            await desk.until(lambda: desk.begun[A] == desk.ended[A])
            assert desk.most_at_once[A] == 1

    async def test_one_who_is_woken_while_it_is_served_is_served_once_more(self) -> None:
        async with self.open(ManualClock()) as dispatcher, _serving(dispatcher) as desk:
            desk.hold(A)
            await dispatcher.wake(A)
            await desk.until(lambda: desk.begun[A] == 1)
            await dispatcher.wake(A)
            desk.let_go(A)
            await desk.until(lambda: desk.ended[A] == 2)

    async def test_one_who_is_held_does_not_hold_up_the_others(self) -> None:
        async with self.open(ManualClock()) as dispatcher, _serving(dispatcher) as desk:
            desk.hold(A)
            for conversation in (A, A, B, C):
                await dispatcher.wake(conversation)
            await desk.until(lambda: desk.ended[B] > 0 and desk.ended[C] > 0)

    # -- slots, priority, numbers

    async def test_no_more_are_served_at_once_than_there_are_slots(self) -> None:
        async with self.open(ManualClock()) as dispatcher, _serving(dispatcher, slots=2) as desk:
            for conversation in (A, B, C):
                desk.hold(conversation)
                await dispatcher.wake(conversation)
            await desk.until(lambda: len(desk.begun) == 2)
            await _settle()
            assert set(desk.begun) == {A, B}
            desk.let_go(A)
            await desk.until(lambda: desk.begun[C] == 1)
            assert desk.most_in_all == 2

    async def test_of_those_who_wait_the_more_urgent_is_served_first(self) -> None:
        async with self.open(ManualClock()) as dispatcher, _serving(dispatcher, slots=1) as desk:
            desk.hold(A)
            await dispatcher.wake(A)
            await desk.until(lambda: desk.begun[A] == 1)
            await dispatcher.wake(B)
            await dispatcher.wake(C, priority=5)
            desk.let_go(A)
            await desk.until(lambda: desk.ended[B] > 0 and desk.ended[C] > 0)
            assert list(desk.begun) == [A, C, B]

    async def test_it_tells_how_many_wait_and_how_many_are_served(self) -> None:
        async with self.open(ManualClock()) as dispatcher, _serving(dispatcher, slots=1) as desk:
            assert await dispatcher.stats() == Depth(0, 0)
            desk.hold(A)
            for conversation in (A, B, C):
                await dispatcher.wake(conversation)
            await desk.until(lambda: desk.begun[A] == 1)
            assert await dispatcher.stats() == Depth(waiting=2, running=1)
            desk.let_go(A)
            await desk.until(lambda: desk.ended[B] > 0 and desk.ended[C] > 0)
            await _settle()
            assert await dispatcher.stats() == Depth(0, 0)

    # -- later

    async def test_a_wake_up_for_later_comes_at_its_time(self) -> None:
        async with self.open(clock := ManualClock()) as dispatcher, _serving(dispatcher) as desk:
            await dispatcher.wake(A, clock.now() + timedelta(seconds=60))
            await _settle()
            await clock.advance(59)
            await _settle()
            assert desk.begun[A] == 0
            await clock.advance(2)
            await desk.until(lambda: desk.ended[A] > 0)

    async def test_a_wake_up_for_a_moment_that_is_past_comes_at_once(self) -> None:
        async with self.open(clock := ManualClock()) as dispatcher, _serving(dispatcher) as desk:
            await dispatcher.wake(A, clock.now() - timedelta(days=1))
            await desk.until(lambda: desk.ended[A] > 0)

    async def test_a_wake_up_for_later_does_not_hold_up_one_for_now(self) -> None:
        async with self.open(clock := ManualClock()) as dispatcher, _serving(dispatcher) as desk:
            await dispatcher.wake(A, clock.now() + timedelta(seconds=60))
            await dispatcher.wake(A)
            await desk.until(lambda: desk.ended[A] > 0)

    async def test_a_handler_may_ask_to_be_woken_later(self) -> None:
        async with self.open(clock := ManualClock()) as dispatcher, _serving(dispatcher) as desk:
            desk.later[A] = RetryAt(clock.now() + timedelta(seconds=30))
            await dispatcher.wake(A)
            await desk.until(lambda: desk.ended[A] == 1)
            await _settle()
            await clock.advance(29)
            await _settle()
            assert desk.ended[A] == 1
            await clock.advance(2)
            await desk.until(lambda: desk.ended[A] == 2)

    async def test_a_wake_up_that_came_meanwhile_does_not_wait_for_the_later_time(self) -> None:
        async with self.open(clock := ManualClock()) as dispatcher, _serving(dispatcher) as desk:
            desk.later[A] = RetryAt(clock.now() + timedelta(seconds=30))
            desk.hold(A)
            await dispatcher.wake(A)
            await desk.until(lambda: desk.begun[A] == 1)
            await dispatcher.wake(A)
            desk.let_go(A)
            await desk.until(lambda: desk.ended[A] == 2)

    async def test_a_schedule_wakes_again_and_again(self) -> None:
        async with self.open(clock := ManualClock()) as dispatcher, _serving(dispatcher) as desk:
            await dispatcher.schedule("every minute", 60.0, A)
            for _ in range(3):
                await _settle()
                before = desk.ended[A]
                await clock.advance(60)
                await desk.until(lambda before=before: desk.ended[A] > before)  # type: ignore[misc]

    # -- the end

    async def test_who_is_served_when_serving_ends_is_cancelled(self) -> None:
        async with self.open(ManualClock()) as dispatcher:
            async with _serving(dispatcher) as desk:
                desk.hold(A)
                await dispatcher.wake(A)
                await desk.until(lambda: desk.begun[A] == 1)
            assert (desk.ended[A], desk.cancelled[A]) == (0, 1)

    async def test_an_error_of_the_handler_ends_serving(self) -> None:
        async def fail(conversation: Conversation) -> Done | RetryAt:
            raise LookupError(conversation.name)

        async with self.open(ManualClock()) as dispatcher:
            await dispatcher.wake(A)
            serving = asyncio.ensure_future(dispatcher.serve(fail, 2))
            done, _ = await asyncio.wait({serving}, timeout=DEADLINE_S)
            assert serving in done
            assert serving.exception() is not None


class _Desk:
    """A handler that can be made to wait, and remembers whom it served."""

    def __init__(self) -> None:
        self.begun: Counter[Conversation] = Counter()
        self.ended: Counter[Conversation] = Counter()
        self.cancelled: Counter[Conversation] = Counter()
        self.most_at_once: Counter[Conversation] = Counter()
        self.most_in_all = 0
        self.later: dict[Conversation, RetryAt] = {}
        """What the next call for a conversation returns; Done if there is nothing."""
        self._held: dict[Conversation, asyncio.Event] = {}
        self._now: Counter[Conversation] = Counter()
        self._changed = asyncio.Event()

    def hold(self, conversation: Conversation) -> None:
        self._held[conversation] = asyncio.Event()

    def let_go(self, conversation: Conversation) -> None:
        self._held.pop(conversation).set()

    async def until(self, is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(DEADLINE_S):
            while not is_so():
                self._changed.clear()
                await self._changed.wait()

    async def __call__(self, conversation: Conversation) -> Done | RetryAt:
        self._now[conversation] += 1
        self.most_at_once[conversation] = max(self.most_at_once[conversation], self._now[conversation])
        self.most_in_all = max(self.most_in_all, self._now.total())
        self.begun[conversation] += 1
        self._changed.set()
        try:
            await asyncio.sleep(0)
            if (held := self._held.get(conversation)) is not None:
                await held.wait()
        except asyncio.CancelledError:
            self.cancelled[conversation] += 1
            raise
        finally:
            self._now[conversation] -= 1
        self.ended[conversation] += 1
        self._changed.set()
        return self.later.pop(conversation, None) or Done()


@asynccontextmanager
async def _serving(dispatcher: Dispatcher, slots: int = 8) -> AsyncIterator[_Desk]:
    desk = _Desk()
    task = asyncio.ensure_future(dispatcher.serve(desk, slots))
    await _settle()
    try:
        yield desk
        assert not task.done()
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _settle() -> None:
    """Long enough for whatever needs no time to happen."""
    for _ in range(50):
        await asyncio.sleep(0)
