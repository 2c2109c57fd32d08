import json

import pytest
from tests.cli.processes import Daimon

GOOD = b'{"type":"message","text":"remember milk","key":"k1"}\n'


@pytest.mark.parametrize("is_running", [True, False])
def test_good_lines_are_taken_and_bad_ones_reported_by_number_and_kept(daimon: Daimon, is_running: bool) -> None:
    if is_running:
        daimon.up()
    lines = GOOD + b'{"type":"heartbeat","job":"read-feed"}\nnot json\n\n' + GOOD + b'{"type":"nonsense"}\n\xff\xfe\n'

    done = daimon.run("inject", "--json", given=lines)

    told = {row["line"]: row for row in map(json.loads, done.out.splitlines())}
    assert done.code == 4
    assert [row.get("new") for row in told.values()] == [True, True, None, False, None, None]
    assert list(told) == [1, 2, 3, 5, 6, 7]
    assert told[5]["event"] == told[1]["event"]
    assert {told[n]["error"]["code"] for n in (3, 6, 7)} == {"bad_input"}
    kept = [letter["body"] for letter in json.loads(daimon.run("letters", "--json").out)]
    assert kept == ["\\xff\\xfe", '{"type":"nonsense"}', "not json"]


def test_what_is_handed_in_while_nobody_runs_is_answered_at_the_next_start(daimon: Daimon) -> None:
    done = daimon.run("inject", given=GOOD)
    assert done.code == 0
    assert "daimon up" in done.err

    daimon.up()

    assert daimon.run("chat", "what did I say about milk?").code == 0  # it waits its turn behind the other
    endings = [turn["ending"] for turn in json.loads(daimon.run("turns", "--json").out)]
    assert endings == ["answered", "answered"]


def test_one_event_may_span_many_lines(daimon: Daimon) -> None:
    done = daimon.run("inject", given=b'\n{\n  "type": "message",\n  "text": "hello"\n}\n')
    assert done.code == 0
    assert done.out.startswith("line 2: accepted e")


def test_lines_that_are_no_document_together_are_bad_one_by_one(daimon: Daimon) -> None:
    done = daimon.run("inject", given=b"{\nnonsense\n" + GOOD)
    assert done.code == 4
    assert [line.split(":")[0] for line in done.out.splitlines()] == ["line 1", "line 2", "line 3"]
    assert "line 3: accepted" in done.out


@pytest.mark.parametrize("is_running", [True, False])
def test_a_line_that_is_too_long_is_refused_and_the_next_one_taken(daimon: Daimon, is_running: bool) -> None:
    daimon.configure("[gateway]\nmax_event_bytes = 2000\n")
    if is_running:
        daimon.up()
    long = json.dumps({"type": "message", "text": "x" * 3_000_000}).encode() + b"\n"

    done = daimon.run("inject", given=GOOD + long + GOOD)

    assert done.code == 4
    first, second, third = done.out.splitlines()
    assert first.startswith("line 1: accepted")
    assert second.startswith("line 2: ")
    assert "max_event_bytes" in second
    assert third.startswith("line 3: seen before")


def test_nothing_handed_in_is_nothing_done(daimon: Daimon) -> None:
    assert daimon.run("inject", given=b"\n \n").code == 0


def test_broken_settings_do_not_keep_events_from_a_running_gateway(daimon: Daimon) -> None:
    daimon.up()
    daimon.configure("this is no toml")
    assert daimon.run("inject", given=GOOD).code == 0
