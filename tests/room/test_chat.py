"""The chat, in a real browser on a real gateway."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from tests.room import seeding, tools
from tests.room.gates import open_gate
from tests.room.rig import PHONE, Gateway, Room, axe, gateway, signed_in

DOT = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc000000301010018dd8db00000000049454e44ae426082"
)


@pytest.fixture(scope="module")
def daimon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    home: Path = tmp_path_factory.mktemp("chat") / "home"
    with gateway(home, extensions=tools.EXTENSIONS) as running:
        running.live.ask("say hello", "main")  # a home in which nothing was said shows how to set it up
        yield running


def write(page: Page, text: str) -> None:
    box = page.get_by_label("Message", exact=True)
    box.fill(text)
    box.press("Enter")


def opened(room: Room, name: str, **more: Any) -> Page:
    page = room.tab(f"/?c={name}", **more)
    expect(page.get_by_label("Message", exact=True)).to_be_visible()
    return page


def turns(page: Page) -> Any:
    return page.locator(".thread-turns > .turn")


# -- talking


def test_a_message_is_answered_and_stands_there_once(room: Room) -> None:
    page = opened(room, "hello")
    write(page, "say good **day**")
    expect(page.locator(".said .prose strong")).to_have_text("day")
    expect(page.locator(".bubble")).to_have_text(["say good **day**"])
    expect(turns(page)).to_have_count(1)
    expect(page.locator(".is-pending")).to_have_count(0)
    expect(page.get_by_role("heading", level=1)).to_have_text("say good **day**")


def test_a_message_stands_there_once_also_where_the_journal_is_faster_than_the_answer(room: Room) -> None:
    page, seen = opened(room, "faster"), list[int]()

    def late(route: Route) -> None:
        answer = route.fetch()
        expect(page.locator(".said .prose")).to_have_text("once")
        seen.append(page.locator(".bubble").count())
        route.fulfill(response=answer)

    page.route("**/v1/events", late, times=1)
    with page.expect_request_finished(lambda request: request.url.endswith("/v1/events")):
        write(page, "say once")
    assert seen == [1]
    expect(page.locator(".bubble")).to_have_text(["say once"])


def test_shift_enter_begins_a_line(room: Room) -> None:
    page = opened(room, "lines")
    box = page.get_by_label("Message", exact=True)
    box.fill("say one")
    box.press("Shift+Enter")
    box.press_sequentially("two")
    box.press("Enter")
    expect(page.locator(".bubble .is-raw")).to_have_text("say one\ntwo")


def test_words_stream_and_the_rendered_answer_takes_their_place(room: Room) -> None:
    page = opened(room, "streaming")
    write(page, "stream streaming")
    expect(page.locator(".is-streaming")).to_contain_text("word29 ")
    open_gate("streaming")
    expect(page.locator(".said .prose")).to_contain_text("word59")
    expect(page.locator(".is-streaming")).to_have_count(0)
    expect(page.locator(".said")).to_have_count(1)


def test_what_runs_can_be_stopped(room: Room) -> None:
    page = opened(room, "stopping")
    write(page, "hang")
    expect(page.locator(".is-streaming")).to_contain_text("well,")
    page.get_by_role("button", name="Stop (Ctrl .)").click()
    expect(page.locator(".turn-foot")).to_contain_text("Stopped")
    expect(page.get_by_role("button", name="Stop (Ctrl .)")).to_be_hidden()


def test_a_message_into_a_running_turn_steers_it(room: Room) -> None:
    page = opened(room, "steering")
    write(page, "call gate {}")
    expect(page.locator('.call[data-state="running"]')).to_be_visible()
    expect(page.locator(".write-note")).to_contain_text("taken in at its next step")
    write(page, "say another course")
    expect(page.locator(".is-waiting, .is-pending")).to_contain_text("say another course")
    open_gate("steering")
    expect(page.locator(".heard")).to_contain_text("say another course")
    expect(page.locator(".said .prose")).to_have_text("another course")
    expect(turns(page)).to_have_count(1)
    expect(page.locator(".is-waiting, .is-pending")).to_have_count(0)


def test_a_message_can_be_said_again(room: Room) -> None:
    page = opened(room, "again")
    write(page, "say once")
    expect(page.locator(".said .prose")).to_have_text(["once"])
    page.get_by_role("button", name="Retry").click()
    expect(page.locator(".said .prose")).to_have_text(["once", "once"])
    expect(turns(page)).to_have_count(2)


def test_a_draft_is_kept_for_each_conversation(room: Room) -> None:
    room.live.ask("say x", "draft-b")
    page = opened(room, "draft-a")
    page.get_by_label("Message", exact=True).fill("half a thought")
    page.locator('[data-name="draft-b"]').click()
    expect(page.get_by_label("Message", exact=True)).to_have_value("")
    page.go_back()
    expect(page.get_by_label("Message", exact=True)).to_have_value("half a thought")
    page.reload()
    expect(page.get_by_label("Message", exact=True)).to_have_value("half a thought")


def test_an_empty_conversation_offers_a_beginning(room: Room) -> None:
    page = opened(room, "nothing-yet")
    page.get_by_role("button", name="What time is it in Tokyo?").click()
    expect(page.locator(".bubble")).to_have_text("What time is it in Tokyo?")
    expect(turns(page)).to_have_count(1)


# -- what was done


def test_a_tool_call_is_a_card_with_arguments_result_label_and_cost(room: Room) -> None:
    room.live.ask('call lookup {"text": "found it"}', "cards")
    page = opened(room, "cards")
    card = page.locator(".call")
    expect(card.locator(".chip")).to_contain_text("web:example.org")
    expect(card.locator(".call-body")).to_be_hidden()
    card.locator("summary").first.click()
    expect(card.get_by_label("Arguments")).to_contain_text('"text": "found it"')
    expect(card.get_by_label("Result")).to_have_text("found it")
    expect(card).to_contain_text("Allowed: it changes nothing")
    expect(card).to_contain_text("0 tokens in, 0 out, $0.00")
    assert axe(page) == []


def test_an_open_card_stays_open_while_the_turn_goes_on(room: Room) -> None:
    page = opened(room, "staying")
    write(page, "call gate {}")
    page.locator(".call summary").click()
    open_gate("staying")
    expect(page.get_by_label("Result")).to_have_text("open")
    expect(page.locator(".call-body")).to_be_visible()


def test_a_question_is_answered_where_it_stands(room: Room) -> None:
    page = opened(room, "question")
    write(page, "ask Shall I go on?")
    question = page.locator(".question")
    expect(question).to_contain_text("Shall I go on?")
    expect(page.locator('[data-name="question"] .badge')).to_have_text("1 ?")
    assert axe(page) == []
    question.get_by_role("button", name="yes").click()
    expect(question).to_contain_text("Answered yes by you")
    expect(page.locator(".said .prose")).to_have_text("thank you")
    expect(page.locator('[data-name="question"] .badge')).to_have_count(0)


def test_why_shows_memories_and_sources(room: Room) -> None:
    room.live.call("POST", "/v1/memory/items", {"text": "The platypus lays eggs.", "on_page": False})
    room.live.ask('call lookup {"text": "platypus, see https://example.org/platypus"}', "reasons")
    page = opened(room, "reasons")
    page.get_by_role("button", name="Why?").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("The platypus lays eggs.")
    dialog.get_by_role("tab", name="Seen").click()
    expect(dialog.get_by_role("link", name="https://example.org/platypus")).to_be_visible()
    expect(dialog.locator(".chip.is-stranger").first).to_be_visible()
    assert axe(page) == []


def test_a_result_of_megabytes_does_not_freeze_the_page(room: Room) -> None:
    room.live.ask("call flood {}", "heavy")
    page = opened(room, "heavy")
    page.locator(".call summary").click()
    expect(page.get_by_label("Result")).to_contain_text("xxxx")
    assert len(page.get_by_label("Result").inner_text()) < 10_000
    page.get_by_role("button", name="Show all").click()
    expect(page.get_by_role("button", name="Show all")).to_have_count(0)
    write(page, "say still here")
    expect(page.locator(".said .prose").last).to_have_text("still here")


# -- files


def test_files_go_in_with_previews_and_can_be_taken_back(room: Room) -> None:
    page = opened(room, "files-in")
    page.locator("input[type=file]").set_input_files(
        [
            {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"milk"},
            {"name": "<b>dot</b>.png", "mimeType": "image/png", "buffer": DOT},
        ]
    )
    expect(page.locator(".write-file")).to_have_count(2)
    expect(page.locator(".write-file").nth(1)).to_contain_text("<b>dot</b>.png")
    page.get_by_role("button", name="Remove <b>dot</b>.png").click()
    expect(page.locator(".write-file")).to_have_count(1)
    write(page, "say got it")
    expect(page.locator(".bubble .file-link")).to_contain_text("notes.txt")
    expect(page.locator(".said .prose")).to_have_text("got it")
    part = room.live.get("/v1/conversations/entries?name=files-in")["turns"][0]["came"]["files"][0]
    assert (part["name"], part["size"]) == ("notes.txt", 4)


def test_files_come_out_pictures_inline_and_pages_in_a_frame_that_may_do_nothing(room: Room) -> None:
    picture = room.live.call("POST", "/v1/blobs", DOT).json["blob"]
    html = b"<h1>Made by an agent</h1><script>top.document.title = 'owned'</script>"
    made = room.live.call("POST", "/v1/blobs", html).json["blob"]
    if room.live.call("GET", f"/v1/files/{picture}?as=image/png").status == 404:
        pytest.skip("this gateway has no GET /v1/files yet")
    arguments = json.dumps({"picture": picture, "page": made, "size": len(html)})
    room.live.ask(f"call files {arguments}", "files-out")
    page = opened(room, "files-out")
    page.locator(".call summary").first.click()
    image = page.locator(".call img")
    expect(image).to_be_visible()
    page.wait_for_function("() => document.querySelector('.call img').naturalWidth === 1")
    page.get_by_text("Preview").click()
    frame = page.frame_locator(".file-frame")
    expect(frame.get_by_role("heading", name="Made by an agent")).to_be_visible()
    assert page.locator(".file-frame").get_attribute("sandbox") == ""
    assert "owned" not in page.title()
    room.forgiven = ("Blocked script execution",)


# -- the list


def test_conversations_are_found_and_opened_from_the_list(room: Room) -> None:
    room.live.ask("say the quokka smiles", "quokka")
    page = room.tab("/")
    page.get_by_label("Search conversations").fill("quokka smiles")
    expect(page.locator(".talk")).to_have_count(1)
    page.locator(".talk").click()
    expect(page.locator(".said .prose")).to_have_text("the quokka smiles")
    assert "c=quokka" in page.url


def test_a_message_from_elsewhere_appears_by_itself(room: Room) -> None:
    page = opened(room, "elsewhere")
    expect(page.locator(".welcome")).to_be_visible()
    room.live.ask("say from the terminal", "elsewhere")
    expect(page.locator(".said .prose")).to_have_text("from the terminal")
    expect(page.locator('[data-name="elsewhere"]')).to_be_visible()


def test_what_happens_while_a_conversation_is_being_read_is_seen_too(room: Room) -> None:
    room.live.ask("say before", "being-read")
    page = opened(room, "reading")
    expect(page.locator(".line-state")).to_have_attribute("data-state", "online")

    def late(route: Route) -> None:
        old = route.fetch()
        room.live.ask("say meanwhile", "being-read")
        expect(page.locator('[data-name="being-read"] .talk-last')).to_have_text("meanwhile")
        route.fulfill(response=old)

    page.route("**/v1/conversations/entries?name=being-read*", late, times=1)
    page.locator('[data-name="being-read"]').click()
    expect(page.locator(".said .prose")).to_have_text(["before", "meanwhile"])


def test_what_is_written_in_a_chat_of_another_channel_stays_here_unless_one_wants_it_there(room: Room) -> None:
    came = {"type": "message", "text": "say over there", "conversation": "telegram/42", "source": "telegram"}
    assert room.live.call("POST", "/v1/events", came).status == 202
    page = opened(room, "telegram%2F42")
    expect(page.locator(".said .prose")).to_have_text(["over there"])
    expect(page.locator(".head-note")).to_have_text("Telegram")
    wish = page.get_by_label("Send the answer to Telegram too")
    expect(wish).not_to_be_checked()
    drawn = wish.element_handle()
    write(page, "say only here")
    expect(page.locator(".said .prose")).to_have_text(["over there", "only here"])
    assert drawn.evaluate("each => each.isConnected"), "it would be lost while it is set"
    wish.check()
    write(page, "say there too")
    expect(page.locator(".said .prose")).to_have_text(["over there", "only here", "there too"])
    turns = room.live.get("/v1/conversations/entries?name=telegram%2F42")["turns"]
    assert [turn["came"]["reply_to"]["channel"] for turn in turns] == ["telegram", "local", "local"]
    assert turns[0]["came"]["reply_to"]["to"] == "42"


# -- what goes wrong


def test_the_gateway_may_restart_under_the_page_and_nothing_is_lost_or_twice(browser: Browser, tmp_path: Path) -> None:
    with gateway(tmp_path / "home", extensions=tools.EXTENSIONS) as running:
        running.live.ask("say hello", "main")
        context = signed_in(browser, running)
        room = Room(running, context, forgiven=("ERR_CONNECTION_REFUSED", "WebSocket", "Failed to load resource", "ERR_EMPTY_RESPONSE"))
        page = opened(room, "restart")
        write(page, "say before")
        expect(page.locator(".said .prose")).to_have_text(["before"])
        running.stop()
        expect(page.locator(".line-state")).to_have_attribute("data-state", "offline")
        write(page, "say meanwhile")
        expect(page.locator(".is-pending")).to_contain_text("it goes out when the gateway answers")
        running.start()
        expect(page.locator(".said .prose")).to_have_text(["before", "meanwhile"])
        expect(page.locator(".is-pending")).to_have_count(0)
        expect(page.locator(".bubble")).to_have_text(["say before", "say meanwhile"])
        write(page, "say after")
        expect(page.locator(".said .prose")).to_have_text(["before", "meanwhile", "after"])
        assert len(room.live.get("/v1/conversations/entries?name=restart")["turns"]) == 3
        room.quiet()
        context.close()


def test_a_refused_message_says_why_and_can_be_discarded(room: Room) -> None:
    page = opened(room, "refused")
    page.route("**/v1/events", lambda route: route.continue_(post_data=json.dumps({"type": "message"})))
    write(page, "say this is spoiled on its way")
    expect(page.locator(".is-pending")).to_contain_text("Not sent: ")
    page.unroute("**/v1/events")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".said .prose")).to_have_text("this is spoiled on its way")
    room.forgiven = ("400",)


HOSTILE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


def test_nothing_that_strangers_write_becomes_markup(room: Room) -> None:
    blob = room.live.call("POST", "/v1/blobs", b"x").json["blob"]
    part = {"kind": "file", "blob": blob, "name": f"{HOSTILE}.txt", "media_type": "text/plain", "size": 1}
    name = f"hostile {HOSTILE}"
    message = {"type": "message", "conversation": name, "text": f"say {HOSTILE} ![x](https://evil.example/x.png)", "parts": [part]}
    assert room.live.call("POST", "/v1/events", message).status == 202
    other = {"type": "message", "conversation": name, "text": f"call lookup {json.dumps({'text': HOSTILE})}"}
    assert room.live.call("POST", "/v1/events", other).status == 202
    hook = {"type": "webhook", "service": HOSTILE, "data": {HOSTILE: HOSTILE}, "conversation": name}
    assert room.live.call("POST", "/v1/events", hook).status == 202
    asked: list[str] = []
    page = room.context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(room.live.url + "/?q=hostile")
    page.locator(".talk").first.click()
    expect(turns(page)).to_have_count(3)
    page.locator(".call summary").click()
    expect(page.get_by_label("Result").first).to_contain_text("<img src=x")
    assert page.locator("img, script:not([src])").evaluate_all("all => all.filter(each => each.closest('.page')).length") == 0
    assert "owned" not in page.evaluate("document.title").replace(HOSTILE, "")
    assert all(url.startswith(room.live.url) for url in asked)


def test_right_to_left_words_and_emoji_are_kept(room: Room) -> None:
    page = opened(room, "bidi")
    write(page, "say שלום 🎉 \u202eabc")
    paragraph = page.locator(".said .prose p")
    expect(paragraph).to_have_text("שלום 🎉 abc")
    assert paragraph.evaluate("each => getComputedStyle(each).direction") == "rtl"


# -- long ones


def test_older_turns_come_as_one_scrolls_and_the_place_stays(room: Room) -> None:
    for n in range(45):
        room.live.ask(f"say number {n}", "scrolling")
    page = opened(room, "scrolling")
    expect(page.locator(".said .prose").last).to_have_text("number 44")
    expect(page.get_by_role("button", name="Newest")).to_be_hidden()
    scroller = page.locator(".thread-scroll")
    scroller.evaluate("each => { each.scrollTop = 0; }")
    expect(page.locator(".said .prose").first).to_have_text("number 0")
    assert scroller.evaluate("each => each.scrollTop") > 0
    expect(page.get_by_role("button", name="Newest")).to_be_visible()
    room.live.ask("say one more", "scrolling")
    expect(page.locator(".said .prose").last).to_have_text("one more")
    assert scroller.evaluate("each => each.scrollHeight - each.scrollTop - each.clientHeight") > 200
    page.get_by_role("button", name="Newest").click()
    expect(page.locator(".said .prose").last).to_be_in_viewport()
    texts = [text.strip() for text in page.locator(".said .prose").all_text_contents()]
    assert texts == [f"number {n}" for n in range(45)] + ["one more"]


def test_a_conversation_of_thousands_is_read_page_by_page_and_stays_light(browser: Browser, tmp_path: Path) -> None:
    with gateway(tmp_path / "home", extensions=tools.EXTENSIONS) as running:
        running.live.ask("say wombat", "thousands")
        running.stop()
        seeding.repeat(running.home.journal, "thousands", "wombat", 4_999)
        running.start()
        context = signed_in(browser, running)
        room = Room(running, context)
        page = opened(room, "thousands")
        expect(page.locator(".said .prose").last).to_have_text("wombat")
        assert turns(page).count() <= 60
        scroller = page.locator(".thread-scroll")
        for first in range(4_969, 4_700, -30):
            scroller.evaluate("each => { each.scrollTop = 0; }")
            expect(page.locator(".said .prose").first).to_contain_text("wombat-")
            page.wait_for_function(f"() => document.querySelectorAll('.thread-turns > .turn').length >= {4_999 - first + 30}")
        page.get_by_role("button", name="Newest").click()
        expect(page.locator(".said .prose").last).to_be_in_viewport()
        assert turns(page).count() <= 400
        room.quiet()
        context.close()


# -- for everybody


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_nobody_is_shut_out(room: Room, theme: str) -> None:
    room.live.ask("say # Hello\n\nSee https://example.org and `code`", "open-to-all")
    page = opened(room, "open-to-all")
    page.evaluate("theme => localStorage.setItem('theme', theme)", theme)
    page.reload()
    expect(page.locator(".said .prose").last).to_be_visible()
    assert axe(page) == []


def test_on_a_phone_the_list_and_the_thread_take_turns_and_nothing_sticks_out(room: Room) -> None:
    room.live.ask(f"say {'long' * 60} https://example.org/{'a' * 200}", "small")
    page = room.tab("/", PHONE)
    page.locator('[data-name="small"]').click()
    expect(page.locator(".said .prose")).to_be_visible()
    expect(page.locator(".talks")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator(".thread-scroll").evaluate("each => each.scrollWidth - each.clientWidth") <= 0
    assert axe(page) == []
    page.get_by_role("button", name="All conversations").click()
    expect(page.locator(".talks")).to_be_visible()


def left_box(page: Page) -> None:
    """Whoever opens a conversation can write at once."""
    box = page.get_by_label("Message", exact=True)
    expect(box).to_be_focused()
    box.press("Escape")


def test_the_keyboard_reaches_everything(room: Room) -> None:
    room.live.ask("say left", "keys-1")
    room.live.ask("say right", "keys-2")
    page = opened(room, "keys-2")
    left_box(page)
    page.keyboard.press("j")
    expect(page.locator(".said .prose")).to_have_text("left")
    left_box(page)
    page.keyboard.press("n")
    expect(page.locator(".welcome")).to_be_visible()
    left_box(page)
    page.keyboard.press("/")
    expect(page.get_by_label("Search conversations")).to_be_focused()
