"""What was said becomes messages, what was done becomes episodes."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.memory.asking import found, item, items, texts, told

from daimon.abi.event import Answer, FromAgent, Heartbeat, Said
from daimon.abi.ids import AgentId, BlobHash, EventId, Key, StepRef, TurnId
from daimon.abi.label import Author, Label, Origin, owned
from daimon.abi.memory import Learn, Remember
from daimon.abi.message import Audio, File, Image, Reasoning, Text, ToolCall, ToolResult
from daimon.abi.step import Happened, Intended, Received, Replied
from daimon.abi.tool import Effect
from daimon.abi.turn import Ending
from daimon.memory.items import MOST_CHARACTERS
from daimon.memory.store import MemoryStore


async def test_events_and_replies_are_messages_with_speaker_and_conversation(store: MemoryStore, journal: Any) -> None:
    event, reply = journal.exchange("what is up", "not much", "t1")
    named = journal.event(body=Said((Text("me too"),), speaker="Anna"), conversation="family")
    other = journal.event(body=FromAgent(AgentId("helper"), (Text("done"),)))
    said = {each.id: (each.speaker, each.conversation, each.text) for each in await items(store, "message")}
    assert said == {
        event: ("owner", "terminal", "what is up"),
        reply: ("daimon", "terminal", "not much"),
        named: ("Anna", "family", "me too"),
        other: ("helper", "terminal", "done"),
    }


async def test_only_what_is_words_is_kept_of_a_message(store: MemoryStore, journal: Any) -> None:
    blob = BlobHash("00" * 32)
    parts = (
        Text("look"),
        Image(blob, "image/png", "a red door"),
        Audio(blob, "audio/ogg", 1.0, "knock knock"),
        File(blob, "plan.pdf", "x", 1),
    )
    journal.event(body=Said(parts))
    journal.step(Replied("m", (Reasoning("secretly", "p"), ToolCall("c", "now", {}), Text("a door")), "stop"))
    journal.step(Replied("m", (ToolCall("c", "now", {}),), "stop"))
    journal.event(body=Heartbeat("mail", {"text": "data"}))
    journal.event(body=Answer("yes", "but only today"))
    assert await texts(store) == ["but only today", "a door", "look\na red door\nknock knock\nplan.pdf"]


async def test_a_message_knows_the_one_before_it_in_its_own_conversation(store: MemoryStore, journal: Any) -> None:
    journal.event("which fruit", conversation="a")
    journal.event("the weather is fine", conversation="b")
    journal.event("hello from Bob", conversation="a", principal="bob")
    last = journal.event("bananas", conversation="a")
    rows = await store.run(
        lambda db: db.execute("SELECT p.text FROM items i JOIN items p ON p.n = i.previous WHERE i.id = ?", (last,)).fetchall()
    )
    assert rows == [("which fruit",)]
    assert await store.run(lambda db: db.execute("SELECT count(*) FROM words WHERE words MATCH 'before : fruit'").get) == 1
    await told(store)


async def test_a_copied_step_of_a_fork_says_nothing_twice(store: MemoryStore, journal: Any) -> None:
    event, reply = journal.exchange("what is up", "not much", "t1")
    journal.remember("tea", "n1", turn="t1", n=2)
    journal.turn("t2", event, "fork/t2", forked_from=StepRef(TurnId("t1"), 2))
    journal.reply("not much", "n1", turn="t2", n=0)
    journal.remember("tea", "n1", turn="t2", n=2)
    journal.reply("a lot", "n1", turn="t2", n=3)
    assert sorted(await texts(store, "message")) == ["a lot", "not much", "what is up"]
    assert (await item(store, "n1")).uses == 1
    journal.erase("t2")
    assert sorted(each.id for each in await items(store, "message")) == sorted((event, reply))


async def test_a_reply_that_used_an_item_is_counted(store: MemoryStore, journal: Any) -> None:
    journal.remember("tea", "n1")
    journal.remember("coffee", "n2", principal="bob")
    journal.reply("tea it is", "n1", "n1", "n2", "nothing")
    journal.reply("tea again", "n1")
    kept = await item(store, "n1")
    assert (kept.uses, kept.used_at) == (2, journal.changes[-1].item.at)


async def test_a_finished_turn_leaves_an_episode(store: MemoryStore, journal: Any) -> None:
    journal.turn("t1", journal.event("book a table"))
    for n, code in ((0, ""), (2, ""), (4, "timeout")):
        call = Intended(f"c{n}", "browse", {}, Key(f"t1:{n}"), Effect.PURE, "m", None)  # type: ignore[arg-type]
        journal.step(call, turn="t1", n=n)
        journal.step(Happened(n, ToolResult("c", "browse", ()), code=code), turn="t1", n=n + 1)
    journal.reply("done, at eight", turn="t1", n=6, label=Label.of(Origin(Author.STRANGER, "web:x.org")))
    assert await texts(store, "episode") == []
    journal.complete(Ending.ANSWERED, turn="t1", n=7)
    (episode,) = await items(store, "episode")
    assert episode.text == "Asked: book a table\nUsed: browse ×2, browse (timeout)\nAnswered: done, at eight\nEnded: answered"
    assert (episode.conversation, episode.source) == ("terminal", "t1:7")
    assert episode.label == owned("terminal").joined(Label.of(Origin(Author.STRANGER, "web:x.org")))


async def test_a_turn_in_which_nothing_happened_leaves_none(store: MemoryStore, journal: Any) -> None:
    journal.turn("t1", journal.event(body=Heartbeat("mail")))
    journal.complete(Ending.SILENT, turn="t1", n=0)
    assert await texts(store) == []


async def test_the_turn_that_asks_does_not_find_itself(store: MemoryStore, journal: Any) -> None:
    before = journal.event("the passport is in the blue box")
    journal.turn("t1", journal.event("where is the passport"))
    journal.reply("let me look for the passport", turn="t1", n=0)
    journal.step(Received(EventId(journal.event("the passport, I mean"))), turn="t1", n=1)
    assert await found(store, "passport", turn="t1") == [before]
    assert len(await found(store, "passport")) == 4


async def test_of_a_huge_message_the_beginning_is_kept_and_where_the_whole_is(store: MemoryStore, journal: Any) -> None:
    event = journal.event("needle " + "hay " * 13_000_000 + "end")
    after = journal.event("the next one")
    kept = await item(store, event)
    assert len(kept.text) < MOST_CHARACTERS + 200
    assert kept.text.endswith(f"… [cut: 52000010 characters in all; the whole is {event} in the journal]")
    assert (await found(store, "needle"))[0] == event
    assert (await found(store, "next"))[0] == after
    await told(store)


@pytest.mark.parametrize(
    "text", ["nul\0inside", "half \ud800 pair", "東京に行く", "مرحبا بالعالم", "🦊" * 50, "a\u0301" * 100, "\x00", "\ud800"]
)
async def test_any_text_is_kept(store: MemoryStore, journal: Any, text: str) -> None:
    event = journal.event(text, body=Said((Text(text),), speaker=text))
    journal.outcome(Remember(text, "n1"), Learn("f1", text, text, text))
    assert {each.id for each in await items(store)} >= {event, "n1", "f1"}
    await found(store, text)
    await told(store)


async def test_the_words_of_a_batch_are_written_to_the_index_together(store: MemoryStore, journal: Any) -> None:
    for n in range(50):
        journal.exchange(f"what is {n}", f"a number like {n + 1}", f"t{n}")
    await store.catch_up()
    pieces, rows = await store.run(lambda c: c.execute("SELECT count(DISTINCT origin), count(*) FROM words_docsize").get)
    assert (pieces, rows) == (1, 150)


async def test_a_message_is_found_by_its_date_in_utc(store: MemoryStore, journal: Any) -> None:
    late = datetime(2026, 3, 14, 1, tzinfo=timezone(timedelta(hours=5)))
    event = journal.event("the kettle is broken")
    journal.changes[-1] = replace(journal.changes[-1], item=replace(journal.changes[-1].item, occurred_at=late))
    assert await found(store, "Friday") == [event]
    assert await found(store, "Saturday") == []
