"""How a ground ends: with the gateway, by itself, or closed. Nothing is left of it."""

import asyncio
import os
import signal
import subprocess
import sys

import pytest
from tests.sandbox.boxes import DEADLINE_S, ROOT, all_gone, assert_nothing_new, box_processes, held, needs_bwrap, said
from tests.sandbox.ground.grounds import Layers, box_on, ground_of

from daimon.sandbox.ground import Stack

pytestmark = needs_bwrap

GATEWAY = """
import asyncio, sys
from pathlib import Path
from daimon.sandbox.ground import Stack
from daimon.sandbox.overlay import open_overlay
async def main():
    ground = await open_overlay(Path(sys.argv[1]), Path(sys.argv[2]), "w", Stack("one"), uid=59001, pins=())
    print("up", flush=True)
    await asyncio.sleep(1000)
asyncio.run(main())
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
async def test_with_the_gateway_its_mount_holder_ends(own: Layers, how: signal.Signals) -> None:
    words = (sys.executable, "-c", GATEWAY, str(own.base), str(own.store))
    gateway = await asyncio.create_subprocess_exec(*words, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT / "src")})
    assert gateway.stdout is not None
    async with asyncio.timeout(DEADLINE_S):
        assert await gateway.stdout.readline() == b"up\n"
        parts = box_processes(gateway.pid) - {gateway.pid}
        gateway.send_signal(how)
        await gateway.wait()
    assert parts
    await all_gone(parts)


async def test_a_closed_ground_leaves_nothing(own: Layers) -> None:
    before, others = held(), box_processes(os.getpid())
    async with ground_of(own) as ground, box_on(ground, own) as box:
        await said(box, "echo x > x")
        parts = box_processes(os.getpid()) - others
    assert parts
    await all_gone(parts)
    assert_nothing_new(before)
    own.layer("two")
    async with ground_of(own, Stack("two", ("one",))) as ground, box_on(ground, own) as box:
        assert await said(box, "cat x") == "x", "what was written is there the next time"


async def test_a_holder_that_is_killed_leaves_boxes_that_run_and_a_ground_that_says_so(own: Layers) -> None:
    before = box_processes(os.getpid())
    async with ground_of(own) as ground:
        [holder] = box_processes(os.getpid()) - before
        async with box_on(ground, own) as box:
            os.kill(holder, signal.SIGKILL)
            await all_gone({holder})
            with pytest.raises(OSError, match="has ended"):
                await ground.rotate(Stack("one"))
            assert not ground.is_alive
            assert await said(box, "cat a") == "base"
