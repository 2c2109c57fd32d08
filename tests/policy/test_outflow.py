"""How much may go to one place in a day without a question."""

from dataclasses import replace

import pytest
from tests.policy.scene import MAIL, MAILS, PAGE, plan, situation

from daimon.abi.judgement import Portion
from daimon.policy.flow import weigh

MOST = {"private": 100, "other": 1_000}
PLAN = plan("mail(to='bob@x.org', body=own())", reads=("mails()", "look()"))


@pytest.mark.parametrize(("length", "before", "expected"), [(60, 0, "plan"), (60, 40, "plan"), (60, 41, "none"), (101, 0, "none")])
def test_text_from_private_reads_has_a_limit_for_each_destination(length: int, before: int, expected: str) -> None:
    here = situation("answer bob", MAILS, plans=(PLAN,))
    here = replace(here, most=MOST, outflow=(Portion("bob@x.org", "private", before), Portion("eve@x.org", "private", 5_000)))
    for name in ("bob@x.org", "Bob <BOB@x.org>"):
        assert weigh(MAIL, {"to": name, "body": ("ab " * length)[:length]}, here).basis == expected


def test_what_is_nobodys_secret_has_a_larger_one() -> None:
    here = replace(situation("tell bob", PAGE, plans=(PLAN,)), most=MOST, outflow=(Portion("bob@x.org", "private", 5_000),))
    assert weigh(MAIL, {"to": "bob@x.org", "body": "ab " * 300}, here).basis == "plan"
    assert weigh(MAIL, {"to": "bob@x.org", "body": "ab " * 400}, here).basis == "none"


def test_without_limits_nothing_is_too_much() -> None:
    here = situation("tell bob", PAGE, plans=(PLAN,))
    assert weigh(MAIL, {"to": "bob@x.org", "body": "ab " * 6_000}, here).basis == "plan"
