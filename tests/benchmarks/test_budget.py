"""The benchmark of the budget can say no: where too little is reserved, the provider charges more than was allowed."""

import os
from decimal import Decimal
from pathlib import Path

import budget
import pytest
from lab.process import CHECKOUT

GOOD = {"overspend": Decimal(0), "stuck": 0, "unbooked": Decimal(0), "unbounded": 0, "still_held": Decimal(0)}


def test_each_promise_counts() -> None:
    assert budget.kept(GOOD)
    assert not any(budget.kept({**GOOD, name: 1}) for name in GOOD)


async def test_who_reserves_too_little_overspends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = os.pathsep.join(str(CHECKOUT / part) for part in ("benchmarks", "src", "tests/benchmarks"))
    monkeypatch.setattr(budget, "TURNS", 20)
    monkeypatch.setattr(budget, "SETTINGS", 'extensions = ["sabotage"]\n' + budget.SETTINGS)
    found = await budget.run(tmp_path, 1, 0, Decimal("0.05"), PYTHONPATH=paths, LAB_SABOTAGE="generous")
    assert found["overspend"] > 0
    assert not budget.kept(found)
