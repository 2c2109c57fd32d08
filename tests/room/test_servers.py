"""Servers by the page: connected, agreed to, switched off and removed, with a real browser and a server in a box."""

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.mcp.rig import RAW
from tests.room.rig import PHONE, Gateway, Room, axe
from tests.steward.rig import furnished

from daimon.sandbox.plan import has_bwrap

pytestmark = pytest.mark.skipif(not has_bwrap(), reason="bwrap is not installed: no box can be made")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("servers")


@pytest.fixture(scope="module")
def daimon(place: Path) -> Iterator[Gateway]:
    with furnished(place / "home") as running:
        yield running


def test_a_server_is_connected_agreed_to_switched_off_and_removed(room: Room, place: Path) -> None:
    own = place / "server"
    own.mkdir()
    (own / "server.py").write_text(f"{RAW}\nanswers([TOOL])\n")
    page = room.tab("/skills?tab=servers", PHONE)
    page.get_by_role("button", name="Connect a server").click()
    form = page.get_by_role("dialog")
    form.get_by_role("button", name="Connect").click()
    expect(form.get_by_role("alert").filter(has_text="Give it a name")).to_be_visible()
    form.get_by_label("Your name for it").fill("sample")
    form.get_by_label("A command").fill(f'{sys.prefix}/bin/python "{own}/server.py"')
    form.get_by_text("What it may reach and use").click()
    form.get_by_label("Directories that it sees").fill(sys.prefix)
    form.get_by_label("The directory that it may change").fill(str(own))
    assert axe(page) == []
    form.get_by_role("button", name="Connect").click()
    page.get_by_role("button", name="Approve act").click()
    expect(page.get_by_role("region", name="act", exact=True)).to_contain_text("offered")
    page.get_by_role("button", name="Switch off").click()
    page.get_by_role("button", name="Switch on").click()
    expect(page.get_by_role("button", name="Switch off")).to_be_visible()
    assert room.live.get("/v1/servers/sample")["status"]["tools"] == ["sample_act"]
    assert axe(page) == []
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_role("heading", name="No server is connected")).to_be_visible()
    assert "mcp" not in tomllib.loads((place / "home/daimon.toml").read_text())
