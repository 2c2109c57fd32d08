"""The driver of `Web`, on servers of this machine; hostile ones too."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest
from tests.net.rig import CERTIFICATES, PLACEHOLDER, SERVING, VALUE, Names, key

from daimon.abi.errors import NotFound, WebFailed
from daimon.abi.ids import SELF, AgentId
from daimon.abi.secret import Injection
from daimon.abi.web import WebRequest, WebResponse
from daimon.machine.clock import SystemClock
from daimon.net.bounds import Bounds
from daimon.net.client import WebClient
from daimon.testing.clock import ManualClock
from daimon.testing.upstream import Upstream

DEADLINE_S = 60.0


@dataclass
class Vault:
    """Secrets that are for one host each, and a record of their uses."""

    known: dict[str, Injection] = field(default_factory=dict)
    uses: list[tuple[str, str, str]] = field(default_factory=list)

    def reveal(self, name: str, by: str, host: str) -> str:
        raise NotFound(name)

    def injections(self, names: tuple[str, ...], agent: AgentId) -> tuple[Injection, ...]:
        if missing := [name for name in names if name not in self.known]:
            raise NotFound(f"there is no secret {missing[0]}")
        return tuple(self.known[name] for name in names)

    def used(self, name: str, by: str, host: str) -> None:
        self.uses.append((name, by, host))


@dataclass
class Place:
    client: WebClient
    plain: Upstream
    secure: Upstream
    names: Names
    vault: Vault
    clock: ManualClock

    async def get(self, url: str, **more) -> WebResponse:
        async with asyncio.timeout(DEADLINE_S):
            return await self.client.request(WebRequest(url=url, **more))

    async def failed(self, url: str, **more) -> WebFailed:
        with pytest.raises(WebFailed) as caught:
            await self.get(url, **more)
        return caught.value


@asynccontextmanager
async def placed(names: Names | None = None, bounds: Bounds | None = None) -> AsyncIterator[Place]:
    vault, clock, names = Vault({"api_key": key("api.test")}), ManualClock(), names or Names()
    async with Upstream() as plain, Upstream(SERVING) as secure:
        local = {"open.test": ("127.0.0.1", plain.port), "other.test": ("127.0.0.1", plain.port)}
        local |= dict.fromkeys(("api.test", "secure.test"), ("127.0.0.1", secure.port))
        client = WebClient(
            resolver=names, local=local, secrets=vault, clock=clock, bounds=bounds or Bounds(), context=CERTIFICATES.trusting()
        )
        yield Place(client, plain, secure, names, vault, clock)


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    async with placed() as place:
        yield place


def answer(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    lines = "".join(f"{each}\r\n" for each in (f"Content-Length: {len(body)}", *headers))
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body


async def test_a_page_comes_whole_with_its_headers_in_small_letters(place: Place) -> None:
    place.plain.answers["/"] = answer(b"hello", "Content-Type: text/plain", 'ETag: "1"')
    got = await place.get("http://open.test/")
    assert (got.status, got.body, got.headers["etag"], got.is_cut) == (200, b"hello", '"1"', False)
    assert got.touched[0].what == "GET open.test:80/"


async def test_tls_is_checked_against_the_name_that_was_asked_for(place: Place) -> None:
    assert (await place.get("https://secure.test/size/3")).body == b"xxx"
    async with placed() as other:
        untrusting = WebClient(
            resolver=Names(), local={"secure.test": ("127.0.0.1", other.secure.port)}, secrets=Vault(), clock=SystemClock()
        )
        with pytest.raises(WebFailed) as caught:
            await untrusting.request(WebRequest(url="https://secure.test/"))
        assert caught.value.reason == "tls"


async def test_a_redirect_is_followed_where_it_may_be_asked(place: Place) -> None:
    got = await place.get("http://open.test/redirect?to=http://other.test/size/4")
    assert (got.url, got.body, len(got.touched)) == ("http://other.test/size/4", b"xxxx", 2)


@pytest.mark.parametrize(
    "bad",
    [
        "http://127.0.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://[64:ff9b::7f00:1]/",
        "http://10.0.0.1/",
        "http://192.168.1.1/",
        "http://0.0.0.0/",
        "http://[fe80::1]/",
        "http://[fd00::1]/",
    ],
)
async def test_an_address_of_this_machine_or_house_is_refused_at_once_and_after_a_redirect(place: Place, bad: str) -> None:
    assert (await place.failed(bad)).reason == "refused"
    assert (await place.failed(f"http://open.test/redirect?to={bad}")).reason == "refused"


@pytest.mark.parametrize("bad", ["127.1", "0x7f.0.0.1", "2130706433", "017700000001", "127.0.0.1."])
async def test_an_odd_spelling_of_an_address_is_no_address(place: Place, bad: str) -> None:
    assert (await place.failed(f"http://{bad}/")).reason == "bad_address"


@pytest.mark.parametrize(
    "bad",
    [
        "ftp://open.test/", "file:///etc/passwd", "gopher://open.test/", "open.test", "", "http://", "http:///x", "//open.test/",
        "http://user:pass@open.test/", "http://open.test@127.0.0.1/", "http://open.test\\@evil.test/", "http://open.test:0/",
        "http://open.test:99999/", "http://open.test/\r\nX: y", "http://mün.test/", "http://%6fpen.test/", "http://open.test/" + "a" * 9000,
        "javascript:alert(1)", "http://open.test./",
    ],
)  # fmt: skip
async def test_what_is_no_plain_web_address_is_turned_away_before_anything_is_sent(place: Place, bad: str) -> None:
    assert (await place.failed(bad)).reason == "bad_address"
    assert not place.plain.got
    assert not place.names.asked


@pytest.mark.parametrize("to", ["ftp://open.test/", "file:///etc/passwd", "http://u:p@other.test/", "http://mün.test/"])
async def test_a_redirect_to_what_is_no_web_address_is_told_as_the_sites_fault(place: Place, to: str) -> None:
    place.plain.answers["/r"] = f"HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n".encode("latin-1")
    assert (await place.failed("http://open.test/r")).reason == "bad_answer"


async def test_punycode_goes_over_the_wire_as_it_is_written() -> None:
    async with placed(Names({"xn--mn-eka.test": ["127.0.0.1"]})) as place:
        assert (await place.failed("http://xn--mn-eka.test/")).reason == "refused"
        assert place.names.asked == ["xn--mn-eka.test"]


async def test_a_path_with_other_letters_goes_out_percent_encoded_and_what_is_behind_the_hash_stays(place: Place) -> None:
    await place.get("http://open.test/straße und mehr?q=ä&b=%20#secret")
    assert place.plain.got[0].target == "/stra%C3%9Fe%20und%20mehr?q=%C3%A4&b=%20"


class Changing:
    """A good address at first, loopback at the second look: a name that is rebound."""

    def __init__(self) -> None:
        self.asked = 0

    async def resolve(self, host: str) -> Sequence[str]:
        self.asked += 1
        return ["127.0.0.1"] if self.asked > 1 else ["203.0.113.7"]


async def test_a_name_whose_answer_changes_is_looked_up_once_a_connection_and_checked_each_time() -> None:
    changing = Changing()
    client = WebClient(resolver=changing, local={}, secrets=Vault(), clock=SystemClock())
    for looks in (1, 2):
        with pytest.raises(WebFailed) as caught:
            await client.request(WebRequest(url="http://rebound.test/"))
        assert (caught.value.reason, changing.asked) == ("refused", looks)


async def test_a_name_with_one_good_and_one_bad_address_is_refused() -> None:
    async with placed(Names({"two.test": ["8.8.8.8", "127.0.0.1"]})) as place:
        assert (await place.failed("http://two.test/")).reason == "refused"


async def test_an_unknown_name_is_told_as_such(place: Place) -> None:
    assert (await place.failed("http://nobody.test/")).reason == "unknown_host"


async def test_redirects_end(place: Place) -> None:
    place.plain.answers["/r"] = b"HTTP/1.1 302 Found\r\nLocation: /r\r\nContent-Length: 0\r\n\r\n"
    assert (await place.failed("http://open.test/r")).reason == "too_many_redirects"
    assert len(place.plain.got) == 6


async def test_a_long_body_is_cut_and_said_to_be(place: Place) -> None:
    got = await place.get("http://open.test/size/100000", most_bytes=1000)
    assert (len(got.body), got.is_cut) == (1000, True)


async def test_an_endless_body_is_cut(place: Place) -> None:
    place.plain.answers["/"] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"ffff\r\n" + b"x" * 0xFFFF + b"\r\n"
    got = await place.get("http://open.test/", most_bytes=1000)
    assert (len(got.body), got.is_cut) == (1000, True)


async def test_a_packed_body_is_unpacked(place: Place) -> None:
    place.plain.answers["/"] = answer(gzip.compress(b"hello") + gzip.compress(b" world"), "Content-Encoding: gzip")
    assert (await place.get("http://open.test/")).body == b"hello world"


async def test_a_bomb_is_unpacked_no_further_than_was_asked_for(place: Place) -> None:
    place.plain.answers["/"] = answer(gzip.compress(b"\0" * 50_000_000), "Content-Encoding: gzip")
    got = await place.get("http://open.test/", most_bytes=10_000)
    assert (len(got.body), got.is_cut) == (10_000, True)


@pytest.mark.parametrize(
    "bad",
    [
        answer(b"not packed", "Content-Encoding: gzip"),
        answer(gzip.compress(b"x" * 1000, mtime=0)[:-9], "Content-Encoding: gzip"),
        answer(b"x", "Content-Encoding: br"),
        answer(b"x", "Content-Encoding: gzip, gzip, br"),
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nbreaks off",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" * 20,
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(5000)) + b"\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\nX: y\n\n",
    ],
    ids=[
        "not packed", "packed and cut", "unknown packing", "packed thrice", "two lengths", "cut", "bad chunk", "no HTTP", "switching",
        "continues for ever", "many headers", "long header", "bare newlines",
    ],
)  # fmt: skip
async def test_an_answer_that_cannot_be_trusted_to_be_whole_is_none(place: Place, bad: bytes) -> None:
    place.plain.answers["/"] = bad
    assert (await place.failed("http://open.test/")).reason == "bad_answer"


async def test_a_site_that_never_answers_is_given_up_in_time(place: Place) -> None:
    assert (await place.failed("http://open.test/hang", timeout_s=0.2)).reason == "timeout"


async def test_nobody_listens_is_told(place: Place) -> None:
    async with Upstream() as gone:
        port = gone.port
    client = WebClient(resolver=Names(), local={"gone.test": ("127.0.0.1", port)}, secrets=Vault(), clock=SystemClock())
    with pytest.raises(WebFailed) as caught:
        await client.request(WebRequest(url="http://gone.test/"))
    assert caught.value.reason == "unreachable"


# -- secrets -----------------------------------------------------------------------------------------------------------

BEARER = {"Authorization": "Bearer {vault:api_key}"}


async def test_a_secret_reaches_its_own_host_and_comes_back_as_its_name(place: Place) -> None:
    got = await place.get("https://api.test/echo?k={vault:api_key}", headers=BEARER, secrets=("api_key",))
    sent = place.secure.got[0]
    assert sent.header("authorization") == f"Bearer {VALUE.decode()}"
    assert VALUE not in got.body
    assert PLACEHOLDER not in got.body
    assert b"Bearer {vault:api_key}" in got.body
    assert place.vault.uses == [("api_key", f"agent:{SELF}", "api.test")]
    assert VALUE.decode() not in repr(got)


async def test_basic_credentials_are_packed_with_the_value(place: Place) -> None:
    import base64

    await place.get("https://api.test/", headers={"Authorization": "Basic me:{vault:api_key}"}, secrets=("api_key",))
    assert base64.b64decode(place.secure.got[0].header("authorization").removeprefix("Basic ")) == b"me:" + VALUE


async def test_a_secret_goes_in_a_body_with_the_right_length(place: Place) -> None:
    await place.get("https://api.test/", method="POST", body=b'{"k":"{vault:api_key}"}', secrets=("api_key",))
    assert place.secure.got[0].body == b'{"k":"' + VALUE + b'"}'


@pytest.mark.parametrize(
    ("url", "secrets"),
    [
        ("https://secure.test/", ("api_key",)),
        ("http://open.test/", ("api_key",)),
        ("http://api.test/", ("api_key",)),
        ("https://api.test/", ()),
        ("https://api.test/", ("unknown",)),
    ],
)
async def test_a_secret_that_is_not_for_this_place_stops_the_request_before_a_byte_is_sent(place: Place, url: str, secrets) -> None:
    for more in ({"headers": BEARER}, {"method": "POST", "body": b"{vault:api_key}"}):
        failed = await place.failed(url, secrets=secrets, **more)
        assert failed.reason == "refused"
        assert VALUE.decode() not in str(failed)
    assert not place.plain.bytes
    assert not place.secure.got


async def test_a_redirect_elsewhere_takes_no_credential_along(place: Place) -> None:
    place.secure.answers["/r"] = b"HTTP/1.1 302 Found\r\nLocation: http://open.test/size/1\r\nContent-Length: 0\r\n\r\n"
    headers = {**BEARER, "Cookie": "a=b", "X-Key": "{vault:api_key}", "X-Plain": "stays"}
    await place.get("https://api.test/r", headers=headers, secrets=("api_key",))
    sent = place.plain.got[0]
    assert (sent.header("authorization"), sent.header("cookie"), sent.header("x-key")) == ("", "", "")
    assert sent.header("x-plain") == "stays"


async def test_a_site_that_puts_a_secret_into_its_redirect_does_not_get_it_elsewhere(place: Place) -> None:
    place.secure.answers["/r"] = b"HTTP/1.1 302 Found\r\nLocation: http://open.test/?k=" + VALUE + b"\r\nContent-Length: 0\r\n\r\n"
    assert (await place.failed("https://api.test/r", headers=BEARER, secrets=("api_key",))).reason == "refused"
    assert not place.plain.bytes


async def test_what_does_more_than_read_goes_to_no_other_site(place: Place) -> None:
    place.plain.answers["/r"] = b"HTTP/1.1 307 Temporary Redirect\r\nLocation: http://other.test/\r\nContent-Length: 0\r\n\r\n"
    assert (await place.failed("http://open.test/r", method="POST", body=b"words")).reason == "refused"
    assert len(place.plain.got) == 1


async def test_what_does_more_than_read_is_followed_at_its_own_site(place: Place) -> None:
    place.plain.answers["/see"] = b"HTTP/1.1 303 See Other\r\nLocation: /size/2\r\nContent-Length: 0\r\n\r\n"
    place.plain.answers["/same"] = b"HTTP/1.1 308 Permanent Redirect\r\nLocation: /echo\r\nContent-Length: 0\r\n\r\n"
    assert (await place.get("http://open.test/see", method="POST", body=b"words")).body == b"xx"
    await place.get("http://open.test/same", method="POST", body=b"words")
    assert [(each.method, each.body) for each in place.plain.got] == [
        ("POST", b"words"), ("GET", b""), ("POST", b"words"), ("POST", b"words")
    ]  # fmt: skip


@pytest.mark.parametrize("headers", [{"X\r\nY": "z"}, {"X": "a\r\nY: z"}, {"": "x"}, {"X Y": "z"}, {"X": "\N{SNOWMAN}"}])
async def test_a_header_that_could_become_two_is_refused(place: Place, headers: dict[str, str]) -> None:
    assert (await place.failed("http://open.test/", headers=headers)).reason == "bad_address"
    assert not place.plain.bytes


async def test_what_frames_a_request_is_ours_to_say(place: Place) -> None:
    await place.get("http://open.test/", headers={"Host": "evil.test", "Content-Length": "99", "Transfer-Encoding": "chunked"})
    assert place.plain.got[0].header("host") == "open.test"
    assert place.plain.got[0].header("content-length") == ""


# -- patience ----------------------------------------------------------------------------------------------------------


async def test_a_host_that_says_when_to_come_back_is_left_alone_until_then(place: Place) -> None:
    place.plain.answers["/"] = answer(b"", "Retry-After: 120", status="429 Too Many Requests")
    assert (await place.get("http://open.test/")).status == 429
    assert (await place.failed("http://open.test/size/1")).reason == "resting"
    assert (await place.get("http://other.test/size/1")).body == b"x"
    await place.clock.advance(121)
    assert (await place.get("http://open.test/size/1")).body == b"x"


async def test_a_host_that_fails_again_and_again_rests_and_then_is_tried(place: Place) -> None:
    place.plain.answers["/"] = answer(b"", status="500 No")
    for _ in range(5):
        assert (await place.get("http://open.test/")).status == 500
    assert (await place.failed("http://open.test/")).reason == "resting"
    await place.clock.advance(31)
    assert (await place.get("http://open.test/size/1")).body == b"x"
    assert (await place.get("http://open.test/")).status == 500


async def test_an_answer_that_says_not_found_is_no_failure_of_the_host(place: Place) -> None:
    place.plain.answers["/"] = answer(b"", status="404 Not Found")
    for _ in range(8):
        assert (await place.get("http://open.test/")).status == 404


async def test_a_host_that_hangs_holds_nobody_but_those_who_want_it(place: Place) -> None:
    hanging = [asyncio.create_task(place.failed("http://open.test/hang", timeout_s=1.0)) for _ in range(6)]
    assert (await place.get("http://other.test/size/1")).body == b"x"
    assert {each.reason for each in await asyncio.gather(*hanging)} <= {"timeout", "resting"}


async def test_the_label_of_what_left_is_recorded(place: Place) -> None:
    request = WebRequest(url="http://open.test/")
    got = await place.client.request(replace(request, headers={"X": "y"}))
    assert got.touched[0].label == request.label
