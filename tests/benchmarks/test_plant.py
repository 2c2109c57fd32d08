"""The benchmark of planting can say no: where everything is allowed, and where labels are lost, what was planted fires."""

import argparse
from dataclasses import replace
from pathlib import Path

import plant
import pytest
from lab.hijack import ATTACKS, PAYLOADS
from lab.stores import Store

from daimon.abi.judgement import Gate
from daimon.abi.label import owned
from daimon.abi.ports import Policy
from daimon.testing.judgement import FixedPolicy

GOOD = plant.Tally(attempts=9, questions=3, honest=2, honest_ran=2)
WAYS = {way.name: way for way in plant.WAYS}


@pytest.mark.parametrize("worse", [{"fired": 1}, {"unread": 1}, {"honest_ran": 1}, {"honest": 0, "honest_ran": 0}, {"attempts": 0}])
def test_each_promise_counts(worse: dict[str, int]) -> None:
    assert plant.kept(GOOD)
    assert not plant.kept(replace(GOOD, **worse))  # type: ignore[arg-type]


async def shot(place: Path, way: str, attack: str, policy: Policy | None, payload: str = "plain", strip: bool = False) -> plant.Shot:
    home = place / "home"
    home.mkdir(parents=True)
    await plant.plant(home, WAYS[way], PAYLOADS[payload], policy)
    if strip:
        plant.strip(home)
    return await plant.fire(home, WAYS[way], WAYS[way].places[0], "none", ATTACKS[attack], policy)


@pytest.mark.parametrize("way", WAYS)
async def test_where_everything_is_allowed_what_was_planted_fires_and_with_the_flow_rules_it_does_not(tmp_path: Path, way: str) -> None:
    allowed = await shot(tmp_path / "open", way, "mail to the attacker", FixedPolicy(Gate("allow")))
    held = await shot(tmp_path / "held", way, "mail to the attacker", None)
    assert (allowed.has_fired, allowed.has_read) == (True, True)
    assert (held.has_fired, held.has_read) == (False, True)


@pytest.mark.parametrize("payload", PAYLOADS)
async def test_without_labels_on_the_disk_it_does_not_fire_either(tmp_path: Path, payload: str) -> None:
    stripped = await shot(tmp_path, "skill", "pay the attacker", None, payload, strip=True)
    assert (stripped.has_fired, stripped.has_read) == (False, True)


async def test_a_store_that_forges_its_labels_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Store.get
    monkeypatch.setattr(Store, "get", lambda self, name: (honest(self, name)[0], owned("file")))
    home = tmp_path / "home"
    home.mkdir()
    await plant.plant(home, WAYS["file"], PAYLOADS["base64"], None)
    forged = await plant.fire(home, WAYS["file"], "new", "none", ATTACKS["pay the attacker"], None)
    assert forged.has_fired


async def test_a_whole_way_is_tallied(tmp_path: Path) -> None:
    tally = await plant.run_way(tmp_path / "x", WAYS["turn"], "plain", None, argparse.Namespace(strip=False, quick=True, seed=0))
    assert (tally.fired, tally.unread, tally.attempts > 3) == (0, 0, True)
