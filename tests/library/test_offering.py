"""The tools of skills come and go with the skills, while everything runs."""

import os
from pathlib import Path
from typing import Any

import pytest
from tests.kernel.rig import Tool
from tests.library.test_scripts import call, in_a_box
from tests.skills.written import bundle, put, skill_md

from daimon.abi.errors import ToolFailed
from daimon.abi.skill import script_tools_of
from daimon.abi.tool import Result
from daimon.library.librarian import HomeLibrarian
from daimon.library.library import open_library
from daimon.library.offering import Offering
from daimon.library.sources import Sources
from daimon.machine.clock import SystemClock
from daimon.skills.bundle import File
from daimon.tools.registry import Registry
from daimon.workshop import NoSecrets, Sandboxes, Workshop

NAME = "read-feeds"
VOUCHED, TOOL = script_tools_of(NAME)
"""As it is called once somebody vouches for it, and before that."""
READING = {"find_skills", "use_skill", "read_skill"}


class House:
    """A library with its tools in a table."""

    def __init__(self, place: Path, *own: Tool) -> None:
        self.place, self.registry = place, Registry(own)
        self.shop = Workshop(Sandboxes(place / "roles", place / "work", 59_001, {}, {}, "worker", True), NoSecrets(), SystemClock())

    async def open(self) -> "House":
        nobody: Any = None
        self.library = await open_library(self.place / "skills", SystemClock())
        self.librarian = HomeLibrarian(self.library, Sources(self.shop, nobody), nobody, nobody)
        Offering(self.library, self.shop, self.registry.put).begin()
        return self

    async def install(self, script: str = "echo hello", more: str = "") -> None:
        files = {**bundle(skill_md(more=more)), "scripts/go": File(f"#!/bin/sh\n{script}\n".encode(), True)}
        await self.librarian.install(str(put(self.place / "from" / NAME, files)))

    @property
    def names(self) -> set[str]:
        return {each.name for each in self.registry.manifests()}


async def test_tools_are_there_as_long_as_there_is_a_skill_that_may_be_used(tmp_path: Path) -> None:
    house = await House(tmp_path).open()
    assert house.names == set()
    await house.install(more="metadata:\n  daimon-hosts: feeds.example.org\n")
    assert house.names == set()  # nobody has agreed to what it requires
    await house.librarian.change(NAME, "approve")
    assert house.names == {*READING, TOOL}
    assert not house.registry.is_told_by_us(TOOL)
    await house.librarian.change(NAME, "vouch")
    assert house.names == {*READING, VOUCHED}
    assert house.registry.is_told_by_us(VOUCHED)
    await house.librarian.change(NAME, "disable")
    assert house.names == set()
    await house.librarian.change(NAME, "enable")
    await house.library.drop(NAME)
    assert house.names == set()


@in_a_box
async def test_what_was_installed_runs_after_a_restart_and_what_was_meddled_with_does_not(tmp_path: Path) -> None:
    await (await House(tmp_path).open()).install()
    house = await House(tmp_path).open()
    result = await house.registry.get(TOOL).run({"script": "scripts/go"}, call())
    assert isinstance(result, Result)
    assert isinstance(result.data, dict)
    assert result.data["output"] == "hello\n"
    assert sorted(each.name for each in (tmp_path / "skills").iterdir()) == ["index.json", NAME]
    script = tmp_path / "skills" / NAME / house.library.get(NAME).version / "scripts" / "go"
    os.chmod(script, 0o700)
    script.write_text("#!/bin/sh\necho evil\n")
    with pytest.raises(ToolFailed, match="not those that were installed"):
        await house.registry.get(TOOL).run({"script": "scripts/go"}, call())
    assert house.names == set()


async def test_a_skill_cannot_take_the_place_of_a_tool(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    own = Tool(TOOL)
    house = await House(tmp_path, own).open()
    await house.install()
    assert house.registry.get(TOOL) is own
    assert "not offered" in caplog.text
    assert house.names == {*READING, TOOL}
