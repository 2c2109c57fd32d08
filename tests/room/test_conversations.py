"""Conversations as the page reads them, over a real socket."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from tests.gateway.live import Feed, Live
from tests.room import tools
from tests.room.gates import open_gate
from tests.room.rig import gateway


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    home: Path = tmp_path_factory.mktemp("conversations") / "home"
    with gateway(home, extensions=tools.EXTENSIONS) as running:
        yield running.live


def listed(live: Live, **query: str | int) -> Any:
    return live.get(f"/v1/conversations?{urlencode(query)}")


def entries(live: Live, name: str, **query: str | int) -> Any:
    return live.get(f"/v1/conversations/entries?{urlencode({'name': name, **query})}")


def asked(live: Live, text: str, conversation: str) -> Any:
    """The turn, as the page shows it, when it rests."""
    turn = live.ask(text, conversation)
    return live.get(f"/v1/conversations/turn?id={turn['id']}")


def intended(feed: Feed) -> str:
    """The turn that is about to call a tool."""
    while (update := feed.next())["kind"] != "step" or update["step"]["body"]["kind"] != "intent":
        pass
    return str(update["step"]["turn"])


def items(turn: Any, kind: str) -> list[Any]:
    return [each for each in turn["items"] if each["kind"] == kind]


def test_the_list_holds_every_conversation_newest_first_with_first_and_last_words(live: Live) -> None:
    live.ask("say one", "first")
    live.ask("say two", "second/slash")
    live.ask("say three", "first")
    found = {each["name"]: each for each in listed(live)["items"]}
    assert (found["first"]["title"], found["first"]["last"], found["first"]["is_last_ours"]) == ("say one", "three", True)
    assert (found["first"]["channel"], found["first"]["is_own"], found["first"]["is_running"]) == ("local", True, False)
    names = [each["name"] for each in listed(live)["items"]]
    assert names.index("first") < names.index("second/slash")


def test_the_list_comes_page_by_page(live: Live) -> None:
    for n in range(3):
        live.ask(f"say {n}", f"paged-{n}")
    names, before = [], ""
    for _ in range(100):
        page = listed(live, limit=2, before=before)
        names += [each["name"] for each in page["items"]]
        if not (before := page["next"]):
            break
    assert len(names) == len(set(names))
    assert {"paged-0", "paged-1", "paged-2"} <= set(names)


def test_a_search_finds_by_words_of_the_list(live: Live) -> None:
    live.ask("say the Wombat is asleep", "zoo")
    assert [each["name"] for each in listed(live, q="wombat zoo")["items"]] == ["zoo"]
    assert listed(live, q="wombat nowhere")["items"] == []


def test_a_turn_shows_what_came_in_and_what_was_answered(live: Live) -> None:
    turn = asked(live, "say **bold** <b>not</b>", "shown")
    assert (turn["came"]["words"]["text"], turn["came"]["is_owner"]) == ("say **bold** <b>not</b>", True)
    reply = items(turn, "reply")[-1]
    assert "<strong>bold</strong> &lt;b&gt;not&lt;/b&gt;" in reply["html"]
    assert (turn["state"], turn["ending"], turn["model"], turn["model_calls"]) == ("done", "answered", "puppet", 1)
    assert [(each["to"]["channel"], each["is_reply"]) for each in turn["posted"]] == [("local", True)]


def test_a_tool_call_comes_with_arguments_result_label_and_verdict(live: Live) -> None:
    turn = asked(live, 'call lookup {"text": "<script>alert(1)</script>"}', "tools")
    call = items(turn, "call")[0]
    assert (call["tool"], call["state"]) == ("lookup", "ok")
    assert json.loads(call["arguments"]["text"]) == {"text": "<script>alert(1)</script>"}
    assert call["result"]["text"] == "<script>alert(1)</script>"
    assert call["label"]["origins"] == [{"author": "stranger", "source": "web:example.org"}]
    assert call["verdict"].startswith("Allowed")
    assert call["asked_by"] == items(turn, "reply")[0]["step"]


def test_a_result_of_megabytes_is_cut_and_the_rest_can_be_had_in_pieces(live: Live) -> None:
    turn = asked(live, "call flood {}", "flood")
    result = items(turn, "call")[0]["result"]
    assert result["is_cut"]
    assert len(result["text"]) == 4_000
    got, at = 0, 0
    while at is not None:
        piece = live.get(f"/v1/conversations/text?{urlencode({'of': result['of'], 'offset': at})}")
        got, at = got + len(piece["text"]), piece["next"]
    assert got == result["chars"] > 4_000


def test_a_question_is_open_until_it_is_answered(live: Live) -> None:
    turn = asked(live, "ask Shall I?", "asking")
    question = items(turn, "question")[0]
    assert (question["text"], question["options"], question["is_open"], question["answer"]) == ("Shall I?", ["no", "yes"], True, None)
    assert next(each for each in listed(live)["items"] if each["name"] == "asking")["questions"] == 1
    with live.feed("asking") as feed:
        answer = live.call("POST", "/v1/events", {"type": "answer", "to": question["to"], "choice": "yes"})
        assert answer.status == 202
        feed.until_rest()
    question = items(live.get(f"/v1/conversations/turn?id={turn['id']}"), "question")[0]
    assert (question["is_open"], question["answer"]["choice"]) == (False, "yes")


def test_a_message_may_steer_the_turn_that_runs(live: Live) -> None:
    with live.feed("steered") as feed:
        live.say("call gate {}", "steered")
        turn = intended(feed)
        sent = {"type": "message", "text": "say changed course", "conversation": "steered", "steer": True}
        assert live.call("POST", "/v1/events", sent).status == 202
        open_gate("steered")
        feed.until_rest()
    shown = live.get(f"/v1/conversations/turn?id={turn}")
    assert [each["came"]["words"]["text"] for each in items(shown, "heard")] == ["say changed course"]
    assert items(shown, "reply")[-1]["text"] == "changed course"
    assert len(entries(live, "steered")["turns"]) == 1


def test_a_message_that_does_not_steer_waits_for_a_turn_of_its_own(live: Live) -> None:
    with live.feed("waits") as feed:
        live.say("call gate {}", "waits")
        intended(feed)
        live.say("say next", "waits")
        page = entries(live, "waits")
        assert [each["words"]["text"] for each in page["waiting"]] == ["say next"]
        open_gate("waits")
        feed.until_rest()
        feed.until_rest()
    assert len(entries(live, "waits")["turns"]) == 2


def test_turns_come_page_by_page_newest_first(live: Live) -> None:
    for n in range(5):
        live.ask(f"say {n}", "long")
    first = entries(live, "long", limit=2)
    second = entries(live, "long", limit=2, before=first["next"])
    last = entries(live, "long", limit=2, before=second["next"])
    words = [turn["came"]["words"]["text"] for page in (first, second, last) for turn in page["turns"]]
    assert words == [f"say {n}" for n in (4, 3, 2, 1, 0)]
    assert last["next"] == ""


def test_files_come_in_and_are_named(live: Live) -> None:
    blob = live.call("POST", "/v1/blobs", b"milk").json["blob"]
    part = {"kind": "file", "blob": blob, "name": "<img src=x>\u202e.txt", "media_type": "text/plain", "size": 4}
    with live.feed("files") as feed:
        live.call("POST", "/v1/events", {"type": "message", "text": "say seen", "parts": [part], "conversation": "files"})
        feed.until_rest()
    file = entries(live, "files")["turns"][0]["came"]["files"][0]
    assert (file["kind"], file["blob"], file["size"], file["name"]) == ("file", blob, 4, "<img src=x>.txt")


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/conversations?limit=0", 400),
        ("/v1/conversations?nonsense=1", 400),
        ("/v1/conversations/entries", 400),
        ("/v1/conversations/turn?id=t0", 404),
        ("/v1/conversations/text?of=nothing", 404),
        ("/v1/conversations/text?of=t0:x", 400),
        ("/v1/conversations/text?of=t0:1", 404),
        ("/v1/turns/t0/why", 404),
    ],
)
def test_what_cannot_be_answered_is_refused_with_a_reason(live: Live, path: str, status: int) -> None:
    assert live.call("GET", path).status == status


def test_a_conversation_that_nobody_began_is_empty(live: Live) -> None:
    assert entries(live, "nobody was here") == {"name": "nobody was here", "turns": [], "waiting": [], "next": ""}


def test_why_shows_what_was_recalled_and_what_the_model_saw(live: Live) -> None:
    note = live.call("POST", "/v1/memory/items", {"text": "The wallaby lives in Hobart.", "on_page": False})
    assert note.status == 201
    turn = asked(live, 'call lookup {"text": "wallaby facts of https://example.org/wallaby"}', "why")
    why = live.get(f"/v1/turns/{turn['id']}/why")
    result = next(each for each in why["sources"] if each["sort"] == "result")
    assert (result["tool"], result["addresses"]) == ("lookup", ["https://example.org/wallaby"])
    assert {"author": "stranger", "source": "web:example.org"} in result["label"]["origins"]
    assert any(each["sort"] == "said" and not each["is_earlier"] for each in why["sources"])
    recalled = next(each for each in why["memories"] if "Hobart" in each["text"])
    assert recalled["item"]
    assert recalled["at"]
    assert recalled["why"]


def test_why_of_a_turn_without_a_model_call_says_so(live: Live) -> None:
    with live.feed("hung") as feed:
        live.say("hang", "hung")
        turn = feed.until("token")[-1]["turn"]
        assert live.get(f"/v1/turns/{turn}/why")["missing"]
        live.call("POST", f"/v1/turns/{turn}/stop")
        feed.until_rest()
    assert live.get(f"/v1/conversations/turn?id={turn}")["ending"] == "stopped"
