"""What is kept running: it is started again, ever more slowly, and everybody can see how it is."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from daimon.abi.errors import LockedOut
from daimon.gateway.answers import LineState
from daimon.gateway.supervisor import LOCKED_S, LONGEST_S, STEADY_AFTER_S, UP_AFTER_S, Supervisor
from daimon.testing.clock import ManualClock
from daimon.testing.ids import SeededRandom
from daimon.testing.redactor import PlainRedactor

DEADLINE_S = 60.0


class Part:
    """Runs until it is told to break."""

    def __init__(self) -> None:
        self.starts = 0
        self.ends: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def run(self) -> None:
        self.starts += 1
        self.ends = asyncio.get_running_loop().create_future()
        await self.ends

    async def breaks(self, failure: Exception | None = None) -> None:
        before = self.starts
        if failure is None:
            self.ends.set_result(None)
        else:
            self.ends.set_exception(failure)
        await turns_of_the_loop()
        assert self.starts == before, "it pauses first"


@asynccontextmanager
async def kept(clock: ManualClock, told: list[LineState], **parts: Callable[[], Awaitable[None]]) -> AsyncIterator[Supervisor]:
    supervisor = Supervisor(clock, SeededRandom(), PlainRedactor(), told.append)
    for name, work in parts.items():
        supervisor.add(name, work)
    serving = asyncio.ensure_future(supervisor.serve())
    try:
        async with asyncio.timeout(DEADLINE_S):
            await turns_of_the_loop()
            yield supervisor
            assert not serving.done()
    finally:
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving


async def turns_of_the_loop() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def advance(clock: ManualClock, seconds: float) -> None:
    await clock.advance(seconds)
    await turns_of_the_loop()


async def test_what_runs_for_some_seconds_is_up() -> None:
    clock, told, part = ManualClock(), list[LineState](), Part()
    async with kept(clock, told, mail=part.run) as supervisor:
        assert [line.state for line in supervisor.states()] == ["starting"]
        await advance(clock, UP_AFTER_S)
        (line,) = supervisor.states()
        assert (line.name, line.state, line.restarts, line.since) == ("mail", "up", 0, clock.now())
    assert [line.state for line in told] == ["up"]


@pytest.mark.parametrize("failure", [ConnectionResetError("cut"), RuntimeError("boom"), None])
async def test_what_breaks_or_ends_is_started_again_after_a_pause_that_grows(failure: Exception | None) -> None:
    clock, told, part = ManualClock(), list[LineState](), Part()
    pauses_s = []
    async with kept(clock, told, mail=part.run) as supervisor:
        for fall in range(12):
            await part.breaks(failure)
            (line,) = supervisor.states()
            assert line.state == "down"
            assert line.restarts == fall
            assert ("ended by itself" if failure is None else type(failure).__name__) in line.why
            assert line.next_try is not None
            pauses_s.append((line.next_try - clock.now()).total_seconds())
            await advance(clock, pauses_s[-1] + 0.001)
            assert part.starts == fall + 2
    assert all(0.75 * 2**n <= pause_s <= 2**n for n, pause_s in enumerate(pauses_s[:8]))
    assert all(0.75 * LONGEST_S <= pause_s <= LONGEST_S for pause_s in pauses_s[9:])


async def test_what_stayed_up_for_a_while_begins_with_a_short_pause_again() -> None:
    clock, part = ManualClock(), Part()
    async with kept(clock, [], mail=part.run) as supervisor:
        for _ in range(6):
            await part.breaks(RuntimeError("boom"))
            await advance(clock, LONGEST_S)
        await advance(clock, STEADY_AFTER_S)
        await part.breaks(RuntimeError("boom"))
        (line,) = supervisor.states()
        assert line.next_try is not None
        assert (line.next_try - clock.now()).total_seconds() <= 1


async def test_who_is_locked_out_is_tried_slowly_or_when_told() -> None:
    clock, part = ManualClock(), Part()
    async with kept(clock, [], mail=part.run) as supervisor:
        await part.breaks(LockedOut("the token was refused"))
        assert [line.state for line in supervisor.states()] == ["locked_out"]
        await advance(clock, LOCKED_S - 1)
        assert part.starts == 1
        await advance(clock, 1)
        assert part.starts == 2
        await part.breaks(LockedOut("the token was refused"))
        assert supervisor.poke("mail")
        await turns_of_the_loop()
        assert part.starts == 3
        assert not supervisor.poke("pigeon")


async def test_the_fall_of_one_is_nobody_elses_trouble() -> None:
    clock, good, bad = ManualClock(), Part(), Part()

    async def exits() -> None:
        await bad.run()

    async with kept(clock, [], good=good.run, bad=exits) as supervisor:
        await bad.breaks(RuntimeError("boom"))
        await advance(clock, UP_AFTER_S)
        assert {line.name: line.state for line in supervisor.states()}["good"] == "up"
        assert good.starts == 1


async def test_what_comes_while_it_runs_is_kept_too_and_what_goes_has_ended() -> None:
    clock, first, second = ManualClock(), Part(), Part()
    async with kept(clock, []) as supervisor:
        supervisor.add("mail", first.run)
        await turns_of_the_loop()
        assert first.starts == 1
        supervisor.add("slack", second.run)
        supervisor.remove("mail")
        await turns_of_the_loop()
        assert first.ends.cancelled()
        assert [line.name for line in supervisor.states()] == ["slack"]
        assert not supervisor.poke("mail")
        await advance(clock, UP_AFTER_S)
        assert [line.state for line in supervisor.states()] == ["up"]


async def test_whatever_takes_anothers_place_begins_when_that_has_ended() -> None:
    clock, new = ManualClock(), Part()
    may_end = asyncio.Event()

    async def old() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            await may_end.wait()

    async with kept(clock, [], mail=old) as supervisor:
        supervisor.add("mail", new.run)
        await turns_of_the_loop()
        assert new.starts == 0
        may_end.set()
        await turns_of_the_loop()
        assert new.starts == 1


async def test_each_change_is_one_line_of_the_log_without_secrets(caplog: pytest.LogCaptureFixture) -> None:
    clock, part = ManualClock(), Part()
    supervisor = Supervisor(clock, SeededRandom(), PlainRedactor({"token": "Vq8_mZ3-tL7xK2wR9"}))
    supervisor.add("mail", part.run)
    with caplog.at_level(logging.INFO, "daimon.gateway.supervisor"):
        serving = asyncio.ensure_future(supervisor.serve())
        await turns_of_the_loop()
        await part.breaks(RuntimeError("refused: Vq8_mZ3-tL7xK2wR9"))
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving
    (record,) = caplog.records
    assert record.getMessage().startswith("mail is down: RuntimeError: refused: [secret token]; next try at ")
    assert "Vq8" not in str(supervisor.states())


async def test_whoever_is_told_and_fails_stops_nothing() -> None:
    clock, part = ManualClock(), Part()

    def told(line: LineState) -> None:
        raise RuntimeError("deaf")

    supervisor = Supervisor(clock, SeededRandom(), PlainRedactor(), told)
    supervisor.add("mail", part.run)
    serving = asyncio.ensure_future(supervisor.serve())
    await turns_of_the_loop()
    await part.breaks(RuntimeError("boom"))
    await advance(clock, 1)
    assert part.starts == 2
    serving.cancel()
    with suppress(asyncio.CancelledError):
        await serving
