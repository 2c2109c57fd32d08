from hypothesis import given
from hypothesis import strategies as st

from daimon.net.swap import Pair, Swap

PAIRS = [Pair("one", b"abcabd", b"123456"), Pair("two", b"bbbb", b"2222")]


@given(st.lists(st.sampled_from([b"a", b"b", b"c", b"d", b"abc", b"abcabd", b"bbbb", b"x"])), st.randoms(use_true_random=False))
def test_wherever_a_stream_is_cut_the_same_comes_out(parts: list[bytes], random) -> None:
    data = b"".join(parts)
    swap, out, at = Swap(PAIRS), b"", 0
    while at < len(data):
        size = random.randint(1, 7)
        out += swap.feed(data[at : at + size])
        at += size
    out += swap.end()
    assert len(out) == len(data)
    for pair in PAIRS:
        assert pair.old not in out
    if b"bbbb" not in data:
        assert out == data.replace(b"abcabd", b"123456")
    assert ("one" in swap.found) == (b"123456" in out)


def test_only_what_may_be_a_beginning_is_held_back() -> None:
    swap = Swap(PAIRS)
    assert swap.feed(b"hello world\n\n") == b"hello world\n\n"
    assert swap.feed(b"hello abca") == b"hello "
    assert swap.feed(b"x") == b"abcax"
    assert swap.feed(b"ab") == b""
    assert swap.end() == b"ab"


def test_without_pairs_nothing_is_looked_at() -> None:
    data = b"anything"
    assert Swap().feed(data) is data
