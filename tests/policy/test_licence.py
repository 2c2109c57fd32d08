"""What planned sources yield, and that a stranger's words yield nothing."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue
from tests.policy.scene import FILES, HOTELS, MAILS, PAYMENTS, read, situation

from daimon.abi.judgement import Seen
from daimon.abi.plan import Plan
from daimon.policy.licence import fit

RENT = read(
    "orders",
    [{"id": 6, "to": "SE355", "amount": 50.0, "about": "Spotify Premium"}, {"id": 7, "to": "US122", "amount": 1100.0, "about": "Rent"}],
    n=20,
)
ADDRESS = read("address", {"Luxury Palace": "1 Rue de la Paix"}, n=21)
CHANNELS = read("channels", ["general", "random", "External_0"], n=22)


def verdict(source: str, value: JsonValue, *seen: Seen) -> str:
    return fit(source, value, Plan(), situation("x", *seen)).verdict


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("'bob@x.org'", "Bob@X.org "),
        ("12.5", "12.50"),
        ("['a', 'b']", ["b", "a"]),
        ("seen('orders', about='Rent').id", 7),
        ("seen('orders', about=like('rent')).id", "7"),
        ("seen('orders', about='Rent').amount * 19.5 / 100 + 5.29", 219.79),
        ("seen('payments', sender='GB29NWBK').amount - 12 / 2", 4),
        ("seen('payments', amount=10).sender", "GB29NWBK"),
        ("largest(seen('files'), 'size').id", "f2"),
        ("smallest(seen('files'), 'size').id", "f1"),
        ("first(seen('orders')).id", 6),
        ("last(seen('orders')).to", "US122"),
        ("all(seen('channels'))", ["random", "External_0", "general"]),
        ("seen('channels', value=like('external'))", "External_0"),
        ("'Hotel: ' + one_of(seen('hotels'))", "Hotel: Good Night"),
        ("'Stay at ' + one_of(seen('hotels')) + ', address: ' + seen('address')", "Stay at Good Night, address: 1 Rue de la Paix"),
        ("one_of(seen('hotels'))", "City Hub"),
        ("seen('address', key='Luxury Palace').value", "1 Rue de la Paix"),
        ("seen('mails', subject='Hello').sender", ["eve@x.org"]),
        ("seen('mails', given(query='x'), sender='bob@x.org').id", "m1"),
    ],
)
def test_it_is_what_the_plan_said(source: str, value: JsonValue) -> None:
    mails = Seen(MAILS.n, "mails", {"query": "x"}, MAILS.data, MAILS.label, MAILS.labels)
    assert verdict(source, value, RENT, ADDRESS, CHANNELS, PAYMENTS, HOTELS, FILES, mails) == "fits"


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("'bob@x.org'", "bob@x.org.evil.com"),
        ("'007'", "7"),
        ("['a', 'b']", ["a", "b", "c"]),
        ("['a', 'b']", ["a"]),
        ("'a'", ["a", "b"]),
        ("12.5", 125),
        ("True", "yes"),
        ("seen('orders', about='Rent').id", 6),
        ("'Hotel: ' + one_of(seen('hotels'))", "Hotel: Evil Inn"),
        ("'Hotel: ' + one_of(seen('hotels'))", "Hotel: Good Night see www.evil.com"),
        ("all(seen('channels'))", ["general", "random"]),
    ],
)
def test_it_is_not_what_the_plan_said(source: str, value: JsonValue) -> None:
    assert verdict(source, value, RENT, CHANNELS, HOTELS) == "differs"


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("seen('mails').sender", "not said which"),
        ("seen('mails', subject='Hello').body", "others wrote"),
        ("seen('mails', body=like('Forward')).sender", "nothing in mails fits"),
        ("seen('nowhere').id", "has not been called"),
        ("seen('orders', about='rent').nothing", "no such field"),
        ("seen('files', name='other.docx').id", "nothing in files fits"),
        ("1 / 0", "division by zero"),
        ("'a' - 1", "needs numbers"),
        ("ask('which one')", "which one"),
        ("largest(seen('mails'), 'body')", "can be trusted"),
    ],
)
def test_what_cannot_be_told_is_unknown(source: str, why: str) -> None:
    found = fit(source, "x", Plan(), situation("x", MAILS, RENT, FILES))
    assert found.verdict == "unknown"
    assert why.replace("no such field", "has a field") in found.note


def test_words_choose_a_record_only_where_the_service_says_whose_they_are() -> None:
    posts = read(
        "posts",
        [{"by": "Alice", "where": "random", "text": "Seen my coffee mug?"}, {"by": "Eve", "where": "evil", "text": "coffee mug here"}],
        ("/*/text",),
    )
    assert verdict("seen('posts', by='Alice', text=like('coffee mug')).where", "random", posts) == "fits"
    assert verdict("seen('posts', text=like('coffee mug')).where", "random", posts) == "unknown"


def test_the_largest_is_found_among_those_that_have_a_size() -> None:
    files = read("files", [{"id": "f1", "size": 3, "shared": {"a@x.org": "r"}}, {"id": "f2", "size": 9, "shared": {"b@x.org": "rw"}}])
    assert verdict("largest(seen('files'), 'size').id", "f2", files) == "fits"


def test_the_agents_own_words_are_free() -> None:
    assert verdict("own()", "anything") == "free"


def test_a_link_in_a_strangers_text_can_only_be_told_as_it_stands() -> None:
    assert verdict("link(seen('mails', sender='bob@x.org').body)", "www.evil.com", MAILS) == "fits"
    assert verdict("link(seen('mails', sender='bob@x.org').body)", "www.evil.com/?key=1", MAILS) == "differs"


@given(
    st.text(min_size=1, max_size=20),
    st.sampled_from(["seen('s')", "seen('s').word", "one_of(seen('s'))", "all(seen('s').word)", "first(seen('s')).word"]),
)
def test_no_source_takes_a_value_from_a_stranger(word: str, source: str) -> None:
    seen = read("s", [{"word": word, "other": "fixed"}], ("/*/word", "/*/other"))
    assert verdict(source, word, seen) != "fits"


def test_what_is_largest_is_not_told_by_reads_that_the_agent_chose() -> None:
    small = read("search", [{"id": "f9", "size": 1}], n=23, query="evil")
    assert verdict("largest(seen('search'), 'size').id", "f9", MAILS, small) == "unknown"
    assert verdict("largest(seen('search', given(query='evil')), 'size').id", "f9", MAILS, small) == "fits"


ISSUES: JsonValue = {"deliveries": [{"data": {"issue": {"number": 17, "title": "18", "hot": True}}}, {"data": {"issue": {"number": 4}}}]}
NUMBER = "found('/deliveries/*/data/issue/number')"
LABELS = f"'https://api.x.org/issues/' + {NUMBER} + '/labels'"


@pytest.mark.parametrize(
    ("source", "value", "outcome"),
    [
        (LABELS, "https://api.x.org/issues/17/labels", "fits"),
        (LABELS, "https://api.x.org/issues/4/labels", "fits"),
        (LABELS, "https://api.x.org/issues/5/labels", "differs"),
        (LABELS, "https://api.x.org/issues/17/labels/../../4", "differs"),
        (LABELS, "https://api.x.org/issues/174/labels", "differs"),
        (LABELS, "http://api.x.org/issues/17/labels", "differs"),
        (NUMBER, 4, "fits"),
        ("found('/deliveries/*/data/issue/title')", "18", "unknown"),
        ("found('/deliveries/*/data/issue/hot')", True, "unknown"),
        ("found('/deliveries')", 17, "unknown"),
    ],
)
def test_of_what_a_watch_found_only_whole_numbers_at_the_named_place_count(source: str, value: JsonValue, outcome: str) -> None:
    assert fit(source, value, Plan(), replace(situation("x"), came=ISSUES)).verdict == outcome


def test_where_nothing_was_found_no_number_counts() -> None:
    assert verdict(NUMBER, 17) == "unknown"


@pytest.mark.parametrize(
    ("value", "outcome"), [("bug", "fits"), ("Docs", "fits"), ("owned", "differs"), ("bug docs", "differs"), (["bug", "docs"], "differs")]
)
def test_a_choice_among_literals_is_closed(value: JsonValue, outcome: str) -> None:
    assert verdict("one_of(['bug', 'docs'])", value) == outcome


@pytest.mark.parametrize("source", ["one_of([own(), 'bug'])", "one_of([])", "one_of([['bug']])"])
def test_a_choice_of_anything_but_literals_is_none(source: str) -> None:
    assert verdict(source, "bug") == "unknown"
