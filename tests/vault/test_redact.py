"""Known values stay out, however they are written; whatever else there is stays as it was."""

import base64
import html
import json
import shlex
import string
import textwrap
from collections.abc import Callable
from random import Random
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daimon.testing.contracts.redactor import RedactorContract
from daimon.vault.redact import Known, SecretRedactor

KEY = "sv-Qm7xT2bLr9Zk4Wd0Hc8NfYp3"
PASSWORD = "Zu$9&k/Lw+=3#qT%x!"
SHORT = "tR4&uN9/"
PIN = "x7q2"
MARKED = "[secret key]"
LONG = "".join(Random(7).choices(string.ascii_letters + string.digits + "+/-\n", k=2_700))
OLD = "old-9fK2mQ7vB4nX8zL1"
KNOWN = (Known("key", KEY), Known("password", PASSWORD), Known("short", SHORT), Known("pin", PIN), Known("key", OLD))
PROSE = (
    "The quick brown fox jumps over the lazy dog. Der schnelle braune Fuchs springt über den faulen Hund.\n"
    "Быстрая коричневая лиса. 素早い茶色の狐。 commit 9fceb02d0ae598e95dc970b74767f19372d61af8\n"
)


def redactor(*known: Known) -> SecretRedactor:
    return SecretRedactor(lambda: known or KNOWN)


class TestContract(RedactorContract):
    def redactor(self, name: str, value: str) -> SecretRedactor:
        return SecretRedactor(lambda: (Known(name, value),))


def spread(value: str, between: str) -> str:
    return between.join(value)


def base64_behind(before: str) -> Callable[[str], str]:
    return lambda value: base64.b64encode((before + value + "tail").encode()).decode()


WAYS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "upper case": str.upper,
    "lower case": str.lower,
    "reversed": lambda value: value[::-1],
    "base64": lambda value: base64.b64encode(value.encode()).decode(),
    "base64 without padding": lambda value: base64.b64encode(value.encode()).decode().rstrip("="),
    "base64 for URLs": lambda value: base64.urlsafe_b64encode(value.encode()).decode(),
    "inside base64, first place": base64_behind("abc"),
    "inside base64, second place": base64_behind("user"),
    "inside base64, third place": base64_behind("me:it"),
    "inside wrapped base64": lambda value: "\n".join(textwrap.wrap(base64_behind("x" * 50)(value), 76)),
    "hex": lambda value: value.encode().hex(),
    "upper hex": lambda value: value.encode().hex().upper(),
    "hex with colons": lambda value: value.encode().hex(":"),
    "percent": lambda value: quote(value, safe=""),
    "percent, slash kept": quote,
    "percent, form": quote_plus,
    "percent, all": lambda value: "".join(f"%{byte:02X}" for byte in value.encode()),
    "JSON": lambda value: json.dumps(value),
    "JSON, all escaped": lambda value: "".join(f"\\u{ord(character):04x}" for character in value),
    "HTML": html.escape,
    "HTML, numbers": lambda value: "".join(f"&#{ord(character)};" for character in value),
    "Python": repr,
    "Python, escaped": lambda value: "".join(f"\\x{byte:02x}" for byte in value.encode()),
    "shell": shlex.quote,
    "spaced": lambda value: spread(value, " "),
    "on lines": lambda value: spread(value, "\n"),
    "zero-width": lambda value: spread(value, "\u200b"),
    "quoted pieces": lambda value: spread(value, '" + "'),
}


# Of a value with so few letters and digits as `short`, other signs between them hide it: docs/redaction.md says so.
FINDS = [(name, way) for name in ("key", "password", "short") for way in WAYS if (name, way) != ("short", "quoted pieces")]


@pytest.mark.parametrize(("name", "way"), FINDS)
def test_a_known_value_is_found_however_it_is_written(name: str, way: str) -> None:
    value = {known.name: known.value for known in reversed(KNOWN)}[name]
    written = WAYS[way](value)
    cleaned = redactor().clean_known(f"before ({written}) after")
    assert f"[secret {name}]" in cleaned
    assert cleaned.startswith("before (")
    assert cleaned.endswith(") after")
    assert written not in cleaned
    assert len(cleaned) < 200


def test_a_value_of_several_lines_is_found_backwards_inside_of_json_too() -> None:
    lines = "\n".join("".join(Random(n).choices(string.ascii_letters, k=40)) for n in range(5))
    assert redactor(Known("key", lines)).clean(json.dumps({"text": f"it is {lines[::-1]}."})) == '{"text": "it is [secret key]."}'


def test_a_plain_value_leaves_nothing_of_itself() -> None:
    for known in KNOWN:
        assert redactor().clean_known(f"a {known.value}, b") == f"a [secret {known.name}], b"


@pytest.mark.parametrize("where", ["beginning", "middle", "end"])
@pytest.mark.parametrize("value", [KEY, PASSWORD, LONG])
def test_a_long_run_of_a_value_counts_as_the_value(value: str, where: str) -> None:
    run = max(12, -(-len(value) * 6 // 10))
    start = {"beginning": 0, "middle": (len(value) - run) // 2, "end": len(value) - run}[where]
    for way in ("plain", "base64", "hex", "spaced"):
        written = WAYS[way](value[start : start + run])
        assert "[secret it]" in redactor(Known("it", value)).clean_known(f"<{written}>"), way


def test_a_value_with_a_wrong_character_in_it_is_found_by_the_rest() -> None:
    for i in (2, 9, len(KEY) - 4):
        assert MARKED in redactor().clean_known(f"it is {KEY[:i]}~W~{KEY[i + 1 :]}")


def test_a_few_characters_of_a_value_are_no_secret() -> None:
    text = f"it begins with {KEY[:8]} and ends with {KEY[-6:]}"
    assert redactor().clean_known(text) == text


def test_a_very_short_value_is_found_as_a_whole_word_only() -> None:
    assert redactor().clean_known(f"pin={PIN}; not max7q2s, nor {PIN.upper()}") == "pin=[secret pin]; not max7q2s, nor X7Q2"


def test_ordinary_text_stays_byte_for_byte() -> None:
    assert redactor().clean_known(PROSE * 50) == PROSE * 50
    assert redactor().clean(PROSE * 50) == PROSE * 50
    assert redactor().clean("") == ""


def test_a_value_that_was_replaced_is_still_known() -> None:
    assert redactor().clean_known(f"was {OLD}") == "was [secret key]"


def test_a_value_that_becomes_known_later_is_found_from_then_on() -> None:
    known: list[Known] = []
    made = SecretRedactor(lambda: known)
    assert made.clean(f"say {KEY}") == f"say {KEY}"
    known.append(Known("key", KEY))
    assert made.clean(f"say {KEY}") == "say [secret key]"


def test_a_value_that_repeats_itself_is_found_whole() -> None:
    made = redactor(Known("it", "ab12" * 10))
    assert made.clean_known(f"x {'ab12' * 10} y") == "x [secret it] y"
    assert made.clean_known(f"x {'ab12' * 4} y") == f"x {'ab12' * 4} y"


def test_brackets_around_a_value_do_not_hide_it() -> None:
    assert redactor().clean(f"[secret {KEY}] [redacted {KEY}]") == "[secret [secret key]] [redacted [secret key]]"


def test_a_name_that_is_in_its_own_value_is_not_found_again() -> None:
    named = redactor(Known("hunter2-hunter2-hunter2", "hunter2-hunter2-hunter2"))
    once = named.clean("it is hunter2-hunter2-hunter2!")
    assert once == "it is [secret hunter2-hunter2-hunter2]!"
    assert named.clean(once) == once


def test_a_known_value_shows_in_no_repr() -> None:
    assert KEY not in repr(Known("key", KEY))


@given(
    st.lists(st.one_of(st.text(max_size=30), st.sampled_from([KEY, PASSWORD, SHORT, PIN, KEY[:14], KEY[::-1], "[secret key]", "sk-ant-"]))),
    st.sampled_from(["", " ", "\n", "="]),
)
@settings(max_examples=200, deadline=None)
def test_cleaning_twice_is_cleaning_once(pieces: list[str], between: str) -> None:
    made, text = redactor(), between.join(pieces)
    once = made.clean(text)
    assert made.clean(once) == once
    assert made.clean_known(once) == once
    assert KEY not in once


@given(
    st.text(string.ascii_letters + string.digits + string.punctuation, min_size=8, max_size=60), st.text(max_size=40), st.text(max_size=40)
)
@settings(max_examples=300, deadline=None)
def test_any_value_is_found_in_any_text(value: str, before: str, after: str) -> None:
    made = redactor(Known("it", value))
    for way in ("plain", "base64", "hex", "percent", "JSON, all escaped", "HTML"):
        assert "[secret it]" in made.clean_known(f"{before} {WAYS[way](value)} {after}"), way


@given(st.text(max_size=40), st.text(max_size=40), st.sampled_from([KEY, PASSWORD, SHORT, PIN, WAYS["base64"](KEY)]), st.integers(1, 9))
@settings(max_examples=200, deadline=None)
def test_pieces_shown_one_by_one_are_the_cleaned_whole(before: str, after: str, value: str, size: int) -> None:
    made, text = redactor(), f"{before} {value} {after}"
    shown, waiting = "", ""
    for i in range(0, len(text), size):
        waiting += text[i : i + size]
        ready = len(waiting) - made.unfinished(waiting)
        shown, waiting = shown + made.clean_known(waiting[:ready]), waiting[ready:]
    assert shown + made.clean_known(waiting) == made.clean_known(text)


def test_ordinary_words_do_not_wait_for_long() -> None:
    assert redactor().unfinished("The quick brown fox jumps over the lazy dog. ") < 8
