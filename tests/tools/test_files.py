"""Files by tool call: what the model is told, what is recorded, and what happens with a call that a crash cut short. On real files."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.kernel.rig import kernel, outcomes, result_text
from tests.sandbox.files.grounds import driver_on

from daimon.abi.codec import blob_hash
from daimon.abi.errors import BadInput, ToolFailed
from daimon.abi.files import Files
from daimon.abi.ids import BlobHash
from daimon.abi.label import Author
from daimon.abi.message import Image
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Result, Tool, Touched
from daimon.abi.turn import State
from daimon.policy.agents import Terms
from daimon.sandbox.files.content import version
from daimon.sandbox.files.driver import Driver
from daimon.testing.model import calls, says
from daimon.tools.files import UNCLEAR, file_tools
from daimon.tools.registry import Registry

MOST_TOKENS = 900
BYTES_PER_TOKEN = 4


class Workspaces:
    def __init__(self, driver: Driver) -> None:
        self.driver = driver

    @asynccontextmanager
    async def files(self, call: Call) -> AsyncIterator[Files]:
        yield self.driver


class Shelf:
    def __init__(self) -> None:
        self.kept: dict[BlobHash, bytes] = {}

    async def put(self, data: bytes) -> BlobHash:
        self.kept[blob_hash(data)] = data
        return blob_hash(data)

    async def get(self, blob: BlobHash) -> bytes:
        return self.kept[blob]


class Bench:
    def __init__(self, tree: Path, driver: Driver, call: Call) -> None:
        self.tree, self.call, self.shelf = tree, call, Shelf()
        self.tools: dict[str, Tool] = {tool.manifest.name: tool for tool in file_tools(Workspaces(driver), self.shelf)}

    async def run(self, tool: str, **arguments: Any) -> Result:
        result = await self.tools[tool].run(arguments, self.call)
        assert isinstance(result, Result)
        json.dumps(result.data, ensure_ascii=False).encode()
        return result

    async def told(self, tool: str, **arguments: Any) -> Any:
        return (await self.run(tool, **arguments)).data

    async def verified(self, tool: str, **arguments: Any) -> Any:
        found = await self.tools[tool].verify(arguments, self.call)
        return None if found is None else found.data


@pytest.fixture
def bench(tmp_path: Path, call: Call) -> Iterator[Bench]:
    (tree := tmp_path / "work").mkdir()
    with driver_on(tree) as driver:
        yield Bench(tree, driver, call)


async def test_a_file_is_written_read_edited_and_deleted(bench: Bench) -> None:
    done = await bench.run("write_file", path="a/b.txt", content="one\ntwo\n")
    assert done.data == {"files": [{"path": "a/b.txt", "what": "added", "version": version(b"one\ntwo\n")}]}
    assert done.touched == (Touched("file", "a/b.txt", "added"),)
    assert await bench.told("read_file", path="a/b.txt") == {"text": "one\ntwo\n", "version": version(b"one\ntwo\n")}
    part = await bench.told("read_file", path="a/b.txt", offset=2, limit=1)
    assert (part["text"], part["part"]) == ("two\n", "lines 2–2 of 2")
    assert (await bench.told("read_file", path="a/b.txt", offset=4, limit=3, bytes=True))["text"] == "two"
    edited = await bench.run("edit_file", path="a/b.txt", edits=[["one", "1"], ["two", "2"]])
    assert edited.touched == (Touched("file", "a/b.txt", "changed"),)
    assert "+1\n+2" in json.loads(json.dumps(edited.data))["files"][0]["diff"]
    gone = await bench.run("delete_file", path="a", recursive=True)
    assert (gone.data, gone.touched) == ({"deleted": 2}, (Touched("file", "a", "removed"),))


async def test_names_are_listed_found_and_moved(bench: Bench) -> None:
    (bench.tree / "d").mkdir()
    (bench.tree / "a.py").write_text("x" * 1_234)
    (bench.tree / "link").symlink_to("a.py")
    assert await bench.told("list_files") == {"entries": ["a.py (1,234)", "d/", "link → a.py"]}
    assert await bench.told("list_files", path="d") == {"entries": []}
    assert await bench.told("find_files", pattern="*.py") == {"paths": ["a.py"]}
    moved = await bench.run("move_file", path="a.py", to="d/b.py")
    assert moved.touched == (Touched("file", "a.py", "removed"), Touched("file", "d/b.py", "added"))


async def test_lines_are_found(bench: Bench) -> None:
    (bench.tree / "a").write_text("one\nneedle (x)\nthree\n")
    assert await bench.told("search_files", pattern="needle") == {"hits": "a\n2: needle (x)"}
    assert await bench.told("search_files", pattern="(X)", literal=True) == {"hits": ""}
    around = await bench.told("search_files", pattern="(?i)NEEDLE", context=1, glob="a", path=".")
    assert around == {"hits": "a\n1- one\n2: needle (x)\n3- three"}


async def test_a_patch_changes_several_files(bench: Bench) -> None:
    (bench.tree / "a").write_text("one\n")
    patch = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+two\n--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+new\n"
    done = await bench.run("patch_files", patch=patch)
    assert done.touched == (Touched("file", "a", "changed"), Touched("file", "b", "added"))


async def test_an_image_is_shown(bench: Bench) -> None:
    data = b"\x89PNG\r\n\x1a\n" + bytes(20)
    (bench.tree / "a.png").write_bytes(data)
    done = await bench.run("read_file", path="a.png")
    assert done.parts == (Image(blob_hash(data), "image/png", "a.png"),)
    assert bench.shelf.kept == {blob_hash(data): data}


async def test_of_what_is_no_text_it_is_told_what_it_is(bench: Bench) -> None:
    (bench.tree / "a").write_bytes(b"\x7fELF\0")
    told = await bench.told("read_file", path="a")
    assert (told["binary"], told["size"]) == ("ELF program", 5)


async def test_what_others_changed_is_told_with_the_next_result_once(bench: Bench) -> None:
    (bench.tree / "a").write_text("x")
    (bench.tree / "b").write_text("x")
    await bench.told("read_file", path="a")
    (bench.tree / "a").write_text("y")
    assert (await bench.told("read_file", path="b"))["changed_meanwhile"] == ["a"]
    assert "changed_meanwhile" not in await bench.told("read_file", path="b")
    with pytest.raises(ToolFailed, match="changed under you"):
        await bench.told("write_file", path="a", content="z")
    await bench.told("write_file", path="a", content="z", overwrite=True)


async def test_a_name_that_is_no_utf8_can_be_told_and_used(bench: Bench) -> None:
    (bench.tree / "caf\udce9").write_text("needle")
    assert await bench.told("list_files") == {"entries": ["caf\\xe9 (6)"]}
    assert await bench.told("search_files", pattern="needle") == {"hits": "caf\\xe9\n1: needle"}
    assert (await bench.told("read_file", path="caf\\xe9"))["text"] == "needle"


@pytest.mark.parametrize("edits", [[], [["only one"]], [["a", "b", "c"]], "text"])
async def test_edits_that_are_no_pairs_are_refused(bench: Bench, edits: Any) -> None:
    with pytest.raises(BadInput):
        await bench.told("edit_file", path="a", edits=edits)


async def test_numbers_out_of_range_are_brought_into_it(bench: Bench) -> None:
    (bench.tree / "a").write_text("x\ny\n")
    assert (await bench.told("read_file", path="a", offset=-5, limit=-5))["text"] == "x\n"
    assert (await bench.told("search_files", pattern="x", context=10**9))["hits"] == "a\n1: x\n2- y"


async def test_an_edit_that_a_crash_cut_short_is_never_made_twice(bench: Bench) -> None:
    edit = {"path": "a", "edits": [["one", "two"]]}
    (bench.tree / "a").write_text("one\n")
    assert await bench.verified("edit_file", **edit) is None
    await bench.told("edit_file", **edit)
    assert (await bench.verified("edit_file", **edit))["done"] == "it was done before Daimon stopped"
    (bench.tree / "a").write_text("else\n")
    assert (await bench.verified("edit_file", **edit))["done"] == UNCLEAR


async def test_a_patch_move_or_deletion_that_a_crash_cut_short_is_looked_at(bench: Bench) -> None:
    (bench.tree / "a").write_text("one\n")
    made: dict[str, dict[str, Any]] = {
        "patch_files": {"patch": "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+two\n"},
        "move_file": {"path": "a", "to": "b"},
        "delete_file": {"path": "b"},
    }
    for name, arguments in made.items():
        if name != "delete_file":
            assert await bench.verified(name, **arguments) is None
        await bench.told(name, **arguments)
        assert (await bench.verified(name, **arguments))["done"] == "it was done before Daimon stopped"


async def test_a_write_repeated_is_harmless(bench: Bench) -> None:
    write = {"path": "a", "content": "x", "version": version(b"old")}
    (bench.tree / "a").write_text("old")
    await bench.told("write_file", **write)
    assert (await bench.told("write_file", **write))["files"][0]["what"] == "unchanged"


def test_the_manifests_say_what_the_tools_can_do(bench: Bench) -> None:
    for name, tool in bench.tools.items():
        is_reading = name.startswith(("read", "list", "find", "search"))
        assert (tool.manifest.effect is Effect.PURE) == is_reading
        assert (Capability.WRITES in tool.manifest.capabilities) == (not is_reading)
        assert not tool.manifest.is_consequential
        assert tool.manifest.result.author is Author.STRANGER
    assert bench.tools["write_file"].manifest.roles == {"path": ArgumentRole.TARGET, "content": ArgumentRole.CONTENT}
    assert len(Registry(list(bench.tools.values())).manifests()) == 9


def test_all_manifests_together_are_small(bench: Bench) -> None:
    manifests = [tool.manifest for tool in bench.tools.values()]
    sent = [{"name": each.name, "description": each.description, "input_schema": each.parameters} for each in manifests]
    assert len(json.dumps(sent, separators=(",", ":"))) / BYTES_PER_TOKEN < MOST_TOKENS


async def test_in_a_turn_nobody_is_asked_and_a_files_words_are_a_strangers(bench: Bench) -> None:
    script = (
        calls(("write_file", {"path": "a", "content": "one\n"})),
        calls(("edit_file", {"path": "a", "edits": [["one", "two"]]}), ("read_file", {"path": "a"})),
        calls(("delete_file", {"path": "none"})),
        says("done"),
    )
    async with kernel(script=script, tools=bench.tools.values(), terms=Terms("assistant")) as rig:
        turn, _ = await rig.ask("change it")
        assert turn.state is State.DONE
        written, edited, read, missing = outcomes(await rig.journal.steps(turn.id))
    assert [touched.outcome for touched in (*written.touched, *edited.touched)] == ["added", "changed"]
    assert json.loads(result_text(read))["data"]["text"] == "two\n"
    assert {(origin.author, origin.source) for origin in read.result.label.origins} == {(Author.STRANGER, "file:a")}
    assert missing.code == "not_found"
