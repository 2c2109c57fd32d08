"""The pages of runs in a real browser: filters in the address, the waterfall by keyboard, live growth, very long runs."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.room import long_run
from tests.room.rig import DESK, PHONE, Gateway, Room, axe, gateway, signed_in

SCRIPT = '<img src=x onerror="window.hurt=1">'
SLOW_MS = 240_000.0
"""Until a run of ten thousand steps is read and told as stretches, on a busy machine."""


@pytest.fixture(scope="module")
def far(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Room, str]]:
    """A room with a run of ten thousand steps."""
    home: Path = tmp_path_factory.mktemp("far") / "home"
    turn = long_run.write(home)
    with gateway(home) as running:
        context = signed_in(browser, running)
        yield Room(running, context), turn
        context.close()


def allowed(room: Room, conversation: str, choice: str = "allow") -> None:
    (asked,) = [each for each in room.live.get("/v1/approvals") if each["conversation"] == conversation]
    with room.live.feed(conversation) as feed:
        room.live.call("POST", "/v1/events", {"type": "answer", "to": asked["to"], "choice": choice})
        feed.until_rest()


def spans(page: Page) -> list[str]:
    return [str(each.get_attribute("aria-label")) for each in page.get_by_role("option").all()]


def opened(page: Page, n: int) -> None:
    """Goes down to a stretch by keyboard and opens it."""
    page.get_by_role("listbox").focus()
    page.keyboard.press("Home")
    for _ in range(n):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")


def test_filters_narrow_the_list_down_and_stay_in_the_address(room: Room) -> None:
    room.live.ask("say apples", "fruit")
    room.live.ask("say nails", "tools")
    page = room.tab("/runs")
    expect(page.get_by_role("link", name="say nails")).to_be_visible()
    page.get_by_label("Search").fill("APPLES")
    expect(page.get_by_role("link", name="say nails")).to_have_count(0)
    page.get_by_label("State").select_option("done")
    expect(page).to_have_url(re.compile("text=APPLES&state=done"))
    page.reload()
    expect(page.get_by_label("Search")).to_have_value("APPLES")
    expect(page.get_by_role("link", name="say apples")).to_be_visible()
    page.get_by_label("State").select_option("failed")
    expect(page.get_by_role("heading", name="No run fits")).to_be_visible()
    page.get_by_role("button", name="Clear all filters").click()
    expect(page.get_by_role("link", name="say nails")).to_be_visible()


def test_a_new_run_comes_by_itself_and_the_keyboard_opens_it(room: Room) -> None:
    page = room.tab("/runs?conversation=by-key")
    expect(page.get_by_role("heading", name="No run fits")).to_be_visible()
    room.live.ask("say here I am", "by-key")
    link = page.get_by_role("link", name="say here I am")
    expect(link).to_be_visible()
    page.keyboard.press("j")
    expect(link).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("say here I am")


def test_the_waterfall_tells_waits_and_decisions_and_is_read_by_keyboard(room: Room) -> None:
    turn = room.live.ask("mail ann@x.org", "waterfall")["id"]
    allowed(room, "waterfall")
    page = room.tab(f"/runs/{turn}")
    expect(page.get_by_role("option")).to_have_count(9)
    told = spans(page)
    assert [each.partition(":")[0] for each in told] == ["Event", "Context", "Model", "Policy", "Wait", "Call", "Context", "Model", "End"]
    assert "allow, by owner" in told[4]
    opened(page, 3)
    details = page.get_by_role("complementary", name="Details")
    expect(details).to_contain_text("Needs your word")
    expect(details).to_contain_text("ask.reader")
    expect(details.get_by_role("row", name=re.compile("ann@x.org"))).to_contain_text("own")
    page.keyboard.press("ArrowDown")
    expect(details).to_contain_text("deny / allow / grant")
    page.keyboard.press("ArrowDown")
    expect(details).to_contain_text("sent to ann@x.org")
    expect(page).to_have_url(re.compile("span=5"))
    page.keyboard.press("Escape")
    expect(details).to_be_hidden()
    expect(page.get_by_role("listbox")).to_be_focused()


def test_a_model_call_shows_its_prompt_with_tiers_and_labels(room: Room) -> None:
    turn = room.live.ask("say something", "prompted")["id"]
    page = room.tab(f"/runs/{turn}?span=2")
    prompt = page.get_by_role("region", name="Prompt")
    expect(prompt.locator(".run-tier").first).to_have_text("L1")
    expect(prompt.locator(".chip.is-owner", has_text="you").first).to_be_visible()
    expect(prompt).to_contain_text("part of this turn")


def test_a_run_that_goes_on_grows_and_can_be_stopped(room: Room) -> None:
    room.live.ask("ask Really?", "growing")
    (row,) = room.live.get("/v1/runs?conversation=growing")["rows"]
    page = room.tab(f"/runs/{row['id']}")
    expect(page.get_by_role("option", name=re.compile("^Wait: Asks: Really"))).to_be_visible()
    expect(page.locator(".fall-bar.is-open")).not_to_have_count(0)
    allowed(room, "growing", "yes")
    expect(page.get_by_role("option", name=re.compile("^End: Answered"))).to_be_visible()
    expect(page.locator(".fall-bar.is-open")).to_have_count(0)
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)

    room.live.ask("ask Once more?", "stopping")
    (row,) = room.live.get("/v1/runs?conversation=stopping")["rows"]
    page.goto(f"/runs/{row['id']}")
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("dialog").get_by_role("button", name="Stop it").click()
    expect(page.locator(".run-line .badge").first).to_have_text("stopped")


def test_a_run_is_copied_as_json(room: Room) -> None:
    room.context.grant_permissions(["clipboard-read", "clipboard-write"])
    turn = room.live.ask("say copy me", "copied")["id"]
    page = room.tab(f"/runs/{turn}")
    page.locator(".head").get_by_role("button", name="Copy as JSON").click()
    expect(page.locator(".toast", has_text="Copied")).to_be_visible()
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert copied["turn"]["id"] == turn
    assert copied["steps"] == room.live.get(f"/v1/turns/{turn}")["steps"]


def test_a_step_in_the_address_is_found(room: Room) -> None:
    turn = room.live.ask('call lookup {"text": "found"}', "step")["id"]
    intent = next(step["n"] for step in room.live.get(f"/v1/turns/{turn}")["steps"] if step["body"]["kind"] == "intent")
    page = room.tab(f"/runs/{turn}?step={intent}")
    expect(page.get_by_role("complementary", name="Details")).to_contain_text("lookup")


def test_words_of_strangers_stay_words(room: Room) -> None:
    turn = room.live.ask(f"call lookup {json.dumps({'text': SCRIPT})}", "hurt<img/src=x/onerror=window.hurt=1>")["id"]
    page = room.tab("/runs")
    expect(page.get_by_role("link", name=re.compile("onerror")).first).to_be_visible()
    page.goto(f"/runs/{turn}")
    expect(page.get_by_role("option", name=re.compile("^Call"))).to_be_visible()
    labels = spans(page)
    for n in range(1, len(labels)):
        opened(page, n)
        expect(page).to_have_url(re.compile(f"span={n}"))
    opened(page, next(n for n, label in enumerate(labels) if label.startswith("Call")))
    expect(page.get_by_role("complementary", name="Details")).to_contain_text("onerror")
    assert page.evaluate("window.hurt") is None
    assert page.locator("main img").count() == 0


def test_ten_thousand_steps_are_drawn_as_one_comes_to_them(far: tuple[Room, str]) -> None:
    room, turn = far
    page = room.tab(f"/runs/{turn}")
    expect(page.get_by_role("option").first).to_be_visible(timeout=SLOW_MS)
    page.get_by_role("listbox").focus()
    page.keyboard.press("End")
    last = page.get_by_role("option", name=re.compile(r"^Call: look\(at=9990\)"))
    expect(last).to_be_visible()
    expect(last).to_have_attribute("aria-selected", "true")
    assert page.get_by_role("option").count() < 80
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.get_by_role("complementary", name="Details")).to_contain_text("harmless")
    room.quiet()


def test_a_result_of_five_megabytes_opens_and_can_be_downloaded(far: tuple[Room, str]) -> None:
    room, turn = far
    page = room.tab(f"/runs/{turn}")
    expect(page.get_by_role("option").first).to_be_visible(timeout=SLOW_MS)
    opened(page, 4)
    details = page.get_by_role("complementary", name="Details")
    link = details.get_by_role("link", name="All of it (5.2 MB)")
    expect(link).to_be_visible()
    assert len(details.inner_text()) < 30_000
    with page.expect_download() as download:
        link.click()
    assert download.value.path().stat().st_size == long_run.LARGE
    room.quiet()


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_shut_nobody_out(room: Room, size: dict[str, int], scheme: str) -> None:
    turn = room.live.ask('call lookup {"text": "found"}', "axe")["id"]
    page = room.tab("/runs", size)
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    expect(page.get_by_role("table")).to_be_visible()
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    page.goto(f"/runs/{turn}?span=2")
    expect(page.get_by_role("region", name="Prompt")).to_be_visible()
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


def test_the_gateway_is_asked_little(daimon: Gateway, room: Room) -> None:
    """One request opens a run, whatever it holds."""
    turn = room.live.ask("say hello", "little")["id"]
    page, asked = room.context.new_page(), list[str]()
    page.on("request", lambda request: asked.append(request.url) if "/v1/runs" in request.url else None)
    page.route_web_socket("**/v1/socket", lambda line: None)  # nothing is heard: what happens in the home makes it read again
    page.goto(f"{daimon.live.url}/runs/{turn}")
    expect(page.get_by_role("option", name=re.compile("^End"))).to_be_visible()
    assert len(asked) == 1
