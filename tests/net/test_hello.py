"""The first words of TLS, as bytes."""

import ssl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daimon.net.hello import Watch
from daimon.net.refusal import Malformed


def hello(name: str | None = "a.test") -> bytes:
    """As OpenSSL says it: one record."""
    context = ssl.create_default_context()
    context.check_hostname = False
    out = ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), out, server_hostname=name).do_handshake()
    return out.read()


def record(kind: int, content: bytes) -> bytes:
    return bytes([kind, 3, 1]) + len(content).to_bytes(2) + content


def made(*extensions: tuple[int, bytes]) -> bytes:
    listed = b"".join(kind.to_bytes(2) + len(content).to_bytes(2) + content for kind, content in extensions)
    body = b"\3\3" + bytes(32) + b"\0" + b"\0\2\x13\1" + b"\1\0" + len(listed).to_bytes(2) + listed
    return record(22, b"\1" + len(body).to_bytes(3) + body)


def named(name: bytes) -> tuple[int, bytes]:
    entry = b"\0" + len(name).to_bytes(2) + name
    return 0, len(entry).to_bytes(2) + entry


FINISHED = record(20, b"\1") + record(23, b"secret")


def test_a_hello_that_names_the_host_goes_on_as_it_came() -> None:
    said = hello()
    watch = Watch("a.test", False)
    assert watch.feed(said) == said
    assert watch.has_hello
    assert not watch.is_done
    assert watch.feed(FINISHED) == FINISHED
    assert watch.is_done
    assert watch.feed(b"anything") == b"anything"


def test_a_hello_is_read_however_it_is_cut() -> None:
    said = hello()
    message = said[5:]
    for size in (1, 3, 50):
        pieces = b"".join(record(22, message[at : at + size]) for at in range(0, len(message), size))
        watch = Watch("a.test", False)
        assert b"".join(watch.feed(bytes([byte])) for byte in pieces + FINISHED) == pieces + FINISHED


def test_a_cut_hello_for_another_host_lets_nothing_through() -> None:
    message = hello("evil.test")[5:]
    watch = Watch("a.test", False)
    assert all(watch.feed(record(22, message[at : at + 7])) == b"" for at in range(0, len(message) - 7, 7))
    with pytest.raises(Malformed, match=r"another host \(evil.test\)"):
        watch.feed(record(22, message[-7 - len(message) % 7 :]))


def test_a_second_hello_must_name_the_same_host() -> None:
    watch = Watch("a.test", False)
    watch.feed(hello())
    with pytest.raises(Malformed, match="another host"):
        watch.feed(record(20, b"\1") + hello("evil.test"))
    watch = Watch("a.test", False)
    watch.feed(hello())
    again = record(20, b"\1") + hello()
    assert watch.feed(again) == again


def test_two_hellos_in_one_record_are_both_looked_at() -> None:
    both = record(22, hello()[5:] + hello("evil.test")[5:])
    with pytest.raises(Malformed, match="another host"):
        Watch("a.test", False).feed(both)


def test_older_tls_goes_on_in_plain_records_once_the_host_was_named() -> None:
    watch = Watch("a.test", False)
    watch.feed(hello())
    key_exchange = record(22, b"\x10\0\0\2ab") + record(20, b"\1") + record(22, b"\xab" * 40)
    assert watch.feed(key_exchange) == key_exchange
    assert watch.is_done


def test_capitals_are_folded_and_a_missing_name_is_for_addresses_only() -> None:
    assert Watch("a.test", False).feed(made(named(b"A.Test")))
    assert Watch("192.0.2.1", True).feed(made())
    with pytest.raises(Malformed, match="names no host"):
        Watch("a.test", False).feed(made())
    with pytest.raises(Malformed, match="another host"):
        Watch("192.0.2.1", True).feed(made(named(b"evil.test")))


@pytest.mark.parametrize(
    "extensions",
    [
        [named(b"a.test"), named(b"evil.test")],
        [named(b"a.test"), (0xFE0D, b"\0")],
        [(0, b"")],
        [(0, b"\0\0")],
        [(0, b"\0\x0e\0\0\6a.test\0\0\3b.c")],
        [named("ä.test".encode())],
        [named(b"a.test\0")],
        [named(b"a.test.")],
        [named(b"")],
    ],
)
def test_an_odd_or_hidden_name_is_refused(extensions: list[tuple[int, bytes]]) -> None:
    with pytest.raises(Malformed):
        Watch("a.test", False).feed(made(*extensions))


@given(st.binary(max_size=200), st.booleans())
def test_arbitrary_bytes_are_refused_or_waited_for(data: bytes, is_framed: bool) -> None:
    watch = Watch("a.test", False)
    try:
        out = watch.feed(record(22, b"\1" + data) if is_framed else data)
    except Malformed:
        return
    assert out == b""


def test_what_came_behind_a_hello_is_not_lost() -> None:
    said, watch = hello(), Watch("a.test", False)
    assert watch.feed(said + b"\x14\x03\x03\0") + watch.rest() == said + b"\x14\x03\x03\0"
