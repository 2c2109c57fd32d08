"""A service posts to a whole Daimon on a real socket: what is let in, what comes of it, what is refused."""

import itertools
import json
import time
from dataclasses import replace
from typing import Any

import pytest
from tests.gateway.hooks.posting import secret_of, service
from tests.gateway.live import DEADLINE_S, Live, read

from daimon import keeper
from daimon.abi.codec import encode
from daimon.abi.hook import NEXT, Filter, Hook
from daimon.gateway.hooks import signature

_names = itertools.count()


def hook(**more: Any) -> Hook:
    name = f"h{next(_names)}"
    return Hook(**{"name": name, "scheme": "github", "secret": f"hook-{name}", **more})


# -- let in


def test_a_signed_delivery_is_on_disk_when_202_comes_and_begins_a_turn(daimon: Live) -> None:
    github = service(daimon, hook(task="say hello"))
    with daimon.feed(f"hooks/{github.hook.name}") as feed:
        answer = github.post({"action": "opened"}, x_github_delivery="d1", x_github_event="issues")
        assert (answer.status, answer.json) == (202, {"delivery": "d1", "outcome": "accepted", "new": True})
        feed.until_rest()
    (delivery,) = github.deliveries()
    event = daimon.get(f"/v1/events/{delivery['event']}")["event"]
    assert event["body"]["data"] == {"action": "opened"}
    assert event["body"]["headers"] == {"x-github-event": "issues"}
    assert event["body"]["task"] == "say hello"
    assert {origin["author"] for origin in event["label"]["origins"]} == {"owner", "stranger"}
    assert {origin["author"] for origin in event["body"]["by"]["origins"]} == {"owner"}
    assert event["reply_to"] == {"channel": "local", "to": "owner"}


def test_without_a_task_it_is_a_strangers_word_and_nothing_else(daimon: Live) -> None:
    github = service(daimon, hook())
    github.post({"a": 1})
    event = daimon.get(f"/v1/events/{github.deliveries()[0]['event']}")["event"]
    assert [origin["author"] for origin in event["label"]["origins"]] == ["stranger"]
    assert (event["principal"], event["body"]["by"]) == (f"service:{github.hook.name}", None)


@pytest.mark.parametrize("scheme", ["github", "slack", "stripe", "generic"])
def test_each_scheme_is_let_in_on_both_ways(daimon: Live, scheme: Any) -> None:
    """The short one for small bodies in one piece, the long one for the rest."""
    which = service(daimon, hook(scheme=scheme))
    assert which.post({"id": "small", "event_id": "small"}).status == 202
    assert which.post({"id": "large", "event_id": "large", "text": "x" * 200_000}).json["new"]
    assert len(which.deliveries()) == 2


def test_a_chunked_body_is_read_like_any_other(daimon: Live) -> None:
    github = service(daimon, hook())
    body = b'{"a": [1, 2, 3]}'
    connection = daimon.connect()
    connection.request("POST", f"/hooks/{github.hook.name}", iter([body[:5], body[5:]]), github.signed(body), encode_chunked=True)
    assert read(connection).status == 202
    connection.close()


def test_a_form_with_a_payload_is_taken_as_github_sends_it(daimon: Live) -> None:
    github = service(daimon, hook())
    body = b"payload=%7B%22zen%22%3A%22ok%22%7D"
    answer = github.send(body, {**github.signed(body), "content-type": "application/x-www-form-urlencoded"})
    assert answer.status == 202
    assert daimon.get(f"/v1/events/{github.deliveries()[0]['event']}")["event"]["body"]["data"] == {"zen": "ok"}


def test_slacks_challenge_is_answered_when_it_is_signed(daimon: Live) -> None:
    slack = service(daimon, hook(scheme="slack"))
    asked = {"type": "url_verification", "challenge": "abc"}
    assert slack.post(asked).json == {"challenge": "abc"}
    assert slack.send(json.dumps(asked).encode(), {"content-type": "application/json"}).status == 401


def test_what_is_collected_wakes_nobody_and_waits(daimon: Live) -> None:
    collecting = service(daimon, hook(mode="collect"))
    assert collecting.post({"n": 1}).json["outcome"] == "collected"
    (kept,) = collecting.deliveries()
    assert (kept["data"], kept["event"]) == ({"n": 1}, "")
    assert collecting.turns() == []


def test_what_a_filter_holds_back_is_on_record_and_wakes_nobody(daimon: Live) -> None:
    github = service(daimon, hook(filters=(Filter("/action", ("opened", "reopened")),)))
    assert github.post({"action": "closed"}).json["outcome"] == "filtered"
    assert github.post({"action": "opened"}).json["outcome"] == "accepted"
    newest, oldest = github.deliveries()
    assert (oldest["outcome"], oldest["why"]) == ("filtered", "/action is 'closed'")
    assert newest["outcome"] == "accepted"


def test_a_secret_of_the_vault_in_a_delivery_is_not_kept(daimon: Live) -> None:
    collecting = service(daimon, hook(mode="collect"))
    collecting.post({"text": f"psst {collecting.secret}"})
    escaped = "".join(f"\\u{ord(c):04x}" for c in collecting.secret)
    collecting.post(b'{"text": "%b"}' % escaped.encode())
    assert collecting.secret not in json.dumps(collecting.deliveries())
    assert "psst" in json.dumps(collecting.deliveries())


# -- again


def test_a_repeated_delivery_is_answered_like_the_first_and_has_no_effect(daimon: Live) -> None:
    github = service(daimon, hook())
    first, again = (github.post({"n": 1}, x_github_delivery="d1") for _ in range(2))
    assert (first.status, first.json["new"]) == (202, True)
    assert (again.status, again.json) == (202, {"delivery": "d1", "outcome": "known", "new": False})
    assert len(github.deliveries()) == 1


def test_a_captured_body_under_another_id_is_recognised(daimon: Live) -> None:
    github = service(daimon, hook())
    github.post({"n": 1}, x_github_delivery="d1")
    assert github.post({"n": 1}, x_github_delivery="d2").json["outcome"] == "known"
    assert github.post({"n": 2}, x_github_delivery="d2").json["outcome"] == "accepted"


def test_a_captured_generic_request_under_another_key_is_recognised_and_a_retry_too(daimon: Live) -> None:
    generic, now = service(daimon, hook(scheme="generic")), int(time.time())
    body = b'{"n": 1}'
    assert generic.send(body, generic.signed(body, now, idempotency_key="k1")).json["new"]
    assert not generic.send(body, generic.signed(body, now, idempotency_key="k2")).json["new"]
    assert not generic.send(body, generic.signed(body, now + 1, idempotency_key="k1")).json["new"]
    assert generic.send(body, generic.signed(body, now + 2, idempotency_key="k3")).json["new"]


def test_a_retry_of_slack_is_known_by_its_event(daimon: Live) -> None:
    slack, now = service(daimon, hook(scheme="slack")), int(time.time())
    body = b'{"event_id": "Ev1"}'
    assert slack.send(body, slack.signed(body, now - 60)).json["new"]
    assert not slack.send(body, slack.signed(body, now, x_slack_retry_num="1")).json["new"]


def test_deliveries_out_of_order_are_all_taken_as_they_come(daimon: Live) -> None:
    github = service(daimon, hook(mode="collect"))
    for n in (3, 1, 2):
        assert github.post({"n": n}, x_github_delivery=f"d{n}").json["new"]
    assert [each["data"]["n"] for each in github.deliveries()] == [2, 1, 3]


# -- refused


def test_a_forged_signature_is_refused_without_a_reason_and_leaves_no_event(daimon: Live) -> None:
    github = service(daimon, hook())
    before = daimon.get("/v1/status")["count"]["events"]
    forged = replace(github, secret="guess")
    answers = [forged.post({"n": 1}), github.send(b"{}", {"content-type": "application/json"}), github.send(b"[", github.signed(b"{}"))]
    assert {(answer.status, answer.body) for answer in answers} == {(401, answers[0].body)}
    assert daimon.get("/v1/status")["count"]["events"] == before
    assert {each["outcome"] for each in github.deliveries()} == {"refused"}


def test_a_flood_of_forgeries_is_recorded_a_few_times_and_does_not_stop_the_service(daimon: Live) -> None:
    github = service(daimon, hook())
    forged = replace(github, secret="guess")
    assert {forged.post({"n": n}).status for n in range(100)} == {401}
    assert len(github.deliveries()) <= 20
    assert github.post({"n": 1}).status == 202


def test_an_address_that_the_proxy_names_is_shut_out_after_many_forgeries_and_others_are_not(daimon: Live) -> None:
    github = service(daimon, hook())
    forged = replace(github, secret="guess")
    assert forged.post({}, x_forwarded_for="8.8.8.8, 198.51.100.7").status == 401
    numbers, deadline = itertools.count(), time.monotonic() + DEADLINE_S
    while True:  # one more is heard each second, so what follows may be too slow
        while (said := forged.post({}, x_forwarded_for="8.8.8.8, 198.51.100.7")).status == 401:
            assert time.monotonic() < deadline
        assert (said.status, int(said.headers["retry-after"]) >= 1) == (429, True)
        if github.post({"n": next(numbers)}, x_forwarded_for="198.51.100.7").status == 429:
            break
        assert time.monotonic() < deadline
    assert github.post({"n": next(numbers)}, x_forwarded_for="198.51.100.7, 198.51.100.8").status == 202


def test_more_than_a_hook_takes_in_a_minute_is_told_to_wait(daimon: Live) -> None:
    github = service(daimon, hook(per_minute=2))
    said = [github.post({"n": n}) for n in range(3)]
    assert [answer.status for answer in said] == [202, 202, 429]
    assert int(said[-1].headers["retry-after"]) >= 1


def test_there_is_no_hook_that_nobody_made(daimon: Live) -> None:
    github = service(daimon, hook())
    for name in ("nothing", "telegram"):
        nobody = replace(github, hook=replace(github.hook, name=name))
        assert (nobody.post({}).status, nobody.post({}).code) == (404, "not_found")


def test_a_paused_hook_says_that_it_is_to_whom_it_knows_only(daimon: Live) -> None:
    github = service(daimon, hook())
    service(daimon, replace(github.hook, is_paused=True))
    assert (github.post({"n": 1}).status, github.post({"n": 1}).code) == (503, "paused")
    assert replace(github, secret="guess").post({"n": 1}).status == 401
    service(daimon, github.hook)
    assert github.post({"n": 1}).json["new"]


def test_a_removed_hook_is_gone(daimon: Live) -> None:
    github = service(daimon, hook())
    assert daimon.call("DELETE", f"/v1/hooks/{github.hook.name}").status == 200
    assert github.post({}).status == 404
    assert daimon.call("DELETE", f"/v1/hooks/{github.hook.name}").status == 404


def test_the_secret_of_a_removed_hook_opens_nothing_when_one_of_that_name_is_made_again(daimon: Live) -> None:
    before = service(daimon, hook())
    assert daimon.call("DELETE", f"/v1/hooks/{before.hook.name}").status == 200
    after = service(daimon, before.hook)
    assert before.post({"n": 1}).status == 401
    assert after.post({"n": 1}).json["new"]


def test_a_secret_that_another_hook_uses_stays_when_its_first_one_is_removed(daimon: Live) -> None:
    first = service(daimon, hook())
    second = service(daimon, replace(first.hook, name="second"))
    assert daimon.call("DELETE", f"/v1/hooks/{first.hook.name}").status == 200
    assert second.post({"n": 1}).json["new"]


def test_a_hook_is_not_called_as_the_next_secret_of_another(daimon: Live) -> None:
    wrong = hook(name="ci-next", secret="hook-ci-next")
    answer = daimon.call("PUT", "/v1/hooks/ci-next", encode(Hook, wrong))
    assert (answer.status, answer.code) == (400, "bad_input")


@pytest.mark.parametrize("body", [b"", b"{", b'{"a": "\xff"}', b'{"a": 1e999}', b"[" * 5_000, b"[" * 90_000])
def test_a_signed_body_that_is_no_json_is_told_why(daimon: Live, body: bytes) -> None:
    github = service(daimon, hook())
    answer = github.post(body)
    assert (answer.status, answer.code) == (400, "bad_input")
    assert github.deliveries()[0]["outcome"] == "refused"


def test_another_content_type_is_told_only_to_whom_signs(daimon: Live) -> None:
    github = service(daimon, hook())
    assert github.send(b"{}", {**github.signed(b"{}"), "content-type": "text/xml"}).status == 400
    assert github.send(b"{}", {"content-type": "text/xml"}).status == 401


def test_a_body_of_another_form_is_told_where_it_differs(daimon: Live) -> None:
    github = service(daimon, hook(schema={"type": "object", "required": ["id"]}))
    assert "'id' is a required property" in github.post({}).json["error"]["message"]
    assert github.post({"id": 1}).status == 202


@pytest.mark.parametrize("method", ["GET", "PUT", "OPTIONS", "DELETE"])
def test_deliveries_come_with_post(daimon: Live, method: str) -> None:
    github = service(daimon, hook())
    answer = daimon.call_as(method, f"/hooks/{github.hook.name}", None, {})
    assert (answer.status, answer.headers["allow"]) == (405, "POST")


# -- secrets


def test_while_the_next_secret_is_there_both_count_and_then_only_the_new_one(daimon: Live) -> None:
    old = service(daimon, hook())
    vault = keeper.opened(daimon.home, {})
    try:
        vault.add(old.hook.secret + NEXT, "the-next-secret", keeper.Scope())
        new = replace(old, secret="the-next-secret")
        assert (old.post({"n": 1}).status, new.post({"n": 2}).status) == (202, 202)
        vault.rotate(old.hook.secret, new.secret)
        vault.remove(old.hook.secret + NEXT)
    finally:
        vault.close()
    assert (old.post({"n": 3}).status, new.post({"n": 4}).status) == (401, 202)


def test_no_answer_of_the_api_has_a_secret_in_it(daimon: Live) -> None:
    github = service(daimon, hook())
    for path in ("/v1/hooks", f"/v1/hooks/{github.hook.name}", f"/v1/hooks/{github.hook.name}/deliveries"):
        assert secret_of(daimon, github.hook.secret).encode() not in daimon.call("GET", path).body


@pytest.mark.parametrize("bad", [{"name": "Bad"}, {"name": "other"}, {"schema": {"$ref": "http://x/"}}, {"scheme": "none"}])
def test_a_hook_that_cannot_be_is_not_made(daimon: Live, bad: dict[str, Any]) -> None:
    which = hook()
    made = {**json.loads(encode(Hook, which)), **bad}
    assert daimon.call("PUT", f"/v1/hooks/{which.name}", made).status == 400
    assert daimon.call("GET", f"/v1/hooks/{which.name}").status == 404


def test_the_second_of_two_tabs_is_told_that_the_first_was_faster(daimon: Live) -> None:
    which = hook()
    place, body = f"/v1/hooks/{which.name}", json.loads(encode(Hook, which))
    first = daimon.call("PUT", f"{place}?if_version=0", body).json["version"]
    assert daimon.call("PUT", f"{place}?if_version={first}", body | {"is_paused": True}).status == 200
    for known in (first, "0"):
        late = daimon.call("PUT", f"{place}?if_version={known}", body)
        assert (late.status, late.code) == (409, "outdated")
    assert daimon.get(place)["hook"]["is_paused"] is True
    assert daimon.call("PUT", place, body).json["version"] == first


def test_the_sample_signer_and_the_checker_agree_on_every_scheme() -> None:
    for scheme in ("github", "slack", "stripe", "generic"):
        which = hook(scheme=scheme)
        given = signature.sign(which, "s", b"{}", 7)
        assert signature.is_signed(signature.shown(which, given, b"{}"), ("s",), 7, 300)


def test_deliveries_of_a_hook_that_is_not_there_are_not_found(daimon: Live) -> None:
    assert daimon.call("GET", "/v1/hooks/nobody/deliveries").status == 404
