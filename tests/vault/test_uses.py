"""Who used what: nothing is forgotten, nothing stops, and the file does not grow without end."""

import json
import stat
from datetime import timedelta
from pathlib import Path

import pytest
from tests.vault.rig import GITHUB, TOKEN, vault_at

from daimon.testing.clock import ManualClock
from daimon.vault.uses import Uses

HOST = "api.github.com"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "vault.uses"


def lines(path: Path) -> list[int]:
    return [json.loads(line)["count"] for line in path.read_text().splitlines()]


def sizes(path: Path) -> dict[str, int]:
    return {file.name: file.stat().st_size for file in path.parent.iterdir()}


def test_the_first_use_is_on_disk_at_once_and_a_thousand_are_two_lines(path: Path, clock: ManualClock) -> None:
    uses = Uses(path, clock)
    uses.note("github", "model:a", HOST)
    assert lines(path) == [1]
    for _ in range(999):
        uses.note("github", "model:a", HOST)
    assert lines(path) == [1]
    uses.close()
    assert lines(path) == [1, 999]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    (found,) = Uses(path, clock).of("github")
    assert (found.by, found.host, found.count) == ("model:a", HOST, 1_000)


async def test_a_minute_later_it_is_written_again(path: Path, clock: ManualClock) -> None:
    uses = Uses(path, clock)
    first = clock.now()
    for _ in range(3):
        uses.note("github", "model:a", HOST)
    await clock.advance(61)
    uses.note("github", "proxy:coder", HOST)
    assert lines(path) == [1, 2, 1]
    await clock.advance(61)
    uses.note("github", "model:a", HOST)
    by = {use.by: use for use in uses.of("github")}
    assert (by["model:a"].count, by["proxy:coder"].count) == (4, 1)
    assert (by["model:a"].first, by["model:a"].last) == (first, first + timedelta(seconds=122))
    assert next(iter(by)) == "model:a"
    assert uses.of("gitlab") == ()


def test_a_use_that_cannot_be_written_stops_nobody_is_said_and_comes_later(
    path: Path, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    path.mkdir()
    uses = Uses(path, clock)
    uses.note("github", "model:a", HOST)
    uses.note("gitlab", "model:a", HOST)
    assert "cannot be written" in uses.warning
    assert len(caplog.records) == 1
    path.rmdir()
    uses.note("bitbucket", "model:a", HOST)
    assert uses.warning == ""
    assert [use.count for name in ("github", "gitlab", "bitbucket") for use in Uses(path, clock).of(name)] == [1, 1, 1]


async def test_a_full_file_is_put_aside_and_the_two_halves_are_read_as_one(path: Path, clock: ManualClock) -> None:
    uses = Uses(path, clock, most_bytes=1_000)
    for _ in range(15):
        uses.note("github", "model:a", HOST)
        await clock.advance(61)
    assert sizes(path).keys() == {"vault.uses", "vault.uses.old"}
    assert max(sizes(path).values()) <= 1_000
    (found,) = Uses(path, clock).of("github")
    assert found.count == 15
    for _ in range(50):
        uses.note("github", "model:a", HOST)
        await clock.advance(61)
    assert sum(sizes(path).values()) <= 2_000


def test_a_line_that_a_crash_cut_costs_that_line_only(path: Path, clock: ManualClock) -> None:
    Uses(path, clock).note("github", "model:a", HOST)
    with path.open("ab") as file:
        file.write(b'{"name": "github", "by"\n[]\nnull\n')
    Uses(path, clock).note("github", "model:b", HOST)
    assert {use.by for use in Uses(path, clock).of("github")} == {"model:a", "model:b"}


def test_every_way_out_of_the_vault_is_recorded(tmp_path: Path) -> None:
    vault = vault_at(tmp_path)
    vault.add("github", TOKEN, GITHUB)
    vault.reveal("github", "model:a", HOST)
    vault.injections(("github",), "coder")
    vault.used("github", "proxy:coder", HOST)
    vault.close()
    assert {(use.by, use.host) for use in vault_at(tmp_path).uses("github")} == {
        ("model:a", HOST),
        ("box:coder", ""),
        ("proxy:coder", HOST),
    }
    assert TOKEN not in (tmp_path / "vault.uses").read_text()
