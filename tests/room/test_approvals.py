"""The page of approvals in a real browser: answered by one key, seen in every tab, told what came of it."""

import json
import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect
from tests.room.gates import open_gate
from tests.room.rig import DESK, PHONE, Room, axe

SCRIPT = '<img/src=x/onerror="window.hurt=1">'


def rows(page: Page) -> list[str]:
    return page.locator(".asked-row .strong").all_inner_texts()


def ready(page: Page) -> None:
    """Right after an answer keys answer nothing."""
    expect(page.locator(".asked-pane[data-ready=yes]")).to_be_visible()


def row(page: Page, text: str) -> None:
    """Picks the question that has this in its row."""
    page.locator(".asked-row", has_text=text).click()
    expect(page.locator("li[aria-current=true]", has_text=text)).to_be_visible()
    ready(page)


def settled(room: Room) -> None:
    """Nothing waits any more, so that each test begins with an empty list."""
    for each in room.live.get("/v1/approvals"):
        with room.live.feed(quote(each["conversation"])) as feed:
            answer = {"type": "answer", "to": each["to"], "choice": each["choices"][0]["choice"]}
            assert room.live.call("POST", "/v1/events", answer).status == 202
            feed.until_rest()
    assert room.live.get("/v1/approvals") == []


@pytest.fixture(autouse=True)
def _clean(room: Room) -> None:
    settled(room)


def test_a_question_appears_by_itself_and_is_allowed_by_a_key(room: Room) -> None:
    page = room.tab("/approvals")
    expect(page.get_by_role("heading", name="Nothing waits for you")).to_be_visible()
    room.live.ask("mail ann@x.org", "key-yes")
    expect(page.get_by_role("heading", name="May I use mail?")).to_be_visible()
    expect(page.locator(".asked-pane")).to_contain_text("ann@x.org")
    expect(page.locator(".asked-pane .chip.is-agent")).to_have_text("the agent’s own words")
    ready(page)
    page.keyboard.press("a")
    done = page.locator(".toast", has_text="mail: allow, done")
    done.hover()  # it stays as long as it is looked at
    expect(page.get_by_role("heading", name="Nothing waits for you")).to_be_visible()
    done.get_by_role("button", name="See the run").click()
    expect(page).to_have_url(re.compile("/runs/t"))


def test_what_takes_long_is_told_of_when_it_is_under_way_and_again_at_its_end(room: Room) -> None:
    room.live.ask("mail gate-long@x.org", "long")
    page = room.tab("/approvals")
    expect(page.get_by_role("heading", name="May I use mail?")).to_be_visible()
    ready(page)
    page.keyboard.press("a")
    expect(page.locator(".toast", has_text="under way")).to_be_visible()
    open_gate("gate-long@x.org")
    expect(page.locator(".toast", has_text="mail: allow, done")).to_be_visible()


def test_the_rest_in_which_it_was_asked_is_not_taken_for_the_end(room: Room) -> None:
    lines, rests = list[WebSocketRoute](), list[str | bytes]()

    def delayed(line: WebSocketRoute) -> None:
        def heard(said: str | bytes) -> None:
            is_rest = json.loads(said).get("update", {}).get("state") == "parked"
            (rests.append if is_rest else line.send)(said)

        lines.append(line)
        line.connect_to_server().on_message(heard)

    room.context.route_web_socket("**/v1/socket", delayed)
    page = room.tab("/approvals")
    expect(page.get_by_text("Connected", exact=True)).to_be_visible()
    room.live.ask("mail gate-early@x.org", "early-rest")
    expect(page.get_by_role("heading", name="May I use mail?")).to_be_visible()
    ready(page)
    with page.expect_request("**/v1/events"):
        page.keyboard.press("a")
    while not rests:
        page.evaluate("0")  # what comes on the line is heard meanwhile
    lines[-1].send(rests[0])
    expect(page.locator(".toast", has_text="under way")).to_be_visible()
    open_gate("gate-early@x.org")
    expect(page.locator(".toast", has_text="mail: allow, done")).to_be_visible()


def test_no_is_one_key_too_and_the_next_question_is_picked(room: Room) -> None:
    for name in ("one", "two", "three"):
        room.live.ask(f"mail {name}@x.org", f"next-{name}")
    page = room.tab("/approvals")
    expect(page.locator(".asked-row")).to_have_count(3)
    page.keyboard.press("j")
    expect(page.locator("li[aria-current=true]")).to_contain_text("two@x.org")
    ready(page)
    page.keyboard.press("n")
    expect(page.locator(".toast", has_text="denied")).to_be_visible()
    expect(page.locator(".asked-row")).to_have_count(2)
    expect(page.locator("li[aria-current=true]")).to_contain_text("three@x.org")
    expect(page.locator("li[aria-current=true] button")).to_be_focused()
    page.keyboard.press("k")
    expect(page.locator("li[aria-current=true]")).to_contain_text("one@x.org")
    turns = [each for each in room.live.get("/v1/decisions")["decisions"] if each["conversation"] == "next-two"]
    assert [each["choice"] for each in turns] == ["deny"]


def test_two_presses_in_haste_do_not_answer_what_nobody_read(room: Room) -> None:
    for name in ("first", "second"):
        room.live.ask(f"mail {name}@x.org", f"haste-{name}")
    page = room.tab("/approvals")
    expect(page.locator(".asked-row")).to_have_count(2)
    ready(page)
    page.evaluate("""for (const _ of [1, 2]) document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true }))""")
    expect(page.locator(".toast", has_text="mail: allow, done")).to_be_visible()
    expect(page.locator(".asked-row")).to_have_count(1)
    assert [each["conversation"] for each in room.live.get("/v1/approvals")] == ["haste-second"]


def test_of_several_calls_only_those_that_are_ticked_are_allowed(room: Room) -> None:
    room.live.ask("mail ann@x.org bob@x.org", "ticked")
    page = room.tab("/approvals")
    page.get_by_role("checkbox", name="Call 2: mail").uncheck()
    page.get_by_role("button", name="Allow once").click()
    expect(page.locator(".toast", has_text="mail (2 calls)").filter(has_text="done")).to_be_visible()
    (made,) = [each for each in room.live.get("/v1/decisions")["decisions"] if each["conversation"] == "ticked"]
    assert [(call["is_allowed"], call["outcome"]) for call in made["calls"]] == [(True, "ok"), (False, "denied")]


def test_a_grant_is_given_by_a_number_listed_and_taken_back(room: Room) -> None:
    room.live.ask("mail gil@x.org", "grant")
    page = room.tab("/approvals")
    expect(page.get_by_role("button", name="Allow for a week")).to_be_visible()
    ready(page)
    page.keyboard.press("4")
    expect(page.locator(".toast", has_text="mail: grant")).to_be_visible()
    page.get_by_role("tab", name="Grants").click()
    listed = page.get_by_role("row", name=re.compile("mail to gil@x.org"))
    expect(listed).not_to_contain_text("no end")
    page.get_by_role("button", name="Take back: mail to gil@x.org").click()
    page.get_by_role("dialog").get_by_role("button", name="Take it back").click()
    expect(page.get_by_text("No grant is in force")).to_be_visible()
    page.get_by_label("Show those that are over").check()
    expect(page.get_by_role("row", name=re.compile("mail to gil@x.org"))).to_contain_text("taken back")
    room.live.ask("mail gil@x.org", "grant")
    assert [each["conversation"] for each in room.live.get("/v1/approvals")] == ["grant"]


def test_a_change_of_a_file_is_shown_as_a_difference(room: Room) -> None:
    room.live.ask('call write_file {"path": "page.txt", "content": "old <b>line</b>\\n"}', "diff")
    page = room.tab("/approvals")
    changes = page.get_by_role("region", name="What write_file changes")
    expect(changes.locator(".is-in")).to_have_text("+old <b>line</b>")
    expect(page.locator(".asked-pane")).to_contain_text("A new file.")


def test_what_is_answered_in_one_tab_goes_in_the_other(room: Room) -> None:
    room.live.ask("ask Tea?", "tabs")
    one, other = room.tab("/approvals"), room.tab("/approvals")
    for page in (one, other):
        expect(page.get_by_role("heading", name="Tea?")).to_be_visible()
    ready(one)
    one.bring_to_front()
    one.keyboard.press("2")
    for page in (one, other):
        expect(page.get_by_role("heading", name="Nothing waits for you")).to_be_visible()
    one.get_by_role("tab", name="History").click()
    expect(one.get_by_role("row", name=re.compile("Tea?")).first).to_contain_text("yes")


def test_what_was_typed_outlives_another_question(room: Room) -> None:
    room.live.ask('call ask_owner {"question": "What shall I call it?"}', "free")
    page = room.tab("/approvals")
    box = page.get_by_role("textbox", name="Your answer")
    box.fill("جميل 🌱")
    room.live.ask("mail ann@x.org", "meanwhile")
    expect(page.locator(".asked-row")).to_have_count(2)
    expect(box).to_have_value("جميل 🌱")
    box.press("Enter")
    expect(page.locator(".asked-row")).to_have_count(1)
    expect(page.locator(".toast", has_text="جميل 🌱").filter(has_not_text="under way")).to_be_visible()
    (made,) = [each for each in room.live.get("/v1/decisions")["decisions"] if each["conversation"] == "free"]
    assert made["choice"] == "جميل 🌱"


def test_words_of_strangers_stay_words(room: Room) -> None:
    room.live.ask(f"mail {SCRIPT}@x.org", f"hurt{SCRIPT}")
    page = room.tab("/approvals")
    expect(page.locator(".asked-pane")).to_contain_text(SCRIPT)
    ready(page)
    page.keyboard.press("d")
    expect(page.locator(".toast")).to_contain_text("mail")
    page.get_by_role("tab", name="History").click()
    expect(page.get_by_role("row", name=re.compile("onerror")).first).to_be_visible()
    assert page.evaluate("window.hurt") is None
    assert page.locator("main img").count() == 0


def test_the_address_leads_to_a_question(room: Room) -> None:
    for name in ("ann", "bob"):
        room.live.ask(f"mail {name}@x.org", f"linked-{name}")
    page = room.tab("/approvals")
    row(page, "bob@x.org")
    page.reload()
    expect(page.locator("li[aria-current=true]")).to_contain_text("bob@x.org")


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_shuts_nobody_out(room: Room, size: dict[str, int], scheme: str) -> None:
    room.live.ask('call write_file {"path": "a.txt", "content": "one\\n"}', "axe")
    room.live.ask("mail ann@x.org bob@x.org", "axe-2")
    page = room.tab("/approvals", size)
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    expect(page.get_by_role("heading", name="May I use write_file?")).to_be_visible()
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    for tab in ("History", "Grants"):
        page.get_by_role("tab", name=tab).click()
        expect(page.locator(".card")).to_be_visible()
        assert axe(page) == []
