"""Permissions and grants over the real API: asked, answered, given, revoked; and answers that must not count."""

from typing import Any

from tests.gateway.live import Live


def question(daimon: Live, conversation: str) -> tuple[str, Any]:
    (asked,) = [each for each in daimon.get("/v1/questions") if each["conversation"] == conversation]
    return f"{asked['to']['turn']}:{asked['to']['n']}", asked["question"]


def answer(daimon: Live, to: str, choice: str, **more: str) -> Any:
    return daimon.call("POST", "/v1/events", {"type": "answer", "to": to, "choice": choice, **more})


def settled(daimon: Live, conversation: str, to: str, choice: str) -> Any:
    """The trace after this answer."""
    with daimon.feed(conversation) as feed:
        assert answer(daimon, to, choice).status == 202
        feed.until_rest()
    return daimon.get(f"/v1/turns/{to.partition(':')[0]}")


def outcomes(trace: Any) -> list[str]:
    return [step["body"]["code"] for step in trace["steps"] if step["body"]["kind"] == "outcome"]


def ignored(trace: Any) -> list[str]:
    return [step["body"]["ignored"] for step in trace["steps"] if step["body"]["kind"] == "received"]


def test_a_batch_is_one_question_of_which_some_may_be_allowed(daimon: Live) -> None:
    daimon.ask("mail ann@x.org bob@x.org", "batch")
    to, asked = question(daimon, "batch")
    assert asked["options"] == ["deny", "allow", "grant"]
    assert "1. mail — sends to ann@x.org" in asked["text"]
    assert [call["arguments"] for call in asked["details"]["calls"]] == [{"to": "ann@x.org"}, {"to": "bob@x.org"}]
    trace = settled(daimon, "batch", to, "allow 2")
    assert (trace["turn"]["ending"], outcomes(trace)) == ("answered", ["denied", ""])


def test_a_grant_is_listed_and_revoked(daimon: Live) -> None:
    daimon.ask("mail ann@x.org", "granted")
    to, _ = question(daimon, "granted")
    trace = settled(daimon, "granted", to, "grant for 3 days")
    (granted,) = [step["body"]["grant"] for step in trace["steps"] if step["body"]["kind"] == "grant"]
    (listed,) = daimon.get("/v1/grants")
    assert (listed["grant"], listed["revoked_at"]) == (granted, None)
    assert (granted["tool"], granted["destinations"], granted["by"]) == ("mail", ["ann@x.org"], "owner")

    revoked = daimon.call("DELETE", f"/v1/grants/{granted['id']}")
    assert (revoked.status, revoked.json["revoked_by"]) == (200, "owner")
    assert daimon.get("/v1/grants") == []
    assert daimon.get("/v1/grants?all=true") == [revoked.json]
    assert daimon.call("DELETE", f"/v1/grants/{granted['id']}").json == revoked.json


def test_what_was_never_granted_cannot_be_revoked(daimon: Live) -> None:
    gone = daimon.call("DELETE", "/v1/grants/t0:1")
    assert (gone.status, gone.code) == (404, "not_found")
    assert daimon.call("POST", "/v1/grants/t0:1").status == 405


def test_an_outcome_cannot_pass_for_an_answer(daimon: Live) -> None:
    turn = daimon.ask("mail eve@x.org", "forged")
    to, _ = question(daimon, "forged")
    with daimon.feed("forged") as feed:
        assert daimon.call("POST", "/v1/events", {"type": "outcome", "to": to, "data": {"choice": "allow"}}).status == 202
        feed.until_rest()
    trace = daimon.get(f"/v1/turns/{turn['id']}")
    assert (trace["turn"]["state"], ignored(trace), outcomes(trace)) == ("parked", ["an outcome from outside is no answer"], [])
    assert outcomes(settled(daimon, "forged", to, "deny")) == ["denied"]


def test_a_repeated_answer_is_taken_once(daimon: Live) -> None:
    daimon.ask("mail eve@x.org", "repeated")
    to, _ = question(daimon, "repeated")
    with daimon.feed("repeated") as feed:
        first, again = (answer(daimon, to, "deny", key="the-answer").json for _ in range(2))
        feed.until_rest()
    assert (first["event"], again["new"]) == (again["event"], False)
    trace = daimon.get(f"/v1/turns/{to.partition(':')[0]}")
    assert (outcomes(trace), trace["late"]) == (["denied"], [])


def test_a_late_answer_changes_nothing_and_is_shown(daimon: Live) -> None:
    daimon.ask("mail eve@x.org", "late")
    to, _ = question(daimon, "late")
    before = settled(daimon, "late", to, "deny")
    late = answer(daimon, to, "allow").json
    after = daimon.get(f"/v1/turns/{before['turn']['id']}")
    assert [event["id"] for event in after["late"]] == [late["event"]]
    assert {**after, "late": []} == before
