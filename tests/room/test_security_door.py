"""Who comes through the door: each check on its own, with a caller that does all else right; and that the right caller gets in."""

import asyncio

import pytest
from tests.gateway.live import DEADLINE_S, Live
from tests.room.rig import Gateway
from tests.room.visitor import EVIL, Visitor, acts, link, signed_in, visitor
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

OVER = 4401
MESSAGE = {"type": "message", "text": "hello", "conversation": "door"}


@pytest.fixture
def live(daimon: Gateway) -> Live:
    return daimon.live


@pytest.fixture
def browser_(live: Live) -> Visitor:
    return signed_in(live)


def events(live: Live) -> int:
    return int(live.get("/v1/status")["count"]["events"])


# -- the right caller


def test_a_browser_that_is_signed_in_can_do_its_work(live: Live, browser_: Visitor) -> None:
    assert browser_.call("GET", "/v1/me").json["rights"]
    assert browser_.call("GET", "/v1/status").status == 200
    assert browser_.call("POST", "/v1/events", MESSAGE).status == 202
    kept = browser_.call("POST", "/v1/blobs", b"milk", Content_Type="application/octet-stream")
    assert (kept.status, kept.json["size"]) == (201, 4)
    assert browser_.call("GET", f"/v1/files/{kept.json['blob']}").body == b"milk"


def test_a_tunnel_with_another_port_is_this_machine_too(live: Live) -> None:
    tunnelled = Visitor(live, "localhost:8000", "http://localhost:8000")
    assert tunnelled.enter(link(live)).status == 200
    assert tunnelled.call("POST", "/v1/events", MESSAGE).status == 202


def test_the_pages_own_files_need_no_session(live: Live) -> None:
    stranger = visitor(live)
    for path in ("/", "/enter", "/approvals", "/settings/devices", "/manifest.webmanifest", "/sw.js"):
        assert stranger.call("GET", path).status == 200, path


# -- without a session


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/status", "/v1/nothing", "/v1/me", "/v1/acts", "/v1/devices", "/%76%31/status"])
def test_without_a_session_nothing_of_the_owners_is_told(live: Live, path: str) -> None:
    answer = visitor(live).call("GET", path)
    assert (answer.status, answer.code) == (401, "no_token")


@pytest.mark.parametrize("cookie", ["x", "", "é", "A" * 43, "a=b", '"quoted"'])
def test_a_cookie_of_nobodys_is_told_so(live: Live, cookie: str) -> None:
    stranger = visitor(live)
    answer = stranger.call("GET", "/v1/status", Cookie=f"{stranger.cookie_name}={cookie}")
    assert (answer.status, answer.code) == (401, "no_session" if cookie else "no_token")


def test_the_token_is_no_cookie_and_a_cookie_no_token(live: Live, browser_: Visitor) -> None:
    stranger = visitor(live)
    stranger.cookie = live.token
    assert stranger.call("GET", "/v1/status").status == 401
    assert live.call_as("GET", "/v1/status", None, {"Authorization": f"Bearer {browser_.cookie}"}).status == 401


# -- DNS rebinding


@pytest.mark.parametrize("host", ["evil.example", "evil.example:7310", "127.0.0.1.nip.io", "localhost.evil.example", "0.0.0.0", "127.1"])
@pytest.mark.parametrize("path", ["/v1/status", "/", "/enter", "/healthz"])
def test_a_name_that_was_made_to_point_here_gets_nothing(browser_: Visitor, host: str, path: str) -> None:
    answer = browser_.call("GET", path, Host=host)
    assert (answer.status, answer.code) == (421, "wrong_host")


# -- other sites


@pytest.mark.parametrize("site", ["cross-site", "same-site", "", "same-origin, none"])
def test_a_request_that_another_site_had_the_browser_make_is_refused(browser_: Visitor, site: str) -> None:
    assert browser_.call("GET", "/v1/status", Sec_Fetch_Site=site).code == "foreign_site"
    assert browser_.call("POST", "/v1/events", MESSAGE, Sec_Fetch_Site=site).code == "foreign_site"


def test_a_request_that_does_not_say_where_it_comes_from_needs_the_header_of_the_page(browser_: Visitor) -> None:
    assert browser_.call("GET", "/v1/status", Sec_Fetch_Site=None).code == "foreign_site"
    assert browser_.call("GET", "/v1/status", Sec_Fetch_Site=None, X_Daimon="1").status == 200


@pytest.mark.parametrize("origin", [EVIL, "null", "", "http://localhost:3000", "http://127.0.0.1", "https://127.0.0.1:7310", None])
def test_what_changes_something_must_come_from_our_own_origin(live: Live, browser_: Visitor, origin: str | None) -> None:
    before = events(live)
    answer = browser_.call("POST", "/v1/events", MESSAGE, Origin=origin)
    assert (answer.status, answer.code) == (403, "foreign_origin")
    assert events(live) == before


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", None])
def test_what_a_form_can_send_is_refused(live: Live, browser_: Visitor, kind: str | None) -> None:
    before = events(live)
    assert browser_.call("POST", "/v1/events", MESSAGE, Content_Type=kind).status == 415
    assert browser_.call("POST", "/v1/events", MESSAGE, X_Daimon=None).status == 403
    assert events(live) == before


def test_no_other_origin_is_ever_allowed(browser_: Visitor) -> None:
    for method in ("OPTIONS", "GET", "POST"):
        answer = browser_.call(method, "/v1/events", Origin=EVIL, Access_Control_Request_Method="POST")
        assert answer.status == 403
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_page_may_not_send_the_token(live: Live) -> None:
    assert visitor(live).call("POST", "/v1/events", MESSAGE, Authorization=f"Bearer {live.token}").code == "foreign_origin"


# -- WebSockets


@pytest.mark.parametrize("origin", [EVIL, "null", "http://127.0.0.1:1", None])
async def test_a_socket_of_another_origin_is_refused(live: Live, browser_: Visitor, origin: str | None) -> None:
    async with asyncio.timeout(DEADLINE_S):
        with pytest.raises(InvalidStatus, match="403"):
            await connect(f"{live.url.replace('http', 'ws')}/v1/socket", additional_headers=browser_.authority, origin=origin, proxy=None)  # type: ignore[arg-type]


async def test_a_socket_of_the_page_opens(live: Live, browser_: Visitor) -> None:
    async with asyncio.timeout(DEADLINE_S), socket(live, browser_) as line:
        await line.send('{"kind": "begin"}')
        assert '"ready"' in str(await line.recv())


async def test_a_device_that_is_revoked_is_cut_off_in_mid_stream(live: Live, browser_: Visitor) -> None:
    id_ = browser_.call("GET", "/v1/me").json["id"]
    async with asyncio.timeout(DEADLINE_S), socket(live, browser_) as line:
        await line.send('{"kind": "begin"}')
        await line.recv()
        await asyncio.to_thread(live.call, "DELETE", f"/v1/devices/{id_}")
        with pytest.raises(ConnectionClosed) as closed:
            await ended(line)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == OVER
    answer = browser_.call("GET", "/v1/status")
    assert (answer.status, answer.code) == (401, "no_session")


async def test_a_device_whose_rights_changed_is_looked_at_anew(live: Live, browser_: Visitor) -> None:
    id_ = browser_.call("GET", "/v1/me").json["id"]
    async with asyncio.timeout(DEADLINE_S), socket(live, browser_) as line:
        await asyncio.to_thread(live.call, "POST", f"/v1/devices/{id_}/rights", {"rights": ["read"]})
        with pytest.raises(ConnectionClosed):
            await ended(line)
    async with asyncio.timeout(DEADLINE_S), socket(live, browser_) as line:
        await line.send('{"kind": "begin"}')
        await line.recv()
        await line.send('{"kind": "event", "re": 1, "event": {"type": "message", "text": "may I?", "conversation": "door"}}')
        assert '"forbidden"' in await answered(line)


async def answered(line: ClientConnection) -> str:
    """To what was sent first. What else happens in the home is told meanwhile."""
    while '"re":1' not in (said := str(await line.recv())).replace(" ", ""):
        pass
    return said


async def ended(line: ClientConnection) -> None:
    while True:
        await line.recv()


def socket(live: Live, caller: Visitor) -> connect:
    url = f"{live.url.replace('http', 'ws')}/v1/socket"
    return connect(url, additional_headers=caller.authority, origin=live.url, proxy=None)  # type: ignore[arg-type]


# -- links and sessions


def test_a_link_works_once(live: Live) -> None:
    secret = link(live)
    assert visitor(live).enter(secret).status == 200
    again = visitor(live).enter(secret)
    assert (again.status, again.code) == (403, "forbidden")
    assert "set-cookie" not in again.headers


def test_the_cookie_is_out_of_the_reach_of_scripts_and_other_sites(live: Live) -> None:
    sent = visitor(live).enter(link(live)).headers["set-cookie"].lower()
    assert "httponly" in sent
    assert "samesite=strict" in sent
    assert "path=/" in sent
    assert "domain" not in sent


def test_a_cookie_that_somebody_planted_is_never_taken_over(live: Live) -> None:
    planted = visitor(live)
    planted.cookie = "x" * 43
    assert planted.enter(link(live)).status == 200
    assert planted.cookie != "x" * 43
    attacker = visitor(live)
    attacker.cookie = "x" * 43
    assert attacker.call("GET", "/v1/me").status == 401


def test_signing_in_anew_ends_the_old_session(live: Live, browser_: Visitor) -> None:
    old = Visitor(live, browser_.host, browser_.origin, browser_.cookie)
    assert browser_.enter(link(live)).status == 200
    assert browser_.call("GET", "/v1/me").status == 200
    assert old.call("GET", "/v1/me").code == "no_session"


def test_signing_out_ends_the_session_here_and_in_the_browser(live: Live, browser_: Visitor) -> None:
    left = browser_.call("POST", "/v1/leave")
    assert left.status == 200
    assert "max-age=0" in left.headers["set-cookie"].lower()
    assert browser_.call("GET", "/v1/me").code == "no_session"


def test_a_session_outlives_a_restart_and_a_link_does_not_come_back(daimon: Gateway) -> None:
    before, used = signed_in(daimon.live), link(daimon.live)
    assert visitor(daimon.live).enter(used).status == 200
    daimon.stop()
    daimon.start()
    assert before.call("GET", "/v1/me").status == 200
    assert visitor(daimon.live).enter(used).status == 403


def test_no_secret_is_on_the_disk_or_among_the_acts(live: Live, browser_: Visitor) -> None:
    unused = link(live)
    told = str(acts(live))
    for file in live.home.path.glob("journal.db*"):
        data = file.read_bytes()
        for secret in (browser_.cookie, unused):
            assert secret.encode() not in data
            assert secret not in told


# -- sizes and paths


def test_a_large_body_is_refused_before_anything_is_done_with_it(live: Live) -> None:
    answer = visitor(live).call("POST", "/v1/enter", b'{"secret": "' + b"x" * 200_000 + b'"}')
    assert (answer.status, answer.code) == (413, "too_large")


@pytest.mark.parametrize(
    "path",
    [
        *("/room/../../headers.py", "/room/..%2f..%2fheaders.py", "/room/%2e%2e/%2e%2e/headers.py", "/room//etc/passwd"),
        *("/../../../../etc/passwd", "/room/x/..%2f..%2f..%2fheaders.py", "/%2e%2e/%2e%2e/etc/passwd", "/room/enter.js/../headers.py"),
    ],
)
def test_no_path_leads_out_of_the_files_of_the_page(live: Live, path: str) -> None:
    answer = visitor(live).call("GET", path)
    assert answer.status == 404
    assert b"root:" not in answer.body


@pytest.mark.parametrize("shown", ["as=text/html&view=frame", "as=image/svg%2Bxml&view=frame", "as=text/plain"])
def test_a_text_with_a_broken_byte_is_shown_without_secrets_too(live: Live, browser_: Visitor, shown: str) -> None:
    name, value = f"planted-{len(shown)}", f"hunter2-planted-{len(shown)}-4711"
    assert (
        browser_.call("POST", "/v1/settings/secrets", {"name": name, "value": value, "service": "x", "hosts": ["x.example"]}).status == 200
    )
    kept = browser_.call("POST", "/v1/blobs", b"\xff milk " + value.encode(), Content_Type="application/octet-stream").json["blob"]
    found = browser_.call("GET", f"/v1/files/{kept}?{shown}").body
    assert found.startswith(b"\xff milk ")
    assert value.encode() not in found


def test_a_picture_comes_byte_for_byte(browser_: Visitor) -> None:
    data = bytes(range(256))
    kept = browser_.call("POST", "/v1/blobs", data, Content_Type="application/octet-stream").json["blob"]
    assert browser_.call("GET", f"/v1/files/{kept}?as=image/png").body == data


@pytest.mark.parametrize("hash_", ["..%2f..%2fjournal.db", "%2e%2e", "x" * 64, "0" * 64, "%00", "../../token"])
def test_a_file_is_found_by_its_hash_and_nothing_else(browser_: Visitor, hash_: str) -> None:
    assert browser_.call("GET", f"/v1/files/{hash_}").status == 404


# -- what every answer wears


@pytest.mark.parametrize("path", ["/", "/enter", "/v1/status", "/v1/nothing", "/healthz", "/sw.js", "/nothing"])
def test_every_answer_has_the_headers_that_keep_others_away(browser_: Visitor, path: str) -> None:
    headers = browser_.call("GET", path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert "camera=()" in headers["permissions-policy"]
    assert "default-src 'none'" in headers["content-security-policy"]
    if path.startswith("/v1"):
        assert headers["cache-control"] == "no-store"


def test_a_page_is_never_framed_and_each_has_a_nonce_of_its_own(live: Live) -> None:
    first, second = (visitor(live).call("GET", "/").headers["content-security-policy"] for _ in range(2))
    assert first != second
    for part in ("frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'"):
        assert part in first
    assert "unsafe" not in first
