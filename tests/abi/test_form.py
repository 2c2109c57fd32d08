"""What passes as an answer, and what does not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue
from tests.abi import values

from daimon.abi.codec import decode, encode
from daimon.abi.errors import BadInput
from daimon.abi.form import Choice, Date, Form, Number, Words, YesNo, expected, is_closed, read

CLOSED: list[Form] = [YesNo(), Number(), Date(), Choice(("a", "b"))]


@pytest.mark.parametrize(
    ("form", "answer"),
    [
        (YesNo(), False), (Number(), 0), (Number(), -0.5), (Number(), 999_999_999_999_999), (Number(), 0.00000000000001),
        (Date(), "2026-02-28"), (Date(), "2026-02-28T23:59"), (Date(), "2026-02-28T23:59Z"), (Date(), "1999-12-31T00:00-05:30"),
        (Choice(("a", "b")), "b"), (Words(5), "hello"), (Words(5), ""),
    ],
)  # fmt: skip
def test_what_has_the_form_is_the_answer(form: Form, answer: JsonValue) -> None:
    assert read(form, json.dumps({"answer": answer})) == answer
    assert read(form, '{"answer": null}') is None


@pytest.mark.parametrize(
    ("form", "answer"),
    [
        (YesNo(), 1), (YesNo(), "true"), (Number(), True), (Number(), "5"), (Number(), 10**15), (Number(), 10**400), (Number(), 1e-15),
        (Number(), 0.1234567890123456), (Date(), "2026-02-29"), (Date(), "2026-02-28 10:00"), (Date(), "1899-01-01"),
        (Date(), "2026-02-28T10:00:00"), (Date(), 20260228), (Date(), "\u0662\u0660\u0662\u0666-01-01"), (Choice(("a", "b")), "c"),
        (Choice(("a", "b")), ["a"]), (Words(5), "hello!"), (Words(5), 5),
    ],
)  # fmt: skip
def test_what_has_another_form_is_no_answer(form: Form, answer: JsonValue) -> None:
    with pytest.raises(BadInput, match="something else than"):
        read(form, json.dumps({"answer": answer}))


@given(st.sampled_from(CLOSED), values.json_values, st.sampled_from(["{}", '{"answer": %s}', "%s", '{"answer": %s, "x": 1}']))
def test_whatever_is_said_a_closed_form_lets_only_its_own_pass(form: Form, said: JsonValue, shape: str) -> None:
    text = shape.replace("%s", json.dumps(said))
    if _passes(form, text):
        answer = read(form, text)
        assert answer is None or isinstance(answer, bool | int | float) or answer in ("a", "b") or isinstance(form, Date)
    else:
        with pytest.raises(BadInput) as bad:
            read(form, text)
        assert str(bad.value).endswith(expected(form)), "it says what was expected and nothing of what was found"


def _passes(form: Form, text: str) -> bool:
    try:
        read(form, text)
    except BadInput:
        return False
    return True


@pytest.mark.parametrize("form", [*CLOSED, Words(9)])
def test_a_form_is_stored_and_read_back(form: Form) -> None:
    assert decode(Form, encode(Form, form)) == form
    assert is_closed(form) is not isinstance(form, Words)
