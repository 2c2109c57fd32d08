"""Where no tree can be made of layers, it is said why."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.sandbox.boxes import NOBODY, ROOT, elsewhere, needs_root, place_of
from tests.sandbox.ground.grounds import Layers, ground_of

from daimon.abi.errors import Misconfigured
from daimon.sandbox.ground import Stack
from daimon.sandbox.overlay import open_overlay, probe

ASK = (
    "import asyncio, sys; from pathlib import Path; from daimon.sandbox.overlay import probe; print(asyncio.run(probe(Path(sys.argv[1]))))"
)
ON_OVERLAY = f"""
import os, sys
from daimon.sandbox import mounts, namespaces, stacking
namespaces.enter_own()
os.chdir(sys.argv[1])
for path in ("low", "up/tree", "up/work", "at"):
    os.makedirs(path)
mounts.attach(stacking.overlay(["low"], "up/tree", "up/work", None), "at")
os.execv(sys.executable, [sys.executable, "-B", "-c", {ASK!r}, os.path.join(sys.argv[1], "at")])
"""


async def test_an_ordinary_directory_will_do_and_is_left_as_it_was(tmp_path: Path) -> None:
    assert await probe(tmp_path) == ""
    assert not os.listdir(tmp_path)


def test_layers_that_would_lie_on_an_overlay_are_refused_with_the_remedy(tmp_path: Path) -> None:
    words = [sys.executable, "-B", "-c", ON_OVERLAY, str(tmp_path)]
    paths = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(words, env=paths, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done
    assert "cannot be made of layers" in done.stdout
    assert "a volume is" in done.stdout


@needs_root
def test_without_user_namespaces_the_remedy_is_said() -> None:
    with place_of(NOBODY) as place:
        done = elsewhere([sys.executable, "-B", "-c", ASK, str(place)], uid=NOBODY, no_namespaces=True)
    assert b"user.max_user_namespaces" in done.stdout, done


MOUNTED = """
import asyncio, os, sys
from pathlib import Path
from daimon.abi.errors import Misconfigured
from daimon.sandbox import mounts, namespaces
from daimon.sandbox.ground import Stack
from daimon.sandbox.overlay import open_overlay
base, store = map(Path, sys.argv[1:])
namespaces.enter_own()
(base / "a volume").mkdir()
mounts.attach(mounts.tmpfs(0), str(base / "a volume"))
try:
    asyncio.run(open_overlay(base, store, "x", Stack("one"), uid=59001, pins=()))
except Misconfigured as error:
    print(error)
"""


def test_a_base_in_which_something_is_mounted_is_refused_with_its_name(own: Layers) -> None:
    paths = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    words = [sys.executable, "-B", "-c", MOUNTED, str(own.base), str(own.store)]
    done = subprocess.run(words, env=paths, capture_output=True, text=True, check=False, timeout=60)
    assert f"{own.base}/a volume is mounted in it" in done.stdout, done


async def test_a_store_in_the_base_is_refused_with_the_reason(own: Layers) -> None:
    with pytest.raises(Misconfigured, match="the layers lie in it"):
        await open_overlay(own.base.parent, own.store, "x", Stack("one"), uid=59_001, pins=())


async def test_a_store_that_is_not_there_is_refused(own: Layers, tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="No such file"):
        async with ground_of(Layers(own.base, tmp_path / "nowhere")):
            pass
