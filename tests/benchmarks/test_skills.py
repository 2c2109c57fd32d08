"""The set of skills is what the benchmark says of it, and the benchmark can say no."""

from dataclasses import replace
from statistics import fmean

import skills
from lab.skillset import Asked, load

from daimon.skills.wording import terms

SET = load()


def test_there_are_five_hundred_skills_and_every_request_is_for_one_of_them() -> None:
    names = [each.name for each in SET.skills]
    assert len(names) == len(set(names)) == 500
    assert {each.skill for each in SET.asked} <= {*names, ""}
    assert len({each.text for each in SET.asked}) == len(SET.asked)


def shared(is_need: bool) -> float:
    """Of the words of a request, the share that stands in the description of its skill."""
    told = {each.name: set(terms(each.skill.description)) for each in SET.skills}
    asked = [(set(terms(each.text)), told[each.skill]) for each in SET.asked if each.skill and each.is_need is is_need]
    return fmean(len(words & description) / len(words) for words, description in asked if words)


def test_requests_are_not_copied_from_descriptions() -> None:
    assert shared(is_need=False) < 0.65
    assert shared(is_need=True) < 0.35


def test_a_family_is_in_one_half_only_and_both_halves_count() -> None:
    halves = {held: {each.skill for each in SET.asked if each.skill and each.is_held_out is held} for held in (True, False)}
    assert not halves[True] & halves[False]
    assert all(len(skills.half(SET, is_held_out=held, is_need=need)) > 80 for held in (True, False) for need in (True, False))


def test_whoever_chooses_nothing_or_the_wrong_one_gets_nothing() -> None:
    asked = [Asked("merge", "pdf-merge", True, False), Asked("split", "pdf-split", True, False)]
    assert skills.percent(asked, {"merge": ("pdf-merge",), "split": ("x", "pdf-split")}, 1) == 50.0
    assert skills.percent(asked, {"merge": ("pdf-merge",), "split": ("x", "pdf-split")}, 3) == 100.0
    assert skills.percent(asked, {"merge": (), "split": ("x",)}, 3) == 0.0
    fields = {"top3_percent": 95.0, "tokens": 200, "p99_ms": 1.0}
    assert all(skills.aims(fields).values())
    assert not any(skills.aims({"top3_percent": 80.0, "tokens": 500, "p99_ms": 9.0}).values())


def test_by_words_alone_the_tuning_half_is_found_within_its_tokens() -> None:
    chosen, took = skills.measured(replace(SET, asked=SET.asked[:120]), {})
    tuning = [each for each in skills.half(SET, is_held_out=False, is_need=False) if each.text in chosen]
    assert skills.percent(tuning, chosen, 3) > 80
    assert took["tokens"] < 400
