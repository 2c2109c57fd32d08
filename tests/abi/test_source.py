"""The language of sources: what it admits, and that it says clearly what it does not."""

import pytest

from daimon.abi.errors import BadInput
from daimon.abi.source import Const, FieldOf, Like, Own, Pick, Records, Series, Sum, parse, parse_call


def test_each_form_reads_as_what_it_is() -> None:
    assert parse("'a'") == Const("a")
    assert parse("-1.5") == Const(-1.5)
    assert parse("['a', 1]") == Series((Const("a"), Const(1)))
    assert parse("seen('t', x='a', y=like('b')).z") == FieldOf(Records("t", (), (("x", Const("a")), ("y", Like("b")))), "z")
    assert parse("seen('t', given(q='a'))") == Records("t", (("q", Const("a")),))
    assert parse("largest(seen('t'), 'size')") == Pick("largest", Records("t"), "size")
    assert parse("'a' + one_of(seen('t'))") == Sum("+", Const("a"), Pick("one_of", Records("t")))
    assert parse("own()") == Own()


def test_a_call_is_a_tool_and_its_sources() -> None:
    assert parse_call("pay(to='a', amount=seen('t').x * 2)") == ("pay", {"to": "'a'", "amount": "seen('t').x * 2"})
    assert parse_call("read()") == ("read", {})


@pytest.mark.parametrize(
    "text",
    ["", "a", "__import__('os')", "seen", "seen()", "seen(1)", "seen('t', 'x')", "seen('t', **x)", "seen('t', x=own())",
     "lambda: 1", "a.b",
     "[x for x in y]",
     "'a' if 1 else 'b'", "own(1)", "first()", "largest(seen('t'))", "1 ** 9", "f'{x}'", "(" * 500, "'" + "a" * 5000 + "'",
     "not 1", "b'x'", "\x00"],
)  # fmt: skip
def test_anything_else_is_refused_in_words(text: str) -> None:
    with pytest.raises(BadInput) as refused:
        parse(text)
    assert len(str(refused.value)) > 20


@pytest.mark.parametrize("text", ["pay", "pay('a')", "a.pay(x=1)", "pay(x=)", "pay(**x)", "pay(x=lambda: 1)"])
def test_a_call_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        parse_call(text)


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(BadInput, match="deep"):
        parse("first(" * 20 + "seen('t')" + ")" * 20)
