"""What an answer means: every word that is no clear yes is a no."""

from datetime import date, timedelta

import pytest
from tests.kernel.wanted import ground, wanted

from daimon.abi.tool import Question
from daimon.kernel import permission
from daimon.kernel.verdict import Verdict, read

TODAY = date(2026, 11, 15)
ONE = permission.question([wanted({"to": "bob"})], ground())
THREE = permission.question([wanted({"to": "bob"}), wanted({"to": "ann"}), wanted({"subject": "x"})], ground())
JOB = permission.question([wanted({"to": "bob"})], ground("morning"))
OLD = Question("May I call send?", ("deny", "allow"), "authorise", {"tool": "send", "arguments": {}})


@pytest.mark.parametrize(
    ("question", "choice", "text", "meant"),
    [
        (ONE, "allow", "", Verdict("allow")),
        (ONE, "allow", "1", Verdict("allow", (1,))),
        (OLD, "allow", "", Verdict("allow")),
        (THREE, "allow", "", Verdict("allow")),
        (THREE, "allow", "all", Verdict("allow")),
        (THREE, "allow", "1 3", Verdict("allow", (1, 3))),
        (THREE, "allow", "3, 1 and 3.", Verdict("allow", (1, 3))),
        (THREE, "deny", "2", Verdict("deny")),
        (THREE, "deny", "not now", Verdict("deny")),
        (ONE, "grant", "", Verdict("grant")),
        (ONE, "grant", "until 2026-12-01", Verdict("grant", until=date(2026, 12, 1))),
        (ONE, "grant", "for 7 days", Verdict("grant", until=date(2026, 11, 22))),
        (ONE, "grant", "For 1 WEEK, this tool", Verdict("grant", until=date(2026, 11, 22))),
        (JOB, "grant", "this automation until 2026-11-15", Verdict("grant", until=TODAY)),
        (THREE, "grant", "2 tool for 3 days", Verdict("grant", (2,), date(2026, 11, 18))),
    ],
)
def test_a_clear_word_is_understood(question: Question, choice: str, text: str, meant: Verdict) -> None:
    assert read(question, choice, text, TODAY) == meant


@pytest.mark.parametrize(
    ("question", "choice", "text"),
    [
        (THREE, "allow", "4"),
        (THREE, "allow", "0"),
        (THREE, "allow", "the first one"),
        (THREE, "allow", "not 2"),
        (THREE, "allow", "all but 2"),
        (THREE, "allow", "1-2"),
        (THREE, "allow", "99999999999"),
        (ONE, "allow", "only 2 of them"),
        (ONE, "allow", "no"),
        (OLD, "allow", "he is a friend"),
        (ONE, "allow", "2"),
        (THREE, "grant", "3"),
        (ONE, "grant", "for ever"),
        (ONE, "grant", "everything"),
        (ONE, "grant", "for 7 years"),
        (ONE, "grant", "for 9999 days"),
        (ONE, "grant", "until 2026-11-14"),
        (ONE, "grant", "until 2030-01-01"),
        (ONE, "grant", "until tomorrow"),
        (ONE, "grant", "for 7 days until 2026-12-01"),
        (ONE, "grant", "this automation"),
        (OLD, "grant", ""),
    ],
)
def test_what_could_mean_two_things_means_no_and_says_why(question: Question, choice: str, text: str) -> None:
    verdict = read(question, choice, text, TODAY)
    assert (verdict.choice, bool(verdict.fault)) == ("deny", True)


def test_a_year_is_the_longest() -> None:
    assert read(ONE, "grant", f"until {TODAY + timedelta(days=366)}", TODAY).choice == "grant"
    assert read(ONE, "grant", f"until {TODAY + timedelta(days=367)}", TODAY).choice == "deny"


def test_a_time_that_is_none_is_told_whole_with_what_may_be_said() -> None:
    fault = read(ONE, "grant", "for ever and a day", TODAY).fault
    assert fault == "'for ever a day' is no time; say `grant until 2026-12-01` or `grant for 7 days`, a year at most"
