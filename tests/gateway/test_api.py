"""The HTTP API, called over a real socket."""

import hashlib
import json
import select
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.gateway.live import MOST_BYTES, Live, live, read
from tests.journal.world import database

from daimon import __version__
from daimon.abi.errors import HomeBusy

MESSAGE = {"type": "message", "text": "say hello"}


def said(conversation: str, **more: Any) -> dict[str, Any]:
    return {**MESSAGE, "conversation": conversation, **more}


# -- taking events in


def test_an_event_is_on_disk_when_the_answer_comes(daimon: Live) -> None:
    answer = daimon.call("POST", "/v1/events", said("durable"))
    assert answer.status == 202
    assert set(answer.json) == {"event", "seq", "conversation", "new"}
    with database(daimon.home.journal) as file:
        assert file.execute("SELECT conversation, seq FROM events WHERE id = ?", (answer.json["event"],)).get == ("durable", 0)


def test_the_same_key_is_the_same_event(daimon: Live) -> None:
    first, again = (daimon.call("POST", "/v1/events", said("keys"), Idempotency_Key="k1").json for _ in range(2))
    assert (first["new"], again["new"]) == (True, False)
    assert {**first, "new": False} == again
    assert daimon.call("POST", "/v1/events", said("keys"), Idempotency_Key="k2").json["new"]


def test_a_key_may_stand_in_the_event_too(daimon: Live) -> None:
    first, again = (daimon.call("POST", "/v1/events", said("keys-inside", key="k3")).json for _ in range(2))
    assert (first["event"], first["new"], again["new"]) == (again["event"], True, False)


def test_many_with_one_key_at_once_are_one_event(daimon: Live) -> None:
    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(lambda _: daimon.call("POST", "/v1/events", said("race"), Idempotency_Key="race").json, range(16)))
    assert len({answer["event"] for answer in answers}) == 1
    assert sum(answer["new"] for answer in answers) == 1


@pytest.mark.parametrize("key", ["k" * 201, "a\tb"], ids=["too long", "a tab"])
def test_a_key_in_the_header_is_checked_like_one_in_the_event(daimon: Live, key: str) -> None:
    answer = daimon.call("POST", "/v1/events", said("bad-keys"), Idempotency_Key=key)
    assert (answer.status, answer.code) == (400, "bad_input")
    assert "Idempotency-Key" in answer.json["error"]["message"] or "key" in answer.json["error"]["message"]


def test_a_message_is_answered_and_the_whole_trace_can_be_read(daimon: Live) -> None:
    turn = daimon.ask("say hello there", "trace")
    assert (turn["state"], turn["ending"], turn["conversation"]) == ("done", "answered", "trace")
    trace = daimon.get(f"/v1/turns/{turn['id']}")
    assert trace["event"]["body"]["parts"] == [{"text": "say hello there", "kind": "text"}]
    assert [step["n"] for step in trace["steps"]] == list(range(len(trace["steps"])))
    assert {step["body"]["kind"] for step in trace["steps"]} == {"decision", "route", "reply"}
    caused = daimon.get(f"/v1/events/{turn['event']}")
    assert caused["turn"]["id"] == turn["id"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "Invalid JSON"),
        (b"\xff", "Invalid JSON"),
        (b"[" * 100_000, "recursion limit"),
        (b'{"type":"message"}', "needs `text` or `parts`"),
        (b'{"type":"message","text":"x","nonsense":1}', "nonsense: "),
        (b'{"type":"message","text":"x","at":"9999-12-31T23:59:59-10:00"}', "at"),
        (b'{"type":"answer","to":"nonsense","choice":"yes"}', "is not a step"),
    ],
    ids=["nothing", "garbage", "nesting", "empty", "unknown key", "the end of time", "no step"],
)
def test_bad_input_is_told_and_kept_as_a_dead_letter(daimon: Live, body: bytes, words: str) -> None:
    answer = daimon.call("POST", "/v1/events", body)
    assert (answer.status, answer.code) == (400, "bad_input")
    assert words in answer.json["error"]["message"]
    (letter,) = daimon.get("/v1/letters?limit=1")
    assert letter["reason"] == answer.json["error"]["message"]
    assert letter["body"] == body.decode("utf-8", "backslashreplace")[: 64 * 1024]


@pytest.mark.parametrize(
    "sent",
    [
        {"type": "answer", "to": "t-nowhere:4", "choice": "yes"},
        {"type": "outcome", "to": "t-nowhere:4", "data": 1},
        {"type": "stop", "turn": "t-nowhere"},
    ],
    ids=lambda sent: sent["type"],
)
def test_what_concerns_no_turn_is_refused(daimon: Live, sent: dict[str, Any]) -> None:
    answer = daimon.call("POST", "/v1/events", sent)
    assert (answer.status, answer.code) == (404, "not_found")
    assert "t-nowhere" in answer.json["error"]["message"]


def test_a_body_that_is_too_large_is_refused(daimon: Live) -> None:
    answer = daimon.call("POST", "/v1/events", said("large", text="x" * MOST_BYTES))
    assert (answer.status, answer.code) == (413, "too_large")
    assert "gateway.max_event_bytes" in answer.json["error"]["message"]
    assert daimon.call("POST", "/v1/events", said("large", text="x" * (MOST_BYTES - 100))).status == 202


@pytest.mark.parametrize("is_chunked", [True, False], ids=["chunked", "with a length"])
def test_a_hundred_megabytes_are_refused_without_being_read_whole(daimon: Live, is_chunked: bool) -> None:
    connection, sent, block = daimon.connect(), 0, b"x" * 1_000_000
    connection.putrequest("POST", "/v1/events")
    for name, value in {
        **daimon.authority,
        **({"Transfer-Encoding": "chunked"} if is_chunked else {"Content-Length": "100000000"}),
    }.items():
        connection.putheader(name, value)
    connection.endheaders()
    while sent < 100_000_000 and not select.select([connection.sock], [], [], 0)[0]:
        connection.send(b"f4240\r\n" + block + b"\r\n" if is_chunked else block)
        sent += len(block)
    answer = read(connection)
    connection.close()
    assert (answer.status, answer.code) == (413, "too_large")
    assert sent < 100_000_000
    assert daimon.call("GET", "/healthz").status == 200
    (letter,) = daimon.get("/v1/letters?limit=1")
    assert len(letter["body"]) <= 64 * 1024


def test_whoever_hangs_up_in_the_middle_has_sent_nothing(daimon: Live) -> None:
    before = daimon.get("/v1/status")["count"]
    connection = daimon.connect()
    connection.putrequest("POST", "/v1/events")
    connection.putheader("Authorization", f"Bearer {daimon.token}")
    connection.putheader("Content-Length", "1000")
    connection.endheaders()
    connection.send(json.dumps(said("cut-off")).encode())
    connection.close()
    assert daimon.call("GET", "/healthz").status == 200
    assert daimon.get("/v1/status")["count"]["events"] == before["events"]


# -- values that messages name


def test_a_stored_value_can_be_read_and_named_by_a_message(daimon: Live) -> None:
    data = bytes(range(256)) * 300
    kept = daimon.call("POST", "/v1/blobs", data)
    assert (kept.status, kept.json) == (201, {"blob": hashlib.sha256(data).hexdigest(), "size": len(data)})
    assert daimon.call("GET", f"/v1/blobs/{kept.json['blob']}").body == data
    image = {"kind": "image", "blob": kept.json["blob"], "media_type": "image/png", "description": "shot.png"}
    file = {"kind": "file", "blob": kept.json["blob"], "name": "a.bin", "media_type": "application/octet-stream", "size": len(data)}
    sent = daimon.call("POST", "/v1/events", said("named", parts=[image, file]))
    assert sent.status == 202
    assert daimon.get(f"/v1/events/{sent.json['event']}")["event"]["body"]["parts"][1:] == [image, file]


def test_the_same_value_is_stored_once_and_an_empty_one_is_one(daimon: Live) -> None:
    first, again, empty = (daimon.call("POST", "/v1/blobs", data) for data in (b"x", b"x", b""))
    assert first.json == again.json
    assert empty.json["size"] == 0
    assert daimon.call("GET", f"/v1/blobs/{empty.json['blob']}").body == b""


@pytest.mark.parametrize("blob", ["0" * 64, "ab", "no hash"])
@pytest.mark.parametrize("is_escaped", [False, True])
def test_a_message_that_names_what_is_not_stored_is_refused(daimon: Live, blob: str, is_escaped: bool) -> None:
    body = json.dumps(said("nowhere", parts=[{"kind": "image", "blob": blob, "media_type": "image/png"}])).encode()
    answer = daimon.call("POST", "/v1/events", body.replace(b'"blob"', b'"\\u0062lob"') if is_escaped else body)
    assert (answer.status, answer.code) == (400, "bad_input")
    assert blob in answer.json["error"]["message"]
    assert "POST /v1/blobs" in answer.json["error"]["message"]
    (letter,) = daimon.get("/v1/letters?limit=1")
    assert letter["reason"] == answer.json["error"]["message"]


def test_a_value_that_is_too_large_is_refused_and_not_kept_as_a_letter(daimon: Live) -> None:
    before = daimon.get("/v1/status")["count"]["dead_letters"]
    answer = daimon.call("POST", "/v1/blobs", bytes(MOST_BYTES + 1))
    assert (answer.status, answer.code) == (413, "too_large")
    assert "gateway.max_event_bytes" in answer.json["error"]["message"]
    assert daimon.get("/v1/status")["count"]["dead_letters"] == before
    assert daimon.call("POST", "/v1/blobs", bytes(MOST_BYTES)).status == 201


def test_values_are_stored_only_for_who_may_come_in(daimon: Live) -> None:
    assert daimon.call_as("POST", "/v1/blobs", b"x", {}).status == 401
    assert daimon.call_as("POST", "/v1/blobs", b"x", {**daimon.authority, "Origin": "http://evil.example"}).status == 403


# -- looking


def test_turns_are_listed_newest_first_and_may_be_narrowed(daimon: Live) -> None:
    first, second = (daimon.ask("say hello", "listed")["id"] for _ in range(2))
    parked = daimon.ask("ask sure?", "listed-parked")["id"]
    newest = [turn["id"] for turn in daimon.get("/v1/turns")]
    assert [turn for turn in newest if turn in (first, second, parked)] == [parked, second, first]
    assert len(daimon.get("/v1/turns?limit=3")) == 3
    assert [turn["id"] for turn in daimon.get("/v1/turns?conversation=listed")] == [second, first]
    assert [turn["id"] for turn in daimon.get("/v1/turns?conversation=listed-parked&state=parked")] == [parked]
    assert daimon.get("/v1/turns?conversation=listed&state=failed") == []


@pytest.mark.parametrize("limit", ["0", "-1", "1001", "many", "1.5", "", "%00", "9" * 5_000], ids=lambda limit: limit[:5] or "empty")
@pytest.mark.parametrize("path", ["/v1/turns", "/v1/letters", "/v1/outbox"])
def test_a_limit_out_of_range_is_refused(daimon: Live, path: str, limit: str) -> None:
    answer = daimon.call("GET", f"{path}?limit={limit}")
    assert (answer.status, answer.code) == (400, "bad_input")
    assert "is not a number from 1 to 1000" in answer.json["error"]["message"]


def test_an_unknown_state_is_refused_with_those_that_exist(daimon: Live) -> None:
    answer = daimon.call("GET", "/v1/turns?state=sleeping")
    assert (answer.status, answer.code) == (400, "bad_input")
    assert "queued, running, parked, done, failed" in answer.json["error"]["message"]


@pytest.mark.parametrize(
    "path",
    [
        *("/v1", "/v2/events", "/v1/nothing", "/v1/events/nope", "/v1/turns/nope", "/v1/blobs/nope", f"/v1/blobs/{'0' * 64}"),
        *("/v1/turns/%00", "/v1/turns/%ff", "/v1/events/" + "x" * 5_000, "/v1/turns/a/b"),
    ],
    ids=lambda path: path[:20],
)
def test_what_is_not_there_is_not_found(daimon: Live, path: str) -> None:
    answer = daimon.call("GET", path)
    assert (answer.status, answer.code) == (404, "not_found")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/events"),
        ("DELETE", "/v1/turns"),
        ("POST", "/v1/turns/x"),
        ("GET", "/v1/turns/x/stop"),
        ("PUT", "/v1/status"),
        ("POST", "/healthz"),
    ],
)
def test_a_wrong_method_is_told(daimon: Live, method: str, path: str) -> None:
    answer = daimon.call(method, path)
    assert (answer.status, answer.code) == (405, "bad_method")


def test_the_exact_request_of_a_model_call_can_be_read(daimon: Live) -> None:
    turn = daimon.ask("say hello", "blobs")
    (reply,) = [step["body"] for step in daimon.get(f"/v1/turns/{turn['id']}")["steps"] if step["body"]["kind"] == "reply"]
    answer = daimon.call("GET", f"/v1/blobs/{reply['request']}")
    assert (answer.status, answer.headers["content-type"]) == (200, "application/octet-stream")
    assert answer.body.startswith(b'{"role":"system"')
    assert b"say hello" in answer.body


def test_the_status_says_how_it_is(daimon: Live) -> None:
    status = daimon.get("/v1/status")
    assert (status["version"], status["home"], status["model"]) == (__version__, str(daimon.home.path), "puppet")
    assert set(status["count"]) == {"events", "turns", "steps", "timers", "outgoing", "dead_letters", "bytes", "mail"}
    assert set(status["depth"]) == {"waiting", "running"}


# -- live progress


def test_the_feed_shows_tokens_as_they_come_then_the_end_of_the_turn(daimon: Live) -> None:
    with daimon.feed("feed") as feed:
        assert feed.answer.getheader("content-type", "").startswith("application/x-ndjson")
        daimon.say("say one two three", "feed")
        seen = feed.until_rest()
    tokens = [update for update in seen if update["kind"] == "token"]
    assert [token["text"] for token in tokens] == ["one ", "two ", "three "]
    assert [token["offset"] for token in tokens] == [0, 4, 8]
    assert [update["state"] for update in seen if update["kind"] == "turn"] == ["running", "done"]
    recorded = [update["step"]["n"] for update in seen if update["kind"] == "step"]
    assert recorded == list(range(len(recorded)))
    last_token = max(n for n, update in enumerate(seen) if update["kind"] == "token")
    reply = next(n for n, update in enumerate(seen) if update["kind"] == "step" and update["step"]["body"]["kind"] == "reply")
    assert last_token < reply


def test_the_feed_tells_when_words_reached_their_channel(daimon: Live) -> None:
    with daimon.feed("spoken") as feed:
        daimon.say("say good night", "spoken")
        assert feed.until("spoken")[-1]["said"]["parts"] == [{"text": "good night", "kind": "text"}]


def test_a_feed_of_one_conversation_is_silent_about_others(daimon: Live) -> None:
    with daimon.feed("this-one") as feed:
        daimon.ask("say hello", "that-one")
        daimon.say("say hello", "this-one")
        assert {update["conversation"]["name"] for update in feed.until("spoken")} == {"this-one"}


# -- people


def test_a_question_is_listed_until_it_is_answered(daimon: Live) -> None:
    turn = daimon.ask("ask shall I?", "questions")
    assert turn["state"] == "parked"
    (asked,) = [question for question in daimon.get("/v1/questions") if question["conversation"] == "questions"]
    assert (asked["question"]["text"], asked["question"]["options"]) == ("shall I?", ["no", "yes"])
    assert asked["to"]["turn"] == turn["id"]
    with daimon.feed("questions") as feed:
        to = f"{asked['to']['turn']}:{asked['to']['n']}"
        answer = daimon.call("POST", "/v1/events", {"type": "answer", "to": to, "choice": "yes", "conversation": "elsewhere"})
        assert (answer.status, answer.json["conversation"]) == (202, "questions")
        feed.until_rest()
    assert daimon.get(f"/v1/turns/{turn['id']}")["turn"]["ending"] == "answered"
    assert [question for question in daimon.get("/v1/questions") if question["conversation"] == "questions"] == []


def test_a_running_turn_is_stopped(daimon: Live) -> None:
    with daimon.feed("stopped") as feed:
        daimon.say("hang", "stopped")
        turn = feed.until("token")[-1]["turn"]
        assert daimon.call("POST", f"/v1/turns/{turn}/stop").status == 202
        assert feed.until_rest()[-1]["ending"] == "stopped"


def test_a_parked_turn_is_stopped(daimon: Live) -> None:
    turn = daimon.ask("ask again?", "stopped-parked")
    with daimon.feed("stopped-parked") as feed:
        assert daimon.call("POST", f"/v1/turns/{turn['id']}/stop").json["id"] == turn["id"]
        assert feed.until_rest()[-1]["ending"] == "stopped"


def test_stopping_a_turn_that_is_over_changes_nothing(daimon: Live) -> None:
    turn = daimon.ask("say hello", "stopped-late")
    assert daimon.call("POST", f"/v1/turns/{turn['id']}/stop").status == 202
    assert daimon.get(f"/v1/turns/{turn['id']}")["turn"] == turn


def test_stopping_no_turn_is_told(daimon: Live) -> None:
    answer = daimon.call("POST", "/v1/turns/nope/stop")
    assert (answer.status, answer.code) == (404, "not_found")


# -- one life after another


def test_a_home_lives_on_in_the_next_process(tmp_path: Path) -> None:
    with live(tmp_path / "home") as first:
        turn = first.ask("say hello", "main")
        with pytest.raises(HomeBusy), live(tmp_path / "home"):
            raise AssertionError("two at once")
        assert first.call("GET", "/healthz").status == 200
    assert not first.home.socket.exists()
    with live(tmp_path / "home") as second:
        assert second.token == first.token
        assert second.get(f"/v1/turns/{turn['id']}")["turn"] == turn


def test_what_was_accepted_in_the_last_moment_is_answered_in_the_next_life(tmp_path: Path) -> None:
    with live(tmp_path / "home") as first:
        with first.feed("main") as feed:
            first.say("hang", "main")
            hanging = feed.until("token")[-1]["turn"]
        waiting = first.say("say hello", "main")["event"]
    with live(tmp_path / "home") as second, second.feed("main") as feed:
        assert second.call("POST", f"/v1/turns/{hanging}/stop").status == 202
        feed.until("spoken")
        assert second.get(f"/v1/events/{waiting}")["turn"]["ending"] == "answered"


def test_an_open_feed_does_not_hold_up_the_end(tmp_path: Path) -> None:
    with live(tmp_path / "home") as running:
        connection = running.connect()
        connection.request("GET", "/v1/feed", headers=running.authority)
        answer = connection.getresponse()
        assert answer.readline() == b"\n"
    answer.close()
    connection.close()


def test_what_went_out_is_listed_by_channel_and_state(daimon: Live) -> None:
    with daimon.feed("outbox") as feed:
        daimon.say("say hello", "outbox")
        feed.until("spoken")
    found = [each for each in daimon.get("/v1/outbox?channel=local&state=confirmed") if each["conversation"]["name"] == "outbox"]
    assert found
    assert {(each["to"]["channel"], each["state"]) for each in found} == {("local", "confirmed")}
    assert daimon.get("/v1/outbox?channel=pigeon") == []
    assert daimon.call("GET", "/v1/outbox?state=lost").status == 400
