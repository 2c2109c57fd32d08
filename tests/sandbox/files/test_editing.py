"""Exact replacements: all or none, and a miss says what comes nearest."""

from pathlib import Path

import pytest

from daimon.abi.errors import ToolFailed
from daimon.abi.files import Replacement
from daimon.sandbox.files.driver import Driver
from daimon.sandbox.files.editing import trace

TEXT = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"


@pytest.fixture(autouse=True)
def file(tree: Path) -> None:
    (tree / "a.py").write_text(TEXT)


async def missed(driver: Driver, *pairs: tuple[str, str]) -> ToolFailed:
    with pytest.raises(ToolFailed) as failed:
        await driver.edit("a.py", [Replacement(*pair) for pair in pairs])
    return failed.value


async def test_what_is_found_once_is_replaced_and_the_diff_told(driver: Driver, tree: Path) -> None:
    done = await driver.edit("a.py", [Replacement("return 1", "return 3"), Replacement("return 2", "return 4")])
    assert (tree / "a.py").read_text() == TEXT.replace("1", "3").replace("2", "4")
    assert [line for line in done.diff.split("\n") if line[0] in "+-"] == [
        "-    return 1",
        "+    return 3",
        "-    return 2",
        "+    return 4",
    ]


async def test_if_one_of_them_misses_nothing_is_replaced(driver: Driver, tree: Path) -> None:
    failed = await missed(driver, ("return 1", "return 3"), ("return 9", "return 4"))
    assert str(failed).startswith("cannot find replacement 2 of 2 in a.py; nothing was changed. Nearest is line 2")
    assert (tree / "a.py").read_text() == TEXT


async def test_what_is_found_more_than_once_is_named_by_its_lines(driver: Driver, tree: Path) -> None:
    failed = await missed(driver, ("return", "yield"))
    assert failed.reason == "ambiguous"
    assert "2 times, in lines 2, 6;" in str(failed)
    assert (tree / "a.py").read_text() == TEXT


async def test_all_of_them_are_replaced_if_that_is_said(driver: Driver, tree: Path) -> None:
    await driver.edit("a.py", [Replacement("return", "yield", all=True)])
    assert (tree / "a.py").read_text() == TEXT.replace("return", "yield")


@pytest.mark.parametrize(
    ("old", "where", "what"),
    [
        ("def one():\n\treturn 1", "line 1", "tabs and spaces differ"),
        ("def one():\n  return 1", "line 1", "white space differs"),
        ("def two():   \n    return 2", "line 5", "white space at the ends of lines differs"),
        ("Def Two():\n    return 2", "line 5", "capital and small letters differ"),
        ("def two():\n    return 22", "line 5", "its line 2, there 'return 2', yours 'return 22'"),
    ],
)
async def test_a_miss_says_what_comes_nearest_and_what_differs(driver: Driver, tree: Path, old: str, where: str, what: str) -> None:
    failed = await missed(driver, (old, "x"))
    assert failed.reason == "no_match"
    assert where in str(failed)
    assert what in str(failed)


async def test_a_miss_with_nothing_like_it_says_so(driver: Driver, tree: Path) -> None:
    assert "Nothing in the file is like it" in str(await missed(driver, ("@@@@@@@@ ########", "x")))


async def test_a_miss_in_a_large_file_of_long_lines_is_told_all_the_same(driver: Driver, tree: Path) -> None:
    (tree / "a.py").write_text("".join(f"{n} {'lorem ipsum ' * 200}\n" for n in range(5_000)))
    assert (await missed(driver, ("lorem ipsun " * 200, "x"))).reason == "no_match"


@pytest.mark.parametrize(("old", "new"), [("", "x"), ("one", "one")])
async def test_a_replacement_of_nothing_or_by_itself_is_refused(driver: Driver, tree: Path, old: str, new: str) -> None:
    assert (await missed(driver, (old, new))).reason == "bad_edit"


async def test_line_ends_and_encoding_stay(driver: Driver, tree: Path) -> None:
    (tree / "a.py").write_bytes(b"\xff\xfe" + "ein\r\nzwei\r\ndrei\r\n".encode("utf-16-le"))
    await driver.edit("a.py", [Replacement("ein\nzwei", "eins\nzwölf")])
    assert (tree / "a.py").read_bytes() == b"\xff\xfe" + "eins\r\nzwölf\r\ndrei\r\n".encode("utf-16-le")


async def test_a_character_that_the_encoding_lacks_is_refused(driver: Driver, tree: Path) -> None:
    (tree / "a.py").write_bytes("grün\n".encode("cp1252"))
    assert (await missed(driver, ("grün", "grün 🌱"))).reason == "bad_text"


async def test_what_is_no_text_is_not_edited(driver: Driver, tree: Path) -> None:
    (tree / "a.py").write_bytes(b"\x7fELF\x00")
    assert (await missed(driver, ("ELF", "FLE"))).reason == "not_text"


async def test_a_file_that_is_not_there_is_not_made_nor_its_directories(driver: Driver, tree: Path) -> None:
    with pytest.raises(ToolFailed) as failed:
        await driver.edit("new/folder/a", [Replacement("a", "b")])
    assert failed.value.reason == "not_found"
    assert not (tree / "new").exists()


async def test_an_edit_of_what_somebody_else_changed_works_and_says_so(driver: Driver, tree: Path) -> None:
    await driver.read("a.py")
    (tree / "a.py").write_text(TEXT + "# theirs\n")
    done = await driver.edit("a.py", [Replacement("return 1", "return 3")])
    assert done.notes[0].startswith("somebody else had changed it")
    assert (tree / "a.py").read_text().endswith("# theirs\n")


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("a b", "a", "c", "not done"),
        ("c b", "a", "c", "done"),
        ("x y", "a", "c", "unclear"),
        ("a c", "a", "c", "unclear"),
        ("line\nmore", "line", "line\nmore", "unclear"),
        ("line\n", "line", "line\nmore", "not done"),
        ("mine\ntheirs\nend", "end", "mine\nend", "unclear"),
        ("theirs\nend", "end", "mine\nend", "not done"),
    ],
)
def test_whether_an_edit_was_made_is_told_from_the_text(text: str, old: str, new: str, expected: str) -> None:
    assert trace(text, [Replacement(old, new)]) == expected
