"""The first run through the API: what is there, and a first automation; running it again wipes nothing."""

import pytest
from tests.gateway.live import Live

from daimon.gateway.room.gallery import GALLERY


def test_a_home_is_fresh_until_somebody_says_something(daimon: Live) -> None:
    view = daimon.get("/v1/setup")
    assert (view["is_fresh"], view["standing"]["use"], view["standing"]["has_model"]) == (True, ["reflex"], False)
    daimon.ask("what time is it?", "main")
    assert daimon.get("/v1/setup")["is_fresh"] is False


@pytest.mark.parametrize("each", GALLERY, ids=lambda each: each.id)
def test_every_suggestion_becomes_an_automation_that_costs_no_more_than_it_says(daimon: Live, each: object) -> None:
    suggestion = next(one for one in GALLERY if one is each)
    body = {"id": suggestion.id, **({"address": suggestion.example} if suggestion.needs else {})}
    made = daimon.call("POST", "/v1/setup/automations", body)
    assert made.status == 200, made.body
    assert (made.json["automation"]["cost"], bool(made.json["next"])) == (str(suggestion.cost), True)
    again = daimon.call("POST", "/v1/setup/automations", {**body, "schedule": "every day at 3"})
    assert "there already" in again.json["error"]["message"]
    assert daimon.get("/v1/setup")["automations"] == [suggestion.id]


def test_a_suggestion_that_needs_an_address_says_so(daimon: Live) -> None:
    refused = daimon.call("POST", "/v1/setup/automations", {"id": "feed-reader"})
    assert "needs an address" in refused.json["error"]["message"]
    assert daimon.call("POST", "/v1/setup/automations", {"id": "feed-reader", "address": "javascript:alert(1)"}).status == 400
    assert daimon.call("POST", "/v1/setup/automations", {"id": "nothing"}).status == 404
    assert daimon.get("/v1/setup")["automations"] == []
