"""The WebSocket: all that happens, in order, from a cursor on, and events in by the same way."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.gateway.live import DEADLINE_S, Live
from websockets.asyncio.client import ClientConnection, connect, unix_connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from daimon.gateway import socket


@asynccontextmanager
async def opened(daimon: Live, **headers: str) -> AsyncIterator[ClientConnection]:
    named = {name.replace("_", "-"): value for name, value in headers.items()} or daimon.authority
    url = daimon.url.replace("http", "ws", 1) + "/v1/socket"
    async with asyncio.timeout(4 * DEADLINE_S), connect(url, additional_headers=named, proxy=None, open_timeout=DEADLINE_S) as line:
        yield line


async def begun(line: ClientConnection, **asked: str | bool) -> str:
    await line.send(json.dumps({"kind": "begin", **asked}))
    ready = await frame(line)
    assert ready["kind"] == "ready", ready
    return str(ready["cursor"])


async def frame(line: ClientConnection) -> Any:
    return json.loads(await line.recv())


async def until(line: ClientConnection, kind: str, **fields: object) -> tuple[Any, list[Any]]:
    """The first frame of this kind with these fields, and all before it."""
    before: list[Any] = []
    while True:
        found = await frame(line)
        if found["kind"] == kind and all(found.get(name) == value for name, value in fields.items()):
            return found, before
        before.append(found)


async def say(line: ClientConnection, text: str, re: int = 1, **more: str) -> None:
    await line.send(json.dumps({"kind": "event", "re": re, "event": {"type": "message", "text": text, **more}}))


async def answered(line: ClientConnection, daimon: Live) -> list[Any]:
    """All frames until an answer has reached its channel and all of its turn is told: what is on disk is told beside what is live, and an
    answer may be heard before its steps."""
    frames = [await frame(line)]
    while frames[-1]["kind"] != "live" or frames[-1]["update"]["kind"] != "spoken":
        frames.append(await frame(line))
    turn = frames[-1]["update"]["key"].split(":")[0]
    steps = (await asyncio.to_thread(daimon.get, f"/v1/turns/{turn}"))["steps"]
    while len([each for each in changes(frames) if _turn_of(each) in (turn, None)]) <= len(steps):
        frames.append(await frame(line))
    return frames


def changes(frames: list[Any]) -> list[Any]:
    return [each for each in frames if each["kind"] == "change"]


def _turn_of(change: Any) -> Any:
    """None for an event: those who count follow one conversation, where there is one."""
    return change.get("item", change).get("turn")


async def test_what_is_said_here_is_taken_in_and_answered_with_every_step(daimon: Live) -> None:
    async with opened(daimon) as line:
        await begun(line, conversation="said")
        await say(line, "say hello to you", re=7, conversation="said")
        frames = await answered(line, daimon)
    (taken,) = [each for each in frames if each["kind"] == "taken"]
    assert (taken["re"], taken["taken"]["new"]) == (7, True)
    told = changes(frames)
    assert told[0]["sort"] == "event"
    assert told[0]["item"]["source"] == "web"
    tokens = [each["update"] for each in frames if each["kind"] == "live" and each["update"]["kind"] == "token"]
    assert "".join(each["text"] for each in tokens).split() == ["hello", "to", "you"]
    assert [each["item"]["n"] for each in told if each["sort"] == "step"] == list(range(len(told) - 1))
    assert [int(each["cursor"]) for each in told] == sorted({int(each["cursor"]) for each in told})


async def test_who_comes_back_with_a_cursor_misses_nothing_and_gets_nothing_twice(daimon: Live) -> None:
    async with opened(daimon) as line:
        cursor = await begun(line, conversation="first")
        await say(line, "say first", conversation="first")
        seen = changes(await answered(line, daimon))
    half = seen[len(seen) // 2]
    await asyncio.to_thread(
        daimon.call, "POST", "/v1/events", {"type": "message", "text": "say while nobody looked", "conversation": "other"}
    )
    async with opened(daimon) as line:
        assert await begun(line, after=half["cursor"]) == half["cursor"]
        found, before = await until(line, "change", sort="event")
        turn = seen[-1]["item"]["turn"]
        assert [each for each in before if each["kind"] == "change" and each["item"].get("turn") == turn] == seen[seen.index(half) + 1 :]
        assert found["item"]["body"]["parts"][0]["text"] == "say while nobody looked"
    async with opened(daimon) as line:
        await begun(line, after=cursor)
        found, _ = await until(line, "change", sort="event")
        assert found == seen[0]


async def test_one_conversation_can_be_followed_alone(daimon: Live) -> None:
    async with opened(daimon) as line:
        await begun(line, conversation="mine")
        await say(line, "say elsewhere", re=1, conversation="other")
        await until(line, "taken", re=1)
        await say(line, "say here", re=2, conversation="mine")
        frames = await answered(line, daimon)
    assert {each["item"]["conversation"] for each in frames if each.get("sort") == "event"} == {"mine"}
    assert {each["update"]["conversation"]["name"] for each in frames if each["kind"] == "live"} == {"mine"}


async def test_the_same_key_again_is_the_same_event(daimon: Live) -> None:
    async with opened(daimon) as line:
        await begun(line)
        await say(line, "once", re=1, key="k1")
        first, _ = await until(line, "taken", re=1)
        await say(line, "once", re=2, key="k1")
        second, _ = await until(line, "taken", re=2)
    assert (first["taken"]["new"], second["taken"]["new"]) == (True, False)
    assert first["taken"]["event"] == second["taken"]["event"]


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ('{"kind": "event", "re": 3, "event": {"type": "message"}}', "needs `text` or `parts`"),
        ('{"kind": "event", "re": 3, "event": {"type": "nothing"}}', "does not match any of the expected tags"),
        ('{"kind": "begin"}', "has begun already"),
        ("no json", "this is no frame"),
        ('{"kind": "what"}', "this is no frame"),
        ('{"kind": "event", "event": ' + "[" * 5_000 + "]" * 5_000 + "}", "this is no frame"),
    ],
    ids=["empty", "unknown", "twice", "text", "kind", "deep"],
)
async def test_a_bad_frame_gets_a_clear_error_and_the_connection_stays(daimon: Live, sent: str, told: str) -> None:
    async with opened(daimon) as line:
        await begun(line)
        await line.send(sent)
        refused, _ = await until(line, "error")
        assert told in refused["message"]
        await say(line, "still here", re=9)
        await until(line, "taken", re=9)


@pytest.mark.parametrize("after", ["-1", "999999999999", "x", "٣", "9" * 400], ids=["negative", "ahead", "letter", "arabic", "long"])
async def test_a_cursor_that_was_never_handed_out_is_refused(daimon: Live, after: str) -> None:
    async with opened(daimon) as line:
        await line.send(json.dumps({"kind": "begin", "after": after}))
        refused = await frame(line)
        assert (refused["kind"], refused["code"]) == ("error", "bad_input")
        with pytest.raises(ConnectionClosed):
            await line.recv()


async def test_the_first_frame_must_begin(daimon: Live) -> None:
    async with opened(daimon) as line:
        await say(line, "hello")
        refused = await frame(line)
        assert "the first frame must be" in refused["message"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"X_Nothing": "1"}, 401), ({"Authorization": "Bearer wrong"}, 401)],
    ids=["no token", "wrong token"],
)
async def test_without_the_token_there_is_no_socket(daimon: Live, headers: dict[str, str], status: int) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with opened(daimon, **headers):
            pass
    assert refused.value.response.status_code == status


async def test_a_web_page_of_another_origin_gets_no_socket_even_with_the_token(daimon: Live) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with opened(daimon, **daimon.authority, Origin="https://evil.example"):
            pass
    assert refused.value.response.status_code == 403


async def test_the_owner_s_own_socket_file_needs_no_token(daimon: Live) -> None:
    path, url = str(daimon.home.socket), "ws://localhost/v1/socket"
    async with asyncio.timeout(2 * DEADLINE_S), unix_connect(path, url, open_timeout=DEADLINE_S) as line:
        await begun(line)


async def test_a_page_is_told_what_changed_and_not_how_it_is_now(daimon: Live) -> None:
    async with opened(daimon) as line:
        await begun(line, brief=True, conversation="brief")
        await say(line, "say briefly", conversation="brief")
        told = changes(await answered(line, daimon))
    assert {"item"} & {key for each in told for key in each} == set()
    assert (told[0]["sort"], told[0]["conversation"], told[0]["step"]) == ("event", "brief", "message")
    steps = [each for each in told if each["sort"] == "step"]
    assert [each["n"] for each in steps] == list(range(len(steps)))
    assert {each["conversation"] for each in steps} == {"brief"}


async def test_who_was_away_for_long_reads_anew_instead_of_all_that_happened(daimon: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "FAR", 3)
    async with opened(daimon) as line:
        cursor = await begun(line, conversation="away")
        await say(line, "say something long ago", conversation="away")
        await answered(line, daimon)
    async with opened(daimon) as line:
        await line.send(json.dumps({"kind": "begin", "brief": True, "after": cursor}))
        ready = await frame(line)
        assert ready["skipped"]
        assert int(ready["cursor"]) > int(cursor)


async def test_who_comes_in_the_middle_of_a_reply_gets_all_of_it_so_far(daimon: Live) -> None:
    async with opened(daimon) as first:
        await begun(first, conversation="middle")
        await say(first, "hang", conversation="middle")
        token, _ = await until(first, "live")
        while token["update"]["kind"] != "token":
            token, _ = await until(first, "live")
        async with opened(daimon) as second:
            await begun(second, conversation="middle")
            missed, _ = await until(second, "live")
    assert (missed["update"]["kind"], missed["update"]["offset"], missed["update"]["text"]) == ("token", 0, "well, ")


async def test_a_line_can_be_asked_whether_it_lives(daimon: Live) -> None:
    async with opened(daimon) as line:
        await begun(line)
        await line.send('{"kind": "ping", "re": 4}')
        pong, _ = await until(line, "pong")
        assert pong["re"] == 4
