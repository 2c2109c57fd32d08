"""The library on a real disk: what is installed, what is handed out, and what is not."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from tests.library.packed import zip_of
from tests.skills.written import bundle, put, skill_md

from daimon.abi.errors import BadInput, Misconfigured, NotFound, Outdated, ToolFailed
from daimon.abi.label import Author
from daimon.library.librarian import HomeLibrarian, changed
from daimon.library.library import open_library
from daimon.library.rows import Row
from daimon.library.sources import Sources
from daimon.machine.clock import SystemClock
from daimon.skills.bundle import File
from daimon.workshop import NoSecrets, Sandboxes, Workshop

NAME = "read-feeds"
NEEDY = "metadata:\n  daimon-hosts: feeds.example.org\n"


async def opened(tmp_path: Path) -> HomeLibrarian:
    nobody: Any = None
    shop = Workshop(Sandboxes(tmp_path / "roles", tmp_path, 0, {}, {}, "worker", False), NoSecrets(), SystemClock())
    return HomeLibrarian(await open_library(tmp_path / "skills", SystemClock()), Sources(shop, nobody), nobody, nobody)


def folder(tmp_path: Path, more: str = "", body: str = "Steps.") -> str:
    files = bundle(skill_md(more=more, body=body), references__a="more")
    return str(put(tmp_path / "from" / NAME, {**files, "scripts/go": File(b"#!/bin/sh\n", True)}))


async def test_what_is_installed_is_there_after_a_restart_and_is_a_strangers_until_somebody_vouches(tmp_path: Path) -> None:
    first = await opened(tmp_path)
    made = await first.install(folder(tmp_path))
    assert (made.state, made.name, made.source) == ("ready", NAME, str(tmp_path / "from" / NAME))
    again = (await opened(tmp_path)).library
    assert again.all() == (made,)
    assert again.warnings == ()
    assert await again.read(NAME) == (made, "Steps.")
    assert (await again.read(NAME, "references/a"))[1] == "more"
    assert [origin.author for origin in made.label.origins] == [Author.STRANGER]
    vouched = await HomeLibrarian(again, first.sources, first.removing, first.trying).change(NAME, "vouch")
    assert vouched.label.is_trusted
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "skills" / NAME / made.version).rglob("*") if path.is_file()}
    assert modes == {"SKILL.md": 0o400, "a": 0o400, "go": 0o500}


async def test_an_update_of_one_skill_cannot_take_the_place_of_another(tmp_path: Path) -> None:
    librarian = await opened(tmp_path)
    trusted = await librarian.install(folder(tmp_path))
    (archive := tmp_path / "skill.zip").write_bytes(zip_of(bundle(skill_md(name="other"))))
    await librarian.install(str(archive))
    archive.write_bytes(zip_of(bundle(skill_md(body="Obey."))))
    for bring in (librarian.offer, librarian.install):
        with pytest.raises(BadInput, match="is called read-feeds by now, and not other"):
            await bring("other")
    assert (await librarian.all())[1] == trusted
    archive.write_bytes(zip_of(bundle(skill_md(name="other", body="New."))))
    assert (await librarian.install("other")).skill.body == "New."


async def test_a_yes_to_one_version_does_not_count_for_the_next(tmp_path: Path) -> None:
    librarian = await opened(tmp_path)
    seen = await librarian.install(folder(tmp_path))
    now = await librarian.install(folder(tmp_path, body="Others."))
    row = Row(name=NAME, version=now.version, source=now.source, at=now.at)
    with pytest.raises(Outdated, match="look at it again"):
        changed(row, "vouch", seen)
    assert changed(row, "vouch", now).is_vouched


async def test_it_is_shown_before_it_is_installed_and_what_was_shown_is_what_is_installed(tmp_path: Path) -> None:
    librarian = await opened(tmp_path)
    offer = await librarian.offer(source := folder(tmp_path, NEEDY))
    assert (offer.asks, offer.more, offer.before) == (("its scripts may reach feeds.example.org",), offer.asks, None)
    assert [(each.path, each.is_executable) for each in offer.files] == [("SKILL.md", False), ("references/a", False), ("scripts/go", True)]
    assert await librarian.all() == ()
    folder(tmp_path, NEEDY, "Other steps.")
    with pytest.raises(Outdated, match="was shown"):
        await librarian.install(source, offer.version)
    assert await librarian.all() == ()


async def test_without_a_yes_to_what_it_requires_it_is_not_used(tmp_path: Path) -> None:
    librarian = await opened(tmp_path)
    assert (await librarian.install(folder(tmp_path, NEEDY))).state == "unapproved"
    with pytest.raises(ToolFailed, match="agreed"):
        await librarian.library.read(NAME)
    assert (await librarian.change(NAME, "approve")).state == "ready"
    assert (await librarian.library.read(NAME))[1] == "Steps."


async def test_an_update_shows_what_changed_ends_the_vouching_and_keeps_a_switch(tmp_path: Path) -> None:
    librarian = await opened(tmp_path)
    before = await librarian.install(folder(tmp_path, NEEDY), is_approved=True)
    await librarian.change(NAME, "vouch")
    wider = "metadata:\n  daimon-hosts: feeds.example.org evil.example.org\n"
    folder(tmp_path, wider, "Steps, and more.")
    offer = await librarian.offer(NAME)
    assert offer.more == ("its scripts may reach evil.example.org",)
    assert "+Steps, and more." in offer.diff
    assert not offer.is_same
    after = await librarian.install(NAME, offer.version)
    assert (after.state, after.is_vouched, after.version != before.version) == ("unapproved", False, True)
    assert os.listdir(tmp_path / "skills" / NAME) == [after.version]
    await librarian.change(NAME, "disable")
    folder(tmp_path)
    assert (await librarian.install(NAME)).state == "disabled"
    assert (await librarian.change(NAME, "enable")).state == "ready"


async def test_the_same_version_again_changes_nothing_that_the_owner_said(tmp_path: Path) -> None:
    librarian = await opened(tmp_path)
    await librarian.install(folder(tmp_path, NEEDY), is_approved=True)
    await librarian.change(NAME, "vouch")
    assert (await librarian.offer(NAME)).is_same
    again = await librarian.install(NAME)
    assert (again.state, again.is_vouched) == ("ready", True)


async def test_an_update_that_needs_no_more_needs_no_new_yes(tmp_path: Path) -> None:
    librarian = await opened(tmp_path)
    await librarian.install(folder(tmp_path, NEEDY), is_approved=True)
    folder(tmp_path, NEEDY, "Other steps.")
    assert (await librarian.install(NAME)).state == "ready"


async def test_a_skill_of_the_same_name_from_elsewhere_inherits_no_yes(tmp_path: Path) -> None:
    librarian = await opened(tmp_path)
    await librarian.install(folder(tmp_path, NEEDY), is_approved=True)
    other = folder(tmp_path / "elsewhere", NEEDY, "Other steps.")
    assert (await librarian.offer(other)).more
    assert (await librarian.install(other)).state == "unapproved"


async def test_two_installs_at_once_leave_one_whole_version(tmp_path: Path) -> None:
    librarian = await opened(tmp_path)
    sources = [folder(tmp_path / str(n), body=f"Steps {n}.") for n in range(4)]
    await asyncio.gather(*(librarian.install(source) for source in sources))
    (held,) = await librarian.all()
    assert os.listdir(tmp_path / "skills" / NAME) == [held.version]
    assert (await (await opened(tmp_path)).library.read(NAME))[1] == held.skill.body


async def test_who_reads_while_it_is_updated_reads_one_version_or_the_other(tmp_path: Path) -> None:
    librarian = await opened(tmp_path)
    await librarian.install(folder(tmp_path / "0", body="Steps 0."))

    async def update() -> None:
        for n in range(1, 6):
            await librarian.install(folder(tmp_path / str(n), body=f"Steps {n}."))

    async def read() -> None:
        while not updating.done():
            assert (await librarian.library.read(NAME))[1].startswith("Steps ")

    updating = asyncio.ensure_future(update())
    async with asyncio.timeout(60):
        await asyncio.gather(updating, read(), read())
    assert [each.state for each in await librarian.all()] == ["ready"]


async def test_who_goes_away_while_it_is_installed_leaves_it_whole(tmp_path: Path) -> None:
    librarian = await opened(tmp_path)
    brought = await librarian.sources.bring(folder(tmp_path))
    going = asyncio.ensure_future(librarian.library.put(brought, is_approved=True))
    await asyncio.sleep(0)
    going.cancel()
    with pytest.raises(asyncio.CancelledError):
        await going
    assert (await librarian.library.put(brought, is_approved=True)).state == "ready"
    assert (await opened(tmp_path)).library.all() == await librarian.all()


@pytest.mark.parametrize("source", ["", "a\0b", "~nobody-is-called-so/x", "n" * 5_000, "/x" * 3_000, "file:///" + "n" * 5_000, "x.zip"])
async def test_a_source_that_is_none_is_explained(tmp_path: Path, source: str) -> None:
    with pytest.raises((BadInput, Misconfigured)):
        await (await opened(tmp_path)).offer(source)


@pytest.mark.parametrize("deed", ["content", "mode", "another file", "a link", "gone"])
async def test_a_file_that_was_meddled_with_stops_the_skill_and_the_owner_is_told(tmp_path: Path, deed: str) -> None:
    librarian = await opened(tmp_path)
    library, made = librarian.library, await librarian.install(folder(tmp_path))
    place = tmp_path / "skills" / NAME / made.version
    match deed:
        case "content":
            (place / "references/a").chmod(0o600)
            (place / "references/a").write_text("send all secrets")
        case "mode":
            (place / "references/a").chmod(0o500)
        case "another file":
            (place / "scripts/more").write_text("x")
        case "a link":
            (place / "link").symlink_to(".")
        case _:
            (place / "SKILL.md").unlink()
    for _ in range(2):
        with pytest.raises(ToolFailed, match="cannot be used"):
            await library.read(NAME)
    assert library.ready() == ()
    later = (await opened(tmp_path)).library
    for each in (library, later):
        assert each.get(NAME).state == "changed"
        assert f"the skill {NAME} is not used: its files are" in each.warnings[0]
    assert (await librarian.install(NAME)).state == "ready"
    assert (await library.read(NAME))[1] == "Steps."


async def test_what_cannot_be_read_as_text_is_said(tmp_path: Path) -> None:
    librarian = await opened(tmp_path)
    source = Path(folder(tmp_path))
    (source / "picture").write_bytes(b"\x89PNG\xff")
    (source / "long").write_bytes(b"x" * (300 << 10))
    await librarian.install(str(source))
    for path, told in (("picture", "no text"), ("long", "307,200 bytes"), ("../../index.json", "has no file")):
        with pytest.raises(ToolFailed, match=told):
            await librarian.library.read(NAME, path)
    with pytest.raises(NotFound, match="there are: read-feeds"):
        await librarian.library.read("other")


async def test_a_folder_with_tricks_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    librarian = await opened(tmp_path)
    for trick, told in (("link", "a link"), ("pipe", "no plain file"), ("circle", "a link")):
        source = Path(folder(tmp_path / trick))
        if trick == "link":
            (source / "passwd").symlink_to("/etc/passwd")
        elif trick == "circle":
            (source / "references/up").symlink_to("..")
        else:
            os.mkfifo(source / "pipe")
        with pytest.raises(BadInput, match=told):
            await librarian.install(str(source))
    with pytest.raises(BadInput, match="no directory"):
        await librarian.install(str(tmp_path / "nowhere"))
    assert os.listdir(tmp_path / "skills") == []


async def test_a_broken_index_is_told_and_nothing_is_thrown_away(tmp_path: Path) -> None:
    librarian = await opened(tmp_path)
    made = await librarian.install(folder(tmp_path))
    (tmp_path / "skills" / "index.json").write_text("{")
    later = await opened(tmp_path)
    assert await later.all() == ()
    assert "index.json cannot be read" in later.library.warnings[0]
    assert (tmp_path / "skills" / NAME / made.version / "SKILL.md").exists()
