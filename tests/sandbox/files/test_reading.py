"""What a model is told of a file: text by parts, images as such, of all else what it is."""

import asyncio
import hashlib
import sys
from pathlib import Path

import pytest

from daimon.abi.errors import ToolFailed
from daimon.abi.files import Binary, Page, Picture, Window
from daimon.sandbox.files.content import MOST, UNSTABLE
from daimon.sandbox.files.driver import Driver
from daimon.sandbox.files.page import MOST_CHARACTERS, MOST_OF_LINE


async def page(driver: Driver, path: str, window: Window | None = None) -> Page:
    found = await driver.read(path, window or Window())
    assert isinstance(found, Page)
    return found


async def test_a_small_file_is_told_whole_with_its_version(driver: Driver, tree: Path) -> None:
    (tree / "a.txt").write_text("one\ntwo\n")
    found = await page(driver, "a.txt")
    assert (found.text, found.encoding, found.size, found.part, found.notes) == ("one\ntwo\n", "utf-8", 8, "", ())
    assert found.version == hashlib.sha256(b"one\ntwo\n").hexdigest()[:12]


@pytest.mark.parametrize("content", ["", "no end of line", "\n", "a\n\n\nb"])
async def test_text_comes_back_as_it_is(driver: Driver, tree: Path, content: str) -> None:
    (tree / "a").write_text(content)
    assert (await page(driver, "a")).text == content


async def test_a_part_by_lines_says_which_and_of_how_many(driver: Driver, tree: Path) -> None:
    (tree / "a").write_text("".join(f"{n}\n" for n in range(1, 2_114)))
    found = await page(driver, "a", Window(10, 3))
    assert (found.text, found.part) == ("10\n11\n12\n", "lines 10–12 of 2,113")
    assert (await page(driver, "a")).part == "lines 1–2,000 of 2,113"
    assert (await page(driver, "a", Window(2_113, 5))).text == "2113\n"
    assert (await page(driver, "a", Window(3_000, 5))).part == "there are only 2,113 lines"


async def test_no_more_characters_are_told_than_fit(driver: Driver, tree: Path) -> None:
    (tree / "a").write_text("".join(f"{'x' * 99}\n" for _ in range(1_000)))
    found = await page(driver, "a")
    assert len(found.text) <= MOST_CHARACTERS
    assert found.part == "lines 1–500 of 1,000"


async def test_a_long_line_is_cut_and_said(driver: Driver, tree: Path) -> None:
    (tree / "a").write_text(f"{'x' * 5_000}\nshort\n")
    found = await page(driver, "a")
    assert found.text == f"{'x' * MOST_OF_LINE}… [3,000 characters more]\nshort\n"
    assert found.notes == ("1 long line was cut",)


async def test_a_part_by_bytes_says_which(driver: Driver, tree: Path) -> None:
    (tree / "a").write_text("0123456789")
    found = await page(driver, "a", Window(3, 4, "bytes"))
    assert (found.text, found.part) == ("3456", "bytes 3–7 of 10")
    assert (await page(driver, "a", Window(99, 4, "bytes"))).text == ""


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        ("grün\n".encode("utf-8-sig"), "grün\n", "utf-8-sig"),
        (b"\xff\xfe" + "grün\n".encode("utf-16-le"), "grün\n", "utf-16-le"),
        (b"\xfe\xff" + "grün\n".encode("utf-16-be"), "grün\n", "utf-16-be"),
        ("grün – „so“\n".encode("cp1252"), "grün – „so“\n", "cp1252"),
        (b"gr\xfcn \x81\n", "grün \x81\n", "latin-1"),
    ],
)
async def test_other_encodings_are_read_and_said(driver: Driver, tree: Path, data: bytes, text: str, encoding: str) -> None:
    (tree / "a").write_bytes(data)
    found = await page(driver, "a")
    assert (found.text, found.encoding) == (text, encoding)
    assert any("guess" in note for note in found.notes) == (encoding in ("cp1252", "latin-1"))


@pytest.mark.parametrize(
    ("data", "kind"),
    [(b"\x7fELF\x02\x01\x00\x00", "ELF program"), (bytes(range(256)) * 4, "binary data"), (b"\x01\x02\x03\xff\x80" * 50, "binary data")],
)
async def test_of_binary_garbage_the_kind_size_and_hash_are_told(driver: Driver, tree: Path, data: bytes, kind: str) -> None:
    (tree / "a").write_bytes(data)
    found = await driver.read("a")
    assert isinstance(found, Binary)
    assert (found.kind, found.size, found.hash) == (kind, len(data), hashlib.sha256(data).hexdigest())


@pytest.mark.parametrize(
    ("head", "media"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBP", "image/webp"),
    ],
)
async def test_an_image_comes_as_an_image(driver: Driver, tree: Path, head: bytes, media: str) -> None:
    (tree / "a").write_bytes(head + bytes(100))
    found = await driver.read("a")
    assert isinstance(found, Picture)
    assert (found.media_type, found.data) == (media, head + bytes(100))


async def test_an_image_that_is_too_large_is_only_described(driver: Driver, tree: Path) -> None:
    (tree / "a").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(4_000_000))
    found = await driver.read("a")
    assert isinstance(found, Binary)
    assert found.kind == "image/png"
    assert found.notes


async def test_a_file_larger_than_small_ones_is_read_by_a_thread_all_the_same(driver: Driver, tree: Path) -> None:
    (tree / "a").write_text("x" * 99 + "\n" * 1_000_000)
    found = await page(driver, "a", Window(900_000, 2))
    assert found.part == "lines 900,000–900,001 of 1,000,000"


async def test_of_a_huge_file_bytes_can_be_seen(driver: Driver, tree: Path) -> None:
    with (tree / "a").open("wb") as file:
        file.write(b"begin\n" + b"x" * 9_000)
        file.seek(MOST + 100)
        file.write(b"the end")
    found = await page(driver, "a")
    assert found.text.startswith("begin\n")
    assert found.part == f"bytes 0–50,000 of {MOST + 107:,}"
    assert found.version.startswith("~")
    assert (await page(driver, "a", Window(MOST + 100, 100, "bytes"))).text == "the end"


async def test_a_sparse_file_of_a_terabyte_is_only_described(driver: Driver, tree: Path) -> None:
    with (tree / "a").open("wb") as file:
        file.truncate(1 << 40)
    found = await driver.read("a")
    assert isinstance(found, Binary)
    assert (found.size, found.hash) == (1 << 40, "")


SCRIBBLER = """
import os, sys
opened = os.open(sys.argv[1], os.O_WRONLY)
for count in range(1 << 62):
    os.pwrite(opened, b"%d" % count, count % 1000)
"""


async def test_a_file_that_changes_all_the_time_is_told_as_such(driver: Driver, tree: Path) -> None:
    (tree / "a").write_bytes(b"0" * 60_000_000)
    first = Window(0, 100, "bytes")
    writer = await asyncio.create_subprocess_exec(sys.executable, "-c", SCRIBBLER, str(tree / "a"))
    try:
        async with asyncio.timeout(60):
            while not (await page(driver, "a", first)).notes:
                pass  # the writer did not get its turn during one of the tries
            seen = {(await page(driver, "a", first)).notes for _ in range(5)}
    finally:
        writer.kill()
        await writer.wait()
    assert seen <= {(UNSTABLE,), ()}
    assert (await page(driver, "a", first)).notes == ()


@pytest.mark.parametrize(("path", "reason"), [("nothing", "not_found"), ("folder", "is_directory"), ("file/below", "not_found")])
async def test_what_cannot_be_read_is_said(driver: Driver, tree: Path, path: str, reason: str) -> None:
    (tree / "folder").mkdir()
    (tree / "file").touch()
    with pytest.raises(ToolFailed) as failed:
        await driver.read(path)
    assert failed.value.reason == reason
