"""The benchmark of overhead can say no: a prompt that changes in its beginning, or is too long, misses the aims."""

import asyncio
import os
from pathlib import Path

import overhead
import pytest
from lab.dialogue import Spoken, talk
from lab.prefix import Sent, share
from lab.process import CHECKOUT


def sent(*texts: str, system: str = "Be brief.", mark: bool = False) -> Sent:
    part = {"type": "text", "text": system} | ({"cache_control": {"type": "ephemeral"}} if mark else {})
    return Sent.of({"tools": [{"name": "now"}], "system": [part], "messages": [{"role": "user", "content": text} for text in texts]})


def test_what_stands_before_the_newest_message_was_sent_before() -> None:
    before, now = sent("Hello"), sent("Hello", "And now?")
    assert now.same_as(before) == before.size


def test_nothing_counts_behind_the_first_byte_that_changed() -> None:
    before, now = sent("Hello", "there"), sent("Hello", "there", system="Be brief!")
    assert now.same_as(before) == len(before.blocks[0])


def test_marks_of_the_cache_are_no_part_of_a_request() -> None:
    assert sent("Hello", mark=True) == sent("Hello")


def test_a_request_without_one_before_it_is_all_new() -> None:
    one = sent("Hello")
    assert share([one, one], [None, one]) == 0.5


@pytest.mark.parametrize(
    "worse", [{"hello_tokens": 2_500}, {"hello_all_tokens": 2_500}, {"cached_percent": 89.9}, {"reported_cached_percent": 0.0}]
)
def test_a_figure_beyond_its_limit_misses_an_aim(worse: dict[str, float]) -> None:
    good = {"hello_tokens": 2_499, "hello_all_tokens": 2_499, "cached_percent": 90.0, "reported_cached_percent": 90.0}
    assert all(overhead.aims(good).values())
    assert not all(overhead.aims(good | worse).values())


async def test_a_prompt_that_tells_the_time_misses_the_aims_and_one_that_does_not_meets_them(tmp_path: Path) -> None:
    paths = os.pathsep.join(str(CHECKOUT / part) for part in ("benchmarks", "src", "tests/benchmarks"))
    broken = talk(tmp_path / "broken", "anthropic", 'extensions = ["sabotage"]', PYTHONPATH=paths, LAB_SABOTAGE="restless")
    async with asyncio.TaskGroup() as tasks:  # where one fails, the process of the other ends too
        talks: list[asyncio.Task[Spoken]] = [tasks.create_task(each) for each in (talk(tmp_path / "whole", "anthropic"), broken)]
    figures = [overhead.figures(each.result()) for each in talks]
    assert [all(overhead.aims(each | {"hello_all_tokens": each["hello_tokens"]}).values()) for each in figures] == [True, False]
