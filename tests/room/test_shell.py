"""The frame round every page: reached by keyboard, kept when the line breaks, usable by everybody and on a phone."""

import re

import pytest
from playwright.sync_api import Request, Route, WebSocketRoute, expect
from tests.room.rig import DESK, PHONE, Room, axe, pressed

from daimon.gateway.door import MOST_STREAMS

NOWHERE = "/runs/of/nothing"


def test_the_palette_leads_to_every_page(room: Room) -> None:
    page = room.tab(NOWHERE)
    page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name="Search and commands")
    palette.get_by_role("combobox").fill("go to runs")
    expect(palette.get_by_role("option", selected=True)).to_contain_text("Go to runs")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/runs$"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Runs")


def test_words_that_no_command_has_are_looked_for_in_memory(room: Room) -> None:
    page = room.tab(NOWHERE)
    page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name="Search and commands")
    palette.get_by_role("combobox").fill("blue pot")
    expect(palette.get_by_role("option")).to_have_text(["Search memory for “blue pot”", "Search runs for “blue pot”"])
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/memory\?q=blue%20pot"))


def test_two_keys_lead_to_a_page_and_a_question_mark_lists_them(room: Room) -> None:
    page = room.tab(NOWHERE)
    expect(page.get_by_role("heading", level=1)).to_have_text("Not here")
    page.keyboard.press("?")
    shortcuts = page.get_by_role("dialog", name="Shortcuts")
    expect(shortcuts).to_contain_text("Go to memory")
    page.keyboard.press("Escape")
    expect(shortcuts).to_be_hidden()
    pressed(page, "g", "m")
    expect(page).to_have_url(re.compile(r"/memory$"))


def test_the_theme_is_kept(room: Room) -> None:
    page = room.tab(NOWHERE)
    page.get_by_role("button", name="Theme").click()
    page.get_by_label("High contrast").check()
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "contrast")
    assert axe(page) == []


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_frame_shuts_nobody_out(room: Room, size: dict[str, int], scheme: str) -> None:
    page = room.tab(NOWHERE, size)
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


def test_the_line_comes_back_when_the_gateway_does(room: Room) -> None:
    room.forgiven = ("WebSocket", "Failed to load resource")
    page = room.tab(NOWHERE)
    expect(page.get_by_text("Connected", exact=True)).to_be_visible()
    room.gateway.stop()
    expect(page.get_by_text("The gateway does not answer.", exact=False)).to_be_visible()
    room.gateway.start()
    expect(page.get_by_text("Connected", exact=True)).to_be_visible()
    expect(page.get_by_text("The gateway does not answer.", exact=False)).to_be_hidden()


def test_a_page_that_failed_while_the_gateway_was_away_is_read_again_by_itself(room: Room) -> None:
    room.forgiven = ("WebSocket", "Failed to load resource")
    page = room.tab("/memory")
    expect(page.get_by_role("tab", name="Facts")).to_be_visible()
    room.gateway.stop()
    expect(page.get_by_text("Not connected", exact=True)).to_be_visible()
    page.get_by_role("link", name="Automations").click()
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    room.gateway.start()
    expect(page.get_by_role("button", name="Try again")).to_be_hidden()
    expect(page.get_by_role("tab", name="Webhooks")).to_be_visible()


def test_enter_in_a_dialog_presses_its_main_button(room: Room) -> None:
    page = room.tab("/memory")
    page.get_by_role("button", name="Add a note").first.click()
    asked = page.get_by_role("dialog")
    asked.get_by_role("textbox").first.fill("the spare key is under the pot")
    page.keyboard.press("Enter")
    expect(asked).to_be_visible()  # a note may have lines
    page.keyboard.press("Control+Enter")
    expect(asked).to_be_hidden()
    expect(page.get_by_text("the spare key is under the pot").first).to_be_visible()


def test_a_device_without_the_right_is_told_so_and_not_to_try_again(room: Room) -> None:
    room.forgiven = ("403",)
    link = room.live.call("POST", "/v1/links", {"rights": ["read"]}).json["urls"][0]
    page = room.tab(NOWHERE)
    page.goto("about:blank")  # what the page still asks for ends here: it would be asked without a cookie
    room.context.clear_cookies()
    page.goto(link)
    expect(page).not_to_have_url(re.compile("/enter"))
    page.goto(link.split("/enter")[0] + "/settings/models")
    expect(page.get_by_role("heading", name="Not for this device")).to_be_visible()
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)


def test_who_is_signed_out_is_asked_to_sign_in_and_the_page_stays(room: Room) -> None:
    room.forgiven = ("401", "WebSocket", "Failed to load resource")
    page = room.tab(NOWHERE)
    expect(page.get_by_text("Connected", exact=True)).to_be_visible()
    room.context.clear_cookies()
    room.live.say("say something happens", "signed-out")  # so that the page asks for something
    asked = page.get_by_role("dialog", name="Sign in again")
    link = room.live.call("POST", "/v1/links", {}).json["urls"][0]
    asked.get_by_label("One-time link", exact=True).last.fill(link)
    asked.get_by_role("button", name="Sign in", exact=True).click()
    expect(asked).to_be_hidden()
    expect(page.get_by_text("Connected", exact=True)).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text("Not here")


def test_eight_tabs_are_live_at_once(room: Room) -> None:
    tabs, before = [room.tab(NOWHERE) for _ in range(8)], len(room.live.get("/v1/questions"))
    for tab in tabs:
        expect(tab.get_by_text("Connected", exact=True)).to_be_visible()
    room.live.say("ask which one?", "eight")
    for tab in tabs:
        expect(tab.get_by_role("link", name="Approvals")).to_contain_text(f"{before + 1} waiting")


def test_what_was_read_first_and_is_answered_last_does_not_stay(room: Room) -> None:
    page, held = room.tab(NOWHERE), list[Request]()
    expect(page.get_by_text("Connected", exact=True)).to_be_visible()
    before = len(room.live.get("/v1/questions"))

    def late(route: Route) -> None:
        old = route.fetch()
        held.append(route.request)
        room.live.ask("ask which one?", "overtaken")
        page.evaluate("new Promise(done => setTimeout(done, 1000))")  # by then it was read once more, if it was to be
        route.fulfill(response=old)

    page.route("**/v1/room/counts", late, times=1)
    with page.expect_request_finished(lambda request: request in held):
        room.live.ask("say something happens", "overtaken")
    page.evaluate("new Promise(done => setTimeout(done, 100))")  # by then it was drawn
    expect(page.get_by_role("link", name="Approvals")).to_contain_text(f"{before + 1} waiting")


OPENED = """count => Promise.all(Array.from({ length: count }, () => new Promise((done) => {
    const line = new WebSocket(`ws://${location.host}/v1/socket`);
    line.onopen = () => line.send('{"kind": "begin"}');
    line.onmessage = done;
}))).then(() => null)"""


def test_a_tab_too_many_says_so_and_goes_on_when_others_are_closed(room: Room) -> None:
    crowd, page = room.tab(NOWHERE), room.tab(NOWHERE)
    for tab in (crowd, page):
        expect(tab.get_by_text("Connected", exact=True)).to_be_visible()
    crowd.evaluate(OPENED, MOST_STREAMS - 2)
    late = room.tab(NOWHERE)
    expect(late.get_by_text("Too many tabs", exact=True)).to_be_visible()
    expect(late.get_by_text("Close some of the others", exact=False)).to_be_visible()
    expect(page.get_by_text("Connected", exact=True)).to_be_visible()
    assert axe(late) == []
    crowd.close()
    expect(late.get_by_text("Connected", exact=True)).to_be_visible()
    expect(late.get_by_text("Close some of the others", exact=False)).to_be_hidden()


def test_what_happens_before_the_line_is_up_is_seen_too(room: Room) -> None:
    page = room.context.new_page()

    def late(line: WebSocketRoute) -> None:
        expect(page.get_by_role("heading", name="No run fits")).to_be_visible()
        room.live.ask("say something early", "early")
        line.connect_to_server()

    page.route_web_socket("**/v1/socket", late)
    page.goto(f"{room.live.url}/runs?conversation=early")
    expect(page.get_by_role("link", name="say something early")).to_be_visible()


def test_a_device_that_may_only_look_is_offered_nothing_that_would_be_refused(room: Room) -> None:
    room.live.ask("say all is well", "looked-at")
    room.live.ask("ask Tea?", "looked-at-asking")
    link = room.live.call("POST", "/v1/links", {"rights": ["read"]}).json["urls"][0]
    page = room.tab(NOWHERE)
    page.goto("about:blank")  # what the page still asks for ends here: it would be asked without a cookie
    room.context.clear_cookies()
    page.goto(link)
    expect(page).not_to_have_url(re.compile("/enter"))
    page.goto(f"{room.live.url}/?c=looked-at")
    expect(page.get_by_role("button", name="Why?")).to_be_visible()
    expect(page.get_by_role("button", name="Retry")).to_have_count(0)
    expect(page.get_by_role("textbox", name="Message")).to_be_hidden()
    page.goto(f"{room.live.url}/approvals")
    expect(page.get_by_text("This device may look, and not answer")).to_be_visible()
    expect(page.get_by_role("button", name="Yes")).to_have_count(0)
    page.goto(f"{room.live.url}/automations")
    expect(page.get_by_text("This device may look here, and change nothing")).to_be_visible()
    expect(page.locator(".head").get_by_role("button")).to_have_count(0)
