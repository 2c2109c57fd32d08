"""The benchmark of the box measures real boxes, and what it compares with."""

from pathlib import Path

import pytest
import sandbox

from daimon.sandbox.plan import has_bwrap


@pytest.mark.skipif(not has_bwrap(), reason="bwrap is not installed: no box can be made")
async def test_a_start_and_a_command_are_measured_beside_a_plain_one(tmp_path: Path) -> None:
    found = await sandbox.measured(tmp_path, 3, 1)
    assert {"start_ms", "command_ms", "plain_ms"} <= set(found)
    assert all(value > 0 for value in found.values())
    assert found["ratio"] == found["command_ms"] / found["plain_ms"]
