"""Automations and webhooks by the page: made, changed, run, paused and deleted with a real browser on a real gateway."""

import re
from datetime import UTC, date, datetime

from playwright.sync_api import Page, Request, Route, expect
from tests.gateway.hooks.posting import Service, secret_of
from tests.gateway.live import Live
from tests.room.rig import PHONE, Room, axe

from daimon.abi.hook import Hook
from daimon.abi.hook import secret_of as name_of

EVIL = "<img src=x onerror=alert(1)><b>x</b>"


def made(live: Live, name: str, **changes: object) -> None:
    answer = live.call("PUT", f"/v1/automations/{name}", {"schedule": "every weekday at 8", "task": "say hello", **changes})
    assert answer.status == 200, answer.body


def removed(live: Live, name: str) -> None:
    assert live.call("DELETE", f"/v1/automations/{name}").status == 200


def fill_in(page: Page, schedule: str, task: str) -> None:
    page.get_by_label("When", exact=True).fill(schedule)
    page.get_by_label("Task", exact=True).fill(task)


def next_end_of_april() -> str:
    """The day, as whoever says it on this day means it."""
    today = datetime.now(UTC).date()
    return f"{today.year + (today > date(today.year, 4, 30))}-04-30"


def test_an_empty_home_says_what_automations_are_for(room: Room) -> None:
    page = room.tab("/automations")
    expect(page.get_by_role("heading", name="Nothing happens by itself yet")).to_be_visible()
    page.get_by_role("tab", name="Webhooks").click()
    expect(page.get_by_role("heading", name="No service may post here yet")).to_be_visible()
    assert "tab=hooks" in page.url
    assert axe(page) == []


def test_one_is_made_previewed_run_paused_and_deleted(room: Room) -> None:
    page = room.tab("/automations?new=1")
    page.get_by_label("Name").fill("brief")
    fill_in(page, "every weekday at 8", "say good morning")
    page.get_by_label("Time zone").fill("Europe/Berlin")
    expect(page.locator(".times-list li")).to_have_count(10)
    expect(page.locator(".times-list li").first).to_contain_text("UTC+0")
    expect(page.get_by_text("On the clock of Europe/Berlin.")).to_be_visible()
    page.get_by_role("button", name="Set it up").click()
    expect(page).to_have_url(re.compile("/automations/brief$"))
    page.get_by_role("button", name="Run now").click()
    record = page.get_by_role("region", name="What became of each time").last
    expect(record.get_by_role("link", name="answered")).to_be_visible()
    tick = room.live.get("/v1/automations/brief/ticks")[0]
    turn = room.live.get(f"/v1/events/{tick['event']}")["turn"]["id"]
    expect(record.get_by_role("link", name="answered")).to_have_attribute("href", f"/runs/{turn}")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("paused: these are skipped")).to_be_visible()
    assert room.live.get("/v1/automations/brief")["automation"]["is_paused"] is True
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    assert axe(page) == []
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page).to_have_url(re.compile("/automations$"))
    assert room.live.call("GET", "/v1/automations/brief").status == 404


def test_what_is_not_understood_is_told_as_it_is_typed_with_what_would_be(room: Room) -> None:
    page = room.tab("/automations?new=1")
    when = page.get_by_label("When", exact=True)
    for typed, told, offer in (
        ("every wekday at 8", "but not 'every wekday'", "every weekday at 8"),
        ("0 0 31 2 *", "there is no 31 February", "0 0 28 2 *"),
        ("61 * * * *", "61 is no minute", "59 * * * *"),
        ("31 april at 9", "it has 30 days", next_end_of_april()),
    ):
        when.fill(typed)
        expect(page.get_by_role("alert").filter(has_text=told)).to_be_visible()
        expect(page.get_by_role("button", name=offer, exact=True)).to_be_visible()
        expect(when).to_have_attribute("aria-invalid", "true")
    when.fill("every wekday at 8")
    page.get_by_role("button", name="every weekday at 8", exact=True).click()
    expect(when).to_have_value("every weekday at 8")
    expect(page.locator(".times-list li")).to_have_count(10)
    expect(when).not_to_have_attribute("aria-invalid", "true")


def test_a_form_without_a_name_asks_for_one(room: Room) -> None:
    for form, submit in (("/automations?new=1", "Set it up"), ("/automations?tab=hooks&new=1", "Make it")):
        page = room.tab(form)
        expect(page.get_by_label("Name")).to_be_focused()
        page.get_by_role("button", name=submit).click()
        expect(page.get_by_text("It needs a name.")).to_be_visible()
        expect(page.get_by_label("Name")).to_be_focused()


def test_a_fault_of_the_draft_is_told_and_nothing_that_was_typed_is_lost(room: Room) -> None:
    room.forgiven = ("400",)
    page = room.tab("/automations?new=1")
    page.get_by_label("Name").fill("Morning Brief")
    fill_in(page, "daily at 8", "say hi")
    page.get_by_role("button", name="Set it up").click()
    expect(page.get_by_role("alert").filter(has_text="Try 'morning-brief'")).to_be_visible()
    page.get_by_text("Budget, licence").click()
    page.get_by_label("Name").fill("morning-brief")
    page.get_by_label("Licence").fill("send mail to bob")
    page.get_by_role("button", name="Set it up").click()
    expect(page.get_by_role("alert").filter(has_text="tool(argument=source")).to_be_visible()
    expect(page.get_by_label("Task", exact=True)).to_have_value("say hi")
    page.get_by_label("Licence").fill("mail(to='bob@x.org')")
    page.get_by_label("Most it may cost a day").fill("0.50")
    page.get_by_role("button", name="Set it up").click()
    expect(page).to_have_url(re.compile("/automations/morning-brief$"))
    kept = room.live.get("/v1/automations/morning-brief")["automation"]
    assert (kept["cost"], kept["licence"]["steps"]) == ("0.50", [{"tool": "mail", "sources": {"to": "'bob@x.org'"}}])
    page.get_by_text("Budget, licence").click()
    expect(page.get_by_label("Licence")).to_have_value("mail(to='bob@x.org')")
    removed(room.live, "morning-brief")


def test_every_kind_of_watch_is_kept_as_it_was_typed(room: Room) -> None:
    made(room.live, "watching")
    page = room.tab("/automations/watching")
    for kind, fields, kept in (
        (
            "Feeds",
            {"Addresses of the feeds": "https://a.example/f\nhttps://b.example/f"},
            {"urls": ["https://a.example/f", "https://b.example/f"]},
        ),
        (
            "A web page",
            {"Address of the page": "https://a.example/", "Only this part": ".price"},
            {"url": "https://a.example/", "selector": ".price"},
        ),
        ("Files", {"Files": "*.csv\nx/**"}, {"globs": ["*.csv", "x/**"]}),
        ("A git repository", {"Repository": "work", "Branches and tags": "main v*"}, {"repository": "work", "refs": ["main", "v*"]}),
        ("What a command prints", {"Command": "ls -l"}, {"command": "ls -l"}),
        ("A mail folder", {"Folder": "Lists"}, {"folder": "Lists"}),
    ):
        page.get_by_label("Look first at").select_option(label=kind)
        for label, text in fields.items():
            page.get_by_label(label, exact=True).fill(text)
        with page.expect_response(lambda answer: answer.request.method == "PUT") as answered:
            page.get_by_role("button", name="Save").click()
        assert answered.value.ok, answered.value.text()
        watch = room.live.get("/v1/automations/watching")["automation"]["watch"]
        assert {name: watch[name] for name in kept} == kept
    removed(room.live, "watching")


def test_the_second_of_two_tabs_is_told_and_chooses(room: Room) -> None:
    room.forgiven = ("409",)
    made(room.live, "shared", task="say one")
    first, second = room.tab("/automations/shared"), room.tab("/automations/shared")
    second.get_by_label("Task", exact=True).fill("say mine")
    first.get_by_label("Task", exact=True).fill("say theirs")
    first.get_by_role("button", name="Save").click()
    expect(first.get_by_text("Saved", exact=True)).to_be_visible()
    second.get_by_role("button", name="Save").click()
    both = second.get_by_role("dialog")
    expect(both.get_by_text("There are two versions")).to_be_visible()
    expect(both.get_by_role("row").filter(has_text="Task")).to_contain_text("say theirs")
    expect(both.get_by_role("row").filter(has_text="Task")).to_contain_text("say mine")
    assert axe(second) == []
    both.get_by_role("button", name="Go on editing").click()
    expect(second.get_by_label("Task", exact=True)).to_have_value("say mine")
    assert room.live.get("/v1/automations/shared")["automation"]["task"] == "say theirs"
    second.get_by_role("button", name="Save").click()
    second.get_by_role("button", name="Save mine over it").click()
    expect(second.get_by_text("Saved", exact=True)).to_be_visible()
    assert room.live.get("/v1/automations/shared")["automation"]["task"] == "say mine"
    removed(room.live, "shared")


def test_what_was_read_before_a_save_and_comes_after_it_changes_nothing_in_the_form(room: Room) -> None:
    made(room.live, "raced", task="say one")
    page = room.tab("/automations/raced")
    task = page.get_by_label("Task", exact=True)
    expect(task).to_have_value("say one")

    held, drawn = list[Request](), task.element_handle()

    def late(route: Route) -> None:
        old = route.fetch()
        held.append(route.request)
        task.fill("say two")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Saved", exact=True)).to_be_visible()
        route.fulfill(response=old)

    page.route("**/v1/room/automations/raced", late, times=1)
    with page.expect_request_finished(lambda request: request in held):
        room.live.ask("say something happens", "raced")
    page.evaluate("new Promise(done => setTimeout(done, 100))")  # by then it was drawn, if it was to be
    assert drawn.evaluate("each => each.isConnected")
    expect(task).to_have_value("say two")
    assert room.live.get("/v1/automations/raced")["automation"]["task"] == "say two"
    removed(room.live, "raced")


def test_a_button_that_would_be_drawn_anew_while_it_is_pressed_is_pressed(room: Room) -> None:
    made(room.live, "pressed")
    page, held = room.tab("/automations/pressed"), list[Request]()
    expect(page.get_by_label("Task", exact=True)).to_be_visible()

    def late(route: Route) -> None:
        answer = route.fetch()
        held.append(route.request)
        page.get_by_role("button", name="Pause").hover()
        page.mouse.down()
        route.fulfill(response=answer)

    page.route("**/v1/room/automations/pressed", late, times=1)
    with page.expect_request_finished(lambda request: request in held):
        room.live.ask("say something happens", "pressed")
    page.evaluate("new Promise(done => setTimeout(done, 100))")  # by then it was drawn, if it was to be
    page.mouse.up()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    removed(room.live, "pressed")


def test_the_version_of_the_other_tab_can_be_taken(room: Room) -> None:
    room.forgiven = ("409",)
    made(room.live, "taken", task="say one")
    page = room.tab("/automations/taken")
    page.get_by_label("Task", exact=True).fill("say mine")
    made(room.live, "taken", task="say theirs")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Take the version as it is now").click()
    expect(page.get_by_label("Task", exact=True)).to_have_value("say theirs")
    removed(room.live, "taken")


def test_words_of_strangers_are_text(room: Room) -> None:
    made(room.live, "evil", task=EVIL, watch={"kind": "feed", "urls": ["https://a.example/<script>alert(1)</script>"]})
    page = room.tab("/automations")
    expect(page.get_by_text(EVIL)).to_be_visible()
    page.get_by_role("link", name="evil").click()
    expect(page.get_by_label("Task", exact=True)).to_have_value(EVIL)
    assert page.locator("main img, main script").count() == 0
    removed(room.live, "evil")


def test_a_webhook_is_made_takes_a_signed_delivery_and_is_removed(room: Room) -> None:
    page = room.tab("/automations?tab=hooks&new=1")
    page.get_by_label("Name").fill("door")
    page.get_by_label("Signed as").select_option("generic")
    page.get_by_label("A delivery").select_option("collect")
    page.get_by_label("Only deliveries with").fill("/kind=open,ajar")
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_text(f"{room.live.url}/hooks/door")).to_be_visible()
    expect(page.get_by_text("daimon hooks show door --secret")).to_be_visible()
    secret = secret_of(room.live, name_of("door"))
    assert secret not in page.content()
    posts = Service(room.live, Hook(name="door", scheme="generic", secret=name_of("door")), secret)
    assert posts.post({"kind": "open", "who": EVIL}).json["outcome"] == "collected"
    assert posts.send(b"{}", {"content-type": "application/json"}).status == 401
    page.reload()
    rows = page.get_by_role("region", name="Deliveries").get_by_role("row")
    expect(rows.filter(has_text="kept")).to_have_count(1)
    expect(rows.filter(has_text="refused")).to_contain_text("no signature")
    rows.filter(has_text="kept").get_by_text("Show").click()
    expect(page.get_by_text(EVIL)).to_be_visible()
    assert page.locator("main img").count() == 0
    assert axe(page) == []
    assert posts.post({"kind": "ajar"}).json["outcome"] == "collected"
    expect(rows.filter(has_text="kept")).to_have_count(2)
    expect(page.get_by_text(EVIL)).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_role("heading", name="No service may post here yet")).to_be_visible()


def test_the_second_tab_on_a_webhook_is_told_too(room: Room) -> None:
    room.forgiven = ("409",)
    hook = {"name": "two", "scheme": "github", "secret": "hook-two"}
    assert room.live.call("PUT", "/v1/hooks/two", {**hook, "task": "one"}).status == 200
    page = room.tab("/automations?tab=hooks&hook=two")
    page.get_by_label("Task", exact=True).fill("mine")
    assert room.live.call("PUT", "/v1/hooks/two", {**hook, "task": "theirs"}).status == 200
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog").get_by_role("row").filter(has_text="Task")).to_contain_text("theirs")
    page.get_by_role("button", name="Save mine over it").click()
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    assert room.live.get("/v1/hooks/two")["hook"]["task"] == "mine"
    assert room.live.call("DELETE", "/v1/hooks/two").status == 200


def test_on_a_phone_nothing_scrolls_sideways(room: Room) -> None:
    made(room.live, "small", task="say " + "something long " * 10)
    for path in ("/automations", "/automations/small", "/automations?tab=hooks&new=1"):
        page = room.tab(path, PHONE)
        expect(page.locator(".card").first).to_be_visible()
        assert page.evaluate("() => { const box = document.querySelector('.content'); return box.scrollWidth <= box.clientWidth; }"), path
        assert axe(page) == []
    removed(room.live, "small")


def test_the_times_of_an_interval_are_those_that_are_set_until_other_words_are_typed(room: Room) -> None:
    made(room.live, "steady", schedule="every 3 hours")
    page = room.tab("/automations/steady")
    first = page.locator(".times-list time").first
    expect(first).to_have_attribute("datetime", room.live.get("/v1/automations/steady/preview")[0])
    page.get_by_label("When", exact=True).fill("every day at 6")
    expect(first).to_have_attribute("datetime", re.compile("T06:00:00"))
    removed(room.live, "steady")


def test_a_time_of_day_in_words_is_read_from_the_keyboard_alone(room: Room) -> None:
    page = room.tab("/automations")
    expect(page.get_by_role("heading", name="Nothing happens by itself yet")).to_be_visible()
    page.keyboard.press("n")
    page.get_by_label("Name").focus()
    for text in ("typed", "tomorrow at 9"):
        page.keyboard.type(text)
        page.keyboard.press("Tab")
    page.get_by_label("Task", exact=True).focus()
    page.keyboard.type("say hi")
    page.get_by_role("button", name="Set it up").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/automations/typed$"))
    expect(page.get_by_label("When", exact=True)).to_have_value(re.compile(r"^once on \d{4}-\d\d-\d\d at 09:00$"))
    page.get_by_label("Task", exact=True).fill("say ho")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    removed(room.live, "typed")
