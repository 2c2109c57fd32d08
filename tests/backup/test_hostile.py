"""Archives that somebody else made, or a disk spoiled: each is refused with a sentence, and nothing is written anywhere."""

import asyncio
import gzip
import io
import json
import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.backup.furnished import journalled

from daimon.abi.errors import BadInput, NotFound
from daimon.backup import making, restore
from daimon.machine.home import Home
from daimon.testing.clock import ManualClock

CLOCK = ManualClock()
Members = list[tuple[tarfile.TarInfo, bytes]]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("good")
    home = Home(place / "home")
    home.ensure()
    home.token()
    (home.path / "workspaces").mkdir()
    asyncio.run(journalled(home))
    return making.make(home, place / "good.tar.gz", CLOCK).path


def members(path: Path) -> Members:
    with gzip.open(path) as packed, tarfile.open(fileobj=packed) as tar:
        return [(info, tar.extractfile(info).read() if info.isreg() else b"") for info in tar]  # type: ignore[union-attr]


def written(path: Path, found: Members) -> Path:
    with gzip.open(path, "wb") as packed, tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for info, data in found:
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


def member(name: str, kind: bytes = tarfile.REGTYPE, **about: Any) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    for key, value in about.items():
        setattr(info, key, value)
    return info


def refused(tmp_path: Path, bad: Path, says: str) -> None:
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(BadInput, match=says):
        restore.restore(bad, Home(tmp_path / "there"), CLOCK)
    assert sorted(os.listdir(tmp_path)) == before


def test_a_good_one_that_is_packed_anew_is_restored(tmp_path: Path, good: Path) -> None:
    restore.restore(written(tmp_path / "again.tar.gz", members(good)), Home(tmp_path / "there"), CLOCK)
    assert (tmp_path / "there" / "journal.db").exists()


STRANGERS = {
    "a way up": (member("home/../evil"), "is no path below home/"),
    "an absolute path": (member("/etc/evil"), "is no path below home/"),
    "an absolute path below": (member("home//etc/evil"), "is no path below home/"),
    "another top": (member("elsewhere/evil"), "is no path below home/"),
    "a dot": (member("home/./evil"), "is no path below home/"),
    "a link": (member("home/evil", tarfile.SYMTYPE, linkname="/etc"), "is a link, where none can be"),
    "a hard link out": (member("home/evil", tarfile.LNKTYPE, linkname="/etc/passwd"), "is no path below home/"),
    "a hard link to nothing": (member("home/evil", tarfile.LNKTYPE, linkname="home/none"), "which is no file in it"),
    "a device": (member("home/evil", tarfile.CHRTYPE, devmajor=1, devminor=3), "is a device"),
    "a whiteout outside of layers": (member("home/evil", tarfile.CHRTYPE), "is a device"),
    "a disk": (member("home/evil", tarfile.BLKTYPE, devmajor=8), "neither a file nor"),
    "a pipe": (member("home/evil", tarfile.FIFOTYPE), "neither a file nor"),
    "one more file": (member("home/evil"), "but not in its list"),
    "one without its directory": (member("home/none/evil"), "does not lie in a directory"),
    "one below a file": (member("home/token/evil"), "does not lie in a directory"),
    "the same twice": (member("home/token"), "is in it twice"),
    "a name too long": (member("home/" + "x" * 300), "too long"),
}


@pytest.mark.parametrize("what", STRANGERS)
def test_a_member_that_leads_elsewhere_is_refused(tmp_path: Path, good: Path, what: str) -> None:
    info, says = STRANGERS[what]
    found = members(good)
    refused(tmp_path, written(tmp_path / "bad.tar.gz", [*found[:-1], (info, b""), found[-1]]), says)


def test_nothing_is_written_through_a_link_of_the_archive(tmp_path: Path, good: Path) -> None:
    found = members(good)
    place = next(n for n, (info, _) in enumerate(found) if info.name == "home/workspaces") + 1
    link = member("home/workspaces/out", tarfile.SYMTYPE, linkname=str(tmp_path / "outside"))
    (tmp_path / "outside").mkdir()
    through = member("home/workspaces/out/evil")
    refused(tmp_path, written(tmp_path / "bad.tar.gz", [*found[:place], (link, b""), (through, b""), *found[place:]]), "does not lie in")
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_file_with_other_bytes_is_refused(tmp_path: Path, good: Path) -> None:
    changed = [(info, b"other" + data[5:] if info.name == "home/token" else data) for info, data in members(good)]
    refused(tmp_path, written(tmp_path / "bad.tar.gz", changed), "'token' is not what it was")


def test_a_file_that_is_missing_is_refused(tmp_path: Path, good: Path) -> None:
    fewer = [(info, data) for info, data in members(good) if info.name != "home/token"]
    refused(tmp_path, written(tmp_path / "bad.tar.gz", fewer), "'token' is in its list, but not in it")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_one_that_was_cut_off_is_refused(tmp_path: Path, good: Path, share: float) -> None:
    data = good.read_bytes()
    (tmp_path / "bad.tar.gz").write_bytes(data[: int(len(data) * share)])
    refused(tmp_path, tmp_path / "bad.tar.gz", "cut off|damaged")


@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.95])
def test_a_flipped_byte_is_noticed(tmp_path: Path, good: Path, share: float) -> None:
    data = bytearray(good.read_bytes())
    data[int(len(data) * share)] ^= 0x41
    (tmp_path / "bad.tar.gz").write_bytes(data)
    refused(tmp_path, tmp_path / "bad.tar.gz", "cannot be restored")


def test_every_byte_counts(tmp_path: Path, good: Path) -> None:
    data = good.read_bytes()
    untouched = []
    for place in range(10, len(data), max(1, len(data) // 60)):
        (tmp_path / "bad.tar.gz").write_bytes(data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :])
        try:
            restore.examine(tmp_path / "bad.tar.gz")
            untouched.append(place)
        except BadInput:
            continue
    assert untouched == []


def changed_head(found: Members, change: Callable[[dict[str, Any]], None]) -> Members:
    head = json.loads(found[0][1])
    change(head)
    return [(found[0][0], json.dumps(head).encode()), *found[1:]]


@pytest.mark.parametrize(
    ("number", "says"), [(2, "knows up to 1.*Update"), (0, "no release of Daimon"), ("1", "no release of Daimon"), (None, "no release")]
)
def test_another_format_is_refused(tmp_path: Path, good: Path, number: object, says: str) -> None:
    found = changed_head(members(good), lambda head: head.update(format=number))
    refused(tmp_path, written(tmp_path / "bad.tar.gz", found), says)


def test_a_head_of_another_backup_is_refused(tmp_path: Path, good: Path) -> None:
    found = changed_head(members(good), lambda head: head.update(home="/elsewhere"))
    refused(tmp_path, written(tmp_path / "bad.tar.gz", found), "of two backups")


def test_a_claimed_size_makes_nobody_reserve_memory(tmp_path: Path, good: Path) -> None:
    found = members(good)
    huge = member("home/huge", size=1 << 60)
    with gzip.open(tmp_path / "bad.tar.gz", "wb") as packed:
        for info, data in found[:2]:
            packed.write(info.tobuf(tarfile.PAX_FORMAT) + data + bytes(-len(data) % 512))
        packed.write(huge.tobuf(tarfile.GNU_FORMAT) + b"little")
    refused(tmp_path, tmp_path / "bad.tar.gz", "cut off|damaged")
    header = member("././@PaxHeader", tarfile.XHDTYPE, size=1 << 40)
    with gzip.open(tmp_path / "worse.tar.gz", "wb") as packed:
        packed.write(header.tobuf(tarfile.GNU_FORMAT) + b"little")
    refused(tmp_path, tmp_path / "worse.tar.gz", "claims")


NO_BACKUPS = {
    "nothing": b"", "text": b"hello", "a beginning": b"\x1f\x8b", "nothing, packed": gzip.compress(b""),
    "text, packed": gzip.compress(b"x" * 10_000), "noise": os.urandom(5_000),
}  # fmt: skip


@pytest.mark.parametrize("what", NO_BACKUPS)
def test_what_is_no_backup_is_refused(tmp_path: Path, what: str) -> None:
    (tmp_path / "bad.tar.gz").write_bytes(NO_BACKUPS[what])
    refused(tmp_path, tmp_path / "bad.tar.gz", "cannot be restored")


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no file"):
        restore.restore(tmp_path / "none.tar.gz", Home(tmp_path / "there"), CLOCK)
