"""`daimon automations`, with and without a running gateway."""

import json

import pytest
from tests.cli.processes import Daimon


@pytest.mark.parametrize("is_running", [True, False])
def test_one_is_added_listed_run_paused_and_removed(daimon: Daimon, is_running: bool) -> None:
    if is_running:
        daimon.up()
    assert "nothing happens by itself" in daimon.run("automations").out
    licence = daimon.home.parent / "licence"
    licence.write_text("# what it may do\nmail(to='bob@x.org', text=own())\n20 times pin(number=found('/items/*/id'))\nreads notes()\n")
    more = ("--timezone", "Europe/Berlin", "--cost-per-day", "0.50", "--catch-up", "all", "--to", "telegram:42", "--licence", str(licence))
    added = daimon.run("automations", "add", "brief", "every weekday at 8", "Brief me.", *more)
    assert (added.code, "every weekday at 8:00 (Europe/Berlin)" in added.out) == (0, True), added.err
    (shown,) = json.loads(daimon.run("automations", "--json").out)
    assert shown["automation"]["licence"]["steps"][0]["sources"]["to"] == "'bob@x.org'"
    assert [step["tool"] for step in shown["automation"]["licence"]["steps"]] == ["mail", *["pin"] * 20]
    assert shown["automation"]["to"] == {"channel": "telegram", "to": "42"}
    assert "brief" in daimon.run("automations").out
    assert "Brief me." in daimon.run("automations", "show", "brief").out
    assert len(daimon.run("automations", "preview", "brief", "-n", "3").out.splitlines()) == 3
    assert "paused" in daimon.run("automations", "pause", "brief").out
    assert "next" in daimon.run("automations", "resume", "brief").out
    assert daimon.run("automations", "run", "brief").out == "brief: ran (by hand)\n"
    (tick,) = json.loads(daimon.run("automations", "ticks", "brief", "--json").out)
    assert (tick["outcome"], tick["by_hand"]) == ("ran", True)
    assert daimon.run("automations", "remove", "brief").code == 0
    assert daimon.run("automations", "show", "brief").code == 3


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("0 0 31 2 *", "x"), "Try '0 0 28 2 *'"),
        (("every wekday at 8", "x"), "Try 'every weekday at 8'"),
        (("daily at 8", "x", "--to", "telegram"), "CHANNEL:PLACE"),
        (("daily at 8", "x", "--cost-per-day", "much"), "no amount"),
        (("daily at 8", "x", "--watch-page", "http://a", "--watch-hook", "b"), "one kind of thing"),
        (("daily at 8", "x", "--selector", "h1"), "--watch-page"),
        (("daily at 8", "x", "--overlap", "both"), "none of skip, wait"),
    ],
)
def test_what_is_wrong_is_refused(daimon: Daimon, words: tuple[str, ...], told: str) -> None:
    refused = daimon.run("automations", "add", "brief", *words)
    assert refused.code == 4
    assert told in refused.err.replace("\n", " ")
