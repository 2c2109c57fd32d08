from pathlib import Path

from tests.backup.furnished import furnish
from tests.library.killed import NAME, brought

from daimon.backup import making, restore
from daimon.library.library import open_library
from daimon.machine.clock import SystemClock
from daimon.machine.home import Home


async def test_skills_are_in_a_backup_and_may_be_used_where_it_is_put_back(tmp_path: Path) -> None:
    home = (await furnish(tmp_path / "home")).home
    library = await open_library(home.skills, SystemClock())
    made = await library.put(brought("Steps."), is_approved=True)
    backup = making.make(home, tmp_path / "b.tar.gz", SystemClock()).path
    restore.restore(backup, other := Home(tmp_path / "other"), SystemClock())
    there = await open_library(other.skills, SystemClock())
    assert there.all() == (made,)
    assert (await there.read(NAME, "references/a"))[1] == "Steps."
    assert {path.stat().st_mode & 0o777 for path in other.skills.rglob("SKILL.md")} == {0o400}
