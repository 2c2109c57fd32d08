import asyncio

import pytest

from daimon.abi.errors import JournalStopped
from daimon.gateway.draining import GRACE_S, Step, drain, longest_s

DEADLINE_S = 60.0


async def test_steps_come_one_after_the_other_and_each_knows_its_time() -> None:
    seen: list[tuple[str, float]] = []

    def step(what: str, seconds: float) -> Step:
        async def rest(given: float) -> None:
            seen.append((what, given))

        return Step(what, seconds, rest)

    steps = (step("channels", 1.0), step("turns", 10.0), step("outbox", 5.0))
    await drain(steps)
    assert seen == [("channels", 1.0), ("turns", 10.0), ("outbox", 5.0)]
    assert longest_s(steps) == 16.0 + 3 * GRACE_S


async def test_a_step_that_hangs_or_fails_does_not_hold_up_the_next(caplog: pytest.LogCaptureFixture) -> None:
    rested: list[str] = []

    async def hang(seconds: float) -> None:
        await asyncio.Event().wait()

    async def fail(seconds: float) -> None:
        raise ValueError("odd")

    async def rest(seconds: float) -> None:
        rested.append("outbox")

    async with asyncio.timeout(DEADLINE_S):
        await drain((Step("channels", 0.0, hang), Step("turns", 0.0, fail), Step("outbox", 0.0, rest)))
    assert rested == ["outbox"]
    assert [record.message.split(":")[0] for record in caplog.records] == ["channels", "turns"]


async def test_a_failed_journal_is_not_waited_with() -> None:
    async def fail(seconds: float) -> None:
        raise JournalStopped("gone")

    with pytest.raises(JournalStopped):
        await drain((Step("turns", 0.0, fail), Step("outbox", 0.0, fail)))
