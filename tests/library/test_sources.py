"""Skills from archives and repositories: what comes in, and what does not."""

import os
import tarfile
import zipfile
from pathlib import Path

import pytest
from tests.library.git_server import committed, git, serving
from tests.library.packed import entry, link, sized, tar_of, zip_of
from tests.library.rig import rig
from tests.skills.written import bundle, put, skill_md

from daimon.abi.errors import BadInput, TooLarge
from daimon.library.address import parsed
from daimon.library.archive import unpacked
from daimon.sandbox.plan import has_bwrap
from daimon.skills.bundle import File

NAME = "read-feeds"
FILES = {**bundle(skill_md(), references__a="more"), "scripts/go": File(b"#!/bin/sh\ntouch /tmp/ran\n", True)}
BOXED = pytest.mark.skipif(not has_bwrap(), reason="bwrap is not installed, so git cannot run in a box")


@pytest.mark.parametrize("pack", [zip_of, tar_of], ids=["zip", "tar.gz"])
def test_an_archive_is_taken_with_its_directory_or_without_or_from_below(pack: object) -> None:
    assert callable(pack)
    assert unpacked(pack(FILES, prefix=f"{NAME}/"), "it") == (NAME, FILES)
    assert unpacked(pack(FILES), "it") == ("", FILES)
    many = {**{f"skills/{NAME}/{path}": file for path, file in FILES.items()}, "README.md": File(b"x")}
    assert unpacked(pack(many, prefix="repo-main/"), "it", f"skills/{NAME}") == (NAME, FILES)
    with pytest.raises(BadInput, match=f"name one, as in ARCHIVE#skills/{NAME}"):
        unpacked(pack(many), "it")


BOMB = b"\0" * (40 << 20)
HOSTILE = {
    "up, tar": (tar_of(FILES, tarfile.TarInfo("../x")), "leads out"),
    "absolute, tar": (tar_of(FILES, tarfile.TarInfo("/etc/cron.d/x")), "from the root"),
    "a link, tar": (tar_of(FILES, link("assets", "/etc")), "a link"),
    "a hard link, tar": (tar_of(FILES, link("passwd", "/etc/passwd", tarfile.LNKTYPE)), "a link"),
    "a device, tar": (tar_of(FILES, link("null", "", tarfile.CHRTYPE)), "a device"),
    "case, tar": (tar_of({**FILES, "skill.MD": File(b"x")}), "take for one"),
    "twice, tar": (tar_of(FILES, tarfile.TarInfo("SKILL.md")), "take for one"),
    "a long name, tar": (tar_of(FILES, tarfile.TarInfo("n" * 3_000)), "shorten"),
    "a bomb, tar": (tar_of({**FILES, "big": File(BOMB)}), "fill a disk"),
    "many, tar": (tar_of({**FILES, **{f"f{n}": File(b"") for n in range(600)}}), "more than 500 files"),
    "up, zip": (zip_of(FILES, entry("../x")), "leads out"),
    "up in the middle, zip": (zip_of(FILES, entry("a/../../x")), "leads out"),
    "a backslash, zip": (zip_of(FILES, entry("..\\x")), "backslash"),
    "a NUL, zip": (zip_of(FILES, entry("x.md\0.sh")), "nobody sees"),
    "a link, zip": (zip_of(FILES, entry("assets", 0o120777)), "a link"),
    "case, zip": (zip_of({**FILES, "Scripts/go": File(b"x")}), "take for one"),
    "a bomb, zip": (zip_of({**FILES, "big": File(b"\0" * (8 << 20))}), "bytes that become"),
    "a bomb that is unpacked whole, zip": (zip_of(FILES, entry("big"), data=b"\0" * (8 << 20), method=zipfile.ZIP_BZIP2), "an unusual way"),
    "half a million names, zip": (zip_of(FILES) + b"PK\1\2" * 500_000, "more than 5,000 entries"),
    "larger than any disk, tar": (sized(1 << 80), "no archive"),
    "smaller than nothing, tar": (sized(-1_024), "no archive"),
    "broken, zip": (zip_of(FILES)[:-30], "no archive"),
    "broken, tar": (tar_of(FILES)[:-30], "no archive"),
    "neither": (b"hello", "no archive"),
    "nothing": (b"", "no archive"),
    "no skill": (zip_of({"a": File(b"")}), "holds no skill"),
}


@pytest.mark.parametrize(("data", "told"), HOSTILE.values(), ids=list(HOSTILE))
async def test_an_archive_with_a_trick_is_refused_and_nothing_is_left(tmp_path: Path, data: bytes, told: str) -> None:
    (tmp_path / "skill.zip").write_bytes(data)
    async with rig(tmp_path) as made:
        with pytest.raises(BadInput, match=told):
            await made.librarian.install(str(tmp_path / "skill.zip"))
        assert os.listdir(made.top) == []


def test_a_size_that_lies_is_noticed() -> None:
    data = zip_of(FILES, entry("big"), data=b"\0" * (20 << 20))
    lied = data.replace((20 << 20).to_bytes(4, "little"), (1_000).to_bytes(4, "little"))
    with pytest.raises(BadInput):
        unpacked(lied, "it")


async def test_an_archive_is_fetched_from_an_address_by_the_guarded_way(tmp_path: Path) -> None:
    data = tar_of(FILES, prefix=f"{NAME}/")
    async with rig(tmp_path) as made:
        made.server.answers["/feeds.tgz"] = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(data), data)
        got = await made.librarian.install("http://open.test/feeds.tgz")
        assert (got.name, got.source, got.state) == (NAME, "http://open.test/feeds.tgz", "ready")
        for address, told in (("http://web.example/feeds.tgz", "not encrypted"), ("ftp://open.test/x.zip", "cannot be fetched")):
            with pytest.raises(BadInput, match=told):
                await made.librarian.install(address)
        made.server.answers["/gone.zip"] = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
        with pytest.raises(BadInput, match="answers with 404"):
            await made.librarian.offer("http://open.test/gone.zip")


@BOXED
async def test_a_repository_of_this_machine_is_read_at_a_commit_and_nothing_of_it_runs(tmp_path: Path) -> None:
    place = tmp_path / "there"
    put(place / "skills" / NAME, FILES)
    first = committed(place)
    (place / ".git/hooks/post-checkout").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (place / ".git/hooks/post-checkout").chmod(0o755)
    git(place, "config", "filter.meddle.smudge", "sed s/more/meddled/")
    (place / ".git/info/attributes").write_text("* filter=meddle\n")
    async with rig(tmp_path) as made:
        got = await made.librarian.install(f"file://{place}#skills/{NAME}")
        assert (got.name, got.revision) == (NAME, first)
        assert (await made.librarian.library.read(NAME, "references/a"))[1] == "more"
        (place / "skills" / NAME / "references/a").write_text("other")
        second = committed(place)
        assert (await made.librarian.install(NAME)).revision == second
        pinned = await made.librarian.install(f"file://{place}#skills/{NAME}@{first}")
        assert (pinned.revision, pinned.version) == (first, got.version)
        for source, told in ((f"file://{place}#skills/none", "could not be fetched"), (f"file://{place}", "no SKILL.md")):
            with pytest.raises(BadInput, match=told):
                await made.librarian.install(source)
    assert not (tmp_path / "ran").exists()
    assert git(place, "status", "--porcelain") == ""
    assert (place / ".git/hooks/post-checkout").exists()


@BOXED
async def test_a_repository_is_fetched_through_the_proxy_and_from_no_other_host(tmp_path: Path) -> None:
    place = tmp_path / "git" / f"{NAME}.git"
    put(place, FILES)
    commit = committed(place)
    git(place, "tag", "v1")
    (place / "references/a").write_text("other")
    committed(place)
    (place / "leads").symlink_to("/etc")
    with serving(tmp_path / "git") as port:
        async with rig(tmp_path, port) as made:
            got = await made.librarian.install(f"http://git.test/{NAME}.git#@v1")
            assert (got.name, got.revision, got.source) == (NAME, commit, f"http://git.test/{NAME}.git#@v1")
            with pytest.raises(BadInput, match="could not be fetched"):
                await made.librarian.offer("http://git.test/none.git")
            with pytest.raises(BadInput, match="could not be fetched"):
                await made.librarian.offer("http://open.test/redirect?to=http://git.test/")
            committed(place)
            with pytest.raises(BadInput, match="'leads': a link"):
                await made.librarian.offer(f"http://git.test/{NAME}.git")


BAD_ADDRESSES = {
    "git@github.com:me/x.git": "a key of yours", "https://me:hunter2@x.test/y.git": "take it out",
    "https://x.test/a.git#../up": "leads out",
    "https://x.test/a.git#@-rf": "no branch", "ssh://x.test/a": "cannot be fetched", "./here#x": "is a directory",
    "https://[x": "no address",
}  # fmt: skip


@pytest.mark.parametrize(("text", "told"), BAD_ADDRESSES.items())
def test_an_address_that_cannot_be_used_is_explained(text: str, told: str) -> None:
    with pytest.raises(BadInput, match=told) as refused:
        parsed(text)
    assert "hunter2" not in str(refused.value)


def test_too_much_is_said_to_be_too_much() -> None:
    with pytest.raises(TooLarge):
        unpacked(b"PK" + b"x" * (33 << 20), "it")
