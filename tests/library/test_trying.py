from pathlib import Path

import pytest
from tests.library.rig import rig
from tests.skills.written import bundle, put, skill_md

from daimon.sandbox.plan import has_bwrap
from daimon.skills.bundle import File

NAME = "read-feeds"


@pytest.mark.skipif(not has_bwrap(), reason="bwrap is not installed: no box can be made")
async def test_a_skill_is_tried_by_its_own_tests_in_its_box_and_other_scripts_are_not_run(tmp_path: Path) -> None:
    scripts = {
        "test_well": "echo fine",
        "test_ill": "echo no >&2; exit 3",
        "test_out": f"touch {tmp_path}/out",
        "go": f"touch {tmp_path}/ran",
    }
    files = {f"scripts/{name}": File(f"#!/bin/sh\n{what}\n".encode(), True) for name, what in scripts.items()}
    async with rig(tmp_path) as made:
        await made.librarian.install(str(put(tmp_path / "from" / NAME, {**bundle(skill_md()), **files})))
        tested = await made.librarian.test(NAME)
        found = {trial.what: trial for trial in tested.trials}
        wells = {what: trial.is_well for what, trial in found.items()}
        assert wells == {
            "may be used": True, "scripts/test_ill": False, "scripts/test_out": False, "scripts/test_well": True, "not run": True,
        }  # fmt: skip
        assert "fine" in found["scripts/test_well"].said
        assert not tested.is_well
        (made.top / NAME / tested.version / "SKILL.md").chmod(0o700)
        assert [trial.is_well for trial in (await made.librarian.test(NAME)).trials] == [False]
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "out").exists()
