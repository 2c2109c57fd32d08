"""Open questions and past decisions as the page of approvals gets them."""

from typing import Any

import pytest
from tests.gateway.live import Live
from tests.room.rig import Gateway

SCRIPT = "<img src=x onerror=alert(1)>"


@pytest.fixture
def live(daimon: Gateway) -> Live:
    return daimon.live


def waiting(live: Live, conversation: str) -> Any:
    (found,) = [each for each in live.get("/v1/approvals") if each["conversation"] == conversation]
    return found


def answer(live: Live, conversation: str, choice: str) -> Any:
    """The decision, when the turn rests again."""
    to = waiting(live, conversation)["to"]
    with live.feed(conversation) as feed:
        assert live.call("POST", "/v1/events", {"type": "answer", "to": to, "choice": choice}).status == 202
        feed.until_rest()
    (made,) = [each for each in live.get("/v1/decisions")["decisions"] if each["to"] == to]
    return made


def test_a_question_says_what_where_to_and_where_each_value_comes_from(live: Live) -> None:
    live.ask("mail ann@x.org bob@x.org", "told")
    asked = waiting(live, "told")
    assert (asked["type"], asked["began"], asked["agent"]) == ("authorise", "mail ann@x.org bob@x.org", "daimon")
    first, second = asked["calls"]
    assert (first["n"], first["tool"], first["can"], second["n"]) == (1, "mail", ["sends"], 2)
    (to,) = first["arguments"]
    assert (to["name"], to["role"], to["value"], to["is_cut"]) == ("to", "destination", "ann@x.org", False)
    assert [origin["shown"] for origin in to["origins"]] == ["own"]
    assert first["reason"]
    assert first["rules"]
    assert asked["expires_at"]
    assert {origin["author"] for origin in asked["label"]["origins"]} == {"owner", "service"}


def test_each_answer_says_what_it_does_and_a_grant_how_long_it_holds(live: Live) -> None:
    live.ask("mail cid@x.org", "offered")
    choices = {each["choice"]: each for each in waiting(live, "offered")["choices"]}
    assert list(choices) == ["deny", "allow", "grant for 1 days", "grant for 7 days", "grant"]
    assert [each["tone"] for each in choices.values()] == ["no", "yes", "grant", "grant", "grant"]
    assert "mail to cid@x.org" in choices["grant"]["note"]
    assert choices["grant"]["until"]


def test_a_shorter_grant_is_understood_and_the_history_tells_what_came_of_it(live: Live) -> None:
    live.ask("mail dan@x.org", "granted")
    made = answer(live, "granted", "grant for 7 days")
    assert (made["choice"], made["by"], made["grants"]) == ("grant", "owner", ["mail to dan@x.org"])
    (call,) = made["calls"]
    assert (call["call"], call["is_allowed"], call["outcome"], call["result"]) == ('mail(to="dan@x.org")', True, "ok", "sent to dan@x.org")
    assert made["took_s"] >= 0
    assert [each for each in live.get("/v1/approvals") if each["conversation"] == "granted"] == []


def test_the_history_tells_in_words_that_a_call_was_refused(live: Live) -> None:
    live.ask("mail ned@x.org", "refused")
    (call,) = answer(live, "refused", "deny")["calls"]
    assert (call["is_allowed"], call["outcome"]) == (False, "denied")
    assert call["result"].startswith("the owner said"), "not the JSON that a model gets"


def test_a_file_that_would_be_written_is_shown_beside_what_stands_there(live: Live) -> None:
    live.ask('call write_file {"path": "seen.txt", "content": "one\\ntwo\\n"}', "new")
    (call,) = waiting(live, "new")["calls"]
    assert (call["diff_note"], "+one\n+two\n" in call["diff"], "/dev/null" in call["diff"]) == ("A new file.", True, True)
    assert answer(live, "new", "allow")["calls"][0]["outcome"] == "ok"

    live.ask('call edit_file {"path": "seen.txt", "edits": [["two", "three"]]}', "edit")
    (call,) = waiting(live, "edit")["calls"]
    assert " one\n-two\n+three\n" in call["diff"]
    answer(live, "edit", "deny")

    live.ask('call write_file {"path": "seen.txt", "content": "one\\n"}', "again")
    (call,) = waiting(live, "again")["calls"]
    assert (call["diff_note"], " one\n-two\n" in call["diff"]) == ("", True)
    answer(live, "again", "deny")


def test_a_preview_does_not_count_as_having_read_the_file(live: Live) -> None:
    """Else somebody else's change would be overwritten by an agent that never saw the file."""
    live.ask('call edit_file {"path": "nowhere.txt", "edits": [["a", "b"]]}', "blind")
    (call,) = waiting(live, "blind")["calls"]
    assert ("-a\n+b\n" in call["diff"], call["diff_note"]) == (True, "The file cannot be read here: only what is replaced.")
    assert answer(live, "blind", "allow")["calls"][0]["outcome"] != "ok"


def test_a_question_of_a_tool_has_its_own_options(live: Live) -> None:
    live.ask("ask Tea?", "tea")
    asked = waiting(live, "tea")
    assert (asked["type"], asked["text"], asked["calls"], asked["is_free"]) == ("choose", "Tea?", [], False)
    assert [each["choice"] for each in asked["choices"]] == ["no", "yes"]
    assert answer(live, "tea", "yes")["choice"] == "yes"


def test_what_others_wrote_comes_as_text_and_long_values_are_cut(live: Live) -> None:
    live.ask(f"mail {SCRIPT.replace(' ', '_')}{'x' * 9_000}@x.org", "long")
    (to,) = waiting(live, "long")["calls"][0]["arguments"]
    assert (to["is_cut"], to["size"] > 9_000, len(to["value"])) == (True, True, 4_000)
    assert to["value"].startswith("<img_src")
    answer(live, "long", "deny")


def test_the_history_comes_in_pages_without_gap_or_repeat(live: Live) -> None:
    for name in ("eve", "fay", "gus"):
        live.ask(f"mail {name}@x.org", f"page-{name}")
        answer(live, f"page-{name}", "deny")
    found, before = [], ""
    while True:
        part = live.get(f"/v1/decisions?limit=2&before={before}")
        found += [each["to"] for each in part["decisions"]]
        before = part["next"]
        if not before:
            break
    assert found == [each["to"] for each in live.get("/v1/decisions?limit=200")["decisions"]]
    assert len(found) == len(set(found)) >= 3


def test_what_a_page_asks_for_is_checked(live: Live) -> None:
    assert live.call("GET", "/v1/decisions?limit=0").status == 400
    assert live.call("GET", "/v1/decisions?limt=5").status == 400
    assert live.call("POST", "/v1/approvals").status == 405
