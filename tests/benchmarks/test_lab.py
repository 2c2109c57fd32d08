"""The laboratory can say no: what is broken on purpose is counted, and what is whole is not."""

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from lab.process import CHECKOUT, Died
from lab.script import Script
from lab.subject import Subject
from lab.verdict import Intent, Outcome, Story, Verdict, judge
from lab.world import Ledger, Remote

SCRIPT = Script.parse("x1 | idempotent; unsafe")
RAN = Outcome("", "ran")
UNSAFE = Intent("t1:5", "unsafe_effect", "unsafe", is_allowed=True, outcome=RAN, is_asked=False)
IDEMPOTENT = Intent("t1:2", "idempotent_effect", "idempotent", is_allowed=True, outcome=RAN, is_asked=False)
STORY = Story(str(SCRIPT), "t1", "done", "answered", (IDEMPOTENT, UNSAFE))


def ledger(**changes: object) -> Ledger:
    """What the world counted when all went well, but for the changes."""
    whole = Ledger()
    for intent, what in ((IDEMPOTENT, "x1.0.0"), (UNSAFE, "x1.1.0")):
        whole.arrive(intent.effect, intent.key, what)
        whole.apply(intent.key)
    whole.reply("t1:reply", "done x1")
    return replace(whole, **changes)


def verdict(story: Story | None = STORY, world: Ledger | None = None) -> Verdict:
    return judge({"x1": SCRIPT}, {} if story is None else {"x1": story}, world or ledger())


# -- the checker -------------------------------------------------------------------------------------------------------


def test_a_system_that_kept_its_word_is_acquitted() -> None:
    assert verdict().is_kept


@pytest.mark.parametrize(
    "story",
    [
        pytest.param(None, id="there is no story"),
        pytest.param(replace(STORY, state="running"), id="its turn still runs"),
        pytest.param(replace(STORY, state="parked"), id="parked, and nobody is asked"),
        pytest.param(replace(STORY, text="x1 | idempotent"), id="its words changed"),
        pytest.param(replace(STORY, has_gaps=True), id="steps are missing"),
        pytest.param(replace(STORY, state="failed", ending="failed"), id="given up"),
        pytest.param(
            replace(STORY, intents=(IDEMPOTENT, replace(UNSAFE, outcome=None))), id="an intent without outcome in a finished turn"
        ),
    ],
)
def test_an_accepted_event_that_came_to_nothing_is_lost(story: Story | None) -> None:
    assert verdict(story).lost


def test_a_parked_turn_that_asks_somebody_is_not_lost() -> None:
    assert not verdict(replace(STORY, state="parked", ending=None, open_questions=1)).lost


def test_an_answer_that_nobody_heard_is_lost() -> None:
    assert verdict(world=ledger(replies={})).lost


def test_an_outcome_that_the_world_never_saw_is_lost() -> None:
    assert verdict(world=ledger(applied=Counter({UNSAFE.key: 1}))).lost


def test_an_unsafe_effect_that_was_called_twice_is_repeated() -> None:
    world = ledger()
    world.arrive("unsafe", UNSAFE.key, "x1.1.0")
    assert verdict(world=world).repeated


def test_an_effect_that_was_applied_twice_is_repeated() -> None:
    world = ledger()
    world.arrive("verifiable", "t1:9", "x1.2.0")
    world.apply("t1:9")
    world.apply("t1:9")
    assert verdict(world=world).repeated


def test_an_idempotent_effect_that_was_called_twice_under_its_key_is_not_repeated() -> None:
    world = ledger()
    world.arrive("idempotent", IDEMPOTENT.key, "x1.0.0")
    world.apply(IDEMPOTENT.key)
    assert not verdict(world=world).repeated


def test_one_wish_under_two_keys_is_repeated() -> None:
    world = ledger()
    world.arrive("idempotent", "t1:7", "x1.0.0")
    world.apply("t1:7")
    assert verdict(world=world).repeated


def test_an_answer_that_was_said_under_two_keys_is_repeated() -> None:
    assert verdict(world=ledger(replies={"t1:reply": "done x1", "t2:reply": "done x1"})).repeated


def test_an_unsafe_act_of_unknown_outcome_that_nobody_was_asked_about_is_unreported() -> None:
    unknown = replace(UNSAFE, outcome=None)
    parked = replace(STORY, state="parked", ending=None, open_questions=1)
    assert verdict(replace(parked, intents=(IDEMPOTENT, unknown))).unreported
    assert not verdict(replace(parked, intents=(IDEMPOTENT, replace(unknown, is_asked=True)))).unreported


def test_an_unsafe_act_that_reached_the_world_and_is_told_as_failed_is_unreported() -> None:
    assert verdict(replace(STORY, intents=(IDEMPOTENT, replace(UNSAFE, outcome=Outcome("cancelled", "cancelled"))))).unreported


def test_an_act_without_an_intent_is_unreported() -> None:
    assert verdict(replace(STORY, intents=(IDEMPOTENT,))).unreported


# -- the fuse and the disk, each in a process that may die -------------------------------------------------------------

WORKER = """
import sys, apsw
from pathlib import Path
from lab import {module}
{module}.{call}(Path(sys.argv[1]))
db = apsw.Connection(sys.argv[2])
db.pragma("journal_mode", "wal")
db.pragma("wal_autocheckpoint", 0)
db.execute("CREATE TABLE t (n)")
db.pragma("synchronous", sys.argv[3])
Path(sys.argv[1]).write_bytes(__import__("struct").pack("<4q", *map(int, sys.argv[4].split(","))))
for n in range(5):
    try:
        db.execute("INSERT INTO t VALUES (?)", (n,))
    except apsw.Error as error:
        print(type(error).__name__, flush=True)
        break
    print("ok", flush=True)
"""


def work(place: Path, module: str, call: str, synchronous: str, dial: str) -> tuple[int, list[str], int]:
    """Exit code, what the worker was told, and how many rows are there afterwards."""
    database = place / "journal.db"
    command = [sys.executable, "-c", WORKER.format(module=module, call=call), str(place / "dial"), str(database), synchronous, dial]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment())
    apsw = pytest.importorskip("apsw")
    connection = apsw.Connection(str(database))
    try:
        return done.returncode, done.stdout.split(), connection.execute("SELECT COUNT(*) FROM t").get
    finally:
        connection.close()


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(str(CHECKOUT / part) for part in ("benchmarks", "src", "tests/benchmarks"))}


@pytest.mark.parametrize(("when", "told", "rows"), [(1, 2, 2), (2, 2, 3)], ids=["before the third commit", "after the third commit"])
def test_the_fuse_kills_at_the_commit_that_was_named(tmp_path: Path, when: int, told: int, rows: int) -> None:
    assert work(tmp_path, "fuse", "attach", "full", f"{when},3,0,0") == (-signal.SIGKILL, ["ok"] * told, rows)


def test_a_power_cut_takes_what_was_not_synced(tmp_path: Path) -> None:
    code, told, rows = work(tmp_path, "disk", "mount", "normal", "1,7,0,0")
    assert (code, len(told) > rows) == (-signal.SIGKILL, True)


def test_a_power_cut_leaves_what_was_synced(tmp_path: Path) -> None:
    code, told, rows = work(tmp_path, "disk", "mount", "full", "1,10,0,0")
    assert (code, len(told) <= rows, rows > 0) == (-signal.SIGKILL, True, True)


@pytest.mark.parametrize(
    ("fault", "error"), [(3, "IOError"), (4, "IOError"), (5, "FullError")], ids=["EIO on write", "EIO on fsync", "ENOSPC"]
)
def test_a_failing_disk_is_told_to_sqlite(tmp_path: Path, fault: int, error: str) -> None:
    assert work(tmp_path, "disk", "mount", "full", f"{fault},0,0,0")[1] == [error]


# -- the whole, with a system that is broken on purpose ----------------------------------------------------------------


async def tried(place: Path, sabotage: str) -> Verdict:
    """One script, one kill in the middle of its unsafe effect, one recovery."""
    world = await Remote.start()
    subject = Subject(place / "a", world, random.Random(0))
    if sabotage:
        settings = subject.home / "daimon.toml"
        settings.write_text(settings.read_text().replace('"lab.extension"', '"lab.extension", "sabotage"'))
        subject.environment |= {"LAB_SABOTAGE": sabotage, "PYTHONPATH": environment()["PYTHONPATH"]}
    try:
        await subject.up()
        await world.arm(subject.process.pid, "unsafe", "after")
        try:
            await subject.say("idempotent; unsafe", "main")
            await subject.rest()
        except Died:
            await subject.bury()
        await subject.up()
        while True:
            await subject.rest()
            if not await subject.answer_some(ignore=0):
                break
        return judge(subject.accepted, await subject.stories(), await world.ledger())
    finally:
        await subject.close()
        await world.close()


@pytest.mark.parametrize(
    ("sabotage", "found"),
    [("", ""), ("repeat", "repeated"), ("deaf", "lost")],
    ids=["whole", "a tool that lies about its class", "a channel that swallows"],
)
def test_a_broken_system_is_called_broken_and_a_whole_one_is_not(tmp_path: Path, sabotage: str, found: str) -> None:
    outcome = asyncio.run(tried(tmp_path, sabotage))
    assert [name for name in ("lost", "repeated", "unreported") if getattr(outcome, name)] == ([found] if found else [])
