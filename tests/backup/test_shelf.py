"""Which backups there are, and which go: by rules that are a pure function, and never the newest."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from daimon.backup import shelf
from daimon.backup.shelf import Backup, Keep

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
MOMENTS = st.lists(st.integers(0, 3 * 365 * 24).map(lambda hours: NOON - timedelta(hours=hours)), max_size=60)
KEEPS = st.builds(Keep, st.integers(0, 10), st.integers(0, 10), st.integers(0, 10))


def backup(days: float, size: int = 1) -> Backup:
    at = NOON - timedelta(days=days)
    return Backup(Path(shelf.name_for(at, "0" * 8)), at, size, True)


def test_of_a_year_of_days_the_newest_of_days_weeks_and_months_stay() -> None:
    times = [NOON - timedelta(days=days) for days in range(365)]
    stay = shelf.kept(times, Keep(daily=7, weekly=4, monthly=3))
    assert [(NOON - at).days for at in sorted(stay, reverse=True)] == [0, 1, 2, 3, 4, 5, 6, 8, 15, 16, 47]


def test_of_one_day_the_last_stays() -> None:
    times = [NOON - timedelta(hours=hours) for hours in range(6)]
    assert shelf.kept(times, Keep(7, 0, 0)) == {NOON}


@given(MOMENTS, KEEPS, st.integers(0, 100))
def test_the_newest_always_stays_and_no_more_than_asked_for(times: list[datetime], keep: Keep, most: int) -> None:
    found = tuple(Backup(Path(f"{n}"), at, 10, True) for n, at in enumerate(sorted(set(times), reverse=True)))
    gone = shelf.surplus(found, keep, most)
    left = [each for each in found if each not in gone]
    assert left[:1] == list(found[:1])
    assert len(left) <= max(1, keep.daily + keep.weekly + keep.monthly)
    assert sum(each.size for each in left) <= most or len(left) <= 1


def test_what_takes_too_much_goes_oldest_first() -> None:
    found = tuple(backup(days, size=40) for days in range(5))
    assert shelf.surplus(found, Keep(daily=10), 100) == found[2:]


def test_a_home_removes_only_what_its_own_schedule_made(tmp_path: Path) -> None:
    mine, others = shelf.tag_of(Path("/a")), shelf.tag_of(Path("/b"))
    names = [
        shelf.name_for(NOON - timedelta(days=days), tag) for days in range(3) for tag in (mine, others, "")
    ] + ["daimon-auto-notes.txt", "daimon-99999999T999999Z.tar.gz", "holiday.jpg"]  # fmt: skip
    for name in names:
        (tmp_path / name).touch()
    gone = shelf.prune(tmp_path, mine, Keep(1, 0, 0), 10**9)
    assert {path.name for path in gone} == {shelf.name_for(NOON - timedelta(days=days), mine) for days in (1, 2)}
    assert len(list(tmp_path.iterdir())) == len(names) - 2
    assert [each.at for each in shelf.listed(tmp_path, mine)] == [NOON]
    assert len(shelf.listed(tmp_path)) == 7


def test_a_directory_that_is_not_there_holds_none(tmp_path: Path) -> None:
    assert shelf.listed(tmp_path / "none") == ()
