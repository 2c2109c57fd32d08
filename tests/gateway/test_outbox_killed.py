"""The process is killed again and again while it sends: nothing is lost, nothing comes twice, all in order, and doubt is said."""

import asyncio
import re
import time
from pathlib import Path

import pytest
from tests.gateway.killed import EACH, PLACES, fill, shown, text_of
from tests.journal.world import child, database

from daimon.testing.channel import Repeat

DEADLINE_S = 120.0
KILLS = 5
SCRIPT = """
import asyncio, pathlib, sys
from tests.gateway.killed import deliver
asyncio.run(deliver(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]))
"""


@pytest.mark.parametrize("repeat", ["harmless", "findable", "never"])
def test_killed_again_and_again_it_sends_everything_once_and_in_order(tmp_path: Path, repeat: Repeat) -> None:
    path, file = tmp_path / "journal.db", tmp_path / "sent.jsonl"
    asyncio.run(fill(path))
    for kill in range(1, KILLS + 1):
        with child(SCRIPT, path, file, repeat) as process:
            _wait_until_lines(file, 4 * kill)
            process.kill()
    with child(SCRIPT, path, file, repeat) as process:
        assert process.wait(DEADLINE_S) == 0

    lines = file.read_text().splitlines()
    assert len(shown(file)) == len(lines), "nothing came twice"
    with database(path) as db:
        states = dict(db.execute("SELECT state, COUNT(*) FROM outbox GROUP BY state"))
    assert sum(states.values()) == PLACES * EACH
    assert set(states) <= ({"sent", "unknown"} if repeat == "never" else {"sent", "confirmed"})
    for place in range(PLACES):
        words = re.findall(r"p\d+m\d+w\d+", "".join(line["text"] for line in shown(file).values() if line["to"] == f"{place}"))
        wanted = " ".join(text_of(place, n) for n in range(EACH)).split()
        missing = set(wanted) - set(words)
        assert words == [word for word in wanted if word not in missing], "in order"
        assert not missing or states.get("unknown"), "what may be missing is said"


def _wait_until_lines(file: Path, number: int) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        if file.exists() and len(file.read_text().splitlines()) >= number:
            return
        time.sleep(0.002)
    raise AssertionError(f"{number} pieces were not sent in time")
