"""`daimon calendar`, as its owner uses it: real processes and files, a real server on loopback."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.calendars.rig import HOST, PASSWORD, USER, Server, serving
from tests.cli.processes import Daimon

from daimon import keeper
from daimon.machine.home import Home


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path / "radicale") as made:
        yield made.make()


@pytest.fixture
def daimon(tmp_path: Path, server: Server) -> Iterator[Daimon]:
    (signs := tmp_path / "signs").mkdir()
    made = Daimon(tmp_path / "home", signs)
    made.home.mkdir()
    (made.home / "daimon.toml").write_text(f'[network.local]\n"{HOST}" = "127.0.0.1:{server.port}"\n')
    yield made
    made.close()


def test_a_calendar_is_added_tested_and_removed_without_a_trace(daimon: Daimon, server: Server) -> None:
    adding = ("calendar", "add", "work", "--url", f"http://{HOST}", "--user", USER, "--others", "none")
    refused = daimon.run(*adding, given=b"not the password\n")
    assert refused.code != 0
    assert "does not let ada in" in refused.err
    assert "calendars" not in tomllib.loads((daimon.home / "daimon.toml").read_text())
    assert not keeper.opened(Home(daimon.home), {}).has("calendar-work")

    done = daimon.run(*adding, given=f"{PASSWORD}\n".encode())
    assert done.code == 0, done.err
    written = tomllib.loads((daimon.home / "daimon.toml").read_text())["calendars"]["work"]
    assert written == {"url": f"http://{HOST}/{USER}/work/", "user": USER, "others": "none"}
    entry = keeper.opened(Home(daimon.home), {}).entry("calendar-work")
    assert (entry.hosts, entry.agents) == ((f"{HOST}:80",), ("calendars",))  # no agent can use it past the driver

    assert json.loads(daimon.run("calendar", "test", "--json").out) == {"calendars": [{"name": "work", "ok": True, "events": 0}]}
    (row,) = json.loads(daimon.run("calendar", "list", "--json").out)["calendars"]
    assert (row["name"], row["default"]) == ("work", True)

    assert daimon.run("calendar", "remove", "work").code == 0
    assert "calendars" not in tomllib.loads((daimon.home / "daimon.toml").read_text())
    assert not keeper.opened(Home(daimon.home), {}).has("calendar-work")
