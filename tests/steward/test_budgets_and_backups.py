"""Budgets and backups through the API."""

import gzip
import time
import tomllib
from typing import Any

from tests.gateway.live import Live

BUDGET, BACKUPS = "/v1/settings/budget", "/v1/settings/backups"
DEADLINE_S = 120
"""A process of its own makes them."""


def until_done(daimon: Live) -> Any:
    deadline = time.monotonic() + DEADLINE_S
    while (view := daimon.get(BACKUPS))["work"]["state"] == "running":
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return view


def test_a_limit_is_changed_taken_off_and_counts_at_once(daimon: Live) -> None:
    view = daimon.get(BUDGET)
    assert (view["limits"]["day"]["cost"], view["limits"]["turn"]["tokens"]) == ("5", 2_000_000)
    limits = {"day": {"cost": "1.50"}, "month": {"cost": None}, "job": {"cost": "0.1", "tokens": 5_000}, "unknown_price": "allow"}
    changed = daimon.call("PUT", BUDGET, {"version": view["version"], "limits": limits})
    assert (changed.status, changed.json["restart"]) == (200, [])
    assert tomllib.loads(daimon.home.config.read_text())["budget"] == {
        "day": {"cost": 1.5}, "month": {"cost": "none"}, "job": {"cost": 0.1, "tokens": 5_000}, "unknown_price": "allow",
    }  # fmt: skip
    after = daimon.get(BUDGET)
    assert (after["limits"]["day"]["cost"], after["limits"]["month"]["cost"]) == ("1.5", None)
    day = next(each for each in after["balances"] if each["account"]["scope"] == "day")
    assert day["account"]["limit"]["cost"] == "1.5"
    late = daimon.call("PUT", BUDGET, {"version": view["version"], "limits": {"day": {"cost": "100"}}})
    assert late.status == 409
    assert daimon.get(BUDGET)["limits"]["day"]["cost"] == "1.5"


def test_a_limit_below_zero_is_refused(daimon: Live) -> None:
    version = daimon.get(BUDGET)["version"]
    assert daimon.call("PUT", BUDGET, {"version": version, "limits": {"day": {"cost": "-1"}}}).status == 400
    assert daimon.call("PUT", BUDGET, {"version": version, "limits": {"day": {"tokens": 0}}}).status == 400


def test_a_backup_is_made_listed_verified_and_handed_out(daimon: Live) -> None:
    assert daimon.get(BACKUPS)["backups"] == []
    begun = daimon.call("POST", BACKUPS, {})
    assert (begun.status, begun.json["state"]) == (202, "running")
    assert daimon.call("POST", BACKUPS, {}).status == 400
    view = until_done(daimon)
    assert view["work"]["state"] == "done", view["work"]
    (row,) = view["backups"]
    assert (row["name"], row["is_readable"], row["is_auto"]) == (view["work"]["name"], True, False)
    assert daimon.call("POST", f"{BACKUPS}/{row['name']}/verify", {}).status == 202
    assert until_done(daimon)["work"]["state"] == "done"
    file = daimon.call("GET", f"{BACKUPS}/{row['name']}/file")
    assert (file.status, len(file.body), file.headers["cache-control"]) == (200, row["size"], "no-store")
    assert b"manifest.json" in gzip.decompress(file.body)


def test_only_a_backup_is_handed_out(daimon: Live) -> None:
    for name in ("..%2f..%2ftoken", "token", "daimon-20261116T031500Z.tar.gz", "%2fetc%2fpasswd"):
        assert daimon.call("GET", f"{BACKUPS}/{name}/file").status == 404


def test_the_schedule_is_changed_in_the_settings(daimon: Live) -> None:
    version = daimon.get(BACKUPS)["version"]
    changed = daimon.call("PUT", f"{BACKUPS}/schedule", {"version": version, "every": "12h"})
    assert (changed.status, changed.json["restart"]) == (200, ["backup"])
    assert daimon.get(BACKUPS)["every"] == "12h"
    assert daimon.call("PUT", f"{BACKUPS}/schedule", {"version": changed.json["version"], "every": "often"}).status == 400
