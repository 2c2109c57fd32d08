"""`daimon automations`, with and without a running gateway."""

import json
from itertools import count

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
    assert "no channel 'telegram' is set up yet (there are: local)" in added.err
    assert "only the small built-in model is set up" in added.err
    (shown,) = json.loads(daimon.run("automations", "--json").out)
    assert shown["automation"]["licence"]["steps"][0]["sources"]["to"] == "'bob@x.org'"
    assert [step["tool"] for step in shown["automation"]["licence"]["steps"]] == ["mail", *["pin"] * 20]
    assert shown["automation"]["to"] == {"channel": "telegram", "to": "42"}
    assert "brief" in daimon.run("automations").out
    assert "Brief me." in daimon.run("automations", "show", "brief").out
    assert len(daimon.run("automations", "preview", "brief", "-n", "3").out.splitlines()) == 3
    assert "paused" in daimon.run("automations", "pause", "brief").out
    assert "next" in daimon.run("automations", "resume", "brief").out
    ran = daimon.run("automations", "run", "brief")
    assert (ran.code, ran.out.startswith("brief: ran (by hand)" if is_running else "brief: runs at the next start")) == (0, True)
    assert "`daimon model add` connects one" in ran.err
    (tick,) = json.loads(daimon.run("automations", "ticks", "brief", "--json").out)
    assert (tick["outcome"], tick["by_hand"]) == ("ran", True)
    again = daimon.run("automations", "add", "brief", "every weekday at 9", "Brief me.")
    assert "this is gone: where its results went, its limit in dollars, its licence; say it again" in again.err
    assert "this is gone" not in daimon.run("automations", "add", "brief", "every weekday at 10", "Brief me.").err
    assert daimon.run("automations", "remove", "brief").code == 0
    assert daimon.run("automations", "show", "brief").code == 3


@pytest.mark.parametrize("is_running", [True, False])
def test_what_is_not_there_yet_is_set_with_a_warning(daimon: Daimon, is_running: bool) -> None:
    daimon.use_patient_model()
    if is_running:
        daimon.up()

    names = (f"brief-{n}" for n in count())

    def warnings(*words: str) -> list[str]:
        done = daimon.run("automations", "add", next(names), "daily at 8", "Look.", *words, "--json")
        assert done.code == 0, done.err
        found: list[str] = json.loads(done.out)["warnings"]
        return found

    assert warnings("--model", "patient", "--to", "local:main") == []
    assert "no model 'nobody' is set up yet (there are: patient, reflex)" in warnings("--model", "nobody")[0]
    assert "no mail channel" in warnings("--watch-mailbox", "INBOX")[0]
    assert "there is no webhook 'ci' yet" in warnings("--watch-hook", "ci")[0]
    daimon.run("hooks", "add", "ci", "--scheme", "github", "--collect")
    assert warnings("--watch-hook", "ci") == []
    daimon.run("hooks", "add", "loud", "--scheme", "github", "--task", "Tell me.")
    assert "make it with --collect" in warnings("--watch-hook", "loud")[0]


def test_a_run_whose_look_fails_is_a_failure(daimon: Daimon) -> None:
    daimon.up()
    daimon.run("automations", "add", "brief", "daily at 8", "Look.", "--watch-hook", "gone")
    ran = daimon.run("automations", "run", "brief")
    assert (ran.code, "there is no webhook 'gone'" in ran.out) == (1, True)
    assert "what the webhook gone collects" in daimon.run("automations", "show", "brief").out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("0 0 31 2 *", "x"), "Try '0 0 28 2 *'"),
        (("every wekday at 8", "x"), "Try 'every weekday at 8'"),
        (("daily at 8", "x", "--to", "telegram"), "CHANNEL:PLACE"),
        (("daily at 8", "x", "--cost-per-day", "much"), "no amount"),
        (("daily at 8", "x", "--watch-page", "http://a", "--watch-hook", "b"), "one kind of thing"),
        (("daily at 8", "x", "--watch-feed", "not-a-url"), "no address of the web"),
        (("daily at 8", "x", "--watch-page", "https://"), "no address of the web"),
        (("daily at 8", "x", "--watch-page", "ftp://example.org/x"), "no address of the web"),
        (("daily at 8", "x", "--to", "daimon:main"), "cannot go to"),
        (("daily at 8", "x", "--selector", "h1"), "--watch-page"),
        (("daily at 8", "x", "--overlap", "both"), "none of skip, wait"),
    ],
)
def test_what_is_wrong_is_refused(daimon: Daimon, words: tuple[str, ...], told: str) -> None:
    refused = daimon.run("automations", "add", "brief", *words)
    assert refused.code == 4
    assert told in refused.err.replace("\n", " ")
