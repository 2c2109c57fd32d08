import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.processes import DEADLINE_S, Daimon, finish, wait_until

Prepare = Callable[[Daimon], None]


def _nobody(daimon: Daimon) -> None:
    pass


def _a_gateway(daimon: Daimon) -> None:
    daimon.up()


def _a_killed_one(daimon: Daimon) -> None:
    """Its journal is left as it lay, with a write-ahead log beside it."""
    gateway = daimon.up()
    daimon.run("chat", "remember eggs")
    gateway.kill()
    gateway.wait()
    assert (daimon.home / "journal.db-wal").stat().st_size > 0


@pytest.mark.parametrize("prepare", [_nobody, _a_gateway, _a_killed_one])
def test_reading_gives_the_same_whether_a_gateway_runs_or_not_and_changes_no_file(daimon: Daimon, prepare: Prepare) -> None:
    daimon.configure('[memory]\nembeddings = "off"\n')  # vectors are made whenever there is time
    turn = json.loads(daimon.run("chat", "remember milk", "--json").out)["turn"]
    prepare(daimon)
    if prepare is _a_gateway:  # it delivers what the chat left
        wait_until(lambda: {row["state"] for row in json.loads(daimon.run("outbox", "--json").out)} <= {"confirmed"})
    before = _files(daimon.home)

    status = json.loads(daimon.run("status", "--json").out)
    turns = json.loads(daimon.run("turns", "--json").out)
    trace = json.loads(daimon.run("trace", turn, "--json").out)

    assert status["running"] is (prepare is _a_gateway)
    assert status["count"]["events"] == len(turns)
    assert turns[-1] == trace["turn"]
    assert trace["event"]["body"]["parts"][0]["text"] == "remember milk"
    assert [step["n"] for step in trace["steps"]] == list(range(len(trace["steps"])))
    assert _files(daimon.home) == before


def _files(home: Path) -> dict[str, tuple[int, int]]:
    return {path.name: (path.stat().st_size, path.stat().st_mtime_ns) for path in home.iterdir()}


@pytest.mark.parametrize("words", [("status",), ("trace", "last")])
def test_a_home_with_nothing_in_it_says_how_to_begin_and_stays_empty(daimon: Daimon, words: tuple[str, ...]) -> None:
    done = daimon.run(*words)
    assert done.code == 3
    assert "daimon up" in done.err
    assert not daimon.home.exists()


def test_a_damaged_journal_is_a_sentence(daimon: Daimon) -> None:
    daimon.run("chat", "hello")
    (daimon.home / "journal.db").write_bytes(b"gone" * 10_000)
    for words in (("status",), ("turns",)):
        done = daimon.run(*words)
        assert done.code == 65
        assert done.err.startswith("daimon: ")
        assert len(done.err.splitlines()) == 1


def test_a_missing_journal_is_not_an_empty_one(daimon: Daimon) -> None:
    daimon.run("chat", "hello")
    (daimon.home / "journal.db").unlink()
    assert daimon.run("turns").code == 65


def test_a_trace_tells_what_was_said_thought_done_and_decided(daimon: Daimon) -> None:
    daimon.run("chat", "remember that my locker code is 4711")

    told = daimon.run("trace", "last").out

    for what in ("done, answered", "remember that my locker code is 4711", 'remember(text="', "gate says allow", "end: answered", "$0.00"):
        assert what in told
    assert "trusted owner@chat" in told


def test_a_turn_may_be_named_by_its_beginning(daimon: Daimon) -> None:
    daimon.run("chat", "hello")
    daimon.run("chat", "hello")
    last, first = (turn["id"] for turn in json.loads(daimon.run("turns", "--json").out))
    assert json.loads(daimon.run("trace", first[:-1], "--json").out)["turn"]["id"] == first
    assert json.loads(daimon.run("trace", "last", "--json").out)["turn"]["id"] == last

    ambiguous = daimon.run("trace", "t")
    assert ambiguous.code == 4
    assert first in ambiguous.err


def test_the_prompt_of_a_model_call_is_printed_as_it_was_sent(daimon: Daimon) -> None:
    daimon.run("chat", "remember the milk")
    steps = json.loads(daimon.run("trace", "last", "--json").out)["steps"]
    reply = next(step for step in steps if step["body"]["kind"] == "reply")

    for prepare in (_nobody, _a_gateway):
        prepare(daimon)
        assert "remember the milk" in daimon.run("trace", "last", "--prompt", str(reply["n"])).out
    assert daimon.run("trace", "last", "--prompt", "0").code == 3


def test_an_error_shows_nothing_that_is_shaped_like_a_secret(daimon: Daimon) -> None:
    daimon.run("chat", "hello")
    secret = f"ghp_{'Zx8Qm2Lr9Tk4Wd7Hc1Nf' * 2}"[:40]
    for told in (daimon.run("trace", secret).err, daimon.run("--debug", "trace", secret).err, daimon.run("--json", "trace", secret).err):
        assert secret not in told
        assert "[redacted github-token]" in told
    assert "no-such-turn" in daimon.run("trace", "no-such-turn").err


def test_turns_can_be_narrowed(daimon: Daimon) -> None:
    daimon.use_patient_model()
    daimon.up()
    daimon.run("chat", "hello")
    daimon.run("chat", "ask")
    assert [t["state"] for t in json.loads(daimon.run("turns", "--state", "parked", "--json").out)] == ["parked"]
    assert len(json.loads(daimon.run("turns", "--limit", "1", "--json").out)) == 1
    assert daimon.run("turns", "--state", "nonsense").code == 2
    table = daimon.run("turns").out
    assert "hello" in table
    assert "parked" in table


def test_a_running_turn_is_shown_as_running(daimon: Daimon) -> None:
    daimon.use_patient_model()
    daimon.up()
    chat = daimon.start("chat", "wait")
    wait_until((daimon.signs / "started").exists)
    assert json.loads(daimon.run("turns", "--json").out)[0]["state"] == "running"
    (daimon.signs / "go").touch()
    assert finish(chat).out == "slow and steady\n"


def test_a_reader_that_leaves_early_sees_no_stack_trace(daimon: Daimon) -> None:
    daimon.run("chat", "hello")
    shell = f"{shlex.join(daimon.command('trace', 'last', '--json'))} | true"
    done = subprocess.run(["bash", "-c", shell], env=daimon.environment, capture_output=True, timeout=DEADLINE_S, check=False)
    assert done.stderr == b""
