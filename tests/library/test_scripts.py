"""Scripts of skills in real boxes: what they were granted works, and nothing else does."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.workshop_rig import VALUE, Shop, workshop

from daimon.abi.errors import ToolFailed
from daimon.abi.ids import HOME_SPACE, OWNER, SELF, Conversation, Key
from daimon.abi.label import Author, Label, Origin, owned
from daimon.abi.skill import Installed, Requires
from daimon.abi.tool import Call, Capability, Effect, Result
from daimon.library.scripts import Stored, manifest_of, script_tools
from daimon.sandbox.plan import has_bwrap
from daimon.testing.skills import AT, installed
from daimon.tools.registry import Registry
from daimon.vault.store import Scope

in_a_box = pytest.mark.skipif(not has_bwrap(), reason="bwrap is not installed: no box can be made")
REACH = Requires(hosts=("open.test",), secrets=("api-key",))
COUNT = """import json, pathlib, sys
words = sys.stdin.read().split()
extra = pathlib.Path(__file__).parent.parent.joinpath("references/extra.txt").read_text()
pathlib.Path("scratch").write_text("x")
print(json.dumps({"words": len(words), "extra": extra, "arguments": sys.argv[1:]}))
"""
FETCH = """import os, sys, urllib.request as u
print(len(os.environ["API_KEY"]), os.environ["API_KEY"])
for url in sys.argv[1:]:
    try:
        print(url, u.urlopen(u.Request(url, headers={"X-Token": os.environ["API_KEY"]}), timeout=60).status)
    except OSError as failed:
        print(url, "failed", failed)
"""
LOOK = """import os, pathlib, sys
for path in sys.argv[1:]:
    try:
        print(path, pathlib.Path(path).read_text())
    except OSError as failed:
        print(path, "refused")
try:
    pathlib.Path(os.environ["SKILL_DIR"], "planted").write_text("x")
    print("planted")
except OSError:
    print("skill is read-only")
"""
WRITE = """import pathlib
try:
    pathlib.Path("made").write_text("by a script")
    print("written")
except OSError:
    print("refused")
"""
SHELL = "#!/bin/sh\necho from a shell: $1\n"


@dataclass(frozen=True)
class File:
    data: bytes
    is_executable: bool = False


BUNDLE: dict[str, Stored] = {
    "SKILL.md": File(b"# Tool"), "references/extra.txt": File(b"more"), "scripts/count.py": File(COUNT.encode()),
    "scripts/fetch.py": File(FETCH.encode()), "scripts/look.py": File(LOOK.encode()), "scripts/run": File(SHELL.encode(), True),
    "scripts/write.py": File(WRITE.encode()), "scripts/data.bin": File(b"\0"),
}  # fmt: skip


def skill(requires: Requires = Requires(), *, is_vouched: bool = False) -> Installed:  # noqa: B008 - it cannot change
    return installed("tool", is_vouched=is_vouched, files=tuple(sorted(BUNDLE)), requires=requires)


def call(label: Label = owned("terminal")) -> Call:  # noqa: B008 - it cannot change
    return Call(Key("t1:4"), HOME_SPACE, OWNER, SELF, Conversation(HOME_SPACE, "terminal"), None, AT, label)


@asynccontextmanager
async def shop(place: Path) -> AsyncIterator[Shop]:
    async with workshop(place) as made:
        made.vault.add("api-key", VALUE, Scope("test", ("open.test",), ("*",)))
        made.workspace.mkdir()
        (made.workspace / "private.txt").write_text("a diary")
        yield made


async def ran(made: Shop, found: Installed, script: str, *arguments: str, **more: Any) -> Result:
    async def files(name: str) -> tuple[Installed, Mapping[str, Stored]]:
        return more.pop("now", found), BUNDLE

    (tool,) = script_tools(found, made.workshop, files)
    given = {"script": script, "arguments": list(arguments), **{name: value for name, value in more.items() if name in ("hosts", "input")}}
    registry = Registry([tool])
    result = await tool.run(registry.check(tool.manifest.name, given), more.get("call", call()))
    assert isinstance(result, Result)
    return result


def printed(result: Result) -> str:
    assert isinstance(result.data, dict)
    assert (result.data["exit"], result.data.get("errors", "")) == (0, "")
    return str(result.data["output"])


@in_a_box
async def test_a_useful_script_works_with_arguments_input_references_and_a_scratch_directory(tmp_path: Path) -> None:
    async with shop(tmp_path) as made:
        found = skill(is_vouched=True)
        result = await ran(made, found, "scripts/count.py", "a b", "$HOME", input="one two three")
        assert printed(result) == '{"words": 3, "extra": "more", "arguments": ["a b", "$HOME"]}\n'
        assert result.labels[""].is_trusted
        assert printed(await ran(made, found, "scripts/run", "x; y")) == "from a shell: x; y\n"


@in_a_box
async def test_a_script_reaches_the_host_of_the_call_and_no_other_and_has_its_secret_as_a_placeholder(tmp_path: Path) -> None:
    async with shop(tmp_path) as made:
        urls = ("http://open.test/", "http://other.test/", "http://169.254.169.254/")
        result = await ran(made, skill(REACH), "scripts/fetch.py", *urls, hosts=["open.test"])
        first, *lines = printed(result).splitlines()
        assert lines[0] == "http://open.test/ 200"
        assert all("failed" in line for line in lines[1:])
        assert first.startswith(f"{len(VALUE)} ")
        assert VALUE not in first
        assert [got.header("Host") for got in made.server.got] == ["open.test"]
        assert VALUE.encode() not in made.server.bytes  # in the clear only the placeholder travels
        assert [each.kind for each in result.touched] == ["network"] * 3
        assert result.labels[""].origins == (Origin(Author.OWNER, "terminal"), Origin(Author.STRANGER, "skill:tool"))


@in_a_box
async def test_a_call_that_names_no_host_reaches_nobody(tmp_path: Path) -> None:
    async with shop(tmp_path) as made:
        assert "failed" in printed(await ran(made, skill(REACH), "scripts/fetch.py", "http://open.test/", hosts=[]))
        assert made.server.got == []


@in_a_box
async def test_a_script_sees_neither_home_nor_workspace_and_cannot_change_its_skill(tmp_path: Path) -> None:
    async with shop(tmp_path) as made:
        paths = (str(made.workspace / "private.txt"), str(tmp_path / "roles" / "online.toml"), "/workspace/work/private.txt", "/etc/shadow")
        lines = printed(await ran(made, skill(), "scripts/look.py", *paths)).splitlines()
        assert lines == [*(f"{path} refused" for path in paths), "skill is read-only"]


@in_a_box
@pytest.mark.parametrize(("files", "is_read", "is_written"), [("none", False, False), ("read", True, False), ("write", True, True)])
async def test_a_script_has_of_the_workspace_what_was_granted(tmp_path: Path, files: Any, is_read: bool, is_written: bool) -> None:
    async with shop(tmp_path) as made:
        found = skill(Requires(files=files))
        await ran(made, found, "scripts/write.py")
        assert (made.workspace / "made").exists() is is_written
        assert ("a diary" in printed(await ran(made, found, "scripts/look.py", "private.txt"))) is is_read


@in_a_box
async def test_what_a_script_was_given_is_in_the_label_of_what_it_prints(tmp_path: Path) -> None:
    async with shop(tmp_path) as made:
        foreign = Label.of(Origin(Author.STRANGER, "mail:eve"))
        result = await ran(made, skill(is_vouched=True), "scripts/run", "x", call=call(foreign))
        assert Origin(Author.STRANGER, "mail:eve") in result.labels[""].origins


async def test_what_cannot_be_run_is_said(tmp_path: Path) -> None:
    async with shop(tmp_path) as made:
        for script, told in (("scripts/none.py", "has no script"), ("../run", "has no script"), ("SKILL.md", "has no script")):
            with pytest.raises(ToolFailed, match=told):
                await ran(made, skill(), script)
        with pytest.raises(ToolFailed, match="no program"):
            await ran(made, skill(), "scripts/data.bin")
        with pytest.raises(ToolFailed, match="cannot have its secrets"):
            await ran(made, skill(Requires(secrets=("missing",))), "scripts/run")


async def test_another_version_than_the_call_was_meant_for_is_not_run(tmp_path: Path) -> None:
    async with shop(tmp_path) as made:
        for now in (replace(skill(), version="v2"), skill(Requires(files="write"))):
            with pytest.raises(ToolFailed, match="another version"):
                await ran(made, skill(), "scripts/run", now=now)
        assert manifest_of(skill()) != manifest_of(replace(skill(), version="v2"))


async def test_the_manifest_is_the_grant_and_holds_no_word_of_a_stranger(tmp_path: Path) -> None:
    bare, reaching, writing = manifest_of(skill()), manifest_of(skill(REACH)), manifest_of(skill(Requires(files="write")))
    assert (bare.capabilities, bare.effect, bare.changes_files) == ((Capability.EXECUTES,), Effect.PURE, False)
    assert (reaching.is_consequential, reaching.effect, reaching.needs) == (True, Effect.UNSAFE, ("api-key",))
    assert (Capability.WRITES in writing.capabilities, writing.changes_files, writing.is_consequential) == (True, True, False)
    assert manifest_of(skill(Requires(hosts=("a.test",), files="read"))).changes_files
    assert "count.py" not in str(bare.parameters)
    assert "count.py" in str(manifest_of(skill(is_vouched=True)).parameters)
    async with shop(tmp_path) as made:
        nothing = replace(skill(), skill=replace(skill().skill, files=()))
        assert script_tools(nothing, made.workshop, None) == ()  # type: ignore[arg-type]
        assert script_tools(replace(skill(), state="disabled"), made.workshop, None) == ()  # type: ignore[arg-type]
