"""Files by path: what a message names is stored and goes along with it."""

import json
from pathlib import Path

import pytest
from tests.cli.processes import Daimon
from tests.cli.pseudo import sitting_at

from daimon.abi.codec import blob_hash
from daimon.abi.errors import BadInput, TooLarge
from daimon.abi.ids import BlobHash
from daimon.abi.message import File, Image
from daimon.cli import attach

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
LIVELY = 'extensions = ["lively"]\n[model]\nuse = "lively"\n[agents.daimon]\nrole = "reader"\n'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "here"
    place.mkdir()
    monkeypatch.chdir(place)
    (place / "shot.png").write_bytes(PNG)
    (place / "my notes.txt").write_text("milk, bread")
    return place


# -- which words are files


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("look at @shot.png", ["shot.png"]),
        ("@shot.png, please", ["shot.png"]),
        ("(see\n@./shot.png).", ["shot.png"]),
        ('read @"my notes.txt" and @shot.png', ["my notes.txt", "shot.png"]),
        ("read @'my notes.txt'!", ["my notes.txt"]),
        ("@shot.png is @shot.png", ["shot.png"]),
        ("@../here/shot.png", ["shot.png"]),
    ],
)
def test_a_word_that_names_a_file_is_one(text: str, names: list[str]) -> None:
    assert [path.name for path in attach.named_in(text)] == names


def test_a_path_may_begin_at_the_persons_home(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(here))
    assert attach.named_in("@~/shot.png") == (here / "shot.png",)


@pytest.mark.parametrize(
    "text",
    [
        "hello",
        "ask @anna",
        "me@example.com",
        "at @ home",
        "@",
        '@app.get("/users")',
        "@functools.lru_cache(1)",
        "@3.5",
        "version@2/3",
        "@\0",
    ],
)
def test_any_other_word_stays_a_word(text: str) -> None:
    assert attach.named_in(text) == ()


@pytest.mark.parametrize("word", ["@missing.png", "@no/such/thing", '@"my missing notes"', "@./", "@~nobody/x", f"@{'x' * 300}.png"])
def test_a_path_that_leads_nowhere_is_told(word: str) -> None:
    with pytest.raises(BadInput, match=r"there is no such file; nothing was sent"):
        attach.named_in(f"see {word}")


def test_a_pipe_or_a_device_is_no_file() -> None:
    with pytest.raises(BadInput):
        attach.named_in("@/dev/zero")


# -- what a file is


@pytest.mark.parametrize(
    ("name", "data", "media_type"),
    [
        ("a.png", PNG, "image/png"),
        ("photo", b"\xff\xd8\xff\xe0" + bytes(9), "image/jpeg"),
        ("moving.bin", b"GIF89a" + bytes(9), "image/gif"),
        ("x.webp", b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
    ],
)
def test_an_image_is_one_by_its_first_bytes(here: Path, name: str, data: bytes, media_type: str) -> None:
    (here / name).write_bytes(data)
    assert attach.part(here / name, blob_hash) == Image(blob_hash(data), media_type, name)


@pytest.mark.parametrize(
    ("name", "data", "media_type"),
    [
        ("notes.txt", b"milk", "text/plain"),
        ("README", b"milk \xc3\xa4", "text/plain"),
        ("long", b"a" * 65_535 + "ä".encode(), "text/plain"),
        ("main.ts", b"let x = 1", "text/plain"),
        ("fake.png", b"no image", "text/plain"),
        ("fake.jpg", b"\0\1\2", "application/octet-stream"),
        ("data", b"\xff\xfe\0", "application/octet-stream"),
        ("a.pdf", b"%PDF-1.7\n\xff", "application/pdf"),
        ("a.json", b"{}", "application/json"),
        ("empty", b"", "text/plain"),
    ],
)
def test_another_file_is_named_by_its_name_unless_its_bytes_speak_against_it(here: Path, name: str, data: bytes, media_type: str) -> None:
    (here / name).write_bytes(data)
    assert attach.part(here / name, blob_hash) == File(blob_hash(data), name, media_type, len(data))


def test_a_huge_file_is_refused_before_it_is_read(here: Path) -> None:
    with (here / "huge").open("wb") as file:
        file.truncate(attach.LARGEST + 1)
    with pytest.raises(TooLarge, match="huge cannot be sent"):
        attach.part(here / "huge", _never)


def _never(data: bytes) -> BlobHash:
    raise AssertionError(len(data))


# -- through the chat


def test_a_message_takes_its_files_along(daimon: Daimon, here: Path) -> None:
    daimon.configure(LIVELY)
    done = json.loads(daimon.run("chat", 'look at @shot.png and @"my notes.txt"', "--json").out)
    assert done["reply"] == "image image/png shot.png; file text/plain my notes.txt 11 "
    trace = json.loads(daimon.run("trace", done["turn"], "--json").out)
    assert trace["event"]["body"]["parts"][0]["text"] == 'look at @shot.png and @"my notes.txt"'


def test_a_message_whose_file_is_missing_is_not_sent(daimon: Daimon) -> None:
    daimon.configure(LIVELY)
    done = daimon.run("chat", "look at @nowhere.png")
    assert (done.code, done.out) == (4, "")
    assert "@nowhere.png: there is no such file; nothing was sent" in done.err
    assert json.loads(daimon.run("status", "--json").out)["count"]["events"] == 0


def test_a_file_larger_than_the_gateway_takes_is_told_by_name(daimon: Daimon, here: Path) -> None:
    daimon.configure(f"{LIVELY}[gateway]\nmax_event_bytes = 2000\n")
    (here / "large.txt").write_bytes(bytes(3000))
    done = daimon.run("chat", "look at @large.txt")
    assert done.code == 4
    assert "large.txt cannot be sent: the request has more than 2000 bytes, which is the most here (gateway.max_event_bytes)" in done.err


def test_lines_of_stdin_take_no_files_along(daimon: Daimon) -> None:
    """They may be a stranger's words, and a stranger may not choose files."""
    daimon.configure(LIVELY)
    assert daimon.run("chat", given=b"look at @shot.png\nand @nowhere.png\n").out == "look at @shot.png \nand @nowhere.png \n"


def test_in_a_chat_a_missing_file_is_told_and_the_chat_goes_on(daimon: Daimon) -> None:
    daimon.configure(LIVELY)
    with sitting_at(daimon) as terminal:
        terminal.type(b"look at @nowhere.png\r")
        terminal.wait_for("there is no such file; nothing was sent")
        terminal.wait_for("› ")
        terminal.type(b"look at @shot.png\r")
        terminal.wait_for("· with shot.png, image/png")
        terminal.wait_for("\r\nimage image/png shot.png")
