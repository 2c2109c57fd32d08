"""What gives way first, what stays, and what is true now."""

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.context.line import Round, Turning, grown, rounds, turns

from daimon.abi.context import Entry, Form
from daimon.context.entries import Entries
from daimon.context.places import placed_at, written
from daimon.context.policy import Cut, cut, line_at, pinned, placed, superseded, tiers
from daimon.context.watch import Watch, versions

READ = '{{"ok": true, "data": {{"text": "x", "version": "{}"}}}}'


def line(*told: Turning) -> list[Entry]:
    return [each for turn in told for each in Entries().of_turn(turn.claim.event, turn.claim.turn.id, tuple(turn.steps), turn.events)]


def forms(entries: list[Entry], made: Cut) -> list[Form | None]:
    then = line_at(entries, made.at, made.begin)
    return placed(then, made, pinned(then, made.at, made.room, made.begin))


def cut_of(entries: list[Entry], room: int, before: Cut = Cut()) -> Cut:  # noqa: B008 - it is frozen
    return cut(line_at(entries, len(entries), before.begin), room, before, lambda entry, most: min(entry.tokens[0], most))


def tokens(entries: list[Entry], found: list[Form | None], clip: int = 0) -> int:
    sizes = {"whole": 0, "brief": 1, "bare": 2}
    return sum(
        min(entry.tokens[0], clip) if form == "clipped" else entry.tokens[sizes[form]]
        for entry, form in zip(entries, found, strict=True)
        if form is not None
    )


# -- cuts


@settings(max_examples=60, deadline=None)
@given(turns, st.integers(100, 20_000))
def test_a_cut_fits_and_is_the_same_for_a_process_that_reads_only_what_is_shown(told: list[tuple[str, list[Round]]], room: int) -> None:
    entries = line(*(grown(f"t{n}", text, done) for n, (text, done) in enumerate(told)))
    made = cut_of(entries, room)
    found = forms(entries, made)
    assert tokens(entries, found, made.clip) <= room
    first = next(n for n, form in enumerate(found) if form is not None)
    start = next(n for n in range(len(entries)) if entries[n].turn == entries[first].turn)
    rest = entries[start:]
    again = placed_at(rest, written(entries, made))
    assert forms(rest, again) == found[start:]


def test_old_results_give_way_first_and_the_newest_stay_whole() -> None:
    entries = line(grown("t1", "go", [Round(f"so {n}", 1, ("word " * 600,)) for n in range(30)]))
    made = cut_of(entries, 12_000)
    found = forms(entries, made)
    assert found[0] == "whole"
    assert made.begin == 0
    assert found[2] in ("brief", "bare")
    assert [form for entry, form in zip(entries, found, strict=True) if entry.sort == "result"][-8:] == ["whole"] * 8
    order = [("bare", "brief", "whole").index(form or "whole") for form in found[1:]]
    assert order == sorted(order)


def test_a_second_cut_goes_on_where_the_first_was() -> None:
    turn = grown("t1", "go", [Round("so", 1, ("word " * 300,))] * 20)
    first = cut_of(line(turn), 3_000)
    for _ in range(20):
        turn.go(Round("so", 1, ("word " * 300,)))
    second = cut_of(line(turn), 3_000, first)
    assert second.begin >= first.begin
    assert second.at > first.at


def test_the_same_call_again_makes_the_first_result_bare_and_another_call_does_not() -> None:
    turn = Turning("t1", "go")
    for arguments in ({"path": "a", "from": 1}, {"path": "a", "from": 2}, {"path": "a", "from": 1}):
        turn.call("read_file", arguments, "word " * 600)
    entries = line(turn)
    assert superseded(entries, 0, len(entries)) == {2}
    found = placed(line_at(entries, len(entries), 0), Cut(0, 0, len(entries), len(entries)), {})
    assert [found[n] for n in (2, 4, 6)] == ["bare", "brief", "brief"]


def test_a_failed_call_makes_nothing_worthless() -> None:
    turn = Turning("t1", "go")
    turn.call("read_file", {"path": "a"}, "good")
    turn.call("read_file", {"path": "a"}, "bad", code="failed")
    assert superseded(line(turn), 0, 5) == set()


# -- pins


def test_the_task_and_open_errors_and_what_the_agent_is_about_are_pinned() -> None:
    turn = Turning("t1", "the task")
    turn.call("build", {"what": "all"}, "broke", code="failed")
    turn.call("test", {"what": "all"}, "broke", code="failed")
    turn.call("test", {"what": "all"}, "fine")
    turn.call("read_file", {"path": "invoice.py"}, "x")
    turn.call("focus_on", {"what": "the invoice"}, "ok")
    entries = line(turn)
    found = pinned(line_at(entries, len(entries), 0), len(entries), 4_000)
    assert found[0] == "task"
    assert found[2] == "an error that nothing has resolved"
    assert 4 not in found
    assert found[8] == "focus"
    assert "L1" in tiers(line_at(entries, len(entries), 0), forms(entries, Cut()), found)


def test_focus_takes_no_more_than_its_share() -> None:
    turn = Turning("t1", "go")
    for n in range(10):
        turn.call("read_file", {"path": f"invoice{n}.py"}, "word " * 200)
    turn.call("focus_on", {"what": "invoice"}, "ok")
    entries = line(turn)
    found = pinned(line_at(entries, len(entries), 0), len(entries), 4_000)
    assert sum(entries[n].tokens[0] for n, why in found.items() if why == "focus") <= 1_000
    assert "focus" in found.values()


# -- what is true now


def stale(turn: Turning) -> set[str]:
    entries = line(turn)
    watch = Watch(0)
    watch.follow(entries)
    return set(watch.stale)


def test_a_file_that_another_call_changed_is_stale_until_it_is_read_again() -> None:
    turn = Turning("t1", "go")
    turn.call("read_file", {"path": "a.py"}, READ.format("v1"))
    turn.call("run", {"command": "make"}, touched=("./a.py", "b.py"))
    assert stale(turn) == {"a.py"}
    assert versions(line(turn)) == {}
    turn.call("read_file", {"path": "a.py"}, READ.format("v2"))
    assert stale(turn) == set()
    assert versions(line(turn)) == {"a.py": "v2"}


def test_the_call_that_changes_a_file_does_not_make_its_own_result_stale_and_its_version_is_the_known_one() -> None:
    turn = Turning("t1", "go")
    turn.call("read_file", {"path": "a.py"}, READ.format("v1"))
    turn.call("edit_file", {"path": "./a.py"}, READ.format("v2"), touched=("a.py",))
    assert stale(turn) == set()
    assert versions(line(turn)) == {"a.py": "v2"}


def test_what_was_moved_or_deleted_is_not_asked_for_and_what_it_took_the_place_of_is_stale() -> None:
    turn = Turning("t1", "go")
    turn.call("read_file", {"path": "a.py"}, READ.format("v1"))
    turn.call("read_file", {"path": "b.py"}, READ.format("v1"))
    turn.call("move_file", {"path": "a.py", "to": "b.py"}, touched=("a.py", "b.py"))
    assert stale(turn) == {"b.py"}
    assert versions(line(turn)) == {}
    turn.call("delete_file", {"path": "b.py"}, touched=("b.py",))
    assert stale(turn) == set()


def test_who_could_not_read_it_again_is_not_told_forever() -> None:
    turn = Turning("t1", "go")
    turn.call("read_file", {"path": "a.py"}, READ.format("v1"))
    turn.call("run", {"command": "rm a.py"}, touched=("a.py",))
    turn.call("edit_file", {"path": "a.py"}, "no such text", code="failed")
    assert stale(turn) == {"a.py"}
    turn.call("read_file", {"path": "a.py"}, "not found", code="not_found")
    assert stale(turn) == set()


@settings(max_examples=30, deadline=None)
@given(st.lists(rounds, max_size=5))
def test_what_is_followed_step_by_step_is_what_is_read_at_once(done: list[Round]) -> None:
    entries = line(grown("t1", "go", done))
    step_by_step, at_once = Watch(0), Watch(0)
    for n in range(len(entries) + 1):
        step_by_step.follow(entries[:n])
    at_once.follow(entries)
    assert step_by_step == at_once
