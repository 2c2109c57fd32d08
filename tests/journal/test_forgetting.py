"""What only the file can show of forgetting: the bytes, a kill in the middle, forks, turns under way, older files."""

import json
import signal
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import apsw
import pytest
from tests.journal.world import DONE, MAIN, PINS, TTL_S, begun, child, claimed, database, ended, event, fresh_ids, opened, outcome, step

from daimon.abi.codec import blob_hash, encode
from daimon.abi.errors import BadInput, Erased, JournalFailed
from daimon.abi.event import Erased as Tombstone
from daimon.abi.event import Event, Fired, Said, Webhook
from daimon.abi.ids import HOME_SPACE, OWNER, SELF, Conversation, StepRef, TimerId, TurnId
from daimon.abi.label import UNLABELLED, Author, Label, Origin, owned
from daimon.abi.memory import AmendedBy, Amendment, ForgetSource, Import, Item, Remember
from daimon.abi.message import Message, Role, Text, ToolCall
from daimon.abi.ports import START as BEGINNING
from daimon.abi.ports import Blob, Claim, Ended, Erasure
from daimon.abi.step import ContextRef, Continue, Decided, ModelFailed, Replied, Step
from daimon.abi.tool import Send, SetTimer
from daimon.abi.turn import Ending, Pins
from daimon.journal.opening import prepare
from daimon.journal.readonly import ReadOnlyJournal
from daimon.journal.rows import micros, put_event, put_step, write_label, written
from daimon.journal.schema import APPLICATION_ID, MIGRATIONS
from daimon.journal.sqlite import SqliteJournal
from daimon.observe.trace import report
from daimon.testing.clock import START, ManualClock

MINE = owned("test")
WEB = Label.of(Origin(Author.STRANGER, "web:x.org"), readers=(OWNER,))
TAINTED = Ended(Ending.ANSWERED, owned("test").joined(WEB), (Text("the secret answer"),))


def amendment(id_: str, *operations: AmendedBy) -> Amendment:
    return Amendment(id=id_, space=HOME_SPACE, principal=OWNER, at=START, operations=operations, label=owned("terminal"))


def forget(source: str, id_: str = "am-forget") -> Amendment:
    return amendment(id_, ForgetSource(source))


def tainted(made: Step) -> Step:
    return replace(made, label=WEB)


def message(text: str, label: Label) -> bytes:
    return encode(Message, Message(Role.USER, (Text(text),), label))


def request(*chunks: bytes) -> Blob:
    return Blob(blob_hash(b"system" + b"tools" + b"".join(chunks)), (b"system", b"tools", *chunks), fixed=2)


def reply(claim: Claim, n: int, asked: Blob, text: str, *context: ContextRef) -> Step:
    return step(claim, n, Replied("m", (Text(text),), "stop", request=asked.hash, context=context))


async def turn_of(journal: SqliteJournal, key: str, text: str, conversation: str = "main", label: Label | None = None) -> Claim:
    await journal.accept(replace(event(key, Said((Text(text),)), conversation), label=label or owned("test")))
    return claimed(await journal.claim(Conversation(HOME_SPACE, conversation), "w1", TTL_S, PINS))


def words_in(home: Path, *words: str) -> dict[str, int]:
    data = b"".join(path.read_bytes() for path in sorted(home.iterdir()))
    return {word: data.count(word.encode()) for word in words}


# -- the bytes


async def _lived(journal: SqliteJournal) -> None:
    """Words of a page wherever words can stand, and the owner's beside them."""
    claim = await turn_of(journal, "k1", "the secret question", label=WEB)
    history = message("the plain history", MINE)
    clean, asked = request(history), request(history, message("the secret question", WEB))
    timer = SetTimer(TimerId("tm-1"), START + timedelta(hours=1), "the secret timer")
    sent = Send(event("x").reply_to, (Text("the secret message"),))  # type: ignore[arg-type]
    steps = [
        step(claim, 0, Replied("m", (Text("plain words"),), "stop", request=clean.hash)),
        tainted(outcome(claim, 1, timer, sent, text="the secret result")),
        tainted(reply(claim, 2, asked, "the secret reply")),
        step(claim, 3, ModelFailed("m", "cut", "it broke off", request=request(message("the secret result", WEB)).hash)),
    ]
    await journal.finish(claim, steps, TAINTED, [clean, asked, request(message("the secret result", WEB))])
    other = await turn_of(journal, "k2", "the plain question", "other")
    recalled = message("recalled: the secret question", owned("memory"))
    quoting = request(message("the plain question", owned("test")), recalled)
    quotes = ContextRef("turn", "t-0"), ContextRef("recall", blob_hash(recalled)), ContextRef("quote", "e-k1")
    await journal.finish(other, [reply(other, 0, quoting, "the plain reply", *quotes)], DONE, [quoting])
    items = [Item(id=f"n-{n}", kind="note", text=text, at=START, label=label, source="am-0") for n, (text, label) in enumerate(
        [("the plain note", owned("test")), ("the secret note", WEB)]
    )]  # fmt: skip
    await journal.amend(amendment("am-1", Import(tuple(items)), Remember("the plain memory", "n-9")))


async def _crowd(journal: SqliteJournal) -> None:
    """So many values of all sizes that pages are split, and keep copies of what stood on them."""
    claim = await turn_of(journal, "crowd", "the plain crowd", "crowd")
    for n in range(120):
        chunks = [message(f"the {'secret' if i % 2 else 'plain'} {n} {i} {'x' * (37 * n % 700)}", WEB if i % 2 else MINE) for i in range(8)]
        asked = request(*chunks)
        await journal.record(claim, [tainted(reply(claim, n, asked, f"the secret reply {n}"))], [asked])
    await journal.finish(claim, [], TAINTED)


PLAIN = ("the plain history", "the plain question", "the plain reply", "the plain note", "the plain memory", "plain words")


@pytest.mark.parametrize("when", ["while it runs", "after it ended"])
async def test_words_of_a_forgotten_source_are_in_no_file_any_more_and_the_others_are(tmp_path: Path, when: str) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        await _lived(journal)
        await _crowd(journal)
        await journal.count()  # somebody reads as well
        assert words_in(tmp_path, "the secret")["the secret"] > 500
        assert await journal.forget_source(forget("web:x.org")) > 120
        left = words_in(tmp_path, "the secret", *PLAIN)
    left = words_in(tmp_path, "the secret", *PLAIN) if when == "after it ended" else left
    assert left.pop("the secret") == 0
    assert all(left.values()), left


async def test_erasing_a_turn_leaves_no_copies_on_split_pages(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        await _crowd(journal)
        (turn,) = await journal.turns(HOME_SPACE, 1)
        await journal.erase_turn(turn.id, "asked")
        assert words_in(tmp_path, "the secret") == {"the secret": 0}


async def test_what_is_left_can_still_be_read(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        await _lived(journal)
        await journal.forget_source(forget("web:x.org"))
    async with opened(tmp_path / "journal.db") as journal:
        second, first = await journal.turns(HOME_SPACE, 10)
        assert [type(each.body).__name__ for each in await journal.steps(first.id)] == ["Replied", "Erased", "Erased", "ModelFailed"]
        (replied,) = await journal.steps(second.id)
        assert isinstance(replied.body, Replied)
        assert replied.body.parts == (Text("the plain reply"),)
        with pytest.raises(Erased):
            await journal.get(replied.body.request or blob_hash(b""))
        assert [reminder.about for reminder in await journal.pending(MAIN)] == [""]
        assert [change.item.only for change in journal.since(BEGINNING, 99) if isinstance(change.item, Erasure)] == [
            ("e-k1", f"{first.id}:1", f"{first.id}:2")
        ]
        with database(tmp_path / "journal.db") as db:
            assert db.pragma("integrity_check") == "ok"


async def test_a_home_that_nobody_runs_shows_what_was_forgotten_as_erased(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        await _lived(journal)
        await journal.forget_source(forget("web:x.org"))
    viewer = await ReadOnlyJournal.open(tmp_path / "journal.db")
    try:
        _, turn = await viewer.turns(HOME_SPACE, 10)
        shown = str(report(turn, await viewer.event(turn.event), await viewer.steps(turn.id), ()))
    finally:
        await viewer.close()
    assert shown.count("erased: web:x.org was forgotten") == 3
    assert "plain words" in shown


# -- a kill in the middle

KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from tests.journal.test_forgetting import forget
from tests.journal.world import fresh_ids
from daimon.journal.opening import prepare
from daimon.journal.sqlite import SqliteJournal
from daimon.testing.clock import ManualClock

async def main(path, statement):
    connection, left = prepare(path), [statement]
    journal = SqliteJournal(path, connection, ManualClock(), fresh_ids())

    def count(cursor, sql, bindings):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    connection.exec_trace = count
    await journal.forget_source(forget("web:x.org"))
    print(statement - left[0])

asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
"""


async def test_a_kill_in_the_middle_leaves_all_or_nothing(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    async with opened(whole / "journal.db") as journal:
        await _lived(journal)
        before = [change.item for change in journal.since(BEGINNING, 99)]
    statements = int(_run(whole, tmp_path / "to-the-end", 10_000))
    assert statements > 30
    seen = set()
    for last in (*range(2, statements, statements // 8), statements - 2, statements - 1, statements):
        home = tmp_path / str(last)
        assert _run(whole, home, last) == ""
        async with opened(home / "journal.db") as journal:
            items = [change.item for change in journal.since(BEGINNING, 99)]
            is_done = "am-forget" in {item.id for item in items if isinstance(item, Amendment)}
            assert is_done or items == before
            assert (words_in(home, "the secret")["the secret"] == 0) == is_done
            assert await journal.forget_source(forget("web:x.org")) == (0 if is_done else 6)
            assert words_in(home, "the secret") == {"the secret": 0}
            seen.add(is_done)
    assert seen == {True, False}


def _run(whole: Path, home: Path, last: int) -> str:
    """What the child says, killed before this statement."""
    home.mkdir()
    for path in whole.iterdir():
        (home / path.name).write_bytes(path.read_bytes())
    out, code = ended(child(KILLED, home / "journal.db", last))
    assert code == (-signal.SIGKILL if out == "" else 0)
    return out


async def test_a_file_that_cannot_be_made_anew_is_said_and_the_words_are_gone_for_readers(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    connection = prepare(path)
    journal = SqliteJournal(path, connection, ManualClock(), fresh_ids())
    await _lived(journal)

    def refuse(cursor: apsw.Cursor, sql: str, bindings: object) -> bool:
        if sql == "VACUUM":
            raise apsw.FullError("database or disk is full")
        return True

    def owed() -> int:
        with database(path) as db:
            return int(db.execute("SELECT COUNT(*) FROM residues").get)

    connection.exec_trace = refuse
    with pytest.raises(JournalFailed, match="make room and erase once more"):
        await journal.forget_source(forget("web:x.org"))
    assert isinstance((await journal.event(event("k1").id)).body, Tombstone)
    assert (await journal.accept(event("after"))).is_new
    assert owed() > 0
    connection.exec_trace = None
    assert await journal.forget_source(forget("web:x.org")) == 0
    assert owed() == 0
    assert words_in(tmp_path, "the secret") == {"the secret": 0}
    await journal.close()


# -- what labels name


@pytest.mark.parametrize("source", ['mail:"bob"@x.org', "web:пример.org", "file:a\\b\n", "web:x.org%", "unknown"])
async def test_any_source_is_found_by_its_exact_name(tmp_path: Path, source: str) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        for key, name in (("k1", source), ("k2", source + "x"), ("k3", "x" + source), ("k4", source[:-1])):
            await journal.accept(replace(event(key), label=Label.of(Origin(Author.STRANGER, name))))
        assert await journal.forget_source(forget(source)) == 1
        assert [isinstance((await journal.event(event(key).id)).body, Tombstone) for key in ("k1", "k2", "k3", "k4")] == [
            True,
            *[False] * 3,
        ]


async def test_what_lost_its_label_is_of_an_unknown_source(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        for key in ("k1", "k2", "k3"):
            await journal.accept(event(key))
    with database(tmp_path / "journal.db") as db:
        db.execute("UPDATE events SET label = NULL WHERE id = 'e-k1'")
        db.execute("UPDATE events SET label = ? WHERE id = 'e-k2'", (write_label(Label(())),))
    async with opened(tmp_path / "journal.db") as journal:
        assert (await journal.event(event("k1").id)).label == UNLABELLED
        assert await journal.forget_source(forget("unknown")) == 2
        assert (await journal.event(event("k3").id)).body == event("k3").body


# -- prompts, forks, turns under way


@pytest.mark.parametrize(
    "body", [Said((Text("the secret"),)), Webhook("bank", {"to": ["the secret"]}), Fired(TimerId("t"), "the secret", START)]
)
async def test_a_forgotten_event_leaves_the_prompts_of_its_conversation(tmp_path: Path, body: Said | Webhook | Fired) -> None:
    shown = "the secret" if isinstance(body, Said) else f"[shown] {json.dumps(['the secret'])}"
    async with opened(tmp_path / "journal.db") as journal:
        await journal.accept(event("k1", body))
        claim = claimed(await journal.claim(MAIN, "w1", TTL_S, PINS))
        asked = request(message(shown, MINE), message("the plain words", MINE))
        await journal.finish(claim, [reply(claim, 0, asked, "yes")], DONE, [asked])
        await journal.forget_source(forget("e-k1"))
        assert words_in(tmp_path, "the secret", "the plain words") == {"the secret": 0, "the plain words": 1}
        (replied,) = await journal.steps(claim.turn.id)
        assert isinstance(replied.body, Replied)


@pytest.mark.parametrize(
    "shown",
    [
        "the secret w\n[… 40 characters left out; recall ref=e-k1 reads them …]\nthe end",
        "[… 40 characters left out; recall ref=e-k1 reads them …]\nof the secret",
        "the secret word…",
        "the secret words, [secret bank], and so on",
    ],
)
@pytest.mark.parametrize("how", ["event", "turn"])
async def test_a_shorter_form_of_what_was_forgotten_leaves_the_prompts_too(tmp_path: Path, shown: str, how: str) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        await journal.accept(event("k1", Said((Text("the secret words, 4711, and so on until the end"),))))
        claim = claimed(await journal.claim(MAIN, "w1", TTL_S, PINS))
        await journal.finish(claim, [reply(claim, 0, request(), "well")], DONE, [request()])
        await journal.accept(event("k2"))
        later = claimed(await journal.claim(MAIN, "w1", TTL_S, PINS))
        asked = request(message(shown, MINE), message("the plain words, and so…", MINE))
        await journal.finish(later, [reply(later, 0, asked, "yes")], DONE, [asked])
        if how == "turn":
            await journal.erase_turn(claim.turn.id, "asked for")
        else:
            await journal.forget_source(forget("e-k1"))
        assert words_in(tmp_path, "the secret", "the plain words") == {"the secret": 0, "the plain words": 1}


async def test_a_call_whose_arguments_were_shortened_goes_with_its_reply(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        claim = await begun(journal)
        called = Replied("m", (ToolCall("c1", "write", {"text": "the secret words of a long text"}),), "tools", request=request().hash)
        await journal.finish(claim, [step(claim, 0, called)], DONE, [request()])
        await journal.accept(event("k2"))
        later = claimed(await journal.claim(MAIN, "w1", TTL_S, PINS))
        short = (ToolCall("c1", "write", {"text": "the secret… (31 characters)"}),)
        asked = request(encode(Message, Message(Role.ASSISTANT, short, MINE)), message("the plain words", MINE))
        await journal.finish(later, [reply(later, 0, asked, "yes")], DONE, [asked])
        await journal.forget_source(forget(f"{claim.turn.id}:0"))
        assert words_in(tmp_path, "the secret", "the plain words") == {"the secret": 0, "the plain words": 1}


async def test_a_forgotten_reply_goes_with_the_message_that_carried_it_and_with_its_copies_in_forks(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        claim = await begun(journal)
        asked = request(message("hello", MINE))
        await journal.finish(
            claim, [reply(claim, 0, asked, "the plain reply"), reply(claim, 1, asked, "the secret reply")],
            Ended(Ending.ANSWERED, MINE, (Text("the secret reply"),)), [asked],
        )  # fmt: skip
        fork = await journal.fork(StepRef(claim.turn.id, 1))
        early = await journal.fork(StepRef(claim.turn.id, 0))
        with pytest.raises(BadInput, match=fork.id):
            await journal.forget_source(forget(f"{claim.turn.id}:1"))
        for each in (fork, early):
            await journal.finish(claimed(await journal.claim(each.where, "w1", TTL_S, PINS)), [], Ended(Ending.SILENT, MINE))
        assert await journal.forget_source(forget(f"{claim.turn.id}:1")) == 3
        assert [message.content for message in await journal.outgoing(10)] == [None]
        assert words_in(tmp_path, "the secret") == {"the secret": 0}
        assert not isinstance((await journal.steps(early.id))[0].body, Tombstone)


async def test_a_forgotten_turn_takes_its_forks_along(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        claim = await begun(journal)
        await journal.finish(claim, [outcome(claim, 0, text="the secret")], DONE)
        fork = await journal.fork(StepRef(claim.turn.id, 0))
        await journal.finish(claimed(await journal.claim(fork.where, "w1", TTL_S, PINS)), [], Ended(Ending.SILENT, MINE))
        await journal.forget_source(forget(claim.turn.id))
        assert words_in(tmp_path, "the secret") == {"the secret": 0}
        assert [item.turn for item in _erasures(journal)] == [fork.id, claim.turn.id]


async def test_a_turn_under_way_elsewhere_does_not_bring_quoted_words_back(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        first = await turn_of(journal, "k1", "the secret", label=WEB)
        await journal.finish(first, [], DONE)
        other = await turn_of(journal, "k2", "the plain question", "other")
        recalled, plain = message("recalled: the secret", MINE), message("the plain question", MINE)
        asked = request(plain, recalled)
        quotes = ContextRef("recall", blob_hash(recalled)), ContextRef("quote", "e-k1")
        await journal.record(other, [reply(other, 0, asked, "one", *quotes)], [asked])
        await journal.forget_source(forget("web:x.org"))
        assert words_in(tmp_path, "the secret") == {"the secret": 0}
        more = request(plain, recalled, message("and more", MINE))
        failed = step(other, 1, ModelFailed("m", "cut", "it broke off", request=more.hash, context=quotes))
        await journal.record(other, [failed], [more])
        assert await journal.get(blob_hash(plain)) == plain
        with pytest.raises(Erased):
            await journal.get(more.hash)
        with database(tmp_path / "journal.db") as db:
            assert db.execute("SELECT body FROM blobs WHERE hash = ?", (bytes.fromhex(blob_hash(recalled)),)).get is None


async def test_a_quote_that_names_no_chunk_is_one_of_the_whole_request(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        first = await turn_of(journal, "k1", "the secret", label=WEB)
        await journal.finish(first, [], DONE)
        other = await turn_of(journal, "k2", "the plain question", "other")
        asked = request(message("recalled: the secret", MINE))
        await journal.finish(other, [reply(other, 0, asked, "one", ContextRef("quote", "e-k1"))], DONE, [asked])
        await journal.forget_source(forget("e-k1"))
        assert words_in(tmp_path, "the secret") == {"the secret": 0}
        assert await journal.get(blob_hash(b"system")) == b"system"


async def test_a_turn_that_runs_in_the_same_conversation_must_end_first(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        first = await turn_of(journal, "k1", "the secret", label=WEB)
        await journal.finish(first, [], DONE)
        running = await turn_of(journal, "k2", "and now?")
        with pytest.raises(BadInput, match=running.turn.id):
            await journal.forget_source(forget("web:x.org"))
        assert _erasures(journal) == []
        await journal.finish(running, [], DONE)
        assert await journal.forget_source(forget("web:x.org")) == 1


def _erasures(journal: SqliteJournal) -> list[Erasure]:
    return [change.item for change in journal.since(BEGINNING, 99) if isinstance(change.item, Erasure)]


# -- a file of the release before

OLD = TurnId("t-old")


async def test_a_file_of_format_3_is_brought_up_to_date_and_can_forget(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    asked, later = replace(event("old", Said((Text("the secret"),))), label=WEB), event("plain")
    _write_format_3(
        path,
        [asked, later],
        Step(turn=OLD, n=0, body=Decided(Continue(), "1"), at=START, space=HOME_SPACE, principal=OWNER, agent=SELF, label=WEB),
    )
    async with opened(path) as journal:
        with database(path) as db:
            assert db.pragma("user_version") == len(MIGRATIONS)
        assert _erasures(journal) == [Erasure(TurnId("t-gone"), START, "asked long ago")]
        assert await journal.forget_source(forget("web:x.org")) == 2
        assert _erasures(journal)[1:] == [Erasure(OLD, START, "web:x.org was forgotten", ("e-old", f"{OLD}:0"))]
        assert (await journal.event(later.id)).body == later.body
        assert words_in(tmp_path, "the secret") == {"the secret": 0}


def _write_format_3(path: Path, events: list[Event], made: Step) -> None:
    with database(path) as db:
        db.pragma("application_id", APPLICATION_ID)
        db.pragma("journal_mode", "wal")
        for migration in MIGRATIONS[:3]:
            db.execute(migration)
        db.pragma("user_version", 3)
        db.execute("INSERT INTO conversations (space, name, next_seq, epoch) VALUES (?, 'main', 2, 1)", (HOME_SPACE,))
        for pos, each in enumerate(events, 1):
            put_event(db, pos, pos - 1, each, OLD, 1)
        db.execute(
            """INSERT INTO turns (id, space, conversation, event, principal, agent, root, effects, pins, label, state, ending, created_at,
               ended_at, schema) VALUES (?, ?, 'main', ?, ?, ?, ?, 'world', ?, ?, 'done', 'answered', ?, ?, ?)""",
            (
                OLD,
                HOME_SPACE,
                events[0].id,
                OWNER,
                SELF,
                OLD,
                encode(Pins, PINS),
                write_label(WEB),
                micros(START),
                micros(START),
                made.schema,
            ),
        )
        put_step(db, 8, written(made))
        db.execute("INSERT INTO erasures VALUES (9, 't-gone', ?, 'asked long ago')", (micros(START),))
    path.with_name(path.name + ".exists").write_text("there is one")


# -- what cannot be read


async def test_an_amendment_that_could_not_be_read_again_is_refused(tmp_path: Path) -> None:
    item = Item(id="n1", kind="note", text="x", at=START, label=MINE, source="s", confidence=float("nan"))
    async with opened(tmp_path / "journal.db") as journal:
        with pytest.raises(BadInput, match="confidence"):
            await journal.amend(amendment("am-1", Import((item,))))
        await journal.amend(amendment("am-1", Import((replace(item, confidence=0.5),))))
        assert len((await journal.amendment("am-1")).operations) == 1


async def test_a_projection_goes_on_behind_what_cannot_be_read(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        for n in range(3):
            await journal.amend(amendment(f"am-{n}", Remember("x", f"n{n}")))
    with database(tmp_path / "journal.db") as db:
        db.execute("UPDATE payloads SET body = x'00' WHERE pos = (SELECT pos FROM amendments WHERE id = 'am-1')")
    async with opened(tmp_path / "journal.db") as journal:
        found = [change.item for change in journal.since(BEGINNING, 100)]
        assert [each.id for each in found if isinstance(each, Amendment)] == ["am-0", "am-2"]
