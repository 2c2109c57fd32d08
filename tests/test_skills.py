"""A skill through a whole Daimon: installed, suggested, read, its script run in a box."""

from pathlib import Path

import pytest
from tests.library.test_offering import TOOL, VOUCHED, House
from tests.people_rig import do, world

from daimon.sandbox.plan import has_bwrap
from daimon.testing.model import says

pytestmark = pytest.mark.skipif(not has_bwrap(), reason="bwrap is not installed: no box can be made")


async def test_a_skill_is_suggested_read_and_its_script_run(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir(0o700)
    house = await House(tmp_path / "home").open()
    await house.install("cat; echo from the script", "metadata:\n  daimon-triggers: my feeds\n")
    await house.librarian.change("read-feeds", "vouch")
    async with world(tmp_path) as here:
        await here.owner_does("hello", says("hi"))
        assert not {"[skills]", "use_skill", "find_skills"} & set(here.seen().split())
        script = do((VOUCHED, {"script": "scripts/go", "input": "given, "}))
        await here.owner_does("what is new in my feeds?", do(("use_skill", {"name": "read-feeds"})), script, says("that"))
        first, second, third = here.model.requests[-3:]
        assert "[skills]" in first.messages[-2].text
        assert "- read-feeds: Read feeds" in first.messages[-2].text
        assert "use_skill" in {each.name for each in first.tools}
        assert VOUCHED in {each.name for each in second.tools}
        assert "given, from the script" in repr(third.messages[-1])
        assert third.label.is_trusted


async def test_a_script_that_may_write_works_on_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir(0o700)
    house = await House(tmp_path / "home").open()
    await house.install("echo by a script > made; ls", "metadata:\n  daimon-files: write\n")
    await house.librarian.change("read-feeds", "approve")
    async with world(tmp_path) as here:
        (here.project / "mine.txt").write_text("a diary")
        script = do((TOOL, {"script": "scripts/go"}))
        await here.owner_does("use the read-feeds skill", script, do(("read_file", {"path": "made"})), says("done"))
        after, last = here.model.requests[-2:]
        assert "mine.txt" in repr(after.messages[-1])
        assert "by a script" in repr(last.messages[-1])
        assert not (here.project / "made").exists()  # it is in the layer of the agents until the owner applies it
