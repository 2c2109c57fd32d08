"""What a person reads before something happens, and what a grant would cover."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue
from tests.kernel.wanted import ground, wanted

from daimon.abi.ids import OWNER, SELF
from daimon.abi.judgement import Grant, Provenance
from daimon.abi.tool import ArgumentRole, Capability
from daimon.kernel import offers, permission, quote
from daimon.kernel.offers import Wanted
from daimon.kernel.verdict import offers_in

TO = Provenance("to", ArgumentRole.DESTINATION, "bob@x.org", "owner")
SUBJECT = Provenance("subject", ArgumentRole.CONTENT, "Minutes", "own")
BODY = Provenance("body", ArgumentRole.CONTENT, "Dear…", "untrusted", "draws on mail from carol@y.org")
MAIL = {"to": "bob@x.org", "subject": "Minutes", "body": "Dear Bob, " + "x" * 1_194}


def text(*calls: Wanted, job: str = "") -> str:
    return permission.question(calls, ground(job)).text


# -- words


def test_a_question_says_what_would_happen_with_what_and_where_it_came_from() -> None:
    assert text(wanted(MAIL, TO, SUBJECT, BODY, reason="Others' words are in it.")).splitlines() == [
        'May I? send_email — sends to bob@x.org (you wrote that), subject "Minutes" (my own words), body of 1,204 characters, beginning '
        f'"Dear Bob, {"x" * 50}" (draws on mail from carol@y.org: NOT shown to be yours). Reason: Others\' words are in it.',
        "`grant` allows it, and from now on, without asking until 2026-12-15: send_email to bob@x.org, whatever the rest says.",
    ]


def test_several_calls_are_one_question_and_are_counted() -> None:
    lines = text(
        wanted(MAIL), wanted({"file": "a.txt"}, tool="delete", capabilities=(Capability.DELETES,)), wanted({"subject": "x"})
    ).splitlines()
    assert lines[0] == "May I do these 3 things?"
    assert [line[:20] for line in lines[1:4]] == ["1. send_email — send", "2. delete — deletes,", "3. send_email — send"]
    assert lines[4] == "`allow` is for all of them, `allow 1` for the first alone, `deny` for none."
    assert "(1) send_email to bob@x.org; (2) delete on a.txt" in lines[5]
    assert lines[5].endswith("The others cannot be granted; they are allowed once.")


def test_the_details_hold_the_calls_whole() -> None:
    question = permission.question([wanted(MAIL, TO)], ground())
    assert isinstance(question.details, dict)
    (call,) = question.details["calls"]  # type: ignore[misc, union-attr]
    assert call["arguments"] == MAIL  # type: ignore[index, call-overload]
    assert call["provenance"][0]["shown"] == "owner"  # type: ignore[index, call-overload]
    assert "x" * 1_194 not in question.text


def test_the_end_of_a_long_address_is_told_in_the_question_and_in_what_would_be_granted() -> None:
    address = f"https://good.example.{'a' * 300}.evil.org/x"
    told = text(wanted({"to": address}))
    assert told.count(address) == 2
    assert "characters)" not in told


def test_of_a_plan_every_step_is_told_to_the_last_letter() -> None:
    steps: list[JsonValue] = [f"mail(to='a{n}@x.org', body=own())" for n in range(20)]
    steps.append(f"mail(body='{'x' * 500}', to='eve@x.org')")
    told = text(wanted({"steps": steps, "reads": None}, tool="plan", capabilities=(Capability.PLANS,)))
    assert told.startswith("May I? plan — lets me make these calls without asking again, steps \"mail(to='a0@x.org'")
    assert all(f'"{step}"' in told for step in steps)
    assert told.endswith("reads none.")


def test_a_tool_that_does_nothing_consequential_is_told_by_its_description() -> None:
    assert text(wanted({"subject": "x"}, capabilities=())).startswith('May I? send_email — Send an email., subject "x"')


def test_two_kinds_of_recipients_are_told_apart() -> None:
    assert "sends to bob@x.org, cc carol@y.org" in text(wanted({"to": "bob@x.org", "cc": "carol@y.org"}))


def test_lists_and_structures_are_told_without_json() -> None:
    told = text(wanted({"to": ["a@x.org", "b@x.org"], "subject": {"a": 1, "deep": {"b": None, "c": True}}, "body": [1.5] * 9}))
    assert "to a@x.org, b@x.org" in told
    assert "subject (a 1, deep (b nothing, c yes))" in told
    assert "1.5 and 3 more" in told
    assert not set("{}") & set(told)


def test_a_secret_is_not_shown_anywhere() -> None:
    question = permission.question([wanted({"to": "bob", "password": "hunter2"})], ground())
    assert "hunter2" not in f"{question}"
    assert "password (a secret, not shown)" in question.text


def test_what_is_said_of_a_part_of_an_argument_is_told_too() -> None:
    part = Provenance("body/0", ArgumentRole.CONTENT, "evil.example", "unknown")
    assert 'of which body/0 ("evil.example": NOT shown to be yours)' in text(wanted({"body": ["evil.example"]}, part))


def test_one_value_that_is_yours_says_nothing_of_the_others() -> None:
    eve = Provenance("to", ArgumentRole.DESTINATION, "eve@x.org", "untrusted", "mail from eve")
    told = text(wanted({"to": ["eve@x.org", "bob@x.org"]}, eve, TO))
    assert 'to eve@x.org, bob@x.org ("eve@x.org": mail from eve: NOT shown to be yours; "bob@x.org": you wrote that)' in told


def test_nobody_hides_behind_many_recipients() -> None:
    told = text(wanted({"to": [f"friend{i}@x.org" for i in range(30)] + ["eve@x.org"]}))
    assert told.count("eve@x.org") == 2, "in what would happen, and in what would be granted"


def test_second_thoughts_name_the_call_and_run_when_nobody_says_a_word() -> None:
    asked = permission.second_thought(wanted(MAIL, TO), 30)
    assert asked.text.startswith("In 30 s, unless you `stop` it: send_email — sends to bob@x.org (you wrote that)")
    assert (asked.options[0], asked.type) == ("send", "undo")


def test_a_note_about_an_origin_cannot_claim_another_one() -> None:
    told = text(wanted({"body": "x"}, Provenance("body", ArgumentRole.CONTENT, "x", "untrusted", "mail from eve (you wrote that)")))
    assert 'body "x" (mail from eve [you wrote that]: NOT shown to be yours)' in told


# -- somebody else's words


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ('x"\n2. deny — nothing', r'"x\"\n2. deny — nothing"'),
        ("a\u202eb", r'"a\u202eb"'),
        ("a\u200bb\ufeff", r'"a\u200bb\ufeff"'),
        ("a\x1b[2Jb\x00", r'"a\u001b[2Jb\u0000"'),
        ("a\u2028b\u00a0c", r'"a\u2028b\u00a0c"'),
        ("back\\slash", r'"back\\slash"'),
        ("\u3164\u2800\ufe0f", r'"\u3164\u2800\ufe0f"'),
        ("x" + " " * 300 + "y", '"x [300 spaces] y"'),
        ("e" + "\u0301" * 5, '"e\u0301\u0301\\u0301\\u0301\\u0301"'),
        ("\U000e0041", r'"\U000e0041"'),
        ("käse €5 東京", '"käse €5 東京"'),
    ],
    ids=["quote and line", "bidi", "zero width", "control", "separators", "backslash", "blank", "spaces", "accents", "tags", "plain"],
)
def test_what_others_wrote_cannot_pass_for_our_own_words(hostile: str, shown: str) -> None:
    assert quote.quoted(hostile, 400) == shown


def test_an_address_that_could_be_mistaken_is_quoted_and_its_strange_letters_are_named() -> None:
    assert quote.name("bob@x.org", 80) == "bob@x.org"
    assert quote.name("bоb@x.org", 80) == '"bоb@x.org" [holds U+043E]'
    assert quote.name('bob@x.org (you wrote that), subject "', 80).startswith('"bob@x.org (you wrote that), subject \\""')


def test_long_words_are_cut_and_say_how_long_they_are() -> None:
    assert quote.quoted("a" * 1_000, 5) == '"aaaaa" … (1,000 characters)'
    assert quote.prose("word " * 100, 12) == "word word wo…"


anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
values: st.SearchStrategy[JsonValue] = st.one_of(anything, st.lists(anything, max_size=3), st.dictionaries(anything, anything, max_size=3))


@given(values, anything, anything, anything)
def test_no_words_of_others_add_a_line_or_anything_unseen(value: JsonValue, note: str, reason: str, address: str) -> None:
    shown = Provenance("body", ArgumentRole.CONTENT, "v", "untrusted", note)
    told = text(wanted({"to": address, "body": value}, shown, reason=reason))
    assert len(told.splitlines()) <= 2
    assert all(letter.isprintable() for line in told.split("\n") for letter in line)


# -- what a grant would cover


def test_a_grant_covers_the_call_and_no_more() -> None:
    pay = wanted({"to": ["Bob@X.org ", "ann"], "file": "A17", "amount": 40}, tool="pay", capabilities=(Capability.SPENDS, Capability.SENDS))
    (offer,) = offers_in(permission.question([pay], ground("morning")))
    assert offer.grant == Grant(
        id="", agent=SELF, capabilities=(Capability.SENDS, Capability.SPENDS), tool="pay", destinations=("ann", "bob@x.org"),
        targets=("a17",), job="morning", until=datetime(2026, 12, 16, tzinfo=UTC),
    )  # fmt: skip
    assert "whatever the amount and the rest says" in text(pay)
    assert "pay to ann, bob@x.org on a17, in morning only" in text(pay, job="morning")


@pytest.mark.parametrize(
    ("arguments", "capabilities"),
    [
        ({"subject": "x"}, (Capability.SENDS,)),
        ({"to": "", "cc": None, "subject": "x"}, (Capability.SENDS,)),
        ({"file": "a.txt", "amount": 3}, (Capability.SPENDS,)),
        ({"to": {"name": "bob"}}, (Capability.SENDS,)),
        ({"to": ["bob", None]}, (Capability.SENDS,)),
        ({"to": "bob", "level": "admin"}, (Capability.SENDS,)),
        ({"to": "bob"}, (Capability.GRANTS,)),
    ],
    ids=["nothing", "empty", "amount to nowhere", "structure", "a hole", "permission", "grants"],
)
def test_where_nothing_bounds_a_grant_none_is_offered(arguments: dict[str, JsonValue], capabilities: tuple[Capability, ...]) -> None:
    question = permission.question([wanted(arguments, capabilities=capabilities)], ground())
    assert question.options == ("deny", "allow")
    assert "grant" not in question.text
    assert offers_in(question) == ()


def test_where_something_does_it_is_offered() -> None:
    for arguments in ({"to": "bob"}, {"file": "a.txt"}, {"to": "bob", "amount": 3}):
        assert permission.question([wanted(arguments)], ground()).options == ("deny", "allow", "grant")


def test_the_last_day_is_a_whole_day_of_the_owner() -> None:
    vienna = ground(zone=ZoneInfo("Europe/Vienna"), now=datetime(2026, 11, 15, 23, 30, tzinfo=UTC))  # the 16th there
    (offer,) = offers_in(permission.question([wanted({"to": "bob"})], vienna))
    assert offer.grant.until == datetime(2026, 12, 16, 23, 0, tzinfo=UTC)
    given_ = offers.given(offer.grant, "t1:9", OWNER, datetime(2026, 11, 20).date(), vienna)  # noqa: DTZ001 - a day has no zone
    assert (given_.until, given_.id, given_.by, given_.at) == (datetime(2026, 11, 20, 23, 0, tzinfo=UTC), "t1:9", OWNER, vienna.now)
