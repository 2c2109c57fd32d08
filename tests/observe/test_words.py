from datetime import UTC, datetime

import pytest

from daimon.abi.event import Answer, Body, Erased, Fired, FromAgent, Heartbeat, Late, Said, Stop, Webhook
from daimon.abi.ids import AgentId, BlobHash, TimerId, TurnId
from daimon.abi.message import Audio, File, Image, Text
from daimon.observe import words

AT = datetime(2026, 11, 15, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (Said((Text("hello"), Image(BlobHash("h"), "image/png", "a cat"))), "hello\n[image image/png: a cat]"),
        (
            Said((Audio(BlobHash("h"), "audio/ogg", transcript="hi there"), File(BlobHash("h"), "a.txt", "text/plain", 3))),
            "hi there\n[file a.txt, 3 bytes]",
        ),
        (Webhook("github", {"a": 1}), 'github {"a": 1}'),
        (Heartbeat("read-feed"), "read-feed"),
        (Fired(TimerId("r1"), "stretch", AT, 90.0), "stretch (due 2026-11-15 09:00:00, 90.0 s late)"),
        (FromAgent(AgentId("other"), (Text("done"),)), "done"),
        (Answer("allow", "once"), "allow: once"),
        (Late({"x": 1}, is_error=True), 'failed: {"x": 1}'),
        (Stop(TurnId("t1"), "enough"), "stop t1: enough"),
        (Erased("h", AT, "asked for"), "erased: asked for"),
    ],
)
def test_every_event_is_told_in_words(body: Body, expected: str) -> None:
    assert words.said(body) == expected


def test_long_words_are_cut_to_one_line() -> None:
    assert words.short("one\n two   three", 8) == "one two…"
    assert words.short("one\ntwo", 8) == "one two"


@pytest.mark.parametrize(("seconds", "expected"), [(0.004, "4 ms"), (1.25, "1.2 s"), (125, "2 min 5 s"), (7_300, "2 h 1 min")])
def test_durations_are_told_as_people_do(seconds: float, expected: str) -> None:
    assert words.duration(seconds) == expected
