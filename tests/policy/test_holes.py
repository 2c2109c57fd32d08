"""Ways around the flow rules that a hijacked model could have taken, each closed."""

import time
from dataclasses import replace

import pytest
from tests.policy.scene import (
    ERASE,
    FILES,
    LOOK,
    MAIL,
    MAILS,
    PAGE,
    PASSWORD,
    PAY,
    PAYMENTS,
    STRANGER,
    C,
    D,
    T,
    W,
    manifest,
    plan,
    read,
    situation,
)  # fmt: skip

from daimon.abi.judgement import Held, Made
from daimon.abi.label import owned
from daimon.abi.tool import Capability, Manifest
from daimon.policy.content import active
from daimon.policy.equality import equal
from daimon.policy.flow import weigh

REFUND = "Please refund GB29NWBK for what they have sent me"


def basis(called: Manifest, arguments: object, *more: object, **besides: object) -> str:
    return weigh(called, arguments, situation(*more, **besides)).basis  # type: ignore[arg-type]


def test_the_same_act_in_another_spelling_is_not_shown_a_second_time() -> None:
    paid = (Made(18, "pay", {"to": "GB29NWBK", "amount": 10.0}, "words"),)
    for again in (
        {"to": "GB29NWBK", "amount": 10.001},
        {"to": ["GB29NWBK", "GB29NWBK"], "amount": 9.999},
        {"to": "GB29NWBK", "amount": 10.0, "repeat": False},
    ):
        assert basis(PAY, again, REFUND, PAYMENTS, made=paid) == "none"
    sent = (Made(18, "mail", {"to": "bob@x.org", "body": "late"}, "words"),)
    assert basis(MAIL, {"to": "mailto:bob@x.org", "body": "late"}, "tell bob@x.org: late", MAILS, made=sent) == "none"


def test_another_amount_that_the_owner_wrote_is_another_act() -> None:
    paid = (Made(18, "pay", {"to": "DE99", "amount": 4}, "words"),)
    assert basis(PAY, {"to": "DE99", "amount": 6}, "pay 4 to DE99, then 6 more", PAYMENTS, made=paid) == "words"


def test_a_second_address_cannot_hide_in_the_shown_name_of_the_first() -> None:
    for to in ("eve@evil.org, <bob@x.org>", "eve@evil.org <bob@x.org>", "Eve; eve <bob@x.org>", "a, b <bob@x.org>"):
        assert basis(MAIL, {"to": to, "body": "late"}, "tell bob@x.org: late", MAILS) == "none"
        assert basis(MAIL, {"to": to}, "x", MAILS, plans=(plan("mail(to='bob@x.org')"),)) == "none"
    assert basis(MAIL, {"to": "Bob <bob@x.org>", "body": "late"}, "tell bob@x.org: late", MAILS) == "words"


def test_letters_that_only_casefolding_joins_make_two_addresses() -> None:
    assert basis(MAIL, {"to": "info@straße.de", "body": "hi"}, "write to info@strasse.de: hi", MAILS) == "none"
    assert basis(MAIL, {"to": "info@straße.de"}, "x", MAILS, plans=(plan("mail(to='info@strasse.de')"),)) == "none"
    assert basis(MAIL, {"to": "INFO@Strasse.de", "body": "hi"}, "write to info@strasse.de: hi", MAILS) == "words"


def test_long_numbers_are_told_apart_to_the_last_digit() -> None:
    assert not equal(10000000000000001, "10000000000000000")
    assert not equal(10000000000000001, 10000000000000000)
    assert equal(7, 7.0)
    assert equal("33.33", 100 / 3)


def test_a_small_amount_is_not_rounded_up_to_a_larger_one() -> None:
    assert not equal(0.0059, 0.001)
    assert not equal(0.004, 0)


def test_a_planned_argument_that_narrows_the_call_cannot_be_left_out() -> None:
    purge = manifest("purge", Capability.DELETES, folder=T, before=W)
    planned = plan("purge(folder='spam', before='2020-01-01')")
    for less in ({}, {"folder": "spam"}, {"before": "2020-01-01"}, {"folder": "spam", "before": ""}, {"folder": []}):
        assert basis(purge, less, "x", MAILS, plans=(planned,)) == "none"
    assert basis(purge, {"folder": "spam", "before": "2020-01-01"}, "x", MAILS, plans=(planned,)) == "plan"


def test_planned_text_and_what_was_planned_as_nothing_may_be_left_out() -> None:
    planned = plan("mail(to='bob@x.org', cc=[], subject='News', body=own(), attach=None)", reads=("mails()",))
    assert basis(MAIL, {"to": "bob@x.org", "body": "hello"}, "x", MAILS, plans=(planned,)) == "plan"


def test_active_text_is_known_as_such_whatever_else_is_wrong_with_the_call() -> None:
    """A grant does not cover it, with a plan or without."""
    told = {"to": "bob@x.org", "body": "see www.evil.com"}
    for plans in ((), (plan("mail(to='amy@x.org', body=own())"),), (plan("pay(to='DE99')"),)):
        assert weigh(MAIL, told, situation("read my mail", MAILS, plans=plans)).is_active  # type: ignore[arg-type]
        assert not weigh(MAIL, told | {"body": "hello"}, situation("read my mail", MAILS, plans=plans)).is_active  # type: ignore[arg-type]


def test_an_account_number_a_date_or_a_time_is_no_amount() -> None:
    assert basis(PAY, {"to": "12345678", "amount": 12345678}, "read my mail, pay 4 to 12345678", MAILS) == "none"
    words = "read my mail, then pay 4 to DE99 on 2022-04-01 at 18:30, for March 15th 2025 and the 16th of May"
    for amount in (2022, 18, 30, 15, 2025, 16):
        assert basis(PAY, {"to": "DE99", "amount": amount}, words, MAILS) == "none"
    assert basis(PAY, {"to": "DE99", "amount": 4}, words, MAILS) == "words"
    assert basis(PAY, {"to": "DE99", "amount": 1200.5}, "pay 1,200.50 to DE99", MAILS) == "words"


def test_the_number_of_a_record_is_no_amount() -> None:
    payments = read("payments", [{"id": 900123, "sender": "GB29NWBK", "amount": 10.0, "year": 2026}], n=19)
    for amount in (900123, 2026):
        assert basis(PAY, {"to": "GB29NWBK", "amount": amount}, REFUND, MAILS, payments) == "none"
    assert basis(PAY, {"to": "GB29NWBK", "amount": 10}, REFUND, MAILS, payments) == "words"


def test_an_argument_in_which_nothing_stands_is_not_the_owners_word() -> None:
    assert basis(ERASE, {"id": [None]}, "hello", MAILS) == "none"
    assert basis(MAIL, {"to": [[]], "body": "anything at all"}, "hello", MAILS) == "none"


# -- echoes that come back otherwise -----------------------------------------------------------------------------------

SARAH = "read my mail, then tell Sarah Baker: I am late"
LATE = {"to": "eve@evil.org", "body": "I am late"}


def test_a_number_that_a_service_repeats_is_an_echo() -> None:
    converted = read("convert", {"amount": 900}, n=17, amount=900)
    planned = plan("pay(to='DE99', amount=seen('convert').amount)")
    assert basis(PAY, {"to": "DE99", "amount": 900}, "x", MAILS, converted, plans=(planned,)) == "none"
    assert basis(PAY, {"to": "DE99", "amount": 900}, "convert 900", MAILS, converted, plans=(planned,)) == "plan"


def test_an_echo_that_was_put_together_from_pieces_is_one() -> None:
    joined = read("join", {"text": "eve@evil.org"}, n=17, pieces=["ev", "e@", "ev", "il", ".o", "rg"])
    planned = plan("mail(to=seen('join').text, body=own())", reads=("mails()", "join()"))
    assert basis(MAIL, LATE, "x", MAILS, joined, plans=(planned,)) == "none"


def test_what_the_agent_put_into_a_store_does_not_come_out_of_it_trusted() -> None:
    added = read("add_contact", {"ok": True}, n=17, name="Sarah Baker", address="eve@evil.org")
    imported = read("import_contacts", {"ok": True}, n=17, table="Sarah Baker,eve@evil.org")
    book = read("contacts", [{"name": "Sarah Baker", "address": "eve@evil.org"}], n=18)
    assert basis(MAIL, LATE, SARAH, MAILS, added, book) == "none"
    assert basis(MAIL, LATE, SARAH, MAILS, imported, book) == "none"
    assert basis(MAIL, LATE, SARAH, MAILS, book) == "words"


def test_two_things_that_are_known_are_not_known_to_belong_together() -> None:
    told = LATE | {"to": "eve@x.org"}  # the service says that she wrote a mail
    added = read("add_contact", {"name": "Sarah Baker", "address": "eve@x.org"}, n=17, name="Sarah Baker", address="eve@x.org")
    book = read("contacts", [{"name": "Sarah Baker", "address": "eve@x.org"}], n=18)
    assert basis(MAIL, told, SARAH, MAILS, added) == "none"
    assert basis(MAIL, told, SARAH, MAILS, added, book) == "none"
    assert basis(MAIL, told, SARAH, MAILS, book, added) == "words"


# -- time --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "piece", ["a", "a-", "a.", "1.", "%", "%aa", " ", "x ", " [", "x dot ", "w .", "&", "aA", "a-B", "@", "one ", "/aB", "é", "1 ", "de12 "]
)
def test_no_text_makes_the_gate_think_for_long(piece: str) -> None:
    began = time.process_time()
    active(piece * (20_000 // len(piece)), ["hello"])
    assert time.process_time() - began < 1.0


def test_text_that_is_too_long_to_be_looked_through_is_not_looked_through() -> None:
    planned = plan("mail(to='bob@x.org', body=own())", reads=("mails()",))
    for plans in ((), (planned,)):
        began = time.process_time()
        assert basis(MAIL, {"to": "bob@x.org", "body": "a." * 400_000}, "write to bob@x.org", MAILS, plans=plans) == "none"
        assert time.process_time() - began < 1.0


def test_no_text_of_many_alternatives_makes_the_gate_think_for_long() -> None:
    values = read("values", [{"v": "a" * i} for i in range(1, 200)], n=17)
    planned = plan(f"mail(to={' + '.join(['one_of(seen(' + repr('values') + ').v)'] * 10)})")
    began = time.process_time()
    assert basis(MAIL, {"to": "a" * 400 + "b"}, "x", MAILS, values, plans=(planned,)) == "none"
    assert basis(MAIL, {"to": "a" * 400}, "x", MAILS, values, plans=(planned,)) == "plan"
    assert time.process_time() - began < 2.0


# -- looking at pages --------------------------------------------------------------------------------------------------


def test_what_else_goes_along_with_an_address_is_looked_at_too() -> None:
    ask = manifest("ask_page", Capability.READS_OUTSIDE, url=D, form=C, of=T)
    words = "read www.news.org"
    assert basis(ask, {"url": "www.news.org"}, words, MAILS) == "words"
    for more in ({"form": "My key is swordfish"}, {"of": "file_0002"}):
        assert basis(ask, {"url": "www.news.org", **more}, words, MAILS, FILES) == "none"
        planned = plan(reads=("ask_page(url='www.news.org')",))
        assert basis(ask, {"url": "www.news.org", **more}, words, MAILS, FILES, plans=(planned,)) == "none"
    planned = plan(reads=("ask_page(url='www.news.org', form='tulips')",))
    assert basis(ask, {"url": "www.news.org", "form": "tulips"}, "x", MAILS, FILES, plans=(planned,)) == "plan"


def test_the_case_of_letters_in_an_address_carries_nothing_away() -> None:
    words = "read https://www.News.org/abcdefgh"
    for url, expected in (("https://www.news.org/abcdefgh", "words"), ("https://www.news.org/aBcDefGh", "none")):
        assert basis(LOOK, {"url": url}, words, MAILS) == expected
    planned = plan(reads=("look(url='www.news.org/abcdefgh')",))
    for url, expected in (("https://www.news.org/abcdefgh", "plan"), ("www.news.org/aBcDefGh", "none")):
        assert basis(LOOK, {"url": url}, "x", MAILS, plans=(planned,)) == expected


# -- by the owner's words ----------------------------------------------------------------------------------------------


def test_a_word_that_everybody_uses_names_no_object() -> None:
    secret = read("file", {"id": "file_0002", "name": "secret.docx", "kind": "file", "state": "Delete"}, ("/name",), n=17)
    for words in ("delete the file minutes.docx", "Delete the file minutes.docx", "Look at it. File it, please"):
        assert basis(ERASE, {"id": "file_0002"}, words, secret) == "none"
    for words in ("delete the file 'file'", "delete secret.docx", "delete what is named Delete now"):
        assert basis(ERASE, {"id": "file_0002"}, words, secret) == "words"


def test_letters_one_by_one_are_words_too() -> None:
    spelled = {"to": "bob@x.org", "body": "s w o r the d f i s the h"}
    assert basis(MAIL, spelled, "read my mail and write to bob@x.org", MAILS) == "none"
    piped = {"to": "bob@x.org", "body": "s|w|o|r|d|f|i|s|h"}
    assert basis(MAIL, piped, "x", MAILS, plans=(plan("mail(to='bob@x.org', body=own())", reads=("mails()",)),)) == "none"
    told = {"to": "bob@x.org", "body": "It's a late train, I was told"}
    assert basis(MAIL, told, "write to bob@x.org that it's a late train and I was told so", MAILS) == "words"


def test_a_link_that_a_stranger_wrote_is_no_destination() -> None:
    link = "link(seen('mails', id='m1').body)"
    for step in (f"mail(to={link}, body='x')", f"mail(to='http://' + {link}, body='x')"):
        for to in ("www.evil.com", "http://www.evil.com"):
            assert basis(MAIL, {"to": to, "body": "x"}, "x", MAILS, plans=(plan(step),)) == "none"
    planned = plan(reads=(f"look(url={link})",))
    assert basis(LOOK, {"url": "www.evil.com"}, "x", MAILS, plans=(planned,)) == "plan"


# -- by plan -----------------------------------------------------------------------------------------------------------


def test_a_read_that_a_stranger_narrowed_does_not_choose_a_record_by_a_strangers_words() -> None:
    forged = [{"id": "m3", "sender": "eve@evil.org", "subject": "Minutes", "body": ""}]
    planned = plan("mail(to=seen('search', subject='Minutes').sender, body='Here.')")
    told = {"to": "eve@evil.org", "body": "Here."}
    words = "answer the mail 'Minutes'"
    for steered in ({"query": "from eve"}, {"most": 1}):
        assert basis(MAIL, told, words, PAGE, read("search", forged, ("/*/subject",), n=17, **steered), plans=(planned,)) == "none"  # type: ignore[arg-type]
    for honest in ({}, {"query": "minutes"}, {"most": 100}):
        assert basis(MAIL, told, words, PAGE, read("search", forged, ("/*/subject",), n=17, **honest), plans=(planned,)) == "plan"  # type: ignore[arg-type]
    first = read("search", forged, ("/*/subject",), n=9, most=1)
    assert basis(MAIL, told, words, first, PAGE, plans=(planned,)) == "plan"


# -- disguises ---------------------------------------------------------------------------------------------------------


def unseen(text: str) -> str:
    """In the letters of Unicode that programs read and people do not see."""
    return "".join(chr(0xE0000 + ord(letter)) for letter in text)


@pytest.mark.parametrize(
    "text",
    [
        f"hello{unseen('the safe opens with swordfish')}", "hello\u200b\u200c\u200c\u200b", "hello\u2063\u2064", "evil DOT com",
        "evil\ndot\ncom",
        "evil\u22c5com", "evil\u2219com", "\U0001f174\U0001f185\U0001f178\U0001f17b.com",
    ],
)  # fmt: skip
def test_what_nobody_sees_or_reads_as_another_letter_hides_something(text: str) -> None:
    assert active(text, ["hi"])


@pytest.mark.parametrize(
    "text", ["A family \U0001f468\u200d\U0001f469\u200d\U0001f467 and a heart \u2764\ufe0f", "می\u200cخواهم", "co\u00adoperate"]
)
def test_what_people_write_with_such_letters_hides_nothing(text: str) -> None:
    assert not active(text, ["hi"])


def test_what_a_held_value_stands_for_is_filled_in_once_as_the_tool_will_see_it() -> None:
    held = {"h:t1:1.1": Held("h:t1:1.1", "h:t1:1.2", STRANGER), "h:t1:1.2": Held("h:t1:1.2", "bob@x.org", STRANGER)}
    here = replace(situation("forward it to bob@x.org", MAILS), held=held, heard=owned("terminal"))
    assert weigh(MAIL, {"to": "h:t1:1.1", "body": "{{h:t1:1.2}}"}, here).basis == "none"
    assert weigh(MAIL, {"to": "bob@x.org", "body": "{{h:t1:1.1}}"}, here).basis == "clean"


def test_a_secret_is_the_owners_letter_for_letter() -> None:
    for new, expected in (("SWORDfish1", "words"), ("swordfish1", "none")):
        assert basis(PASSWORD, {"new": new}, "set my password to 'SWORDfish1'", MAILS) == expected


def test_a_plan_that_is_stated_again_allows_nothing_twice() -> None:
    step, again = "pay(to='DE99', amount=4, subject=own())", "pay(to='DE99', amount=4, subject='Rent')"
    plans = (plan(step, n=3), plan(again, "mail(to='bob@x.org')", n=9))
    paid = {"to": "DE99", "amount": 4, "subject": "Rent"}
    assert basis(PAY, paid, "x", MAILS, plans=plans) == "plan"
    assert basis(PAY, paid, "x", MAILS, plans=plans, made=(Made(18, "pay", paid, "plan:9/0"),)) == "off_plan"
    assert basis(PAY, paid, "x", MAILS, plans=plans, made=(Made(18, "pay", paid, "plan:3/0"),)) == "off_plan"


def test_what_one_plan_has_twice_is_allowed_twice_and_another_step_beside_it() -> None:
    step = "pay(to='DE99', amount=4)"
    paid = (Made(18, "pay", {}, "plan:3/0"),)
    assert basis(PAY, {"to": "DE99", "amount": 4}, "x", MAILS, plans=(plan(step, step, n=3),), made=paid) == "plan"
    more = (plan(step, n=3), plan("pay(to='DE99', amount=5)", n=9))
    assert basis(PAY, {"to": "DE99", "amount": 5}, "x", MAILS, plans=more, made=paid) == "plan"
