"""Automations through the HTTP API of a whole Daimon, and through the client that the command line uses."""

import asyncio

import pytest
from tests.gateway.live import Live

from daimon.abi.automation import Draft
from daimon.abi.errors import BadInput, NotFound
from daimon.abi.watch import WatchPage
from daimon.gateway.remote_automations import RemoteClerk

PLACE = "/v1/automations/brief"


def test_one_is_made_shown_paused_run_and_taken_away(daimon: Live) -> None:
    made = daimon.call("PUT", PLACE, {"schedule": "every weekday at 8", "task": "Brief me.", "timezone": "Europe/Berlin"})
    assert (made.status, made.json["schedule"]) == (200, "every weekday at 8:00 (Europe/Berlin)")
    assert made.json["automation"]["when"] == {"text": "0 8 * * 1-5", "kind": "cron"}
    assert [each["automation"]["id"] for each in daimon.get("/v1/automations")] == ["brief"]
    assert daimon.call("POST", f"{PLACE}/pause").json["automation"]["is_paused"] is True
    assert daimon.call("POST", f"{PLACE}/resume").json["automation"]["is_paused"] is False
    tick = daimon.call("POST", f"{PLACE}/run").json
    assert (tick["outcome"], tick["by_hand"]) == ("ran", True)
    event = daimon.get(f"/v1/events/{tick['event']}")["event"]
    assert (event["conversation"], event["body"]["task"]) == ("automations/brief", "Brief me.")
    assert [each["event"] for each in daimon.get(f"{PLACE}/ticks?limit=5")] == [tick["event"]]
    assert len(daimon.get(f"{PLACE}/preview?n=3")) == 3
    assert daimon.call("DELETE", PLACE).status == 200
    assert daimon.call("DELETE", PLACE).status == 404
    assert daimon.call("GET", PLACE).status == 404
    assert len(daimon.get("/v1/ticks")) >= 1


def test_the_second_of_two_tabs_is_told_that_the_first_was_faster(daimon: Live) -> None:
    place, body = "/v1/automations/tabs", {"schedule": "daily at 8", "task": "one"}
    assert daimon.call("PUT", f"{place}?if_version=0", body).json["version"] == 1
    assert daimon.call("PUT", f"{place}?if_version=1", body | {"task": "two"}).json["version"] == 2
    late = daimon.call("PUT", f"{place}?if_version=1", body | {"task": "three"})
    assert (late.status, late.code) == (409, "outdated")
    assert late.json["error"]["message"].startswith("the automation 'tabs' is changed since you read version 1; it is version 2 now")
    assert daimon.call("PUT", f"{place}?if_version=0", body).code == "outdated"
    assert daimon.get(place)["automation"]["task"] == "two"
    assert daimon.call("PUT", place, body | {"task": "three"}).status == 200


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"schedule": "every wekday at 8", "task": "x"}, "Try 'every weekday at 8'"),
        ({"schedule": "0 0 31 2 *", "task": "x"}, "there is no 31 February"),
        ({"schedule": "daily at 8", "task": " "}, "say what is to be done"),
        ({"schedule": "daily at 8", "task": "x", "timezone": "Mars/Olympus"}, "no time zone"),
        ({"schedule": "daily at 8", "task": "x", "catch_up": "never"}, "catch_up"),
        ({"schedule": "daily at 8", "task": "x", "colour": "red"}, "no such field"),
        ({"schedule": "daily at 8", "task": "x", "watch": {"kind": "star"}}, "watch"),
        ({"schedule": "daily at 8", "task": "x", "cost": "-1"}, "above zero"),
    ],
)
def test_what_is_wrong_is_refused_with_what_to_do(daimon: Live, body: dict[str, object], told: str) -> None:
    answer = daimon.call("PUT", "/v1/automations/wrong", body)
    assert (answer.status, answer.code) == (400, "bad_input")
    assert told in answer.json["error"]["message"]


def test_a_bad_name_is_refused_with_a_better_one(daimon: Live) -> None:
    answer = daimon.call("PUT", "/v1/automations/Morning%20Brief", {"schedule": "daily at 8", "task": "x"})
    assert "Try 'morning-brief'" in answer.json["error"]["message"]


async def test_the_client_speaks_of_the_same(daimon: Live) -> None:
    clerk = RemoteClerk(daimon.home.socket)
    async with asyncio.timeout(60):
        shown = await clerk.put(Draft(id="page", schedule="every hour", task="x", watch=WatchPage("http://127.0.0.1:1/")))
        assert shown in await clerk.all()
        assert (await clerk.pause("page", True)).automation.is_paused
        assert len(await clerk.preview("page", n=4)) == 4
        assert len(await clerk.preview("every day at 8", "UTC")) == 10
        assert await clerk.ticks("page") == ()
        with pytest.raises(NotFound):
            await clerk.run("nothing")
        with pytest.raises(BadInput, match="no schedule"):
            await clerk.preview("now and then")
        await clerk.cease("page")


def test_an_interval_in_the_same_words_goes_on_counting_from_where_it_began(daimon: Live) -> None:
    place = "/v1/automations/steady"
    first = daimon.call("PUT", place, {"schedule": "every 3 hours", "task": "x"}).json["automation"]["when"]
    same = daimon.call("PUT", place, {"schedule": "every 3 hours", "task": "y"}).json["automation"]["when"]
    other = daimon.call("PUT", place, {"schedule": "every 2 hours", "task": "y"}).json["automation"]["when"]
    assert same == first
    assert other["seconds"] == 7_200
