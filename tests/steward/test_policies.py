"""Policies through the API: seen in words, changed only when they are whole, tried before they count."""

import tomllib

import pytest
from tests.gateway.live import Live

PLACE = "/v1/settings/policies"
FILE = f"{PLACE}/files/mine.cedar"
NO_MAIL = '@id("no.shell")\n@says("Nothing is run.")\nforbid (principal, action, resource == Tool::"shell");\n'


def put(daimon: Live, text: str, version: str = "") -> tuple[int, str]:
    answer = daimon.call("PUT", FILE, {"text": text, "version": version})
    return answer.status, answer.json.get("error", {}).get("message", "")


def test_what_is_in_force_is_shown_in_words_with_the_agents(daimon: Live) -> None:
    view = daimon.get(PLACE)
    assert {"id": "read", "effect": "permit", "is_own": False}.items() <= view["rules"][0].items()
    assert all(rule["says"] for rule in view["rules"])
    assert ("daimon", "assistant") in [(agent["id"], agent["role"]) for agent in view["agents"]]
    assert view["files"] == []


def test_a_file_is_checked_written_and_in_force_at_once(daimon: Live) -> None:
    call = {"tool": "http_request", "capabilities": ["sends"], "basis": "words"}
    assert daimon.call("POST", f"{PLACE}/suppose", call).json["verdict"] in ("allow", "ask")
    text = NO_MAIL.replace("shell", "http_request")
    as_if = daimon.call("POST", f"{PLACE}/suppose", {**call, "draft": {"name": "mine.cedar", "text": text}}).json
    assert as_if["verdict"] == "deny"
    before = daimon.get(PLACE)["version"]
    assert put(daimon, text) == (200, "")
    after = daimon.get(PLACE)
    assert after["version"] != before
    assert [file["name"] for file in after["files"]] == ["mine.cedar"]
    judged = daimon.call("POST", f"{PLACE}/suppose", call).json
    assert judged["verdict"] == "deny"
    assert [(rule["id"], rule["says"], rule["is_own"]) for rule in judged["because"]] == [("no.http_request", "Nothing is run.", True)]
    version = after["files"][0]["version"]
    assert daimon.call("DELETE", f"{FILE}?version={version}").status == 200
    assert daimon.get(PLACE)["version"] == before


def test_what_does_not_parse_is_refused_with_its_line_and_what_was_in_force_stays(daimon: Live) -> None:
    put(daimon, NO_MAIL)
    before = daimon.get(PLACE)
    status, told = put(daimon, f"{NO_MAIL}\n\npermit (principal, action resource);\n", before["files"][0]["version"])
    assert status == 400
    assert told.startswith("mine.cedar:6: ")
    status, told = put(daimon, 'permit (principal, action, resource) when { context.colour == "red" };', before["files"][0]["version"])
    assert status == 400
    assert "mine.cedar:1" in told
    after = daimon.get(PLACE)
    assert (after["version"], after["files"], after["warnings"]) == (before["version"], before["files"], [])


def test_a_misspelt_tool_is_told_and_not_refused(daimon: Live) -> None:
    text = NO_MAIL.replace('Tool::"shell"', 'Tool::"remembr"')
    found = daimon.call("POST", f"{PLACE}/check", {"name": "mine.cedar", "text": text}).json
    assert found["is_good"] is True
    assert "no tool is called 'remembr'" in found["warnings"][0]


def test_a_file_that_was_edited_by_hand_meanwhile_is_not_written_over(daimon: Live) -> None:
    put(daimon, NO_MAIL)
    read = daimon.get(PLACE)["files"][0]["version"]
    (daimon.home.policies / "mine.cedar").write_text(f"// by hand\n{NO_MAIL}")
    status, told = put(daimon, NO_MAIL, read)
    assert status == 409
    assert "changed since" in told
    assert (daimon.home.policies / "mine.cedar").read_text().startswith("// by hand")
    assert put(daimon, NO_MAIL)[0] == 409, "a new file does not take the place of one that is there"


@pytest.mark.parametrize("name", ["..%2fmine.cedar", "mine.txt", ".cedar", "Mine.cedar", "a%00.cedar", "tests%2fx.cedar"])
def test_only_a_plain_name_of_a_policy_file_is_written(daimon: Live, name: str) -> None:
    before = sorted(daimon.home.path.rglob("*.cedar"))
    assert daimon.call("PUT", f"{PLACE}/files/{name}", {"text": NO_MAIL}).status in (400, 404)
    assert sorted(daimon.home.path.rglob("*.cedar")) == before


def test_no_policy_lifts_the_floor(daimon: Live) -> None:
    assert put(daimon, "permit (principal, action, resource);\n")[0] == 200
    assert daimon.call("PUT", "/v1/settings/floor", {"never": []}).status == 404


def test_the_tests_of_policies_are_run(daimon: Live) -> None:
    rows = daimon.call("POST", f"{PLACE}/cases", {}).json
    assert rows
    assert all(row["is_met"] for row in rows)


def test_the_role_of_an_agent_is_changed_in_the_settings(daimon: Live) -> None:
    version = daimon.get(PLACE)["settings_version"]
    changed = daimon.call("PUT", "/v1/settings/agents/daimon", {"role": "reader", "tools": ["now", "rememb*"], "version": version})
    assert changed.status == 200, changed.body
    agent = daimon.get(PLACE)["agents"][0]
    assert (agent["role"], agent["tools"]) == ("reader", 2)
    assert tomllib.loads(daimon.home.config.read_text())["agents"]["daimon"]["tools"] == ["now", "rememb*"]
    late = daimon.call("PUT", "/v1/settings/agents/daimon", {"role": "assistant", "version": version})
    assert late.status == 409


@pytest.mark.parametrize("body", [{"tool": "nobody"}, {"basis": "sure", "tool": "now"}, {"authors": ["me"], "tool": "now"}])
def test_a_call_that_cannot_be_is_refused_in_words(daimon: Live, body: dict[str, object]) -> None:
    assert daimon.call("POST", f"{PLACE}/suppose", body).code == "bad_input"
