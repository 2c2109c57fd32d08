"""The judge of files and layers can say no: to a line that is lost, to one that is there twice, to a tree that is broken."""

import asyncio
import random
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from lab.deed import BASE, FIRST, LAST, TOP, Deed, Mark, room_of
from lab.desk import patched
from lab.filing import Filing
from lab.leavings import Damage, judge_mark, judge_shells, judge_tree
from lab.masonry import Model, State, Wish
from lab.process import CHECKOUT
from lab.quarry import Quarry, missing
from lab.world import Remote

from daimon.sandbox.plan import has_bwrap

NEEDS_BOXES = pytest.mark.skipif(not has_bwrap(), reason="bwrap is not installed: no box can be made")
START = datetime(2030, 1, 1, tzinfo=UTC)


def at(second: int) -> datetime:
    return START + timedelta(seconds=second)


WROTE = Deed("x1.0.0", "write_file", "done", "c", at(1), at(2), "ran")
EDITED = Deed("x1.1.0", "edit_file", "done", "c", at(3), at(4), "ran")
RAN = Deed("x1.2.0", "run", "done", "c", at(5), at(6), "ran", (TOP, "nothing"))
CUT = Deed("x1.3.0", "run", "open", "c", at(7), at(9), "verified")
DEEDS = (WROTE, EDITED, RAN, CUT)
WHOLE = BASE | {"notes/x1.0.0": "x1.0.0\n", "edited": f"x1.1.0\n{LAST}", "log": f"{FIRST}x1.2.0.a\nx1.2.0.b\nx1.3.0.a\n"}
BEFORE_RAN = Mark("c3", at(5), at(5), frozenset({"x1.2.0"}))


def kinds(damage: Damage) -> list[str]:
    return [name for name in ("lost", "repeated", "inconsistent") if getattr(damage, name)]


def test_a_tree_that_is_as_the_journal_says_passes_with_a_command_that_was_cut_off_in_the_middle() -> None:
    assert judge_tree(DEEDS, WHOLE).is_none
    assert judge_tree(DEEDS, WHOLE | {"log": f"{FIRST}x1.2.0.a\nx1.2.0.b\n"}).is_none


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"edited": LAST}, ["lost"]),
        ({"log": f"{FIRST}x1.2.0.a\n"}, ["lost"]),
        ({"edited": f"x1.1.0\nx1.1.0\n{LAST}"}, ["repeated"]),
        ({"log": f"{FIRST}x1.2.0.a\nx1.2.0.b\nx1.3.0.a\nx1.3.0.a\n"}, ["repeated"]),
        ({"notes/x1.0.0": "x1"}, ["inconsistent"]),
        ({"edited": "x1.1.0\n"}, ["inconsistent"]),
        ({"log": f"{FIRST}x1.2.0.a\nx1.2.0.b\nx1.3.0.b\n"}, ["inconsistent"]),
        ({"d0/keep": "else"}, ["inconsistent"]),
        ({"notes/x9.0.0": "x9.0.0\n"}, ["inconsistent"]),
        ({"notes/.x1.0.0.part": "x"}, ["inconsistent"]),
    ],
)
def test_a_tree_that_is_not_as_the_journal_says_is_called_so(changes: dict[str, str], found: list[str]) -> None:
    assert kinds(judge_tree(DEEDS, WHOLE | changes)) == found


def test_a_file_that_is_gone_is_lost_and_one_that_was_refused_may_not_be_there() -> None:
    assert kinds(judge_tree(DEEDS, {path: text for path, text in WHOLE.items() if path != "notes/x1.0.0"})) == ["lost"]
    assert kinds(judge_tree((replace(WROTE, told="nothing"), *DEEDS[1:]), WHOLE)) == ["inconsistent"]


def test_a_command_that_was_run_again_is_repeated_even_if_it_left_nothing_twice() -> None:
    assert kinds(judge_tree((*DEEDS[:3], replace(CUT, how="reran")), WHOLE)) == ["repeated"]


def test_a_checkpoint_shows_what_was_over_and_nothing_that_came_later() -> None:
    tree = {path: text for path, text in WHOLE.items() if path != "log"} | {"log": FIRST}
    assert judge_mark(BEFORE_RAN, DEEDS, tree).is_none
    assert kinds(judge_mark(BEFORE_RAN, DEEDS, WHOLE)) == ["inconsistent"]
    assert kinds(judge_mark(BEFORE_RAN, DEEDS, tree | {"edited": LAST})) == ["inconsistent"]


def test_a_shell_begins_where_the_last_command_went_or_after_a_death_where_the_last_one_before_a_checkpoint_went() -> None:
    def shells(was: tuple[str, str], deaths: tuple[datetime, ...] = (), marks: tuple[Mark, ...] = ()) -> tuple[list[str], int]:
        damage, older = judge_shells((RAN, Deed("x2.0.0", "run", "done", "c", at(20), at(21), "ran", was)), marks, deaths)
        return kinds(damage), older

    remembers, forgot = (room_of("x1.2.0"), "x1.2.0"), (TOP, "nothing")
    after = Mark("c4", at(7), at(8), frozenset())
    assert shells(remembers) == ([], 0)
    assert shells(forgot) == (["lost"], 0)
    assert shells(forgot, (at(10),)) == ([], 1)
    assert shells(forgot, (at(10),), (after,)) == (["lost"], 0)
    assert shells(remembers, (at(10),), (after,)) == ([], 0)
    assert shells((TOP, "x1.2.0")) == (["lost"], 0)


def test_the_text_of_a_tree_is_put_together_from_what_differs() -> None:
    text = "--- a/edited\n+++ b/edited\n@@ -1 +1,2 @@\n+x1.1.0\n END\n--- /dev/null\n+++ b/notes/x1.0.0\n@@ -0,0 +1 @@\n+x1.0.0\n"
    assert patched(text) == BASE | {"edited": f"x1.1.0\n{LAST}", "notes/x1.0.0": "x1.0.0\n"}


def test_whoever_is_killed_has_left_what_was_before_or_after_and_of_a_write_some_files() -> None:
    before = State({"a": "1", "b": "1"}, {"a": "1"})
    after = replace(before, own={"a": "2", "b": "2"}, base={"a": "2"})
    mixed = replace(after, base={"a": "1"})
    wish = Wish({"do": "apply"}, after)
    assert all(Model(random.Random(0), before).killed(wish, seen) for seen in (before, after))
    assert not Model(random.Random(0), before).killed(wish, mixed)
    half = replace(before, own={"a": "2", "b": "1"})
    write = Wish({"do": "write"}, replace(before, own=after.own), is_piecewise=True)
    assert Model(random.Random(0), before).killed(write, half)
    assert not Model(random.Random(0), before).killed(write, after)


# -- the whole, with kills, and with a system that is broken on purpose -------------------------------------------------


@asynccontextmanager
async def filing(place: Path, sabotage: str = "") -> AsyncIterator[Filing]:
    world = await Remote.start()
    made = Filing(place, world, random.Random(0))
    if sabotage:
        settings = made.subject.home / "daimon.toml"
        settings.write_text(settings.read_text().replace('"lab.extension"', '"lab.extension", "sabotage"'))
        path = ":".join(str(CHECKOUT / part) for part in ("benchmarks", "src", "tests/benchmarks"))
        made.subject.environment |= {"LAB_SABOTAGE": sabotage, "PYTHONPATH": path}
    try:
        yield made
    finally:
        await made.subject.close()
        await world.close()


@NEEDS_BOXES
def test_files_survive_kills(tmp_path: Path) -> None:
    async def run() -> None:
        async with asyncio.timeout(300), filing(tmp_path) as made:
            await made.run(2)
            assert (await made.verdict()).is_kept
            await made.finish(1)
            assert made.subject.kills >= 2
            assert {"write_file", "edit_file", "run"} <= {deed.tool for deed in made.deeds if deed.told == "done"}
            assert made.marks
            assert made.damage.is_none, made.damage

    asyncio.run(run())


@NEEDS_BOXES
@pytest.mark.parametrize(
    ("sabotage", "found"),
    [("swallow", ["lost"]), ("twice", ["repeated"]), ("astray", ["inconsistent"]), ("numb", ["lost"])],
    ids=["an edit that is not made", "an edit that is made twice", "a checkpoint that is not there", "a shell that forgets"],
)
def test_a_system_that_breaks_files_is_called_broken(tmp_path: Path, sabotage: str, found: list[str]) -> None:
    async def run() -> list[str]:
        async with asyncio.timeout(300), filing(tmp_path, sabotage) as made:
            await made.look()
            await made.subject.say("write; edit; run; run", "main")
            await made.look()
            return kinds(made.damage)

    assert asyncio.run(run()) == found


@NEEDS_BOXES
def test_layers_survive_kills_and_what_is_broken_in_them_is_noticed(tmp_path: Path) -> None:
    async def run() -> None:
        quarry = Quarry(tmp_path, random.Random(0))
        try:
            async with asyncio.timeout(300):
                await quarry.run(3)
                assert quarry.faults == []
                (quarry.base / "a/f0.txt").write_text("somebody else's")
                await quarry.carried_out(Wish({"do": "checkpoint"}, quarry.model.state))
        finally:
            await quarry.close()
        assert any("a/f0.txt (base)" in fault for fault in quarry.faults)
        assert missing(quarry.root) == []
        shutil.rmtree(next(quarry.root.glob("f*/l*")))
        assert len(missing(quarry.root)) == 1

    asyncio.run(run())
