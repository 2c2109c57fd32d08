"""From elsewhere: proxies, networks, lock-out, and phones that ask to be let in."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.gateway.live import Live
from tests.room.rig import Gateway, gateway
from tests.room.visitor import Visitor, acts, link, signed_in, visitor

from daimon import config

NAME, LAN = "daimon.example", "192.0.2.4:7310"
FREE = 5
"""Wrong tries from one address before it is locked out."""
REACHED = config.Gateway(origins=(f"https://{NAME}", f"http://{LAN}"), trusted_proxies=("127.0.0.1",))


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """Behind a proxy on this machine, and on the network under its address."""
    with gateway(tmp_path_factory.mktemp("proxied") / "home", gateway=REACHED) as running:
        yield running


def through_proxy(live: Live, address: str) -> Visitor:
    return Visitor(live, NAME, f"https://{NAME}", more={"X-Forwarded-For": f"198.51.100.1, {address}", "X-Forwarded-Proto": "https"})


# -- forwarded headers


@pytest.mark.parametrize("name", ["X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded", "X-Real-IP"])
def test_a_proxy_that_nobody_listed_is_refused_with_everything_right(daimon: Gateway, name: str) -> None:
    caller = signed_in(daimon.live)
    for path in ("/v1/status", "/", "/enter"):
        answer = caller.call("GET", path, **{name.replace("-", "_"): "127.0.0.1"})
        assert (answer.status, answer.code) == (403, "unlisted_proxy")
    with_token = {"Authorization": f"Bearer {daimon.live.token}", name: "127.0.0.1"}
    assert daimon.live.call_as("GET", "/v1/status", None, with_token).code == "unlisted_proxy"
    event = {"type": "message", "text": "x", "conversation": "proxied"}
    assert daimon.live.call_as("POST", "/v1/events", event, with_token).code == "unlisted_proxy"


def test_what_services_post_may_come_through_any_proxy(daimon: Gateway) -> None:
    posted = daimon.live.call_as("POST", "/hooks/nothing", {}, {"X-Forwarded-For": "198.51.100.1"})
    assert posted.status == 404


def test_through_a_listed_proxy_a_browser_comes_in_under_its_own_name(proxied: Gateway) -> None:
    caller = through_proxy(proxied.live, "203.0.113.1")
    entered = caller.enter(link(proxied.live))
    assert entered.status == 200
    sent = entered.headers["set-cookie"]
    assert sent.startswith("__Host-daimon=")
    assert "secure" in sent.lower()
    assert caller.call("GET", "/v1/me").status == 200
    assert caller.call("POST", "/v1/events", {"type": "message", "text": "hi", "conversation": "p"}).status == 202
    assert caller.call("POST", "/v1/events", {"type": "message", "text": "hi"}, Origin=f"http://{NAME}").code == "foreign_origin"


def test_a_proxy_may_say_under_which_name_it_was_asked(proxied: Gateway) -> None:
    caller = through_proxy(proxied.live, "203.0.113.2")
    assert caller.enter(link(proxied.live)).status == 200
    assert caller.call("GET", "/v1/me", Host="127.0.0.1:7310", X_Forwarded_Host=NAME).status == 200
    assert caller.call("GET", "/v1/me", X_Forwarded_Host="evil.example").code == "wrong_host"


def test_a_session_of_one_name_is_none_under_another(proxied: Gateway) -> None:
    caller = through_proxy(proxied.live, "203.0.113.3")
    assert caller.enter(link(proxied.live)).status == 200
    assert visitor(proxied.live).call("GET", "/v1/me", Cookie=f"__Host-daimon={caller.cookie}").status == 401


# -- the network


def test_on_the_network_browsers_do_not_say_their_site_and_the_rest_holds(proxied: Gateway) -> None:
    phone = Visitor(proxied.live, LAN, f"http://{LAN}")
    assert phone.enter(link(proxied.live)).status == 200
    assert phone.call("GET", "/v1/me", Sec_Fetch_Site=None).status == 200
    assert phone.call("POST", "/v1/leave", Sec_Fetch_Site=None, Origin="http://192.0.2.5").code == "foreign_origin"
    assert phone.call("POST", "/v1/leave", Sec_Fetch_Site=None, X_Daimon=None).code == "foreign_site"
    assert phone.call("GET", "/v1/me", Host="192.0.2.4").code == "wrong_host"


def test_on_every_address_of_the_machine_it_listens_only_with_an_origin(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="every device of the network can connect"):
        config.Gateway(host="0.0.0.0")
    wanted = config.Gateway(host="0.0.0.0", origins=(f"http://{LAN}",))
    with gateway(tmp_path / "home", gateway=wanted) as running:
        made = running.live.call("POST", "/v1/links", {}).json["urls"]
        assert [url.partition("/enter")[0] for url in made] == [running.live.url, f"http://{LAN}"]
        phone = Visitor(running.live, LAN, f"http://{LAN}")
        assert phone.call("GET", "/v1/status").status == 401
        assert phone.call("GET", "/enter").status == 200


# -- lock-out


def test_an_address_that_is_wrong_too_often_is_not_listened_to(proxied: Gateway) -> None:
    stranger = through_proxy(proxied.live, "203.0.113.50")
    wrong = [stranger.enter("wrong").status for _ in range(FREE)]
    assert wrong == [403] * FREE
    locked = stranger.enter(link(proxied.live))
    assert (locked.status, locked.code) == (429, "too_many")
    assert 0 < int(locked.headers["retry-after"]) <= 300
    assert through_proxy(proxied.live, "203.0.113.51").enter(link(proxied.live)).status == 200
    assert [act["name"] for act in acts(proxied.live) if act["outcome"] == "forbidden"][:FREE] == ["203.0.113.50"] * FREE


def test_wrong_tokens_from_elsewhere_are_locked_out_too(proxied: Gateway) -> None:
    headers = {"Host": NAME, "X-Forwarded-For": "203.0.113.60"}
    stranger = through_proxy(proxied.live, "203.0.113.60")
    tries = [stranger.send("GET", "/v1/status", None, {**headers, "Authorization": "Bearer x"}).status for _ in range(FREE)]
    assert tries == [401] * FREE
    right = {**headers, "Authorization": f"Bearer {proxied.live.token}"}
    assert stranger.send("GET", "/v1/status", None, right).status == 429
    assert stranger.send("GET", "/v1/status", None, {**right, "X-Forwarded-For": "203.0.113.61"}).status == 200


def test_who_is_in_stays_in_when_a_neighbour_is_locked_out(proxied: Gateway) -> None:
    inside, address = None, "203.0.113.70"
    inside = through_proxy(proxied.live, address)
    assert inside.enter(link(proxied.live)).status == 200
    neighbour = through_proxy(proxied.live, address)
    for _ in range(FREE + 1):
        neighbour.enter("wrong")
    assert inside.call("GET", "/v1/me").status == 200


def test_on_this_machine_nobody_is_locked_out(daimon: Gateway) -> None:
    for _ in range(FREE + 2):
        assert visitor(daimon.live).enter("wrong").status == 403
    assert visitor(daimon.live).enter(link(daimon.live)).status == 200


# -- phones that ask


def test_a_phone_that_was_confirmed_can_chat_and_nothing_more(proxied: Gateway) -> None:
    phone = Visitor(proxied.live, LAN, f"http://{LAN}")
    asked = phone.call("POST", "/v1/devices/requests", {"name": "Anna's phone"})
    assert asked.status == 201
    secret = {"secret": asked.json["secret"]}
    assert phone.call("POST", "/v1/devices/requests/collect", secret).json["state"] == "waiting"
    waiting = proxied.live.get("/v1/devices/requests")
    assert [each["name"] for each in waiting] == ["Anna's phone"]
    confirmed = proxied.live.call("POST", f"/v1/devices/requests/{asked.json['code']}", {"rights": ["read", "chat"]})
    assert confirmed.status == 200
    got = phone.call("POST", "/v1/devices/requests/collect", secret)
    phone.keep(got)
    assert got.json["state"] == "in"
    assert phone.call("POST", "/v1/events", {"type": "message", "text": "hi", "conversation": "phone"}).status == 202
    assert phone.call("POST", "/v1/links", {}).code == "forbidden"
    assert phone.call("POST", "/v1/devices/requests/collect", secret).status == 404


def test_a_phone_cannot_confirm_itself_and_a_refused_one_stays_out(daimon: Gateway) -> None:
    phone = visitor(daimon.live)
    asked = phone.call("POST", "/v1/devices/requests", {"name": "x"}).json
    assert phone.call("POST", f"/v1/devices/requests/{asked['code']}", {"rights": ["admin"]}).status == 401
    assert daimon.live.call("DELETE", f"/v1/devices/requests/{asked['code']}").status == 200
    refused = phone.call("POST", "/v1/devices/requests/collect", {"secret": asked["secret"]})
    assert (refused.status, refused.code) == (403, "forbidden")


def test_only_so_many_wait_and_one_address_asks_only_so_often(tmp_path: Path) -> None:
    """In a home of its own: nobody else gets in there for a while."""
    with gateway(tmp_path / "home", gateway=REACHED) as running:
        live = running.live
        stranger = through_proxy(live, "203.0.113.80")
        answers = [stranger.call("POST", "/v1/devices/requests", {}).status for _ in range(FREE + 1)]
        assert answers[0] == 201
        assert answers[-1] == 429
        crowd = [through_proxy(live, f"203.0.113.{n}").call("POST", "/v1/devices/requests", {}).status for n in range(100, 112)]
        assert 429 in crowd
        assert len(live.get("/v1/devices/requests")) <= 10
