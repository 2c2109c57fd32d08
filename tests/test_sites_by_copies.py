"""The same journeys where no tree can be made of layers: the home lies on an overlay, as in a container without a volume.

Root mounts one in a mount namespace of its own, and the tests run there again, in a process of their own.
"""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.test_sites import OWN, Agent, agent, told

from daimon.abi.workspace import CheckpointId
from daimon.sandbox.plan import has_bwrap

ROOT = Path(__file__).parents[1]
INSIDE = "DAIMON_TEST_ON_OVERLAY"
SCRIPT = (
    'cd "$1"; top="$2"; shift 2; mkdir "$top/low" "$top/up" "$top/work" "$top/at"; '
    'mount -t overlay overlay -o "lowerdir=$top/low,upperdir=$top/up,workdir=$top/work" "$top/at" && exec "$@"'
)
on_overlay = pytest.mark.skipif(INSIDE not in os.environ, reason="run by the test below, where the home lies on an overlay")
pytestmark = pytest.mark.skipif(not has_bwrap(), reason="bwrap is not installed: no box can be made")


@on_overlay
async def test_a_home_on_an_overlay_has_copies_and_says_so(tmp_path: Path) -> None:
    async with agent(tmp_path) as daimon:
        status = await status_of(daimon)
        assert [warning for warning in status if "put Daimon's home on a volume" in warning]
        (daimon.project / "a.txt").write_text("one\n")
        assert (await daimon.runs("cat a.txt; rm a.txt; echo two > b.txt"))["output"] == "one\n"
        assert [made.engine for made in await daimon.workspaces.list()] == ["copies"]
        assert any("w1 is kept by copies" in warning for warning in await status_of(daimon))


@on_overlay
async def test_what_was_done_is_forked_merged_applied_and_taken_back(tmp_path: Path) -> None:
    async with agent(tmp_path) as daimon:
        (daimon.project / "old").write_text("old\n")
        await daimon.runs("git init -q . && git add old && git commit -qm first && rm old && echo new > new")
        fork = await daimon.workspaces.fork(OWN)
        ran = await daimon.workspaces.run(fork.id, ("sh", "-c", "echo forked > f; ls"), "worker")
        assert ran.out.split() == ["f", "new"]
        assert (await daimon.workspaces.merge(fork.id, OWN)).conflicts == ()
        steps = await daimon.does(("list_files", {}), ("run", {"command": "cat f; git status --short"}))
        assert told(steps)[1]["output"].splitlines() == ["forked", " D old", "?? f", "?? new"]
        assert (await daimon.workspaces.apply(OWN)).conflicts == ()
        assert {"f", "new"} <= {path.name for path in daimon.project.iterdir()}
        assert not (daimon.project / "old").exists()
        await daimon.workspaces.undo(OWN)
        assert {path.name for path in daimon.project.iterdir()} == {"old"}


@on_overlay
async def test_a_restart_finds_all_and_the_owner_s_edits_show(tmp_path: Path) -> None:
    async with agent(tmp_path) as daimon:
        (daimon.project / "mine").write_text("one\n")
        (daimon.project / "other").write_text("other\n")
        await daimon.runs("cat mine; rm other; echo kept > file")
        first = (await daimon.workspaces.checkpoints(OWN))[-1].id
    (tmp_path / "project/mine").write_text("two, edited\n")
    async with agent(tmp_path) as daimon:
        assert (await daimon.runs("cat mine file; ls"))["output"].split() == ["two,", "edited", "kept", "file", "mine"]
        assert [change.path for change in await daimon.workspaces.diff(OWN, CheckpointId(first))] == ["file", "other"]


async def status_of(daimon: Agent) -> tuple[str, ...]:
    return (await asyncio.to_thread(daimon.client.status)).warnings


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount an overlay without further ado")
@pytest.mark.skipif(INSIDE in os.environ, reason="this is the run that it starts")
def test_all_journeys_are_made_by_copies_too(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "faulthandler_timeout=300", "-rs"]
    command += [f"--basetemp={tmp_path / 'at' / 'tests'}", "tests/test_sites.py", "tests/test_sites_by_copies.py"]
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", SCRIPT, "sh", str(ROOT), str(tmp_path), *command],
        env={**os.environ, INSIDE: "yes", "PYTHONPATH": f"{ROOT / 'src'}"}, capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "2 skipped" in done.stdout, done.stdout[-2000:]
