"""The model's process: it starts when it is needed, ends when it is not, and nothing that it does hurts the gateway."""

import asyncio
import os
import signal
import struct
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvloop
from tests.memory.embedding import models
from tests.memory.embedding.models import needs_model

from daimon.abi.errors import ToolFailed
from daimon.memory.embedding import unit
from daimon.memory.embedding.process import BACKOFF_S, Limits, LocalEmbedder, slices
from daimon.memory.embedding.weights import DIMENSION
from daimon.testing.clock import ManualClock

PATIENCE_S = 60.0
USUAL = Limits(idle_s=60, start_s=60, patience_s=60)
HASTY = Limits(idle_s=60, start_s=60, patience_s=0.5)
RESTLESS = Limits(idle_s=0.1)


@asynccontextmanager
async def embedder(program: str = "", limits: Limits = USUAL) -> AsyncIterator[tuple[LocalEmbedder, ManualClock]]:
    clock = ManualClock()
    made = LocalEmbedder(clock, limits, program) if program else LocalEmbedder(clock, Limits(idle_s=30))
    async with asyncio.timeout(PATIENCE_S):
        try:
            yield made, clock
        finally:
            await made.close()


async def gone(pid: int) -> None:
    """Waits for the end of a process, whoever's child it is."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(watched, ended.set)
    try:
        await ended.wait()
    finally:
        asyncio.get_running_loop().remove_reader(watched)
        os.close(watched)


def told(pid: int, name: str) -> str:
    return Path(f"/proc/{pid}/{name}").read_text()


@needs_model
async def test_texts_that_mean_the_same_are_nearer_than_others() -> None:
    async with embedder() as (made, _):
        tea, drink, train = await made.embed(("I like green tea.", "She enjoys a hot drink.", "The train is late."), "passage")
        assert all(unit.fault(vector, DIMENSION) == "" for vector in (tea, drink, train))
        (again,) = await made.embed(("I like green tea.",), "query")
        assert dot(tea, again) > 0.9999
        assert dot(tea, drink) > dot(tea, train) + 0.2


@needs_model
async def test_no_text_is_too_strange() -> None:
    async with embedder() as (made, _):
        texts = ("", "\0", "\ud800", "🙂" * 3000, "日本語 عربى हिन्दी", "x" * 5_000_000, "[SEP] [MASK]")
        assert [unit.fault(vector, DIMENSION) for vector in await made.embed(texts, "passage")] == [""] * len(texts)


@needs_model
async def test_the_process_of_the_model_is_nice_and_can_open_nothing() -> None:
    async with embedder() as (made, _):
        await made.embed(("tea",), "query")
        assert made.pid is not None
        assert os.getpriority(os.PRIO_PROCESS, made.pid) >= min(os.getpriority(os.PRIO_PROCESS, 0) + 10, 19)
        assert next(line.split()[3:5] for line in told(made.pid, "limits").splitlines() if line.startswith("Max open files")) == ["0", "0"]
        assert told(made.pid, "environ").count("THREADS=1") == 4


async def test_nothing_is_started_before_the_first_text() -> None:
    async with embedder(models.HONEST) as (made, _):
        assert made.pid is None
        assert await made.embed((), "passage") == ()
        assert made.pid is None
        assert len(await made.embed(("tea",), "query")) == 1
        assert made.pid is not None


async def test_a_process_that_nobody_asks_ends_itself_and_the_next_text_starts_another() -> None:
    async with embedder(models.HONEST, RESTLESS) as (made, _):
        await made.embed(("tea",), "query")
        first = made.pid
        assert first is not None
        await gone(first)
        assert len(await made.embed(("coffee",), "query")) == 1
        assert made.pid not in (None, first)


async def test_a_process_waits_for_the_text_that_it_was_started_for_however_late_it_comes() -> None:
    async with embedder(models.HONEST, Limits(idle_s=0.0)) as (made, _):
        for text in ("tea", "coffee", "cocoa"):
            assert len(await made.embed((text,), "query")) == 1


def test_the_same_goes_for_the_event_loop_that_the_gateway_has() -> None:
    """It says in its own way that a pipe is closed."""

    async def ends_and_begins() -> None:
        async with embedder(models.HONEST, RESTLESS) as (made, _):
            await made.embed(("tea",), "query")
            assert made.pid is not None
            await gone(made.pid)
            for text in ("coffee", "cocoa", "water"):
                assert len(await made.embed((text,), "query")) == 1

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(ends_and_begins())


async def test_a_process_that_was_killed_in_between_is_replaced_unseen() -> None:
    async with embedder(models.HONEST) as (made, _):
        await made.embed(("tea",), "query")
        first = made.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        assert len(await made.embed(("coffee",), "query")) == 1
        assert made.pid not in (None, first)


async def test_the_process_ends_when_its_embedder_is_closed() -> None:
    async with embedder(models.HONEST) as (made, _):
        await made.embed(("tea",), "query")
        pid = made.pid
    assert pid is not None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_closing_waits_for_nobody_who_still_waits_and_no_process_comes_after_it() -> None:
    made = LocalEmbedder(ManualClock(), Limits(idle_s=600, start_s=600, patience_s=600), models.DEAF)
    asking = [asyncio.ensure_future(made.embed((text,), "query")) for text in ("tea", "coffee", "water")]
    async with asyncio.timeout(PATIENCE_S):
        while made.pid is None:  # noqa: ASYNC110 - there is no event for it
            await asyncio.sleep(0.01)
        asking[1].cancel()  # whoever asks leaves, and the question stays
        await made.close()
        told = await asyncio.gather(*asking, return_exceptions=True)
    assert [isinstance(each, ToolFailed | asyncio.CancelledError) for each in told] == [True] * 3
    assert made.pid is None
    with pytest.raises(ToolFailed, match="closed"):
        await made.embed(("milk",), "query")


async def test_the_process_ends_when_the_gateway_is_killed() -> None:
    program = f"""
import asyncio, sys
from daimon.memory.embedding.process import LocalEmbedder, Limits
from daimon.testing.clock import ManualClock
async def main():
    made = LocalEmbedder(ManualClock(), Limits(idle_s=600), {models.HONEST!r})
    await made.embed(("tea",), "query")
    print(made.pid, flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""
    gateway = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE, env={"PYTHONPATH": os.pathsep.join(sys.path)}
    )
    async with asyncio.timeout(PATIENCE_S):
        assert gateway.stdout
        child = int(await gateway.stdout.readline())
        gateway.kill()
        await gateway.wait()
        await gone(child)


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (models.NAN, "length nan"),
        (models.ZERO, "length 0"),
        (models.SHORT, "12 bytes for 1 texts"),
        (models.FEWER, "0 bytes for 1 texts"),
        (models.HUGE, "answered with 2147483648 bytes"),
        (models.GARBAGE, "its process ended"),
        (models.NO_FRAME, "no answer"),
        (models.COMPLAINS, "the weights are gone"),
        (models.DIES, "its process ended"),
        (models.DEAF, "did not answer within 0.5 s"),
    ],
)
async def test_whatever_the_process_does_wrong_is_a_failure_with_a_reason_and_the_process_is_gone(program: str, why: str) -> None:
    async with embedder(program, HASTY if program == models.DEAF else USUAL) as (made, _):
        with pytest.raises(ToolFailed, match=why) as failed:
            await made.embed(("tea",), "query")
        assert failed.value.retryable
        assert made.pid is None


async def test_one_that_never_gets_ready_is_given_up() -> None:
    async with embedder(models.SILENT, Limits(start_s=0.3)) as (made, _):
        with pytest.raises(ToolFailed, match="did not answer within"):
            await made.embed(("tea",), "query")
        assert made.pid is None


async def test_after_a_failure_it_is_left_alone_for_longer_each_time() -> None:
    async with embedder(models.COMPLAINS) as (made, clock):
        for wait_s in BACKOFF_S:
            with pytest.raises(ToolFailed, match=f"tried again after {wait_s:.0f} s"):
                await made.embed(("tea",), "query")
            with pytest.raises(ToolFailed, match=f"not asked for {wait_s:.0f} s: the weights are gone"):
                await made.embed(("tea",), "query")
            await clock.advance(wait_s)


async def test_whoever_cannot_wait_leaves_and_the_process_stays_for_the_next() -> None:
    async with embedder(models.HONEST) as (made, _):
        impatient = asyncio.ensure_future(made.embed(("tea",), "query"))
        await asyncio.sleep(0)
        impatient.cancel()
        assert len(await made.embed(("tea",), "query")) == 1
        first = made.pid
        await made.embed(("tea",), "query")
        assert made.pid == first


async def test_a_question_is_answered_in_the_middle_of_a_long_job() -> None:
    async with embedder(models.HONEST) as (made, _):
        long = asyncio.ensure_future(made.embed(("a passage " * 200,) * 500, "passage"))
        await made.embed(("tea",), "query")
        assert not long.done()
        assert len(await long) == 500


def test_slices_are_bounded_and_lose_nothing() -> None:
    texts = ["a" * n for n in (1, 5_000, 10, 900, 900, 900, *(3,) * 40)]
    cut = list(slices(texts))
    assert [text for some in cut for text in some] == texts
    assert all(len(some) <= 16 for some in cut)
    assert list(slices([])) == []


def dot(a: bytes, b: bytes) -> float:
    return sum(x * y for x, y in zip(struct.unpack("<384f", a), struct.unpack("<384f", b), strict=True))
