"""Channels through the API, against services on loopback."""

import time
import tomllib

from anyio.from_thread import BlockingPortal
from tests.gateway.live import Live

from daimon.testing.telegram.chats import ANNA
from daimon.testing.telegram.server import TOKEN, TelegramServer

PLACE = "/v1/settings/channels"
DEADLINE_S = 60


def until_paired(daimon: Live) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not daimon.get(PLACE)["channels"][0]["is_paired"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_forms_say_what_each_channel_needs(daimon: Live) -> None:
    forms = {form["name"]: form for form in daimon.get(PLACE)["forms"]}
    assert set(forms) == {"telegram", "slack", "mail", "matrix"}
    assert [secret["name"] for secret in forms["slack"]["secrets"]] == ["bot_token", "app_token"]
    assert [field["name"] for field in forms["matrix"]["fields"]] == ["homeserver", "user"]


def test_a_bot_is_tried_set_up_and_paired(daimon: Live, telegram: TelegramServer, portal: BlockingPortal) -> None:
    added = daimon.call("POST", f"{PLACE}/telegram", {"fields": {"api": telegram.url}, "secrets": {"token": TOKEN}})
    assert added.status == 200, added.body
    assert (added.json["checked"]["who"], added.json["is_paired"]) == ("@daimon_test_bot", False)
    assert TOKEN not in daimon.home.config.read_text()
    code = daimon.call("POST", "/v1/people/invitations", {}).json["code"]
    portal.call(telegram.chats.says, ANNA, code)
    until_paired(daimon)
    assert daimon.call("POST", f"{PLACE}/telegram/check", {}).json["who"] == "@daimon_test_bot"
    (row,) = daimon.get(PLACE)["channels"]
    assert row["secrets"] == {"token": "vault:telegram"}
    assert row["settings"] == {"api": telegram.url}
    gone = daimon.call("DELETE", f"{PLACE}/telegram?with_secrets=true")
    assert gone.json["notes"] == ["its secret telegram is out of the vault too"]
    assert "channels" not in tomllib.loads(daimon.home.config.read_text())
    assert daimon.get("/v1/settings/secrets")["secrets"] == []


def test_a_token_that_is_refused_leaves_nothing_behind(daimon: Live, telegram: TelegramServer) -> None:
    before = daimon.home.config.read_bytes()
    wrong = "4242:AAH-another_token_that_is_wrong_00"
    refused = daimon.call("POST", f"{PLACE}/telegram", {"fields": {"api": telegram.url}, "secrets": {"token": wrong}})
    assert (refused.status, refused.code) == (400, "bad_input")
    assert wrong not in refused.body.decode()
    assert daimon.home.config.read_bytes() == before
    assert daimon.get("/v1/settings/secrets")["secrets"] == []
    assert daimon.get(PLACE)["channels"] == []


def test_what_is_missing_is_said_with_where_to_get_it(daimon: Live) -> None:
    refused = daimon.call("POST", f"{PLACE}/telegram", {})
    assert "@BotFather" in refused.json["error"]["message"]
    assert "no channel" in daimon.call("POST", f"{PLACE}/pigeon", {}).json["error"]["message"]
    assert "address" in daimon.call("POST", f"{PLACE}/mail", {"secrets": {"password": "x"}}).json["error"]["message"]
    unknown = daimon.call("POST", f"{PLACE}/telegram", {"secrets": {"password": "hush-hush"}})
    assert "no secret 'password'" in unknown.json["error"]["message"]
    assert daimon.call("DELETE", f"{PLACE}/telegram").status == 404
    unreachable = daimon.call("POST", f"{PLACE}/telegram", {"fields": {"api": "http://127.0.0.1:1"}, "secrets": {"token": TOKEN}})
    assert unreachable.status == 400
    assert TOKEN not in unreachable.body.decode()
