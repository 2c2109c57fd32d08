"""A process that dies at any moment leaves a copy in which no work is lost."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
SCRIPT = Path(__file__).with_name("copied_deaths.py")
DEADLINE_S = 600
"""One process dies hundreds of times."""


@pytest.mark.parametrize("operation", ["look", "checkpoint", "restore", "undo", "merge", "apply"])
async def test_what_programs_did_in_a_copy_is_there_whenever_its_process_dies(tmp_path: Path, operation: str) -> None:
    seen = await looks(operation, tmp_path)
    assert len(seen) > 5
    first, last = seen[0], seen[1]
    worked = first["tree"]
    assert worked["d"] == "a file now"
    assert worked["new/deep"] == "x"
    assert worked["a"].startswith("changed")
    for look in seen:
        assert look["tree"] in (worked, last["tree"]), f"at {look['at']}"
        assert look["layers"] == look["tree"], f"at {look['at']}"
        assert worked in (look["tree"], *look["points"]), f"at {look['at']}"
        assert look["base"] in (first["base"], last["base"])


async def looks(operation: str, place: Path) -> list[dict[str, Any]]:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(SCRIPT), operation, str(place), str(len(operation))), stdout=asyncio.subprocess.PIPE, env=environment
    )
    async with asyncio.timeout(DEADLINE_S):
        out, _ = await process.communicate()
    assert process.returncode == 0
    return [json.loads(line) for line in out.splitlines()]
