"""TLS that is opened: secrets go in towards their own hosts, and do not come back."""

import base64
import re
import ssl
from datetime import timedelta
from urllib.parse import quote

import pytest
from tests.net.rig import CERTIFICATES, LABEL, PLACEHOLDER, VALUE, Rig, key, rigged, until

from daimon.abi.box import Place
from daimon.abi.errors import Misconfigured
from daimon.net.rules import span
from daimon.testing.upstream import Upstream

CLOSE = b"Connection: close\r\n\r\n"


def ask(target: str = "/echo", host: str = "api.test", more: bytes = b"", method: str = "GET") -> bytes:
    return f"{method} {target} HTTP/1.1\r\nHost: {host}\r\n".encode() + more + CLOSE


async def test_a_secret_reaches_its_host_and_comes_back_as_its_placeholder(rig: Rig) -> None:
    with rig.open("api.test", secrets=[key()]):
        said = await rig.inside(
            "api.test", ask(more=b"Authorization: Bearer " + PLACEHOLDER + b"\r\nAccept-Encoding: gzip\r\nRange: bytes=0-4\r\n")
        )
    (got,) = rig.secure.got
    assert got.header("authorization") == f"Bearer {VALUE.decode()}"
    assert (got.header("accept-encoding"), got.header("range")) == ("identity", "")
    assert said.startswith(b"HTTP/1.1 200 ")
    assert b"Authorization: Bearer " + PLACEHOLDER in said
    assert VALUE not in said
    (attempt,) = rig.egress.taken()
    assert (attempt.outcome, attempt.method, attempt.path, attempt.secrets) == ("passed", "GET", "/echo", ("api_key",))
    assert VALUE.decode() not in repr(attempt)


async def test_another_host_gets_the_placeholder_as_it_is(rig: Rig) -> None:
    with rig.open("api.test", Place("other.test", methods=("GET",)), "open.test", secrets=[key()]):
        await rig.inside("other.test", ask(host="other.test", more=b"X-Key: " + PLACEHOLDER + b"\r\n"))
        await rig.said(b"GET http://open.test/echo HTTP/1.1\r\nHost: open.test\r\nX-Key: " + PLACEHOLDER + b"\r\n\r\n")
    assert rig.secure.got[0].header("x-key") == rig.plain.got[0].header("x-key") == PLACEHOLDER.decode()
    assert [attempt.secrets for attempt in rig.egress.taken()] == [(), ()]
    assert VALUE not in rig.secure.bytes + rig.plain.bytes


async def test_a_secret_goes_out_in_the_clear_only_where_its_port_was_named(rig: Rig) -> None:
    request = b"GET http://open.test/echo HTTP/1.1\r\nHost: open.test\r\nX-Key: " + PLACEHOLDER + b"\r\n\r\n"
    for hosts in (["open.test"], ["open.test:443"], ["*.test:8080"]):
        with rig.open(Place("open.test", ports=(80, 443)), secrets=[key(*hosts)]):
            await rig.said(request)
            await rig.said(request.replace(b"open.test/echo", b"open.test:443/echo").replace(b"Host: open.test", b"Host: open.test:443"))
    assert VALUE not in rig.plain.bytes
    assert len(rig.plain.got) == 6
    with rig.open("open.test", secrets=[key("open.test:80")]):
        said = await rig.said(request)
    assert rig.plain.got[-1].header("x-key").encode() == VALUE
    assert VALUE not in said
    assert PLACEHOLDER in said


async def test_basic_credentials_are_filled_in_and_blanked(rig: Rig) -> None:
    coded = base64.b64encode(b"me:" + PLACEHOLDER)
    with rig.open("api.test", secrets=[key()]):
        said = await rig.inside("api.test", ask(more=b"Authorization: Basic " + coded + b"\r\n"))
    true = base64.b64encode(b"me:" + VALUE)
    assert rig.secure.got[0].header("authorization") == f"Basic {true.decode()}"
    assert true not in said
    assert base64.b64encode(VALUE)[4:-4] not in said
    assert rig.egress.taken()[0].secrets == ("api_key",)


@pytest.mark.parametrize(
    "written", [PLACEHOLDER.decode(), "".join(f"%{byte:02x}" for byte in PLACEHOLDER), "%64" + PLACEHOLDER[1:].decode()]
)
async def test_a_target_gets_the_value_percent_encoded(rig: Rig, written: str) -> None:
    with rig.open("api.test", secrets=[key()]):
        said = await rig.inside("api.test", ask(f"/bot{written}/send?key={written}&x=1"))
    coded = quote(VALUE, safe=":@!$'()*,-._~")
    assert rig.secure.got[0].target == f"/bot{coded}/send?key={coded}&x=1"
    assert coded.encode() not in said
    assert VALUE.decode() not in rig.egress.taken()[0].path


async def test_a_value_cannot_widen_its_path(rig: Rig) -> None:
    climbing = b"../../../../../admin?x=1#abc def"
    secret = key(placeholder=b"p" * len(climbing), value=climbing)
    with rig.open(Place("api.test", paths=("/v1/",)), secrets=[secret]):
        await rig.inside("api.test", ask("/v1/" + "p" * len(climbing)))
    assert rig.secure.got[0].target == "/v1/" + quote(climbing, safe="")


async def test_a_value_with_a_line_break_does_not_get_into_a_head(rig: Rig) -> None:
    value = b"-----BEGIN KEY-----\r\nX-Evil: yes\r\n\r\n"
    with rig.open("api.test", secrets=[key(placeholder=b"p" * len(value), value=value)]):
        said = await rig.inside("api.test", ask(more=b"X-Key: " + b"p" * len(value) + b"\r\n"))
    assert said.startswith(b"HTTP/1.1 403 ")
    assert b"cannot stand in a header" in said
    assert rig.secure.got == []


async def test_a_body_gets_the_value_wherever_it_is_cut_and_keeps_its_length(rig: Rig) -> None:
    body = b'{"key": "' + PLACEHOLDER + b'"}'
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
    with rig.open("api.test", secrets=[key()]):
        for framing in (b"Content-Length: %d\r\n" % len(body) + CLOSE + body, b"Transfer-Encoding: chunked\r\n" + CLOSE + chunks):
            said = await rig.inside("api.test", b"POST /echo HTTP/1.1\r\nHost: api.test\r\n" + framing)
            assert VALUE not in said
            assert PLACEHOLDER in said or framing.startswith(b"Transfer")
    assert [got.body for got in rig.secure.got] == [b'{"key": "' + VALUE + b'"}'] * 2
    assert [attempt.secrets for attempt in rig.egress.taken()] == [("api_key",)] * 2


async def test_an_echo_of_the_value_in_any_usual_coding_is_blanked(rig: Rig) -> None:
    codings = [
        VALUE,
        base64.b64encode(VALUE),
        base64.b64encode(b"x" + VALUE + b"yz"),
        base64.urlsafe_b64encode(b"xy" + VALUE),
        quote(VALUE, safe="").encode(),
        quote(VALUE, safe="").lower().encode(),
        VALUE.replace(b"/", b"\\/"),
        VALUE.hex().encode(),
        VALUE.hex().upper().encode(),
    ]
    body = b"\n".join(codings)
    head = b"HTTP/1.1 200 " + VALUE + b"\r\nX-Echo: " + VALUE + b"\r\nLocation: /?k=" + quote(VALUE, safe="").encode() + b"\r\n"
    rig.secure.answers["/echoes"] = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    with rig.open("api.test", secrets=[key()]):
        said = await rig.inside("api.test", ask("/echoes"))
    head, _, shown = said.partition(b"\r\n\r\n")
    assert len(shown) == len(body)
    for coding in codings:
        assert coding[6:-6] not in said, coding
    assert b"HTTP/1.1 200 " + PLACEHOLDER in head
    assert b"Location: /?k=" + PLACEHOLDER in head


async def test_an_echo_as_the_name_of_a_header_is_blanked(rig: Rig) -> None:
    value, placeholder = b"a-token-0123456789", b"p-token-9876543210"
    rig.secure.answers["/name"] = b"HTTP/1.1 200 OK\r\nX-" + value + b": 1\r\nX-Other: 2\r\nContent-Length: 0\r\n\r\n"
    with rig.open("api.test", secrets=[key(placeholder=placeholder, value=value)]):
        said = await rig.inside("api.test", ask("/name"))
    assert value not in said
    assert b"X-" + placeholder + b": 1\r\nX-Other: 2\r\n" in said


async def test_an_echo_that_is_cut_by_chunks_is_blanked(rig: Rig) -> None:
    chunks = b"".join(b"3\r\n%s\r\n" % VALUE[at : at + 3] for at in range(0, len(VALUE), 3))
    rig.secure.answers["/cut"] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"
    assert len(VALUE) % 3 == 0
    with rig.open("api.test", secrets=[key()]):
        said = await rig.inside("api.test", ask("/cut"))
    plain = b"".join(re.findall(rb"\r\n[0-9a-f]+\r\n([^\r]*)", said))
    assert plain == PLACEHOLDER


async def test_a_compressed_answer_from_a_secrets_host_is_refused(rig: Rig) -> None:
    rig.secure.answers["/gz"] = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"
    with rig.open("api.test", Place("other.test", methods=("GET",)), secrets=[key()]):
        assert (await rig.inside("api.test", ask("/gz"))).startswith(b"HTTP/1.1 502 ")
        assert (await rig.inside("other.test", ask("/gz", "other.test"))).endswith(b"abc")


async def test_another_host_header_than_the_tunnel_is_misdirected(rig: Rig) -> None:
    with rig.open("api.test", "other.test", secrets=[key()]):
        assert (await rig.inside("api.test", ask(host="other.test"))).startswith(b"HTTP/1.1 421 ")
        assert (await rig.inside("api.test", ask(host="api.test:444"))).startswith(b"HTTP/1.1 421 ")
    assert rig.secure.connections == 0


async def test_methods_and_paths_are_held_to_inside_of_tls(rig: Rig) -> None:
    with rig.open(Place("api.test", methods=("GET", "HEAD"), paths=("/v1",))):
        assert (await rig.inside("api.test", ask("/v1/x"))).startswith(b"HTTP/1.1 200 ")
        assert (await rig.inside("api.test", ask("/v1/%2e%2e/x"))).startswith(b"HTTP/1.1 403 ")
        assert (await rig.inside("api.test", ask("/v2"))).startswith(b"HTTP/1.1 403 ")
        assert (await rig.inside("api.test", ask("/v1/x", method="DELETE"))).startswith(b"HTTP/1.1 403 ")
    assert [got.target for got in rig.secure.got] == ["/v1/x"]
    assert [attempt.outcome for attempt in rig.egress.taken()] == ["passed", "refused", "refused", "refused"]


async def test_many_requests_go_through_one_opened_tunnel(rig: Rig) -> None:
    with rig.open("api.test", secrets=[key()]):
        more = b"GET /size/3 HTTP/1.1\r\nHost: api.test\r\n\r\n" * 5
        said = await rig.inside("api.test", more + ask("/size/3"))
    assert said.count(b"\r\n\r\nxxx") == 6
    assert rig.secure.connections == 1


async def test_a_tunnel_in_a_tunnel_and_absolute_addresses_inside_are_refused(rig: Rig) -> None:
    with rig.open("api.test", secrets=[key()]):
        for line in (b"CONNECT evil.test:443", b"GET http://evil.test/", b"OPTIONS *"):
            said = await rig.inside("api.test", line + b" HTTP/1.1\r\nHost: api.test\r\n\r\n")
            assert said.startswith(b"HTTP/1.1 400 ")
    assert rig.secure.connections == 0


async def test_a_site_with_a_bad_certificate_gets_no_secret() -> None:
    contexts = [CERTIFICATES.serving("other.test"), CERTIFICATES.serving("api.test", age=timedelta(days=3))]
    for context in contexts:
        async with Upstream(context) as server, rigged(local={"api.test": ("127.0.0.1", server.port)}) as rig:
            with rig.open("api.test", secrets=[key()]):
                said = await rig.inside("api.test", ask(more=b"X-Key: " + PLACEHOLDER + b"\r\n"))
            assert said.startswith(b"HTTP/1.1 502 ")
            assert b"certificate of api.test:443 is not good" in said
            assert server.got == []


async def test_a_client_that_does_not_trust_the_session_gets_nothing_and_it_is_told(rig: Rig) -> None:
    with rig.open("api.test", secrets=[key()]):
        with pytest.raises(ssl.SSLCertVerificationError):
            await rig.tunnelled("api.test", trusted=CERTIFICATES.trusting())
        await until(lambda: not rig.egress.connections, "it ends")
    assert "does not take the session's certificate" in rig.egress.taken()[0].reason


async def test_the_certificate_is_for_this_host_alone_and_short_lived(rig: Rig) -> None:
    with rig.open("api.test", secrets=[key()]):
        _, writer = await rig.tunnelled("api.test")
        certificate = writer.get_extra_info("ssl_object").getpeercert()
    assert certificate["subjectAltName"] == (("DNS", "api.test"),)
    assert ssl.cert_time_to_seconds(certificate["notAfter"]) - ssl.cert_time_to_seconds(certificate["notBefore"]) <= 26 * 3600


def test_secrets_that_could_not_be_held_to_are_refused_at_once() -> None:
    for wrong in (key(value=b"short", placeholder=b"12345"), key(placeholder=b"other length"), key("*"), key("a b")):
        with pytest.raises(Misconfigured) as error:
            span([], [wrong], LABEL)
        assert wrong.value.decode() not in str(error.value)
