import asyncio

from daimon.abi.errors import JournalFull, JournalStopped
from daimon.gateway.readiness import Readiness


async def writable() -> None:
    return


async def full() -> None:
    raise JournalFull("SECRET /a/path")


async def stopped() -> None:
    raise JournalStopped("SECRET /a/path")


async def stuck() -> None:
    await asyncio.Event().wait()


async def test_it_is_ready_between_its_start_and_its_end_only() -> None:
    ready = Readiness(writable)
    assert (await ready.missing()).startswith("starting: ")
    ready.state = "ready"
    assert await ready.missing() == ""
    ready.state = "ending"
    assert (await ready.missing()).startswith("ending: ")


async def test_a_journal_that_cannot_be_written_is_named_without_its_details() -> None:
    for probe, says in ((full, "full: "), (stopped, "stopped: ")):
        ready = Readiness(probe)
        ready.state = "ready"
        missing = await ready.missing()
        assert missing.startswith(says)
        assert "SECRET" not in missing
        assert "\n" not in missing


async def test_a_journal_that_does_not_answer_is_not_waited_for_long() -> None:
    ready = Readiness(stuck)
    ready.state = "ready"
    async with asyncio.timeout(60):
        assert (await ready.missing()).startswith("slow: ")
