"""Deletion deletes: the words are in no row, in no index and in no byte of the file."""

import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.memory.asking import EVE, bytes_of, found, item, items, rebuilt, texts, told
from tests.memory.writing import NOON

from daimon.abi.errors import NotFound
from daimon.abi.event import Erased
from daimon.abi.label import owned
from daimon.abi.memory import ForgetSource, Learn, Put, Remember, Rewind, Summarise
from daimon.abi.ports import Change
from daimon.memory.store import MemoryStore

SECRET = "qxzvpassphrase"
CUT = SECRET[2:].encode()
"""Without its beginning, which an index may share with its neighbours."""


def fill(journal: Any) -> None:
    for n in range(40):
        journal.exchange(f"what about the garden {n}", f"the garden grows {n}", f"t0{n}")


async def test_an_erased_turn_leaves_no_word_in_the_bytes_of_the_file(store: MemoryStore, journal: Any, path: Path) -> None:
    fill(journal)
    event = journal.event(f"my code is {SECRET}")
    journal.turn("t1", event)
    journal.outcome(Remember(f"code {SECRET}", "n1"), Learn("f1", "owner", f"code {SECRET}", "code"), turn="t1", n=0)
    journal.reply(f"noted {SECRET}", turn="t1", n=1)
    journal.complete(turn="t1", n=2)
    journal.exchange("and now the weather", "it rains", "t2")
    await store.catch_up()
    assert CUT in bytes_of(path)
    journal.erase("t1")
    await store.catch_up()
    assert CUT not in bytes_of(path)
    assert await found(store, SECRET) == []
    assert await store.run(lambda connection: _indexed(connection, SECRET)) == 0
    assert (await found(store, "weather rains"))[:2]
    await told(store)


async def test_a_second_erasure_leaves_no_word_either(store: MemoryStore, journal: Any, path: Path) -> None:
    for n, word in enumerate(("qxfirstsecret", "qysecondsecret")):
        fill(journal)
        journal.exchange(f"it is {word}", f"{word} it is", f"t{n}")
        await store.catch_up()
        journal.erase(f"t{n}")
        await store.catch_up()
        assert word[2:].encode() not in bytes_of(path)


async def test_what_was_forgotten_without_being_deleted_is_deleted_with_its_turn(store: MemoryStore, journal: Any, path: Path) -> None:
    fill(journal)
    journal.remember(SECRET, "n1", turn="t1")
    journal.forget("n1", turn="t2")
    await store.catch_up()
    assert CUT in bytes_of(path)
    journal.erase("t1")
    await store.catch_up()
    assert CUT not in bytes_of(path)
    with pytest.raises(NotFound, match="memory has nothing with the id 'n1'"):
        await item(store, "n1")


async def test_only_the_named_steps_go_and_the_episode_with_them(store: MemoryStore, journal: Any) -> None:
    event, reply = journal.exchange("what is the code", f"it is {SECRET}", "t1")
    await store.catch_up()
    journal.erase("t1", reply)
    assert [each.id for each in await items(store)] == [event]


async def test_the_message_after_a_deleted_one_is_found_by_its_own_words_only(store: MemoryStore, journal: Any) -> None:
    first, *_ = journal.exchange("apples", "pears", "t1")
    journal.exchange("plums", "cherries", "t2")
    third = journal.event("bananas")
    await store.catch_up()
    journal.erase("t2")
    await store.catch_up()
    assert await store.run(lambda connection: _indexed(connection, "cherries")) == 0
    assert await store.run(lambda connection: _indexed(connection, "pears")) == 3
    assert {first, third} <= set(await found(store, "", kinds=("message",)))
    await told(store)


async def test_everything_from_a_source_goes_with_all_that_it_had_a_part_in(store: MemoryStore, journal: Any, path: Path) -> None:
    fill(journal)
    journal.exchange("anything new in the mail", f"Eve writes {SECRET}", "t1", label=owned("terminal").joined(EVE))
    journal.outcome(Remember(f"Eve: {SECRET}", "n1"), Put("k", SECRET), Learn("f1", "Eve", SECRET), turn="t2", label=EVE)
    journal.remember("mine", "n2")
    await store.catch_up()
    journal.amend(ForgetSource("mail:eve@example.org"))
    await store.catch_up()
    assert CUT not in bytes_of(path)
    assert b"eve@example" not in bytes_of(path)
    assert await texts(store, "note", "fact", "value") == ["mine"]
    assert "anything new in the mail" in await texts(store, "message")
    await told(store)


@pytest.mark.parametrize("which", ["event", "turn", "step"])
async def test_an_event_a_turn_or_a_step_can_be_the_source(store: MemoryStore, journal: Any, path: Path, which: str) -> None:
    event = journal.event("what is it")
    turn = journal.turn("t1", event)
    step = journal.outcome(Remember(SECRET, "n1"), Learn("f1", "owner", SECRET, source=event), turn="t1", n=0)
    journal.reply(f"I noted {SECRET}", turn="t1", n=1)
    journal.complete(turn="t1", n=2)
    journal.exchange("and now", "nothing", "t2")
    await store.catch_up()
    journal.amend(ForgetSource({"event": event, "turn": turn, "step": step}[which]))
    await store.catch_up()
    assert CUT not in bytes_of(path)
    assert ("what is it" in await texts(store, "message")) is (which == "step")
    assert "nothing" in await texts(store, "message")
    assert [each.id for each in await items(store, "episode")] == ["episode:t2"]


async def test_a_summary_of_a_deleted_turn_goes_too(store: MemoryStore, journal: Any) -> None:
    journal.exchange("apples", "pears", "t1")
    journal.outcome(Summarise(("t1", "t0"), "fruit"), turn="t9")
    assert await texts(store, "summary") == ["fruit"]
    journal.erase("t1")
    assert await texts(store, "summary") == []


async def test_what_a_deleted_thing_had_replaced_holds_again(store: MemoryStore, journal: Any) -> None:
    journal.outcome(Learn("f1", "owner", "Berlin", "home"), turn="t1")
    journal.outcome(Learn("f2", "owner", "Köln", "home"), turn="t2")
    journal.outcome(Learn("f3", "owner", "Bonn", "home"), turn="t3")
    journal.remember("old", "n1", turn="t1")
    journal.outcome(Remember("merged", "n2", replaces=("n1",)), turn="t2")
    assert (await texts(store, "fact"), await texts(store, "note")) == (["Bonn"], ["merged"])
    journal.erase("t2")
    assert (await texts(store, "fact"), await texts(store, "note")) == (["Bonn"], ["old"])
    first = await item(store, "f1")
    assert (first.standing, first.ended_by) == ("superseded", "t3:2")
    journal.erase("t3")
    assert await texts(store, "fact") == ["Berlin"]


async def test_what_was_deleted_does_not_come_back_by_rewinding(store: MemoryStore, journal: Any) -> None:
    journal.remember(SECRET, "n1", turn="t1")
    then = journal.changes[0].item.at
    journal.erase("t1")
    journal.amend(Rewind(then))
    assert await texts(store, "note") == []


async def test_a_rebuild_from_a_journal_that_has_lost_the_words_says_the_same(store: MemoryStore, journal: Any, tmp_path: Path) -> None:
    event, _ = journal.exchange("what is the code", SECRET, "t1")
    journal.outcome(Learn("f1", "owner", SECRET, "code", source=event), turn="t5")
    journal.exchange("thank you", "welcome", "t2")
    journal.remember("other", "n1", turn="t3")
    await store.catch_up()
    journal.erase("t1")
    before = await told(store)
    journal.changes[:3] = [_blank(change) for change in journal.changes[:3]]
    assert await rebuilt(tmp_path, journal) == before


async def test_a_turn_that_lost_a_step_has_no_episode_after_a_rebuild_either(store: MemoryStore, journal: Any, tmp_path: Path) -> None:
    _, reply = journal.exchange("what is the code", SECRET, "t1")
    await store.catch_up()
    journal.erase("t1", reply)
    before = await told(store)
    journal.changes[1] = _blank(journal.changes[1])
    assert await rebuilt(tmp_path, journal) == before


def _blank(change: Change) -> Change:
    item: Any = change.item
    return replace(change, item=replace(item, body=Erased("00", getattr(item, "at", None) or item.received_at, "asked for")))


def _indexed(connection: apsw.Connection, word: str) -> int:
    found = connection.execute("SELECT count(*) FROM words WHERE words MATCH ?", (word,)).get
    assert isinstance(found, int)
    return found


async def test_a_deletion_takes_the_files_along_that_were_moved_aside_before_it(store: MemoryStore, path: Path, journal: Any) -> None:
    journal.remember("qxzv secret", "n1", label=EVE)
    await store.close()
    old, new = (path.with_name(f"{path.name}.damaged-{when}") for when in ("1", "2"))
    for file, minutes in ((old, -60), (new, 60)):
        file.write_bytes(b"qxzv secret")
        when = (NOON + timedelta(minutes=minutes)).timestamp()
        os.utime(file, (when, when))
    again, _ = await MemoryStore.open(path, journal)
    journal.amend(ForgetSource("mail:eve@example.org"))
    assert await items(again) == []
    assert (old.exists(), new.exists()) == (False, True)
    await again.close()
