"""`daimon open`, `daimon devices` and `daimon acts`, with a real gateway."""

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

from tests.cli.processes import Daimon


def post(url: str, path: str, body: object) -> Any:
    """As the page does."""
    where = urlsplit(url)
    connection = http.client.HTTPConnection(where.netloc, timeout=60)
    headers = {"Origin": f"http://{where.netloc}", "Sec-Fetch-Site": "same-origin", "X-Daimon": "1", "Content-Type": "application/json"}
    try:
        connection.request("POST", path, json.dumps(body), headers)
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


def test_a_link_signs_in_and_the_device_is_listed_changed_and_revoked(daimon: Daimon) -> None:
    daimon.up()
    made = json.loads(daimon.run("open", "--rights", "read,chat", "--json").out)
    url, _, secret = made["urls"][0].partition("#")
    entered = post(url, "/v1/enter", {"secret": secret, "name": "my browser"})
    shown = daimon.run("devices").out
    assert "my browser" in shown
    assert "read,chat" in shown
    assert daimon.run("devices", "rights", entered["id"], "read").out == f"{entered['id']}, my browser, has read\n"
    assert daimon.run("devices", "revoke", entered["id"]).code == 0
    assert "no browser or phone is signed in" in daimon.run("devices").out
    acts = json.loads(daimon.run("acts", "--json").out)
    assert [act["did"] for act in acts][:2] == ["DELETE /v1/devices/{id}", "POST /v1/devices/{id}/rights"]
    assert secret not in daimon.run("acts").out


def test_a_phone_that_asks_is_approved_by_its_code(daimon: Daimon) -> None:
    daimon.up()
    url = json.loads(daimon.run("open", "--json").out)["urls"][0]
    asked = post(url, "/v1/devices/requests", {"name": "a phone"})
    assert asked["code"] in daimon.run("devices").out
    assert daimon.run("devices", "approve", asked["code"].lower()).out == "a phone is let in, with read,chat\n"
    got = post(url, "/v1/devices/requests/collect", {"secret": asked["secret"]})
    assert (got["state"], set(got["device"]["rights"])) == ("in", {"read", "chat"})


def test_the_link_is_printed_with_the_way_to_it_from_another_machine(daimon: Daimon) -> None:
    daimon.up()
    shown = daimon.run("open", "--print")
    assert "/enter#" in shown.out
    assert "until" in shown.err


def test_what_cannot_be_is_said(daimon: Daimon) -> None:
    assert "daimon up" in daimon.run("open").err
    daimon.up()
    assert "is not a list of rights; they are read, chat, approve, admin" in daimon.run("open", "--rights", "all").err
    assert "there is no device" in daimon.run("devices", "revoke", "d1").err
    assert "no device waits with the code" in daimon.run("devices", "approve", "ABCD-2345").err
