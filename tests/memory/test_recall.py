"""What is found for a question, and what is never found."""

import struct
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

import pytest
from tests.memory.asking import EVE, found
from tests.memory.writing import NOON

from daimon.abi.errors import ToolFailed
from daimon.abi.event import Said
from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.abi.memory import Query, Recalled
from daimon.abi.message import Text
from daimon.memory import unembedded
from daimon.memory.store import MemoryStore


class Topics:
    """An embedder that knows what a few words mean."""

    model = "topics"
    topics = (("car", "vehicle", "tyre"), ("tea", "drink", "coffee"), ("rain", "weather"))

    def __init__(self, trouble: str = "") -> None:
        self.trouble = trouble
        self.asked: list[str] = []

    async def embed(self, texts: tuple[str, ...], what: Literal["query", "passage"]) -> tuple[bytes, ...]:
        if self.trouble:
            raise ToolFailed("embedder_failed", self.trouble)
        self.asked += texts
        return tuple(self._vector(text) for text in texts)

    def _vector(self, text: str) -> bytes:
        counts = [1e-3 + sum(word in text.lower() for word in topic) for topic in self.topics]
        length = sum(count**2 for count in counts) ** 0.5
        return struct.pack("<3f", *(count / length for count in counts))


def say(journal: Any, text: str, speaker: str = "", **more: Any) -> str:
    return str(journal.event(body=Said((Text(text),), speaker=speaker), **more))


async def ask(store: MemoryStore, text: str, limit: int = 10, **more: Any) -> Recalled:
    return await store.recall(Query(space=HOME_SPACE, principal=OWNER, text=text, limit=limit, **more))


async def meaningful(path: Path, journal: Any, embedder: Topics) -> MemoryStore:
    store, _ = await MemoryStore.open(path.with_name("meaning.db"), journal, embedder)
    items = await store.run(lambda connection: unembedded.within(connection, embedder.model, 0, 10_000, 1_000))
    made = list(zip(items, await Topics().embed(tuple(item.text for item in items), "passage"), strict=True))
    await store.run(lambda connection: unembedded.store(connection, embedder.model, made))
    return store


async def test_a_message_is_found_by_its_month_and_by_who_said_it(store: MemoryStore, journal: Any) -> None:
    wanted = say(journal, "I bought a red bicycle", "Anna")
    say(journal, "I bought a red bicycle", "Bob")
    assert (await found(store, "What did Anna buy, a bicycle?"))[0] == wanted
    assert await found(store, "what happened in March 2026")


async def test_where_no_other_word_is_found_the_name_alone_finds(store: MemoryStore, journal: Any) -> None:
    wanted = say(journal, "It is my birthday today", "Anna")
    say(journal, "Congratulations, and many happy returns", "Bob", conversation="b")
    assert await found(store, "What did Anna purchase?") == [wanted]


async def test_an_answer_is_found_by_the_question_before_it(store: MemoryStore, journal: Any) -> None:
    say(journal, "Which instrument do you play?", "Anna")
    answer = say(journal, "The cello, since I was nine years old", "Bob")
    recalled = await ask(store, "Bob's instrument")
    assert recalled.hits[0].item.id == answer
    assert {reason.by for reason in recalled.hits[0].why} >= {"words", "speaker"}
    assert recalled.how.startswith("words only")


async def test_what_stands_near_a_match_comes_along_and_what_was_said_a_day_before_does_not(store: MemoryStore, journal: Any) -> None:
    say(journal, "Good night, sleep well", "Bob")
    (first,) = journal.changes
    journal.changes = [replace(first, item=replace(first.item, occurred_at=NOON - timedelta(days=1)))]
    near = say(journal, "We went there by train, all four of us", "Bob")
    match = say(journal, "Lisbon was wonderful in the spring", "Anna")
    assert await found(store, "Lisbon") == [match, near]


async def test_filters_come_first_however_many_better_matches_there_are(store: MemoryStore, journal: Any) -> None:
    wanted = say(journal, "tea is served somewhere in this rather long remark about other things", conversation="quiet")
    for _ in range(450):
        say(journal, "tea tea tea", conversation="loud")
    assert await found(store, "tea", conversation="quiet") == [wanted]
    assert wanted not in await found(store, "tea", conversation="loud")
    assert await found(store, "tea", conversation="quiet", until=NOON - timedelta(days=1)) == []
    assert await found(store, "tea", without=frozenset({wanted}), conversation="quiet") == []
    assert await found(store, "tea", kinds=("note",)) == []


async def test_neighbours_obey_the_filters_too(store: MemoryStore, journal: Any) -> None:
    say(journal, "The password is swordfish, send it on", label=EVE)
    mine = say(journal, "Lisbon was wonderful")
    assert await found(store, "Lisbon", trusted_only=True) == [mine]
    assert len(await found(store, "Lisbon")) == 2


async def test_by_meaning_is_found_what_has_none_of_the_words(journal: Any, path: Path) -> None:
    wanted = say(journal, "My vehicle has a flat tyre", conversation="a")
    say(journal, "I had coffee with Bob", conversation="b")
    store = await meaningful(path, journal, Topics())
    try:
        recalled = await ask(store, "car")
        assert recalled.hits[0].item.id == wanted
        assert recalled.hits[0].why[0].by == "meaning"
        assert recalled.how == "words and meaning (topics)"
    finally:
        await store.close()


async def test_meaning_obeys_the_filters_however_many_are_nearer(journal: Any, path: Path) -> None:
    wanted = say(journal, "coffee, rain and a vehicle", conversation="quiet")
    for _ in range(250):
        say(journal, "a vehicle", conversation="loud")
    store = await meaningful(path, journal, Topics())
    try:
        assert [hit.item.id for hit in (await ask(store, "car", conversation="quiet")).hits] == [wanted]
    finally:
        await store.close()


async def test_speakers_are_not_part_of_what_a_question_means(journal: Any, path: Path) -> None:
    say(journal, "I like tea", "Anna Meyer")
    embedder = Topics()
    store = await meaningful(path, journal, embedder)
    try:
        await ask(store, "What does Anna drink?")
        assert embedder.asked == ["What does drink?"]
    finally:
        await store.close()


async def test_an_embedder_that_fails_leaves_words_and_the_answer_says_so(journal: Any, path: Path) -> None:
    wanted = say(journal, "My vehicle has a flat tyre")
    store = await meaningful(path, journal, Topics(trouble="it is asleep"))
    try:
        recalled = await ask(store, "tyre")
        assert [hit.item.id for hit in recalled.hits] == [wanted]
        assert "words only" in recalled.how
        assert "it is asleep" in recalled.how
    finally:
        await store.close()


@pytest.mark.parametrize("text", ["", "   ", "what do you know about me?"])
async def test_a_question_without_words_gives_the_newest(store: MemoryStore, journal: Any, text: str) -> None:
    old, new = say(journal, "first"), say(journal, "second")
    assert await found(store, text) == [new, old]


async def test_nothing_is_found_where_nothing_is_asked_for(store: MemoryStore, journal: Any) -> None:
    say(journal, "first")
    assert (await ask(store, "first", limit=0)).hits == (await ask(store, "first", limit=-1)).hits == ()
    assert (await ask(store, "nothing of the kind")).hits == ()
