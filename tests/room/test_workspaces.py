"""Workspaces in the browser: the tree, differences, and every deed, with what it did to the files."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.room.rig import PHONE, Room, axe

from daimon.sandbox.plan import has_bwrap

pytestmark = pytest.mark.skipif(not has_bwrap(), reason="bwrap is not installed: no box can be made")
SLOW_MS = 300_000.0
"""For what writes thousands of files, on a busy machine."""
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    place.mkdir()
    (place / "a.txt").write_text("one\ntwo\nthree\n")
    return place


@pytest.fixture
def workspace(room: Room, project: Path) -> str:
    return made(room, "/v1/workspaces", {"directory": str(project)})


def made(room: Room, path: str, body: dict[str, object]) -> str:
    answer = room.live.call("POST", path, body)
    assert answer.status == 201, answer.body
    return str(answer.json["id"])


def work(room: Room, workspace: str, command: str) -> None:
    answer = room.live.call("POST", f"/v1/workspaces/{workspace}/run", {"command": ["sh", "-c", command]})
    assert (answer.status, answer.json["code"]) == (200, 0), answer.body


def points(room: Room, workspace: str) -> list[str]:
    return [each["id"] for each in room.live.get(f"/v1/workspaces/{workspace}/checkpoints")]


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def choose(page: Page, menu: Locator, item: str) -> None:
    menu.click()
    page.get_by_role("menuitem", name=item).click()


def of_point(page: Page, point: str) -> Locator:
    return page.get_by_role("button", name=f"What to do with {point}", exact=True)


def dialog(page: Page) -> Locator:
    return page.get_by_role("dialog")


def toast(page: Page) -> Locator:
    return page.locator(".toast").last


def test_a_directory_is_opened_and_listed(room: Room, project: Path) -> None:
    page = room.tab("/workspaces")
    page.get_by_role("button", name="Open a directory").first.click()
    dialog(page).get_by_label("Directory on the machine").fill("/no/such/place")
    dialog(page).get_by_role("button", name="Open").click()
    expect(dialog(page).get_by_role("alert").last).to_contain_text("/no/such/place")
    dialog(page).get_by_label("Directory on the machine").fill(str(project))
    dialog(page).get_by_role("button", name="Open").click()
    expect(page).to_have_url(re.compile(r"/workspaces/w\d+$"))
    expect(page.get_by_role("button", name="The beginning")).to_be_visible()
    expect(page.get_by_text("The workspace is like your directory.")).to_be_visible()
    page.get_by_role("link", name="All workspaces").click()
    expect(page.get_by_role("region", name=str(project))).to_be_visible()
    assert axe(page) == []
    room.forgiven = ("400",)


def test_an_apply_says_what_it_writes_writes_it_and_is_undone_from_the_toast(room: Room, project: Path, workspace: str) -> None:
    work(room, workspace, "echo four >> a.txt; echo new > b.txt; mkdir deep; echo x > .envrc")
    page = room.tab(f"/workspaces/{workspace}")
    press(page, "Apply")
    expect(dialog(page)).to_contain_text(f"Writes 2 files and 1 directory into {project}.")
    expect(dialog(page).get_by_role("list", name="Left out")).to_have_text(".envrc")
    assert (project / "a.txt").read_text() == "one\ntwo\nthree\n"
    assert axe(page) == []
    dialog(page).get_by_role("button", name="Write 2 files and 1 directory").click()
    expect(toast(page)).to_contain_text(f"Wrote 2 files and 1 directory into {project}")
    toast(page).hover()  # it stays as long as it is looked at
    assert ((project / "b.txt").read_text(), (project / "deep").is_dir(), (project / ".envrc").exists()) == ("new\n", True, False)
    toast(page).get_by_role("button", name="Undo").click()
    expect(toast(page)).to_contain_text("back into")
    assert ((project / "a.txt").read_text(), (project / "b.txt").exists()) == ("one\ntwo\nthree\n", False)


def test_what_would_run_by_itself_is_written_only_when_said_twice(room: Room, project: Path, workspace: str) -> None:
    work(room, workspace, "echo x > .envrc")
    page = room.tab(f"/workspaces/{workspace}")
    press(page, "Apply")
    expect(dialog(page)).to_contain_text("There is nothing to write.")
    dialog(page).get_by_role("button", name="Write the one left out, too").click()
    dialog(page).get_by_role("button", name="Write 1 file", exact=True).click()
    expect(toast(page)).to_contain_text("Wrote 1 file")
    assert (project / ".envrc").exists()


def test_an_undo_from_the_toast_that_would_take_back_something_newer_is_shown_first(room: Room, project: Path, workspace: str) -> None:
    work(room, workspace, "echo new > b.txt")
    page = room.tab(f"/workspaces/{workspace}")
    press(page, "Apply")
    dialog(page).get_by_role("button", name="Write 1 file").click()
    expect(toast(page)).to_contain_text("Wrote 1 file")
    toast(page).hover()  # it stays as long as it is looked at
    work(room, workspace, "echo newer > c.txt")
    toast(page).get_by_role("button", name="Undo").click()
    expect(dialog(page)).to_contain_text("Takes back what was done since the last checkpoint")
    press(page, "Cancel")
    assert ((project / "b.txt").exists(), len(room.live.get(f"/v1/workspaces/{workspace}/diff"))) == (True, 1)


def test_an_apply_that_became_impossible_under_the_dialog_changes_nothing_and_says_so(room: Room, project: Path, workspace: str) -> None:
    work(room, workspace, "echo theirs > a.txt")
    page = room.tab(f"/workspaces/{workspace}")
    press(page, "Apply")
    expect(dialog(page)).to_contain_text("Writes 1 file")
    (project / "a.txt").write_text("edited by hand\n")
    dialog(page).get_by_role("button", name="Write 1 file").click()
    expect(dialog(page).get_by_role("alert").last).to_contain_text("nothing was done")
    assert (project / "a.txt").read_text() == "edited by hand\n"
    room.forgiven = ("409",)


def test_picked_files_are_applied_alone(room: Room, project: Path, workspace: str) -> None:
    work(room, workspace, "echo b > b.txt; echo c > c.txt")
    page = room.tab(f"/workspaces/{workspace}")
    page.get_by_label("Pick c.txt").check()
    press(page, "Apply 1 picked")
    dialog(page).get_by_role("button", name="Write 1 file").click()
    expect(toast(page)).to_contain_text("Wrote 1 file")
    assert ((project / "c.txt").exists(), (project / "b.txt").exists()) == (True, False)


def test_an_apply_over_the_owners_edit_is_refused_with_which_file(room: Room, project: Path, workspace: str) -> None:
    work(room, workspace, "echo theirs > a.txt; echo b > b.txt")
    (project / "a.txt").write_text("edited by hand\n")
    page = room.tab(f"/workspaces/{workspace}")
    press(page, "Apply")
    expect(dialog(page)).to_contain_text("This cannot be done: 1 path stands in the way")
    expect(dialog(page).get_by_role("list", name="In the way")).to_contain_text("a.txtyou changed it in your directory since")
    expect(dialog(page).get_by_role("button")).to_have_count(1)
    press(page, "Close")
    assert ((project / "a.txt").read_text(), (project / "b.txt").exists()) == ("edited by hand\n", False)


def test_one_goes_back_to_a_checkpoint_and_undoes_that(room: Room, workspace: str) -> None:
    work(room, workspace, "echo first > b.txt")
    first = made(room, f"/v1/workspaces/{workspace}/checkpoints", {"why": "with b"})
    work(room, workspace, "rm b.txt; echo c > c.txt")
    page = room.tab(f"/workspaces/{workspace}")
    choose(page, of_point(page, first), "Go back to here")
    expect(dialog(page)).to_contain_text("Changes 2 files in the workspace. What is there now is kept as a checkpoint")
    press(page, "Go back")
    expect(page.locator(".change-path")).to_have_text(["b.txt"])
    toast(page).get_by_role("button", name="Undo").click()
    expect(page.locator(".change-path")).to_have_text(["c.txt"])


def test_undo_by_key_shows_what_it_takes_back_first(room: Room, workspace: str) -> None:
    page = room.tab(f"/workspaces/{workspace}")
    expect(page.get_by_role("button", name="The beginning")).to_be_visible()
    page.keyboard.press("u")
    expect(toast(page)).to_contain_text("nothing is left to undo")
    work(room, workspace, "echo b > b.txt")
    page.keyboard.press("u")
    expect(dialog(page)).to_contain_text("Takes back what was done since the last checkpoint: changes 1 file in the workspace")
    page.keyboard.press("Escape")
    assert len(room.live.get(f"/v1/workspaces/{workspace}/diff")) == 1
    page.keyboard.press("u")
    dialog(page).get_by_role("button", name="Undo").click()
    expect(toast(page)).to_contain_text("Undone: 1 file")
    assert room.live.get(f"/v1/workspaces/{workspace}/diff") == []
    room.forgiven = ("400",)


def test_a_fork_is_made_merged_and_discarded(room: Room, workspace: str) -> None:
    page = room.tab(f"/workspaces/{workspace}")
    choose(page, page.get_by_role("button", name="More", exact=True), "Fork from here")
    dialog(page).get_by_label("Name").fill("rehearsal")
    press(page, "Fork")
    expect(page.get_by_role("heading", level=1)).to_have_text("rehearsal")
    fork = page.url.rsplit("/", 1)[1]
    work(room, fork, "echo tried > tried.txt")
    choose(page, page.get_by_role("button", name="More", exact=True), "Merge into another workspace")
    expect(dialog(page)).to_contain_text("Changes 1 file in the workspace. Your directory stays as it is.")
    dialog(page).get_by_role("button", name="Merge 1 file").click()
    expect(toast(page)).to_contain_text("Merged 1 file")
    assert [each["path"] for each in room.live.get(f"/v1/workspaces/{workspace}/diff")] == ["tried.txt"]
    choose(page, page.get_by_role("button", name="More", exact=True), "Discard this workspace")
    expect(dialog(page)).to_contain_text("This cannot be undone.")
    press(page, "Discard it for good")
    expect(page).to_have_url(re.compile(r"/workspaces$"))
    assert fork not in {each["id"] for each in room.live.get("/v1/workspaces")}
    page.goto(page.url + f"/{workspace}")
    expect(page.locator(".point .badge", has_text="merge")).to_be_visible()


def test_conflicts_of_a_merge_are_shown_and_change_nothing(room: Room, workspace: str) -> None:
    fork = made(room, f"/v1/workspaces/{workspace}/fork", {"name": f"fork {workspace}"})
    work(room, fork, "echo theirs > a.txt")
    work(room, workspace, "echo ours > a.txt")
    page = room.tab(f"/workspaces/{fork}")
    choose(page, page.get_by_role("button", name="More", exact=True), "Merge into another workspace")
    expect(dialog(page).get_by_role("list", name="In the way")).to_contain_text("changed in both, at the same lines")
    assert "+ours" in room.live.get(f"/v1/workspaces/{workspace}/text")["text"]


def test_a_checkpoint_is_made_by_hand(room: Room, workspace: str) -> None:
    work(room, workspace, "echo b > b.txt")
    page = room.tab(f"/workspaces/{workspace}")
    press(page, "Checkpoint")
    dialog(page).get_by_label("What for").fill("before the move")
    press(page, "Make it")
    expect(page.get_by_role("button", name="Before the move")).to_be_visible()
    assert len(points(room, workspace)) == 2


def test_any_two_points_are_compared_and_the_address_keeps_it(room: Room, workspace: str) -> None:
    work(room, workspace, "echo b > b.txt")
    first = made(room, f"/v1/workspaces/{workspace}/checkpoints", {"why": "with b"})
    work(room, workspace, "sed -i s/two/TWO/ a.txt; head -c 900000 /dev/zero > large.bin")
    page = room.tab(f"/workspaces/{workspace}")
    choose(page, of_point(page, first), "Compare with now")
    expect(page.locator(".change-path")).to_have_text(["a.txt", "large.bin"])
    page.reload()
    expect(page.locator(".change-path")).to_have_text(["a.txt", "large.bin"])
    page.get_by_text("a.txt").click()
    expect(page.get_by_role("region", name="Changes of a.txt")).to_contain_text("-two+TWO")
    page.get_by_text("large.bin").click()
    expect(page.get_by_role("region", name="Changes of large.bin")).to_contain_text("[not shown: 900000 bytes, more than 262144]")
    page.get_by_label("To", exact=True).select_option(first)
    expect(page.get_by_text("These two are the same.")).to_be_visible()


def test_the_tree_is_walked_by_keyboard(room: Room, workspace: str) -> None:
    work(room, workspace, "echo b > b.txt")
    made(room, f"/v1/workspaces/{workspace}/checkpoints", {"why": "with b"})
    page = room.tab(f"/workspaces/{workspace}")
    expect(page.get_by_role("button", name="With b")).to_be_visible()
    for _ in range(2):
        page.keyboard.press("j")
    expect(page.get_by_role("button", name="With b")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="With b")).to_have_attribute("aria-current", "true")
    expect(page.get_by_label("From", exact=True)).to_have_value(points(room, workspace)[1])


def test_hostile_names_contents_and_reasons_stay_text(room: Room, workspace: str) -> None:
    work(room, workspace, f"echo '{HOSTILE}' > '<b>&amp; name'; printf 'x' > \"$(printf 'a\\377b')\"; echo s > 'שלום.txt'")
    made(room, f"/v1/workspaces/{workspace}/checkpoints", {"why": HOSTILE})
    made(room, f"/v1/workspaces/{workspace}/fork", {"name": f"{HOSTILE} {workspace}"})
    page = room.tab(f"/workspaces/{workspace}")
    expect(page.get_by_role("button", name=HOSTILE)).to_be_visible()
    expect(page.locator(".change-path")).to_have_count(3)
    page.get_by_text("<b>&amp; name", exact=True).click()
    expect(page.get_by_role("region", name="Changes of <b>")).to_contain_text(f"+{HOSTILE}")
    press(page, "Apply")
    expect(dialog(page)).to_contain_text("Writes 3 files")
    assert page.locator("img").count() == 0
    assert page.get_by_text("שלום.txt").first.evaluate("node => getComputedStyle(node).direction") == "rtl"


def test_two_thousand_changed_files_come_in_pages_and_are_applied(room: Room, project: Path, workspace: str) -> None:
    work(room, workspace, "for i in $(seq 2000); do echo $i > f$i; done")
    page = room.tab(f"/workspaces/{workspace}")
    expect(page.get_by_role("region", name="Changes").get_by_role("status")).to_have_text("2,000 added")
    expect(page.locator(".change-row")).to_have_count(200)
    press(page, "Show more of 2,000")
    expect(page.locator(".change-row")).to_have_count(400)
    press(page, "Apply")
    expect(dialog(page)).to_contain_text("and 1960 more", timeout=SLOW_MS)
    dialog(page).get_by_role("button", name="Write 2,000 files").click()
    expect(toast(page)).to_contain_text("Wrote 2,000 files", timeout=SLOW_MS)
    assert len(list(project.iterdir())) == 2001


def test_on_a_phone_nothing_scrolls_sideways_and_axe_finds_nothing(room: Room, workspace: str) -> None:
    work(room, workspace, f"mkdir -p {'d' * 100}; echo x > {'d' * 100}/{'e' * 100}")
    for path in (f"/workspaces/{workspace}", "/workspaces"):
        page = room.tab(path, PHONE)
        expect(page.locator(".card").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert axe(page) == []


def test_a_workspace_that_is_gone_says_so(room: Room) -> None:
    page = room.tab("/workspaces/w999999")
    expect(page.get_by_role("main")).to_contain_text("There is no workspace 'w999999'")
    room.forgiven = ("404",)
