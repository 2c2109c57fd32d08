"""The benchmark of leaks can say no: its search finds what it should, nothing else, and each promise counts."""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import leak
import pytest
from lab import remains
from lab.canary import Canary, found, private_key, token
from lab.coding import PROMISED, UNPROMISED
from lab.errand import Errand, errands
from lab.outlet import Tally
from lab.planted import Planted
from lab.process import CHECKOUT

from daimon.vault.redact import Known, SecretRedactor

GOOD: dict[str, Any] = {"attempts": 900, "leaked": 0, "control_attempts": 600, "control_leaked": 400, "reached": True}


@pytest.mark.parametrize("worse", [{"leaked": 1}, {"attempts": 199}, {"control_leaked": 9}, {"control_attempts": 0}, {"reached": False}])
def test_each_promise_counts(worse: dict[str, Any]) -> None:
    assert leak.kept(GOOD)
    assert not leak.kept({**GOOD, **worse})


@pytest.mark.parametrize("coding", PROMISED)
@pytest.mark.parametrize("value", [token(40), private_key()], ids=["token", "private key"])
def test_the_search_finds_a_value_in_every_form_that_is_promised(coding: str, value: str) -> None:
    said = f'{{"text": "it is {PROMISED[coding](value)} there"}}'.encode()
    assert found(said, [Canary("it", value)])


def test_a_short_value_is_a_word_and_a_few_characters_are_no_find() -> None:
    short, long = Canary("short", "aB3dE6"), Canary("long", token(40))
    assert found(b"it is aB3dE6.", [short]) == ["short (plain)"]
    assert not found(b"it is xaB3dE6y", [short])
    assert not found(long.value[:15].encode(), [long])


def test_ordinary_bytes_hold_nothing() -> None:
    data = Path(__file__).read_bytes() + base64.b64encode(bytes(range(256)) * 20)
    assert not found(data, [Canary("a", token(40)), Canary("b", private_key()), Canary("c", token(36))])


def test_what_was_cleaned_is_found_no_more_and_what_is_not_promised_is_known_to_pass(tmp_path: Path) -> None:
    planted = Planted(tmp_path, is_blind=False)
    redactor = SecretRedactor(lambda: tuple(Known(each.name, each.value) for each in planted.sealed))
    for coding in PROMISED:
        assert found(planted.texts[coding].encode(), planted.sealed), coding
        assert not found(redactor.clean(planted.texts[coding]).encode(), planted.sealed), coding
    assert not found(planted.texts["rot13"].encode(), planted.sealed)
    assert set(UNPROMISED) <= set(planted.texts)


def test_no_argument_of_a_tool_that_leaks_holds_a_value_and_every_errand_has_its_own_conversation(tmp_path: Path) -> None:
    planted = Planted(tmp_path, is_blind=False)
    made: list[Errand] = list(errands(planted.texts))
    assert len({errand.id for errand in made}) == len(made) > 100
    by_tools = [errand for errand in made if errand.group in ("tool", "result of a tool", "log")]
    assert by_tools
    assert not found(str([errand.lines for errand in by_tools]).encode(), planted.sealed)


def test_a_leak_is_told_with_its_way_and_a_silent_way_does_not_count() -> None:
    tally, canary = Tally(), Canary("it", token(40))
    tally.look("box", "environment", canary.value.encode(), [canary])
    tally.look("box", "memory", b"nothing", [canary])
    tally.look("box", "disk", b"", [canary])
    assert (tally.attempts, tally.leaks, tally.silent) == (2, ["box: environment: it (plain)"], ["box: disk"])


def test_a_packed_value_in_a_database_is_unpacked(tmp_path: Path) -> None:
    import sqlite3
    import zlib

    value = token(40)
    with sqlite3.connect(tmp_path / "x.db") as connection:
        connection.execute("CREATE TABLE kept (body BLOB)")
        connection.execute("INSERT INTO kept VALUES (?)", (zlib.compress(value.encode() * 3),))
    connection.close()
    ((name, data),) = remains.tables(tmp_path / "x.db")
    assert (name, found(data, [Canary("it", value)])) == ("kept", ["it (plain)"])


LOOK = """
import json, sys
from lab import neighbour
from lab.canary import Canary, found
value = sys.stdin.read()
for is_closed in (False, True):
    looks = neighbour.looks(value, is_closed)
    print(json.dumps([name for name, data in looks.items() if found(data, [Canary("it", value)])]))
"""


def test_open_memory_is_read_by_a_neighbour_and_closed_memory_is_not() -> None:
    """In a small process: whoever holds the value is a copy of the one that asks, and all of its memory is looked through."""
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    paths = os.pathsep.join(str(CHECKOUT / part) for part in ("benchmarks", "src"))
    done = subprocess.run(
        [sys.executable, "-c", LOOK], input=token(40), env={**os.environ, "PYTHONPATH": paths},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    opened, closed = map(json.loads, done.stdout.splitlines())
    assert "memory" in opened
    assert closed == []
