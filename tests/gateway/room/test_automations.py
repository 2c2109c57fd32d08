"""What the page of automations reads: all of them, one with its record, hooks with their addresses and what came."""

from pathlib import Path

from tests.gateway.hooks.posting import service
from tests.gateway.live import Live, live

from daimon.abi.hook import Filter, Hook, secret_of


def test_an_empty_home_has_none_and_says_what_there_is_to_name(tmp_path: Path) -> None:
    with live(tmp_path / "home") as fresh:
        seen = fresh.get("/v1/room/automations")
        assert seen["automations"] == []
        assert "puppet" in seen["around"]["models"]
        assert seen["around"]["timezone"]
        assert fresh.get("/v1/room/hooks") == []


def test_one_is_shown_with_its_next_times_and_the_runs_that_it_became(daimon: Live) -> None:
    draft = {"schedule": "every weekday at 8", "task": "say <b>hello</b>", "timezone": "Europe/Berlin"}
    assert daimon.call("PUT", "/v1/automations/brief", draft).status == 200
    with daimon.feed("automations/brief") as feed:
        tick = daimon.call("POST", "/v1/automations/brief/run").json
        turn = feed.until_rest()[-1]["turn"]
    seen = daimon.get("/v1/room/automations/brief")
    assert (len(seen["times"]), seen["watching"]) == (10, None)
    assert seen["times"] == daimon.get("/v1/automations/brief/preview")
    (only,) = seen["ticks"]
    assert only["tick"] == tick
    assert only["run"] == {"turn": turn, "state": "done", "ending": "silent"}
    (row,) = [each for each in daimon.get("/v1/room/automations")["automations"] if each["shown"]["automation"]["id"] == "brief"]
    assert (row["shown"], row["last"]) == (seen["shown"], only)


def test_a_watcher_in_trouble_is_told_from_its_record(daimon: Live) -> None:
    draft = {"schedule": "daily at 8", "task": "x", "watch": {"kind": "hook", "hook": "nothing"}}
    assert daimon.call("PUT", "/v1/automations/watching", draft).status == 200
    assert daimon.get("/v1/room/automations/watching")["watching"] == {"looked_at": None, "note": "", "failures": 0}
    ticks = [daimon.call("POST", "/v1/automations/watching/run").json for _ in range(2)]
    assert [tick["outcome"] for tick in ticks] == ["failed", "failed"]
    seen = daimon.get("/v1/room/automations/watching")["watching"]
    assert (seen["failures"], seen["note"], seen["looked_at"]) == (2, ticks[1]["why"], ticks[1]["at"])


def test_what_is_not_there_is_not_found(daimon: Live) -> None:
    for path in ("automations/nothing", "hooks/nothing"):
        answer = daimon.call("GET", f"/v1/room/{path}")
        assert (answer.status, answer.code) == (404, "not_found")


def test_a_hook_is_shown_with_its_address_and_what_came_and_never_its_secret(daimon: Live) -> None:
    posts = service(daimon, Hook(name="door", scheme="generic", secret=secret_of("door"), filters=(Filter("/kind", ("open",)),)))
    with daimon.feed("hooks/door") as feed:
        assert posts.post({"kind": "open", "who": "<img src=x onerror=alert(1)>"}).status == 202
        turn = feed.until_rest()[-1]["turn"]
    assert posts.post({"kind": "closed"}).json["outcome"] == "filtered"
    answer = daimon.call("GET", "/v1/room/hooks/door")
    seen = answer.json
    assert seen["address"] == {"url": f"{daimon.url}/hooks/door", "is_public": False}
    assert [each["posted"]["outcome"] for each in seen["deliveries"]] == ["filtered", "accepted"]
    assert seen["deliveries"][1]["run"]["turn"] == turn
    assert posts.secret.encode() not in answer.body
    (row,) = [each for each in daimon.get("/v1/room/hooks") if each["hooked"]["hook"]["name"] == "door"]
    assert row["last"]["outcome"] == "filtered"


def test_what_a_hook_keeps_is_shown_cut_with_who_collects_it(daimon: Live) -> None:
    posts = service(daimon, Hook(name="box", scheme="generic", secret=secret_of("box"), mode="collect"))
    assert posts.post({"text": "ü" * 5_000}).json["outcome"] == "collected"
    draft = {"schedule": "daily at 8", "task": "x", "watch": {"kind": "hook", "hook": "box"}}
    assert daimon.call("PUT", "/v1/automations/collector", draft).status == 200
    seen = daimon.get("/v1/room/hooks/box")
    (only,) = seen["deliveries"]
    assert (only["is_cut"], len(only["text"]), only["posted"]["data"]) == (True, 2_000, None)
    assert only["text"].startswith('{\n  "text": "üüü')
    assert seen["watched_by"] == ["collector"]
    assert "box" in daimon.get("/v1/room/automations")["around"]["hooks"]


def test_a_licence_is_read_as_it_is_written_and_shown_so_again(daimon: Live) -> None:
    text = "send_mail(to='bob@x.org', text=own())\n3 times label(issue=found('/items/*/id'))\nreads notes()"
    plan = daimon.call("POST", "/v1/room/licence", {"text": f"# what it may do\n{text}\n"}).json
    assert [step["tool"] for step in plan["steps"]] == ["send_mail", "label", "label", "label"]
    assert daimon.call("PUT", "/v1/automations/licensed", {"schedule": "daily at 8", "task": "x", "licence": plan}).status == 200
    assert daimon.get("/v1/room/automations/licensed")["licence"] == text


def test_a_licence_that_cannot_be_read_is_refused_with_the_form_of_one(daimon: Live) -> None:
    answer = daimon.call("POST", "/v1/room/licence", {"text": "send mail to bob"})
    assert (answer.status, answer.code) == (400, "bad_input")
    assert "tool(argument=source" in answer.json["error"]["message"]


def test_a_schedule_is_foreseen_as_it_is_typed(daimon: Live) -> None:
    seen = daimon.get("/v1/room/preview?schedule=every+day+at+8&timezone=Europe/Berlin")
    assert (len(seen["times"]), seen["fault"]) == (10, "")
    assert seen["times"][0][11:19] == "08:00:00"
    seen = daimon.get("/v1/room/preview?schedule=every+wekday+at+8")
    assert seen["times"] == []
    assert "Try 'every weekday at 8'" in seen["fault"]
