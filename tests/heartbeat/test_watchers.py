"""Watchers on real pages, files, repositories and a real box."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import JsonValue
from tests.net.test_web import Place, answer, placed
from tests.workshop_rig import workshop

from daimon.abi.errors import Denied, WatchFailed
from daimon.abi.hook import Hook, Hooked, Posted
from daimon.abi.ids import OWNER
from daimon.abi.label import UNLABELLED, owned
from daimon.abi.watch import Look, WatchFeed, WatchFiles, WatchHook, WatchMailbox, WatchOutput, WatchPage, WatchRefs
from daimon.heartbeat.watchers import reach
from daimon.heartbeat.watchers.files import FilesWatcher
from daimon.heartbeat.watchers.hook import HookWatcher
from daimon.heartbeat.watchers.mailbox import MailboxWatcher
from daimon.heartbeat.watchers.output import OutputWatcher
from daimon.heartbeat.watchers.page import PageWatcher
from daimon.heartbeat.watchers.refs import RefsWatcher
from daimon.heartbeat.watchers.table import watchers
from daimon.sandbox.plan import has_bwrap


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    async with placed() as place:
        yield place


def html(text: str, *headers: str) -> bytes:
    return answer(f"<p>{text}</p>".encode(), "Content-Type: text/html", *headers)


# -- pages -------------------------------------------------------------------------------------------------------------

PAGE = WatchPage("http://open.test/p")


async def test_a_page_hands_over_the_lines_that_differ(place: Place) -> None:
    watcher = PageWatcher(place.client)
    place.plain.answers["/p"] = html("stays</p><p>was here")
    first = await watcher.look(PAGE, None)
    assert (first.change, first.note) == (None, "first look: 15 characters")
    assert (await watcher.look(PAGE, first.state)).note == "unchanged (text)"
    place.plain.answers["/p"] = html("stays</p><p>is here")
    look = await watcher.look(PAGE, first.state)
    assert isinstance(look.change, dict)
    assert "-was here\n+is here" in str(look.change["change"])
    assert look.label is not None
    assert look.label.origins[0].source == "web:open.test"


async def test_a_page_is_asked_by_its_etag(place: Place) -> None:
    watcher = PageWatcher(place.client)
    place.plain.answers["/p"] = html("x", 'ETag: "1"')
    first = await watcher.look(PAGE, None)
    place.plain.answers["/p"] = b"HTTP/1.1 304 Not Modified\r\n\r\n"
    assert (await watcher.look(PAGE, first.state)).note == "unchanged (etag)"


async def test_only_what_the_selector_takes_out_counts(place: Place) -> None:
    watcher, watch = PageWatcher(place.client), WatchPage("http://open.test/p", ".price")
    place.plain.answers["/p"] = html("<b class=price>10</b> at 08:00")
    first = await watcher.look(watch, None)
    place.plain.answers["/p"] = html("<b class=price>10</b> at 09:00")
    assert (await watcher.look(watch, first.state)).change is None
    place.plain.answers["/p"] = html("<b class=price>9</b> at 09:00")
    assert (await watcher.look(watch, first.state)).change == {"url": watch.url, "change": "@@ -1 +1 @@\n-10\n+9"}


@pytest.mark.parametrize("selector", [".gone", "::("])
async def test_a_selector_that_takes_nothing_out_is_a_fault(place: Place, selector: str) -> None:
    place.plain.answers["/p"] = html("x")
    with pytest.raises(WatchFailed, match="choose another selector"):
        await PageWatcher(place.client).look(WatchPage("http://open.test/p", selector), None)


async def test_a_page_that_is_gone_or_must_not_be_reached_is_a_fault(place: Place) -> None:
    place.plain.answers["/p"] = answer(b"", status="410 Gone")
    for url in ("http://open.test/p", "http://127.0.0.1/"):
        with pytest.raises(WatchFailed):
            await PageWatcher(place.client).look(WatchPage(url), None)


# -- files -------------------------------------------------------------------------------------------------------------


def files_in(top: Path) -> FilesWatcher:
    @asynccontextmanager
    async def ground() -> AsyncIterator[Path]:
        yield top

    return FilesWatcher(ground)


async def test_files_that_come_change_and_go_are_told_and_a_touched_one_is_not(tmp_path: Path) -> None:
    watcher, watch = files_in(tmp_path), WatchFiles(("notes/**/*.md",))
    (tmp_path / "notes/deep").mkdir(parents=True)
    for name in ("notes/a.md", "notes/b.md", "notes/deep/c.md", "notes/d.txt"):
        (tmp_path / name).write_text("one")
    first = await watcher.look(watch, None)
    assert (first.change, first.note) == (None, "first look: 3 files")
    os.utime(tmp_path / "notes/a.md", (1, 1))
    (tmp_path / "notes/d.txt").write_text("other")
    touched = await watcher.look(watch, first.state)
    assert (touched.change, touched.note) == (None, "unchanged: 3 files")
    (tmp_path / "notes/b.md").write_text("two!")
    (tmp_path / "notes/deep/c.md").unlink()
    (tmp_path / "notes/deep/new.md").write_text("new")
    look = await watcher.look(watch, touched.state)
    assert look.change == {"made": ["notes/deep/new.md"], "changed": ["notes/b.md"], "gone": ["notes/deep/c.md"]}
    assert look.label is not None
    assert look.label.origins[0].source == "file:notes/**/*.md"


async def test_a_link_out_of_the_workspace_is_not_followed_and_one_inside_is(tmp_path: Path) -> None:
    top, outside = tmp_path / "top", tmp_path / "outside"
    for directory in (top, outside):
        directory.mkdir()
    (outside / "secret.md").write_text("x")
    (top / "own.md").write_text("x")
    (top / "link.md").symlink_to(outside / "secret.md")
    (top / "inner.md").symlink_to("own.md")
    (top / "directory").symlink_to(outside)
    look = await files_in(top).look(WatchFiles(("**/*.md",)), None)
    assert isinstance(look.state, dict)
    assert sorted(look.state) == ["inner.md", "own.md"]


async def test_an_absolute_path_is_watched_and_one_that_climbs_is_not(tmp_path: Path) -> None:
    (tmp_path / "top").mkdir()
    (tmp_path / "log.txt").write_text("x")
    watcher = files_in(tmp_path / "top")
    look = await watcher.look(WatchFiles((f"{tmp_path}/*.txt",)), None)
    assert look.note == "first look: 1 files"
    with pytest.raises(WatchFailed, match="leads out of the workspace"):
        await watcher.look(WatchFiles(("../log.txt",)), None)


def test_what_lies_outside_is_watched_for_the_owners_words_only() -> None:
    for watch in (WatchFiles(("/etc/*",)), WatchFiles(("a", "../b")), WatchRefs("/srv/repo")):
        reach.check(watch, owned("terminal"))
        with pytest.raises(Denied):
            reach.check(watch, UNLABELLED)
    for fine in (WatchFiles(("notes/*.md",)), WatchRefs("https://x.test/r.git"), WatchFeed(("https://x.test/",))):
        reach.check(fine, UNLABELLED)


# -- refs --------------------------------------------------------------------------------------------------------------


def git(directory: Path, *arguments: str) -> str:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    identity = ("-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main")
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    ran = subprocess.run(["git", *identity, *arguments], cwd=directory, env=environment, capture_output=True, check=True, timeout=60)
    return ran.stdout.decode().strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "repo")
    git(tmp_path / "repo", "commit", "-q", "--allow-empty", "-m", "one")
    return tmp_path / "repo"


async def test_a_local_repository_tells_what_moved_and_new_tags_packed_or_not(place: Place, repository: Path) -> None:
    watcher, watch = RefsWatcher(place.client), WatchRefs(str(repository))
    old = git(repository, "rev-parse", "HEAD")
    first = await watcher.look(watch, None)
    assert first.note == "first look: 1 refs"
    git(repository, "pack-refs", "--all")
    assert (await watcher.look(watch, first.state)).note == "unchanged"
    git(repository, "commit", "-q", "--allow-empty", "-m", "two")
    git(repository, "tag", "-a", "v1", "-m", "release")
    new = git(repository, "rev-parse", "HEAD")
    look = await watcher.look(watch, first.state)
    assert isinstance(look.change, dict)
    assert look.change["moved"] == [{"ref": "refs/heads/main", "old": old, "new": new}]
    assert [each["ref"] for each in look.change["made"]] == ["refs/tags/v1"]  # type: ignore[union-attr, index, call-overload]
    git(repository, "tag", "-d", "v1")
    assert (await watcher.look(watch, look.state)).note == "1 gone"
    git(repository, "worktree", "add", "-q", "../tree", "-b", "side")
    assert (await watcher.look(WatchRefs(str(repository.parent / "tree"), ("side",)), None)).note == "first look: 1 refs"


async def test_a_repository_of_the_web_is_asked_as_git_asks_it(place: Place, repository: Path) -> None:
    advertised = git(repository, "upload-pack", "--http-backend-info-refs", ".")
    body = b"001e# service=git-upload-pack\n0000" + advertised.encode()
    place.plain.answers["/r.git/info/refs"] = answer(body, "Content-Type: application/x-git-upload-pack-advertisement")
    look = await RefsWatcher(place.client).look(WatchRefs("http://open.test/r.git"), None)
    assert look.state == {"refs/heads/main": git(repository, "rev-parse", "HEAD")}


@pytest.mark.parametrize("body", [b"<html>", b"zzzz", b""])
async def test_what_is_no_repository_is_a_fault(place: Place, tmp_path: Path, body: bytes) -> None:
    place.plain.answers["/r.git/info/refs"] = answer(body, "Content-Type: text/html")
    for where in ("http://open.test/r.git", str(tmp_path)):
        with pytest.raises(WatchFailed, match="no git repository"):
            await RefsWatcher(place.client).look(WatchRefs(where), None)


# -- hooks and mail ----------------------------------------------------------------------------------------------------


class Collected:
    """Deliveries in order of arrival."""

    def __init__(self, *found: Posted) -> None:
        self.found = list(found)

    async def hooks(self, space: str) -> tuple[Hooked, ...]:
        return (Hooked(Hook(name="gh", scheme="github", secret="hook-gh", mode="collect"), OWNER),)

    async def posted(self, space: str, hook: str, limit: int = 50) -> tuple[Posted, ...]:
        return tuple(reversed(self.found))[:limit]

    async def collected(self, space: str, hook: str, after: int, limit: int) -> tuple[Posted, ...]:
        return tuple(each for each in self.found if each.n > after)[:limit]


JSON_ZERO: JsonValue = 0


def posted(n: int) -> Posted:
    return Posted(hook="gh", key=f"k{n}", at=datetime(2026, 3, 2, tzinfo=UTC), outcome="collected", data={"n": n}, n=n)


async def test_deliveries_are_handed_over_once_in_order(place: Place) -> None:
    hooks = Collected(posted(1), posted(2))
    watcher, watch = HookWatcher(hooks, "home"), WatchHook("gh", most=2)  # type: ignore[arg-type]
    first = await watcher.look(watch, None)
    assert (first.state, first.change) == (2, None)
    hooks.found += [posted(3), posted(4), posted(5)]
    look = await watcher.look(watch, first.state)
    assert isinstance(look.change, dict)
    assert [each["key"] for each in look.change["deliveries"]] == ["k3", "k4"]  # type: ignore[union-attr, index, call-overload]
    assert look.label is not None
    assert look.label.origins[0].source == "webhook:gh"
    last = await watcher.look(watch, look.state)
    assert last.state == 5
    assert (await watcher.look(watch, last.state)).note == "nothing came"


async def test_a_webhook_that_is_not_there_is_a_fault_and_not_silence() -> None:
    for state in (None, 7):
        with pytest.raises(WatchFailed, match="no webhook 'gone'; `daimon hooks add gone --collect`"):
            await HookWatcher(Collected(), "home").look(WatchHook("gone"), state)  # type: ignore[arg-type]


async def test_large_deliveries_come_whole_a_few_at_a_time_and_none_is_lost() -> None:
    hooks = Collected(
        *(replace(posted(n), data={"n": n, "body": "x" * size}) for n, size in enumerate((40_000, 40_000, 40_000, 150_000, 9), 1))
    )
    watcher, watch, state, rounds = HookWatcher(hooks, "home"), WatchHook("gh"), JSON_ZERO, []  # type: ignore[arg-type]
    while isinstance((look := await watcher.look(watch, state)).change, dict):
        rounds.append([each["data"]["n"] for each in look.change["deliveries"]])  # type: ignore[union-attr, index, call-overload]
        state = look.state
    assert rounds == [[1, 2], [3], [4], [5]]


async def test_a_folder_is_read_by_the_mail_channel_from_where_it_was() -> None:
    async def new_mail(folder: str, state: JsonValue) -> Look:
        return Look(f"{folder}, {state}")

    assert await MailboxWatcher(new_mail).look(WatchMailbox("Lists"), 6) == Look("Lists, 6")


# -- what a command prints ---------------------------------------------------------------------------------------------


@pytest.mark.skipif(not has_bwrap(), reason="bwrap is not installed: no box can be made")
async def test_a_command_in_a_real_box_tells_the_lines_that_differ_and_its_exit(tmp_path: Path) -> None:
    async with asyncio.timeout(60), workshop(tmp_path) as shop:
        watcher, watch = OutputWatcher(shop.pool), WatchOutput("cat list; test -e ok")
        shop.workspace.mkdir(exist_ok=True)
        (shop.workspace / "list").write_text("one\ntwo\n")
        (shop.workspace / "ok").touch()
        first = await watcher.look(watch, None)
        assert first.note == "first look: exit 0, 8 characters"
        assert (await watcher.look(watch, first.state)).note == "unchanged"
        (shop.workspace / "list").write_text("one\nthree\n")
        (shop.workspace / "ok").unlink()
        look = await watcher.look(watch, first.state)
        assert look.change == {"exit": 1, "exit_before": 0, "change": "@@ -1,2 +1,2 @@\n one\n-two\n+three"}
        assert look.label is not None
        assert look.label.origins[0].source == "box"


# -- the table ---------------------------------------------------------------------------------------------------------


async def test_what_nobody_serves_fails_with_a_word_on_what_is_missing(place: Place, tmp_path: Path) -> None:
    @asynccontextmanager
    async def ground() -> AsyncIterator[Path]:
        yield tmp_path

    table = watchers(web=place.client, ground=ground, boxes=None, hooks=None)
    assert sorted(table) == ["feed", "files", "hook", "mailbox", "output", "page", "refs"]
    for watch in (WatchOutput("true"), WatchHook("x"), WatchMailbox()):
        with pytest.raises(WatchFailed):
            async with asyncio.timeout(60):
                await table[watch.kind].look(watch, None)
