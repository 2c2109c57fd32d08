"""Listing, finding and searching, in small and very large trees."""

import asyncio
import os
from pathlib import Path

import pytest
import uvloop
from tests.sandbox.files.grounds import driver_on

from daimon.abi.box import Role
from daimon.abi.errors import ToolFailed
from daimon.abi.files import Item, Query
from daimon.sandbox.files import searching
from daimon.sandbox.files.driver import Driver
from daimon.sandbox.files.globs import Glob

needs_ripgrep = pytest.mark.skipif(searching.ripgrep() is None, reason="ripgrep is not installed: only the other engine can be tested")
ENGINES = [pytest.param("ripgrep", marks=needs_ripgrep), "python"]


@pytest.fixture
def made(tree: Path) -> Path:
    for path in ("b.py", "a.txt", "src/x.py", "src/deep/y.py", "src/deep/z.txt", ".git/config", ".hidden/w.py"):
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(f"one\nneedle in {path}\nthree\n")
    return tree


def use(driver: Driver, engine: str) -> None:
    if engine == "python":
        driver.searches_with(None)


async def test_a_directory_is_listed_sorted_with_kinds_and_sizes(driver: Driver, tree: Path) -> None:
    (tree / "b").mkdir()
    (tree / "a").write_text("12345")
    (tree / "c").symlink_to("../secret")
    os.mkfifo(tree / "d")
    found = await driver.list()
    assert found.items == (Item("a", "file", 5), Item("b", "directory"), Item("c", "link", 0, "../secret"), Item("d", "other"))
    assert (await driver.list("b")).items == ()


async def test_what_is_no_directory_is_not_listed(driver: Driver, tree: Path) -> None:
    (tree / "a").touch()
    (tree / "out").symlink_to("..")
    for path, reason in (("a", "not_found"), ("none", "not_found"), ("out", "outside")):
        with pytest.raises(ToolFailed) as failed:
            await driver.list(path)
        assert failed.value.reason == reason


async def test_a_hundred_thousand_files_in_one_directory_are_fine(driver: Driver, tree: Path) -> None:
    folder = os.open(tree, os.O_RDONLY)
    for number in range(100_000):
        os.close(os.open(f"f{number:06}", os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=folder))
    os.close(folder)
    found = await driver.list()
    assert [item.name for item in found.items] == [f"f{number:06}" for number in range(1_000)]
    assert found.left_out == 99_000
    names = await driver.find("f0999*")
    assert len(names.paths) == 100
    assert (await driver.find("*")).left_out == 99_000
    assert (await driver.search(Query(pattern="x"))).hits == ()
    assert (await driver.delete("f000000")).count == 1


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.py", (".hidden/w.py", "b.py", "src/deep/y.py", "src/x.py")),
        ("src/*.py", ("src/x.py",)),
        ("src/**/*.py", ("src/deep/y.py", "src/x.py")),
        ("**/z.*", ("src/deep/z.txt",)),
        ("src/**", ("src/deep/y.py", "src/deep/z.txt", "src/x.py")),
        ("{a,b}.{txt,py}", ("a.txt", "b.py")),
        ("[ab].*", ("a.txt", "b.py")),
        ("config", ()),
    ],
)
async def test_files_are_found_by_pattern(driver: Driver, made: Path, pattern: str, expected: tuple[str, ...]) -> None:
    assert (await driver.find(pattern)).paths == expected


async def test_files_are_found_below_a_directory(driver: Driver, made: Path) -> None:
    assert (await driver.find("*.py", "src")).paths == ("src/deep/y.py", "src/x.py")


@pytest.mark.parametrize("pattern", ["", "x" * 1_001, "{a,b}" * 20, "a/" * 100])
async def test_a_pattern_beyond_bounds_is_refused(driver: Driver, pattern: str) -> None:
    with pytest.raises(ToolFailed) as failed:
        await driver.find(pattern)
    assert failed.value.reason == "bad_pattern"


def test_a_pattern_of_many_stars_does_not_run_away() -> None:
    assert not Glob("*a" * 40 + "b").matches("a" * 250)
    assert Glob("**/" * 30 + "x").matches("a/" * 100 + "x")


@pytest.mark.parametrize("engine", ENGINES)
async def test_lines_are_found_and_told_with_their_numbers(driver: Driver, made: Path, engine: str) -> None:
    use(driver, engine)
    found = await driver.search(Query(pattern="need.e"))
    assert [(hit.path, hit.line, hit.text) for hit in found.hits] == [
        (path, 2, f"needle in {path}") for path in (".hidden/w.py", "a.txt", "b.py", "src/deep/y.py", "src/deep/z.txt", "src/x.py")
    ]
    assert (found.engine, found.has_more) == (engine, False)


@pytest.mark.parametrize("engine", ENGINES)
async def test_a_search_can_be_narrowed(driver: Driver, made: Path, engine: str) -> None:
    use(driver, engine)

    async def paths(**how: object) -> list[str]:
        return [hit.path for hit in (await driver.search(Query(**{"pattern": "needle", **how}))).hits]  # type: ignore[arg-type]

    assert await paths(glob="*.txt") == ["a.txt", "src/deep/z.txt"]
    assert await paths(glob="src/**/*.py") == ["src/deep/y.py", "src/x.py"]
    assert await paths(path="src/deep") == ["src/deep/y.py", "src/deep/z.txt"]
    assert await paths(path="src/x.py") == ["src/x.py"]
    assert await paths(pattern="NEEDLE", ignores_case=True, path="a.txt") == ["a.txt"]
    assert await paths(pattern="need.e", is_literal=True) == []
    assert await paths(pattern=r"a\.txt$") == ["a.txt"]
    assert len(await paths(most=2)) == 2


@pytest.mark.parametrize("engine", ENGINES)
async def test_lines_around_a_hit_are_told(driver: Driver, tree: Path, engine: str) -> None:
    use(driver, engine)
    (tree / "a").write_text("".join(f"line {n}\n" for n in range(1, 8)))
    [hit] = (await driver.search(Query(pattern="line 4", context=2))).hits
    assert (hit.line, hit.found_at, hit.text) == (2, 4, "line 2\nline 3\nline 4\nline 5\nline 6")
    [hit] = (await driver.search(Query(pattern="line 1", context=2))).hits
    assert (hit.line, hit.text) == (1, "line 1\nline 2\nline 3")
    [hit] = (await driver.search(Query(pattern="line 7", context=2))).hits
    assert (hit.line, hit.text) == (5, "line 5\nline 6\nline 7")


@pytest.mark.parametrize("engine", ENGINES)
async def test_a_pattern_that_is_no_expression_is_told(driver: Driver, made: Path, engine: str) -> None:
    use(driver, engine)
    for pattern in ("(", "a\0b", "", "x" * 3_000):
        with pytest.raises(ToolFailed) as failed:
            await driver.search(Query(pattern=pattern))
        assert failed.value.reason == "bad_pattern"
    assert len((await driver.search(Query(pattern="--version"))).hits) == 0


@pytest.mark.parametrize("engine", ENGINES)
async def test_many_hits_are_bounded_and_that_is_said(driver: Driver, tree: Path, engine: str) -> None:
    use(driver, engine)
    for number in range(30):
        (tree / f"{number:02}").write_text("needle\n" * 200)
    found = await driver.search(Query(pattern="needle"))
    assert (len(found.hits), found.has_more) == (100, True)
    one = await driver.search(Query(pattern="needle", path="03", most=1_000))
    assert (len(one.hits), one.has_more) == (100, True)


@pytest.mark.parametrize("engine", ENGINES)
async def test_a_long_line_is_cut_and_a_binary_file_left_out(driver: Driver, tree: Path, engine: str) -> None:
    use(driver, engine)
    (tree / "long").write_text("x" * 1_000_000 + "needle\n")
    (tree / "binary").write_bytes(b"\0\1needle\n")
    [hit] = (await driver.search(Query(pattern="needle"))).hits
    assert hit.path == "long"
    assert len(hit.text) < 400


async def test_an_expression_that_never_ends_is_ended(driver: Driver, tree: Path) -> None:
    (tree / "a").write_text("a" * 40 + "b\n")
    driver.searches_with(None, longest_s=1.0)
    found = await driver.search(Query(pattern="(a+)+$"))
    assert found.hits == ()
    assert "the search was stopped after 1 s" in found.notes[0]


@pytest.mark.parametrize("engine", ENGINES)
async def test_what_may_not_be_read_is_not_told(made: Path, engine: str) -> None:
    with driver_on(made, Role(name="part", read=("src/deep",))) as driver:
        use(driver, engine)
        assert [hit.path for hit in (await driver.search(Query(pattern="needle"))).hits] == ["src/deep/y.py", "src/deep/z.txt"]


async def test_directories_nested_too_deep_are_left_out_and_said(driver: Driver, tree: Path) -> None:
    at = os.open(tree, os.O_RDONLY)
    for _ in range(230):
        os.mkdir("d", dir_fd=at)
        deeper = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = deeper
    os.close(at)
    found = await driver.find("*")
    assert found.notes == ("directories nested deeper than 200 were left out",)
    with pytest.raises(ToolFailed, match="nested deeper"):
        await driver.delete("d", recursive=True)


def searchers() -> list[str]:
    """Those that this process started and that still run."""
    children = [child for task in Path("/proc/self/task").iterdir() for child in _read(task / "children").split()]
    return [child for child in children if "searcher.py" in _read(Path(f"/proc/{child}/cmdline"))]


def _read(file: Path) -> str:
    """Of a thread or a process that may be over by now, and then there is nothing to read."""
    try:
        return file.read_text()
    except OSError:
        return ""


async def test_a_search_that_nobody_waits_for_any_more_is_ended(driver: Driver, tree: Path) -> None:
    (tree / "a").write_text("a" * 40 + "b\n")
    driver.searches_with(None, longest_s=300.0)
    async with asyncio.timeout(60):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await driver.search(Query(pattern="(a+)+$"))
    assert not searchers()


@needs_ripgrep
def test_a_search_works_on_the_loop_of_the_gateway_too(tree: Path) -> None:
    (tree / "a").write_text("needle\n")
    with driver_on(tree) as driver:
        assert [hit.path for hit in uvloop.run(driver.search(Query(pattern="needle"))).hits] == ["a"]
