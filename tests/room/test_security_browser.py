"""What a page of somebody else's can do to a browser that is signed in, and what an agent's page can do in it: with a real browser.

The foreign site is tried under two names. `localhost` is another site; `127.0.0.1` with another port is another origin of the same site, to
which cookies go whatever `SameSite` says: there only our own checks are left.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from tests.gateway.live import Live
from tests.room.foreign import Site, site
from tests.room.rig import DEADLINE_S, PHONE, Room
from tests.room.visitor import link

ELSEWHERE = ("localhost", "127.0.0.1")


@pytest.fixture(scope="module")
def evil() -> Iterator[Site]:
    with site() as made:
        yield made


def visit(room: Room, evil: Site, host: str, page: str) -> Page:
    evil.page = f"<!doctype html><meta charset=utf-8><link rel=icon href='data:,'><title>waiting</title>{page}"
    tab = room.context.new_page()
    tab.goto(f"{evil.at(host)}/")
    return tab


def own_page(room: Room) -> Page:
    """The smallest of ours; its policy is that of all."""
    tab = room.context.new_page()
    tab.goto(f"{room.live.url}/enter")
    return tab


def count(live: Live) -> int:
    return int(live.get("/v1/status")["count"]["events"])


@pytest.mark.parametrize("host", ELSEWHERE)
def test_a_form_of_another_site_changes_nothing(room: Room, evil: Site, host: str) -> None:
    before, devices = count(room.live), len(room.live.get("/v1/devices"))
    tab = visit(
        room, evil, host,
        f"""<form method=post enctype=text/plain action="{room.live.url}/v1/events">
        <input name='{{"type":"message","text":"' value='"}}'></form><script>document.forms[0].submit()</script>""",
    )  # fmt: skip
    tab.wait_for_url(f"{room.live.url}/v1/events")
    expect(tab.locator("body")).to_contain_text("error")
    assert (count(room.live), len(room.live.get("/v1/devices"))) == (before, devices)


@pytest.mark.parametrize("host", ELSEWHERE)
def test_a_script_of_another_site_reads_and_sends_nothing(room: Room, evil: Site, host: str) -> None:
    before = count(room.live)
    tab = visit(room, evil, host, "")
    outcome = tab.evaluate(
        """async url => {
            const tried = (path, how) => fetch(url + path, how).then(async r => r.type + await r.text(), () => 'failed')
            const post = {method: 'POST', body: '{"type":"message","text":"evil"}', credentials: 'include'}
            return [
                await tried('/v1/status', {credentials: 'include'}),
                await tried('/v1/status', {credentials: 'include', mode: 'no-cors'}),
                await tried('/v1/events', {...post, mode: 'no-cors', headers: {'Content-Type': 'text/plain'}}),
                await tried('/v1/events', {...post, headers: {'Content-Type': 'application/json', 'X-Daimon': '1'}}),
            ]
        }""",
        room.live.url,
    )
    assert set(outcome) <= {"failed", "opaque"}
    assert count(room.live) == before


@pytest.mark.parametrize("host", ELSEWHERE)
def test_a_socket_of_another_site_does_not_open(room: Room, evil: Site, host: str) -> None:
    tab = visit(room, evil, host, "")
    assert tab.evaluate(OPENED, room.live.url) == "closed"


OPENED = """url => new Promise(done => {
    const line = new WebSocket(url.replace('http', 'ws') + '/v1/socket')
    line.onopen = () => done('open')
    line.onclose = () => done('closed')
})"""


def test_a_socket_of_the_page_opens_and_its_policy_lets_it(room: Room) -> None:
    assert own_page(room).evaluate(OPENED, room.live.url) == "open"


@pytest.mark.parametrize("host", ELSEWHERE)
@pytest.mark.parametrize("path", ["/", "/v1/status"])
def test_no_other_site_can_frame_a_page(room: Room, evil: Site, host: str, path: str) -> None:
    tab = visit(room, evil, host, "")
    with tab.expect_event("requestfailed", lambda request: request.url == f"{room.live.url}{path}") as failed:
        tab.evaluate(
            "url => { document.body.append(Object.assign(document.createElement('iframe'), {src: url})) }", f"{room.live.url}{path}"
        )
    assert failed.value.failure == "net::ERR_BLOCKED_BY_RESPONSE"


def test_another_site_that_opens_the_page_holds_no_window_of_it(room: Room, evil: Site) -> None:
    tab = visit(room, evil, "localhost", "<button>open</button>")
    with room.context.expect_page() as opened:
        tab.evaluate("url => { window.held = open(url) }", room.live.url)
    opened.value.wait_for_load_state()
    assert opened.value.evaluate("window.opener") is None
    tab.wait_for_function("window.held.closed")


def test_the_secret_of_a_link_stays_in_no_history_and_in_no_script(room: Room) -> None:
    tab = room.context.new_page()
    secret = link(room.live)
    tab.goto(f"{room.live.url}/enter#{secret}")
    tab.wait_for_url(lambda url: "/enter" not in url)
    assert secret not in tab.url
    assert tab.evaluate("document.cookie") == ""


# -- the page's own policy


def test_nothing_runs_in_the_page_that_it_did_not_bring(room: Room) -> None:
    room.forgiven = ("Content Security Policy", "TrustedHTML", "Refused", "TrustedScript", "violates")
    tab = own_page(room)
    ran = tab.evaluate(
        """async () => {
            const ran = []
            window.mark = what => ran.push(what)
            const tried = how => { try { how() } catch { } }
            const script = document.createElement('script')
            tried(() => { script.textContent = 'mark("inline")' })
            tried(() => document.body.append(script))
            tried(() => { document.body.innerHTML += '<img src=x onerror="mark(1)">' })
            setTimeout(() => tried(() => eval('mark("eval")')), 0)  // what a debugger calls directly may use eval
            tried(() => setTimeout('mark("timeout")', 0))
            await new Promise(done => setTimeout(done, 100))
            return ran
        }"""
    )
    assert ran == []


def test_the_page_reaches_no_other_host(room: Room, evil: Site) -> None:
    tab = own_page(room)
    evil.asked.clear()
    reached = tab.evaluate(
        """async url => {
            const image = new Image()
            const shown = new Promise(done => { image.onload = () => done('shown'); image.onerror = () => done('blocked') })
            image.src = url + '/i.png'
            return [await shown, await fetch(url + '/f', {mode: 'no-cors'}).then(() => 'fetched', () => 'blocked')]
        }""",
        evil.at("127.0.0.1"),
    )
    assert reached == ["blocked", "blocked"]
    assert evil.asked == []


# -- what an agent made


def made(room: Room, html: str) -> str:
    kept = room.live.call("POST", "/v1/blobs", html.encode())
    assert kept.status == 201
    return f"/v1/files/{kept.json['blob']}"


HOSTILE = """<!doctype html><title>made</title><p id=shown style="color: red">made by an agent</p>
<script>document.title = 'ran'; parent.document.title = 'ran'; top.location = 'about:blank'</script>
<img src="{evil}/pixel.png"><img src=x onerror="document.title = 'ran'"><link rel=stylesheet href="{evil}/style.css">
<meta http-equiv=refresh content="0;url={evil}/gone"><form action="{evil}/form"><input name=a></form><iframe src="{evil}/frame"></iframe>"""

DRAWN = """<svg xmlns='http://www.w3.org/2000/svg'><text id='shown'>made by an agent</text>
<script>top.document.title = 'ran'</script><image href='{evil}/pixel.png'/></svg>"""


@pytest.mark.parametrize("kind", ["text/html", "image/svg+xml"])
def test_what_an_agent_made_is_shown_without_running_reaching_or_reading_anything(room: Room, evil: Site, kind: str) -> None:
    path = made(room, (HOSTILE if kind == "text/html" else DRAWN).replace("{evil}", evil.at("localhost")))
    room.forgiven = ("Content Security Policy", "Blocked", "sandbox", "violates")
    tab = own_page(room)
    evil.asked.clear()
    tab.evaluate(
        """path => {
            const frame = Object.assign(document.createElement('iframe'), {id: 'made', src: path})
            frame.setAttribute('sandbox', '')
            document.body.append(frame)
        }""",
        f"{path}?as={kind.replace('+', '%2B')}&view=frame",
    )
    expect(tab.frame_locator("#made").locator("#shown")).to_have_text("made by an agent")
    assert tab.title() != "ran"
    assert tab.url.startswith(room.live.url)
    assert evil.asked == []


def test_in_a_tab_of_its_own_it_has_no_origin_either(room: Room, evil: Site) -> None:
    path = made(room, HOSTILE.replace("{evil}", evil.at("localhost")).replace("<meta http-equiv=refresh", "<meta name=x"))
    evil.asked.clear()
    tab = room.context.new_page()
    tab.goto(f"{room.live.url}{path}?as=text/html&view=frame")
    expect(tab.locator("#shown")).to_be_visible()
    assert tab.title() == "made"
    assert tab.evaluate("window.origin") == "null"
    assert evil.asked == []


def test_a_picture_is_shown_and_a_page_under_a_pictures_name_is_not_run(room: Room) -> None:
    tab = own_page(room)
    room.forgiven = ("Failed to load",)
    picture = bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
        "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
    )
    kept = room.live.call("POST", "/v1/blobs", picture).json["blob"]
    load = """path => new Promise(done => {
        const image = new Image()
        image.onload = () => done(image.width)
        image.onerror = () => done(0)
        image.src = path
    })"""
    assert tab.evaluate(load, f"/v1/files/{kept}?as=image/png&name=a.png") == 1
    page = made(room, "<script>document.title = 'ran'</script>")
    for kind in ("text/html", "image/svg+xml", "application/xhtml+xml", "text/xml"):
        answer = room.live.call("GET", f"{page}?as={kind.replace('+', '%2B')}&name=../../x%0d%0aSet-Cookie:a.html")
        assert answer.headers["content-type"] == "application/octet-stream"
        assert answer.headers["content-disposition"].startswith("attachment")
        assert "set-cookie" not in answer.headers


# -- the way in


def unknown(room: Room, **options: Any) -> BrowserContext:
    """A browser that is not signed in."""
    assert room.context.browser is not None
    context = room.context.browser.new_context(**options)
    context.set_default_timeout(DEADLINE_S * 1000)
    return context


def test_a_phone_asks_with_a_code_and_is_let_in(room: Room) -> None:
    context = unknown(room, viewport=PHONE)
    tab = context.new_page()
    tab.goto(f"{room.live.url}/enter")
    tab.get_by_label("What this device is called").fill("Anna's phone")
    tab.get_by_role("button", name="Ask for access").click()
    code = tab.locator("#code")
    expect(code).not_to_be_empty()
    confirmed = room.live.call("POST", f"/v1/devices/requests/{code.inner_text()}", {"rights": ["read", "chat"]})
    assert confirmed.json["name"] == "Anna's phone"
    tab.wait_for_url(lambda url: "/enter" not in url)
    assert set(tab.evaluate("fetch('/v1/me').then(r => r.json())")["rights"]) == {"read", "chat"}
    context.close()


def test_a_link_that_was_used_says_so_and_offers_another_way(room: Room) -> None:
    used = link(room.live)
    first = room.context.new_page()
    first.goto(f"{room.live.url}/enter#{used}")
    first.wait_for_url(lambda url: "/enter" not in url)
    context = unknown(room)
    second = context.new_page()
    second.goto(f"{room.live.url}/enter#{used}")
    expect(second.get_by_role("status")).to_contain_text("used already")
    expect(second.get_by_role("button", name="Ask for access")).to_be_visible()
    context.close()


def test_characters_that_turn_others_round_are_seen_for_what_they_are(room: Room) -> None:
    room.live.ask("mail gro.elpmaxe@\u202elive\u2066", "turning")
    page = room.tab("/approvals")
    asked = page.get_by_text("gro.elpmaxe@\ufffdlive\ufffd").first
    expect(asked).to_be_visible()
    assert not any(mark in page.locator("body").inner_text() for mark in "\u202e\u2066")


def test_words_that_run_from_right_to_left_are_shown_as_they_were_written(room: Room) -> None:
    room.live.ask("say שלום \u200fعالم", "leftwards")
    page = room.tab("/?c=leftwards")
    expect(page.get_by_text("שלום \u200fعالم").last).to_be_visible()
