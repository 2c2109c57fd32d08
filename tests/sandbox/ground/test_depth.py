"""How many layers can lie on each other, and how a kernel is told of them."""

import json
import os
import subprocess
import sys

import pytest
from tests.sandbox.boxes import ROOT, needs_bwrap, said
from tests.sandbox.ground.grounds import Layers, box_on, ground_of

from daimon.abi.errors import Misconfigured
from daimon.sandbox.ground import Stack
from daimon.sandbox.stacking import MOST

pytestmark = needs_bwrap


def stacked(layers: Layers, number: int) -> tuple[str, ...]:
    for n in range(number):
        layers.layer(f"layer-with-a-long-name-{n:04}", **{f"f{n}": str(n)})
    return tuple(f"layer-with-a-long-name-{n:04}" for n in range(number))


async def test_450_layers_are_one_tree(own: Layers) -> None:
    names = stacked(own, 450)
    async with ground_of(own) as ground, box_on(ground, own) as box:
        assert await ground.rotate(Stack("one", names))
        assert await said(box, "ls | wc -l; cat a f0 f449") == "451\nbase\n0449"


async def test_one_layer_too_many_is_refused_with_the_number(own: Layers) -> None:
    names = stacked(own, MOST)
    async with ground_of(own) as ground, box_on(ground, own) as box:
        with pytest.raises(OSError, match=rf"{MOST + 1} layers lie on each other, and the kernel takes {MOST}"):
            await ground.rotate(Stack("one", names))
        assert await said(box, "cat a") == "base"
        assert await ground.rotate(Stack("one", names[: MOST - 1]))
    with pytest.raises(Misconfigured, match=f"{MOST + 1} layers"):
        async with ground_of(own, Stack("one", names)):
            pass


OLD = """
import json, os, sys
from daimon.sandbox import mounts, namespaces, stacking
store, names = sys.argv[1], json.loads(sys.argv[2])
namespaces.enter_own()
os.chdir(store)
os.mkdir("at")
mounts.attach(stacking.by_one_option([f"{name}/tree" for name in names], "one/tree", "one/work"), "at")
flags = open("/proc/self/mountinfo").read().splitlines()[-1]
print(len(os.listdir("at")), open("at/f449").read(), "nosuid,nodev" in flags, os.listdir("."))
"""


def test_a_kernel_that_takes_all_names_in_one_option_takes_450_too(own: Layers) -> None:
    names = stacked(own, 450)
    paths = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    words = [sys.executable, "-B", "-c", OLD, str(own.store), json.dumps(names)]
    done = subprocess.run(words, env=paths, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout.startswith("450 449 True"), done
    assert "short" not in done.stdout, "what it needed for that is gone"
