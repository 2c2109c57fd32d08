"""From a turn to a request: what is in it, in which order, within which budget, with which bytes."""

import asyncio
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.context.line import Turning
from tests.journal.world import MAIN, PINS, TTL_S, claimed, event, intent, outcome, step

from daimon.abi.codec import decode
from daimon.abi.context import Background, Prompt, Scene, Stretch
from daimon.abi.event import Said
from daimon.abi.ids import HOME_SPACE, OWNER, SELF, AgentId, EventId, PrincipalId, SpaceId, StepRef, TurnId
from daimon.abi.label import Author, Label, Origin, join, owned
from daimon.abi.memory import Hit, Item, Memory, Page, Query, Reason, Recalled
from daimon.abi.message import Message, Role, Text, ToolCall, ToolResult, said
from daimon.abi.ports import Claim, Ended, Parked
from daimon.abi.step import ContextRef, ModelFailed, Received, Replied, Step, StepBody, Wait
from daimon.abi.tool import Effect, Manifest, ResultLabel
from daimon.abi.turn import Ending, State, Turn
from daimon.context.assemble import MOST_EARLIER, Pager, Paging, Sources
from daimon.context.budget import TokenBudget
from daimon.context.entries import entry
from daimon.context.tokens import estimate
from daimon.testing.clock import START, ManualClock
from daimon.testing.ids import CountingIds
from daimon.testing.journal import MemoryJournal
from daimon.testing.redactor import PlainRedactor

SYSTEM = "You are a test."
TOOLS = (Manifest(name="pay", description="pays", parameters={"type": "object"}, effect=Effect.UNSAFE),)
PLENTY = 32_000


@pytest.fixture
def journal() -> MemoryJournal:
    return MemoryJournal(ManualClock(), CountingIds())


def pager(journal: MemoryJournal, budget_tokens: int = PLENTY) -> Pager:
    return Pager(Sources(journal, journal), SYSTEM, Paging(TokenBudget(budget_tokens, 0, 0, 0)), PlainRedactor())


async def begin(journal: MemoryJournal, text: str, conversation: str = "main") -> Claim:
    key = f"{conversation}-{(await journal.count()).events}"
    await journal.accept(event(key, Said((Text(text),)), conversation))
    return claimed(await journal.claim(replace(MAIN, name=conversation), "w1", TTL_S, PINS))


async def exchange(journal: MemoryJournal, text: str, answer: str, conversation: str = "main") -> Claim:
    """A turn that is over."""
    claim = await begin(journal, text, conversation)
    parts = (Text(answer),) if answer else ()
    before = (await prompt(pager(journal), scene(claim))).request.context
    replied = Replied("m", parts, "stop", context=before)
    await journal.finish(claim, [step(claim, 0, replied)], Ended(Ending.ANSWERED, owned("test"), parts))
    return claim


def scene(claim: Claim, steps: Sequence[Step] = ()) -> Scene:
    return Scene(claim.turn, claim.event, SELF, tuple(steps))


async def prompt(pager: Pager, seen: Scene) -> Prompt:
    return pager.assemble(seen, await pager.prepare(seen), TOOLS)


def words(made: Prompt) -> list[str]:
    return [message.text for message in made.request.messages]


# -- what is in it


async def test_a_request_is_the_system_text_then_earlier_turns_then_this_one(journal: MemoryJournal) -> None:
    await exchange(journal, "I am bob", "hello bob")
    await exchange(journal, "it rains", "take a coat")
    made = await prompt(pager(journal), scene(await begin(journal, "who am I?")))
    assert words(made) == [SYSTEM, "I am bob", "hello bob", "it rains", "take a coat", "who am I?"]
    assert [message.role for message in made.request.messages] == [
        Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.USER, Role.ASSISTANT, Role.USER,
    ]  # fmt: skip
    assert made.request.tools == TOOLS


async def test_other_conversations_stay_out_of_it(journal: MemoryJournal) -> None:
    await exchange(journal, "a secret", "kept", "elsewhere")
    assert words(await prompt(pager(journal), scene(await begin(journal, "hi")))) == [SYSTEM, "hi"]


async def test_turns_that_are_not_over_stay_out_of_it(journal: MemoryJournal) -> None:
    parked = await begin(journal, "wait for me")
    await journal.finish(parked, [], Parked((Wait("answer", intent(parked, 0).ref),)))
    assert words(await prompt(pager(journal), scene(await begin(journal, "hi")))) == [SYSTEM, "hi"]


async def test_a_turn_that_was_resumed_does_not_see_what_came_after_it(journal: MemoryJournal) -> None:
    parked = await begin(journal, "wait for me")
    await journal.finish(parked, [], Parked((Wait("answer", intent(parked, 0).ref),)))
    await exchange(journal, "later", "much later")
    assert words(await prompt(pager(journal), scene(parked))) == [SYSTEM, "wait for me"]


async def test_an_earlier_turn_without_an_answer_shows_what_was_asked(journal: MemoryJournal) -> None:
    claim = await begin(journal, "hush")
    await journal.finish(claim, [step(claim, 0, Replied("m", (), "stop"))], Ended(Ending.SILENT, owned("test")))
    assert words(await prompt(pager(journal), scene(await begin(journal, "hi")))) == [SYSTEM, "hush", "hi"]


async def test_an_erased_turn_shows_that_it_was_erased_and_nothing_else(journal: MemoryJournal) -> None:
    claim = await exchange(journal, "my secret", "your secret")
    await journal.erase_turn(claim.turn.id, "the owner asked")
    assert words(await prompt(pager(journal), scene(await begin(journal, "hi")))) == [SYSTEM, "[erased] the owner asked", "hi"]


async def test_an_earlier_turn_stands_there_with_its_calls_and_their_results(journal: MemoryJournal) -> None:
    claim = await begin(journal, "pay bob")
    paid = [step(claim, 0, Replied("m", (ToolCall("c1", "pay", {}),), "tools")), intent(claim, 1), *_outcomes(claim, (1, "paid"), at=2)]
    last = step(claim, 3, Replied("m", (Text("bob is paid"),), "stop"))
    await journal.finish(claim, [*paid, last], Ended(Ending.ANSWERED, owned("test")))
    made = await prompt(pager(journal), scene(await begin(journal, "thanks")))
    assert [message.role for message in made.request.messages] == [
        Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT, Role.USER,
    ]  # fmt: skip


async def test_only_so_many_earlier_turns_are_looked_at(journal: MemoryJournal) -> None:
    for n in range(MOST_EARLIER + 5):
        await exchange(journal, f"q{n}", "")
    seen = words(await prompt(pager(journal), scene(await begin(journal, "hi"))))
    assert seen[-2:] == [f"q{MOST_EARLIER + 4}", "hi"]
    assert MOST_EARLIER // 2 < len(seen) <= MOST_EARLIER + 2


async def test_what_was_erased_is_not_kept_either(journal: MemoryJournal) -> None:
    paging = pager(journal)
    claim = await exchange(journal, "my secret", "your secret")
    now = await begin(journal, "hi")
    assert words(await prompt(paging, scene(now))) == [SYSTEM, "my secret", "your secret", "hi"]
    await journal.erase_turn(claim.turn.id, "the owner asked")
    assert words(await prompt(paging, scene(now))) == [SYSTEM, "[erased] the owner asked", "hi"]


async def test_a_turn_that_is_over_is_read_once(journal: MemoryJournal, monkeypatch: pytest.MonkeyPatch) -> None:
    paging, read = pager(journal), []
    for n in range(5):
        await exchange(journal, f"question {n}", "answer")
    steps_of = journal.steps

    async def steps(turn: TurnId) -> tuple[Step, ...]:
        read.append(turn)
        return await steps_of(turn)

    monkeypatch.setattr(journal, "steps", steps)
    now = scene(await begin(journal, "hi"))
    first, second = await prompt(paging, now), await prompt(paging, now)
    assert first == second
    assert len(read) == len(set(read)) == 5


# -- this turn


def steps(claim: Claim, *bodies: StepBody) -> list[Step]:
    return [step(claim, n, body) for n, body in enumerate(bodies)]


async def test_results_are_told_in_the_order_of_the_intents_whenever_they_came(journal: MemoryJournal) -> None:
    claim = await begin(journal, "pay both")
    calls = Replied("m", (ToolCall("c0", "pay", {"to": "bob"}), ToolCall("c1", "pay", {"to": "eve"})), "tools")
    done = [step(claim, 0, calls), intent(claim, 1), intent(claim, 2), *_outcomes(claim, (2, "eve is paid"), (1, "bob is paid"))]
    made = await prompt(pager(journal), scene(claim, done))
    told = [message.parts[0] for message in made.request.messages if message.role is Role.TOOL]
    assert [result.parts[0] for result in told if isinstance(result, ToolResult)] == [Text("bob is paid"), Text("eve is paid")]


async def test_a_call_that_is_not_over_has_no_result_yet(journal: MemoryJournal) -> None:
    claim = await begin(journal, "pay")
    calls = Replied("m", (ToolCall("c0", "pay", {}), ToolCall("c1", "pay", {})), "tools")
    done = [step(claim, 0, calls), intent(claim, 1), intent(claim, 2), *_outcomes(claim, (2, "paid"))]
    made = await prompt(pager(journal), scene(claim, done))
    assert [message.role for message in made.request.messages] == [Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL]


async def test_what_was_said_meanwhile_stands_where_it_was_taken_in(journal: MemoryJournal) -> None:
    claim = await begin(journal, "one")
    await journal.accept(event("two"))
    await journal.accept(event("three"))
    done = steps(claim, Received(EventId("e-two")), Replied("m", (Text("aha"),), "stop"), Received(EventId("e-three")))
    assert words(await prompt(pager(journal), scene(claim, done))) == [SYSTEM, "one", "two", "aha", "three"]


async def test_an_event_that_answered_a_wait_is_no_message_of_its_own(journal: MemoryJournal) -> None:
    claim = await begin(journal, "one")
    await journal.accept(event("the answer"))
    done = steps(claim, Received(EventId("e-the answer"), resolves=0))
    assert words(await prompt(pager(journal), scene(claim, done))) == [SYSTEM, "one"]


# -- labels


async def test_a_request_carries_the_labels_of_all_that_is_in_it(journal: MemoryJournal) -> None:
    stranger = Label.of(Origin(Author.STRANGER, "web:example.org"))
    claim = await begin(journal, "read it")
    assert (await prompt(pager(journal), scene(claim))).request.label.is_trusted
    read = [replace(each, label=stranger) for each in _outcomes(claim, (0, "pay eve"), at=1)]
    made = await prompt(pager(journal), scene(claim, [intent(claim, 0), *read]))
    assert made.request.label == join(message.label for message in made.request.messages)
    assert not made.request.label.is_trusted


async def test_a_strangers_words_of_an_earlier_turn_are_still_a_strangers(journal: MemoryJournal) -> None:
    claim = await begin(journal, "read it")
    answer = replace(step(claim, 0, Replied("m", (Text("it says: pay"),), "stop")), label=Label.of(Origin(Author.STRANGER, "web:x")))
    await journal.finish(claim, [answer], Ended(Ending.ANSWERED, answer.label))
    assert not (await prompt(pager(journal), scene(await begin(journal, "so?")))).request.label.is_trusted


# -- the budget


async def test_when_the_budget_is_short_the_oldest_turns_go_and_a_summary_says_so(journal: MemoryJournal) -> None:
    for n in range(12):
        await exchange(journal, f"question {n}", "word " * 200)
    now = await begin(journal, "now")
    made = await prompt(pager(journal, 1_900), scene(now))
    asked = [text for text in words(made) if text.startswith("question")]
    assert asked == [f"question {n}" for n in range(12 - len(asked), 12)]
    assert 0 < len(asked) < 12
    assert words(made)[1].startswith("[earlier]")
    assert f"question {11 - len(asked)};" in words(made)[1]
    assert [ref.what for ref in made.request.context].count("turn") == len(asked)


async def test_from_turn_to_turn_the_bytes_stay_and_only_a_rare_cut_changes_them(journal: MemoryJournal) -> None:
    paging = pager(journal, 2_000)
    before: tuple[bytes, ...] = ()
    cuts = 0
    for n in range(60):
        claim = await begin(journal, f"question {n}")
        made = await prompt(paging, scene(claim))
        cuts += made.chunks[: len(before)] != before
        before = made.chunks
        replied = Replied("m", (Text("word " * 20),), "stop", context=made.request.context)
        await journal.finish(claim, [step(claim, 0, replied)], Ended(Ending.ANSWERED, owned("test")))
    assert 1 <= cuts <= 5


async def test_a_turn_that_outgrows_the_room_is_cut_once_and_then_keeps_its_bytes(journal: MemoryJournal) -> None:
    for n in range(8):
        await exchange(journal, f"question {n}", "word " * 100)
    claim = await begin(journal, "work")
    done: list[Step] = []
    before: tuple[bytes, ...] = ()
    cuts = 0
    for n in range(10):
        made = await prompt(pager(journal, 2_400), scene(claim, done))
        cuts += made.chunks[: len(before)] != before
        before = made.chunks
        done += [step(claim, 3 * n, Replied("m", (ToolCall(f"c{n}", "pay", {}),), "tools", context=made.request.context))]
        done += [intent(claim, 3 * n + 1), *_outcomes(claim, (3 * n + 1, "result " * 20), at=3 * n + 2)]
    assert cuts <= 2


async def test_a_turn_that_is_too_long_by_itself_is_clipped_and_says_where_the_rest_is(journal: MemoryJournal) -> None:
    await exchange(journal, "earlier", "words")
    claim = await begin(journal, "long " * 10_000)
    done = steps(claim, Replied("m", (Text("as long " * 10_000),), "stop"))
    made = await prompt(pager(journal, 2_000), scene(claim, done))
    assert sum(map(estimate, made.request.messages)) <= 2_000
    shown = [text for text in words(made) if text.startswith(("long ", "as long "))]
    assert len(shown) == 2
    assert all("characters left out; recall ref=" in text for text in shown)


async def test_a_huge_old_answer_is_shortened_and_its_neighbours_stay(journal: MemoryJournal) -> None:
    await exchange(journal, "small", "old")
    await exchange(journal, "huge", "word " * 10_000)
    await exchange(journal, "small", "new")
    made = await prompt(pager(journal, 3_000), scene(await begin(journal, "now")))
    assert sum(map(estimate, made.request.messages)) <= 3_000
    assert words(made)[-3:] == ["small", "new", "now"]
    assert "word " * 10_000 not in words(made)


sizes = st.lists(st.integers(min_value=0, max_value=4_000), max_size=12)


@settings(max_examples=50, deadline=None)
@given(sizes, st.integers(min_value=1_000, max_value=20_000))
def test_a_request_is_never_over_budget_and_the_question_is_always_in_it(lengths: list[int], budget: int) -> None:
    journal = MemoryJournal(ManualClock(), CountingIds())
    earlier = tuple(
        Stretch(TurnId(f"t{n}"), tuple(entry(f"t{n}:{i}", sort, TurnId(f"t{n}"), START, message, starts=True) for i, sort, message in told))
        for n, length in enumerate(lengths)
        for told in [((0, "said", said(Role.USER, f"{n}", owned("x"))), (1, "reply", said(Role.ASSISTANT, "x" * length, owned("x"))))]
    )
    claim = _claim()
    made = pager(journal, budget).assemble(scene(claim), Background(earlier, {}), ())
    assert sum(map(estimate, made.request.messages)) <= budget
    assert made.request.messages[-1].text == claim.event.body.parts[0].text  # type: ignore[union-attr]
    assert made.account.used <= budget
    assert len(made.explain()) == len(made.request.messages)


# -- the bytes


async def test_the_bytes_are_the_system_text_the_tools_and_one_chunk_for_each_message(journal: MemoryJournal) -> None:
    await exchange(journal, "I am bob", "hello bob")
    made = await prompt(pager(journal), scene(await begin(journal, "who am I?")))
    system, tools, *rest = made.chunks
    assert [decode(Message, chunk) for chunk in (system, *rest)] == list(made.request.messages)
    assert decode(tuple[Manifest, ...], tools) == TOOLS


async def test_the_same_scene_gives_the_same_bytes(journal: MemoryJournal) -> None:
    await exchange(journal, "I am bob", "hello bob")
    seen = scene(await begin(journal, "who am I?"))
    one, other = [await prompt(pager(journal), seen) for _ in range(2)]
    assert one == other


async def test_what_comes_before_the_newest_message_keeps_its_bytes_from_call_to_call(journal: MemoryJournal) -> None:
    await exchange(journal, "I am bob", "hello bob")
    claim = await begin(journal, "pay bob")
    first = await prompt(pager(journal), scene(claim))
    asked = Replied("m", (ToolCall("c1", "pay", {"to": "bob"}),), "tools", context=first.request.context)
    done = [step(claim, 0, asked), intent(claim, 1)]
    chunks = [first.chunks]
    for text in ("paid", "paid again"):
        done += _outcomes(claim, (len(done) - 1, text), at=len(done))
        chunks.append((await prompt(pager(journal), scene(claim, done))).chunks)
        done += [step(claim, len(done), asked), intent(claim, len(done) + 1)]
    for before, after in itertools.pairwise(chunks):
        assert after[: len(before)] == before
        assert len(after) == len(before) + 2


# -- resuming


async def test_a_resumed_turn_sees_the_earlier_turns_that_its_first_reply_saw(journal: MemoryJournal) -> None:
    early = await exchange(journal, "I am bob", "hello bob")
    claim = await begin(journal, "who am I?")
    first = await prompt(pager(journal), scene(claim))
    assert first.request.context == (ContextRef("turn", early.turn.id),)
    done = steps(claim, Replied("m", (Text("let me think"),), "stop", context=first.request.context))
    await journal.finish(claim, done, Parked((Wait("answer", intent(claim, 0).ref),)))
    await exchange(journal, "I am eve", "hello eve")
    again = await prompt(pager(journal), scene(claim, done))
    assert again.request.context == first.request.context
    assert again.chunks[: len(first.chunks)] == first.chunks


async def test_a_turn_that_saw_nothing_earlier_sees_nothing_earlier_when_resumed(journal: MemoryJournal) -> None:
    await exchange(journal, "I am bob", "hello bob")
    claim = await begin(journal, "who am I?")
    done = steps(claim, Replied("m", (Text("let me think"),), "stop", context=()))
    assert words(await prompt(pager(journal), scene(claim, done))) == [SYSTEM, "who am I?", "let me think"]


async def test_a_turn_that_was_resumed_before_its_first_reply_reads_anew(journal: MemoryJournal) -> None:
    await exchange(journal, "I am bob", "hello bob")
    claim = await begin(journal, "who am I?")
    await journal.accept(event("more"))
    assert words(await prompt(pager(journal), scene(claim, steps(claim, Received(EventId("e-more"))))))[1:3] == ["I am bob", "hello bob"]


# -- what lasts: the same bytes in another process, and nothing volatile at the beginning


async def kept(journal: MemoryJournal, made: Prompt) -> None:
    """The bytes of a request are kept with its reply, chunk by chunk (`kernel/thinking.py`)."""
    for chunk in made.chunks:
        await journal.put(chunk)


def places(made: Prompt) -> list[ContextRef]:
    """What was before the model; what a block quotes is told only while it is new."""
    return [ref for ref in made.request.context if ref.what in ("turn", "page", "summary", "recall", "cut")]


class Notes:
    """A memory that knows one thing and one page."""

    def __init__(self, text: str) -> None:
        self.text = text

    def _item(self, id_: str, text: str) -> Item:
        return Item(id=id_, kind="note", text=text, at=START, label=owned("test"), source=f"s-{id_}")

    async def recall(self, query: Query) -> Recalled:
        return Recalled((Hit(self._item("n1", self.text), 1.0, (Reason("words", 1),)),), "words")

    async def page(self, space: SpaceId, principal: PrincipalId) -> Page:
        return Page((self._item("n2", f"always: {self.text}"),), 4_000)


def with_memory(journal: MemoryJournal, text: str, window: int) -> Pager:
    memory = cast("Memory", Notes(text))
    return Pager(Sources(journal, journal, memory), SYSTEM, Paging(TokenBudget(window, 0, 0, 0), patience_s=60.0), PlainRedactor())


async def test_a_turn_keeps_its_bytes_through_cuts_when_every_step_is_another_process(journal: MemoryJournal) -> None:
    """Page, summary, what was recalled and the cut are read back by their references, although memory has changed since."""
    for n in range(8):
        await exchange(journal, f"question {n}", "word " * 100)
    claim, done = await begin(journal, "work"), list[Step]()
    lasting, before, cuts = with_memory(journal, "tea 0", 2_400), tuple[bytes, ...](), 0
    for n in range(25):
        made = await prompt(lasting, scene(claim, done))
        again = await prompt(with_memory(journal, f"tea {0 if n == 0 else n}", 2_400), scene(claim, done))
        assert again.chunks == made.chunks, f"at step {n}"
        assert places(again) == places(made)
        cuts += made.chunks[: len(before)] != before
        before = made.chunks
        await kept(journal, made)
        done += [step(claim, 3 * n, Replied("m", (ToolCall("c1", "pay", {"n": n}),), "tools", context=made.request.context))]
        done += [intent(claim, 3 * n + 1), *_outcomes(claim, (3 * n + 1, f"{n} " + "result " * 40), at=3 * n + 2)]
    assert any("always: tea 0" in text for text in words(made))
    assert 2 <= cuts <= 9
    assert sum(ref.what == "cut" for ref in made.request.context) == 1


async def test_from_turn_to_turn_a_fresh_process_gives_the_same_bytes_after_cuts(journal: MemoryJournal) -> None:
    lasting = pager(journal, 2_000)
    for n in range(40):
        claim = await begin(journal, f"question {n}")
        made = await prompt(lasting, scene(claim))
        assert (await prompt(pager(journal, 2_000), scene(claim))).chunks == made.chunks, f"at turn {n}"
        await kept(journal, made)
        replied = Replied("m", (Text("word " * 20),), "stop", context=made.request.context)
        await journal.finish(claim, [step(claim, 0, replied)], Ended(Ending.ANSWERED, owned("test")))
    assert any(text.startswith("[earlier]") for text in words(made))


async def test_a_beginning_with_the_time_in_it_would_be_noticed(journal: MemoryJournal) -> None:
    """The same check that the pager passes fails on one that says the time first."""

    def shared(one: Prompt, other: Prompt) -> int:
        return sum(len(a) for a, b in takewhile(lambda pair: pair[0] == pair[1], zip(one.chunks, other.chunks, strict=False)))

    await exchange(journal, "I am bob", "hello bob " * 50)
    claim = await begin(journal, "who am I?")
    done = steps(claim, Replied("m", (Text("let me think"),), "stop", context=(await prompt(pager(journal), scene(claim))).request.context))
    fresh, steady = [], []
    for minute in range(2):
        paging = Paging(TokenBudget(PLENTY, 0, 0, 0))
        timed = Pager(Sources(journal, journal), f"{SYSTEM} It is 10:0{minute}.", paging, PlainRedactor())
        fresh.append(await prompt(timed, scene(claim, done[:minute])))
        steady.append(await prompt(pager(journal), scene(claim, done[:minute])))
    assert shared(*steady) == sum(map(len, steady[0].chunks))
    assert shared(*fresh) == 0


async def test_what_left_the_window_is_still_in_the_journal_and_the_cut_says_from_where_on_it_is_shown(journal: MemoryJournal) -> None:
    for n in range(12):
        await exchange(journal, f"question {n}", "word " * 200)
    made = await prompt(pager(journal, 1_500), scene(await begin(journal, "now")))
    cut = next(ref.ref for ref in made.request.context if ref.what == "cut")
    last_gone = StepRef.parse(cut.split()[0])
    assert (await journal.steps(last_gone.turn))[last_gone.n].body.kind == "reply"
    gone = [turn.id for turn in await journal.turns(HOME_SPACE, 50, "main") if turn.id <= last_gone.turn]
    assert gone
    for turn in gone:
        assert "word word" in str(await journal.steps(turn))


async def test_no_word_of_an_erased_turn_is_in_a_summary_that_is_made_later(journal: MemoryJournal) -> None:
    erased = await exchange(journal, "my secret plan", "a secret answer")
    await journal.erase_turn(erased.turn.id, "the owner asked")
    for n in range(12):
        await exchange(journal, f"question {n}", "word " * 200)
    made = await prompt(pager(journal, 1_500), scene(await begin(journal, "now")))
    assert any(text.startswith("[earlier]") for text in words(made))
    assert "secret" not in str(made.request.messages)


async def test_a_call_that_failed_after_a_cut_does_not_lose_what_the_summary_quotes(journal: MemoryJournal) -> None:
    for n in range(12):
        await exchange(journal, f"question {n}", "word " * 200)
    paging, claim = pager(journal, 1_500), await begin(journal, "now")
    first = await prompt(paging, scene(claim))
    second = await prompt(paging, scene(claim, steps(claim, ModelFailed("m", "server", "down"))))
    assert "quote" in {ref.what for ref in first.request.context}
    assert second.request.context == first.request.context


async def test_a_file_that_others_changed_is_told_until_it_is_read_again(journal: MemoryJournal) -> None:
    class Disk:
        asked: Mapping[str, str] = {}

        async def changed(self, turn: Turn, agent: AgentId, versions: Mapping[str, str]) -> tuple[str, ...]:
            self.asked = dict(versions)
            return tuple(path for path, version in versions.items() if version != "v2")

    disk = Disk()
    paging = Pager(Sources(journal, journal, files=disk), SYSTEM, Paging(TokenBudget(PLENTY, 0, 0, 0)), PlainRedactor())
    turn = Turning("t9", "go")
    turn.call("read_file", {"path": "./a.py"}, '{"ok": true, "data": {"text": "x", "version": "v1"}}')
    made = await prompt(paging, turn.scene())
    assert words(made)[-1] == "[now]\n- changed since you read it: a.py; read it again"
    turn.call("read_file", {"path": "a.py"}, '{"ok": true, "data": {"text": "y", "version": "v2"}}')
    assert not any(text.startswith("[now]") for text in words(await prompt(paging, turn.scene())))
    assert disk.asked == {"a.py": "v2"}


async def test_what_is_late_is_left_out_and_recorded(journal: MemoryJournal) -> None:
    class Endless(Notes):
        async def recall(self, query: Query) -> Recalled:
            return await asyncio.Future[Recalled]()

    paging = Paging(TokenBudget(PLENTY, 0, 0, 0), patience_s=0.05)
    impatient = Pager(Sources(journal, journal, cast("Memory", Endless("tea"))), SYSTEM, paging, PlainRedactor())
    made = await prompt(impatient, scene(await begin(journal, "hi")))
    assert words(made)[-1] == "hi"
    assert ContextRef("late", "what memory has on this") in made.request.context
    assert "always: tea" in words(made)[1]


def _outcomes(claim: Claim, *results: tuple[int, str], at: int | None = None) -> list[Step]:
    """Outcomes of these intents, in this order."""
    first = 3 if at is None else at
    made = [outcome(claim, n, text=text) for n, text in results]
    return [replace(each, n=first + i) for i, each in enumerate(made)]


def _claim() -> Claim:
    sent = event("now")
    turn = Turn(
        id=TurnId("t9"), conversation="main", event=sent.id, principal=OWNER, agent=SELF, root=TurnId("t9"), state=State.RUNNING,
        created_at=START, space=HOME_SPACE,
    )  # fmt: skip
    return Claim(conversation=MAIN, worker="w1", epoch=1, turn=turn, event=sent, steps=())


async def test_who_is_shown_a_tool_in_a_stranger_s_words_has_read_a_stranger_s_words(journal: MemoryJournal) -> None:
    claim, made = await begin(journal, "hello"), pager(journal)
    background = await made.prepare(scene(claim))
    own = Manifest(name="own", description="Ours.", parameters={}, effect=Effect.PURE)
    theirs = replace(own, name="theirs", author=Author.STRANGER)
    vouched = replace(own, name="vouched", author=Author.OWNER)
    assert made.assemble(scene(claim), background, (own, vouched)).request.label.is_trusted
    seen = made.assemble(scene(claim), background, (own, theirs)).request.label
    assert not seen.is_trusted
    assert Origin(Author.STRANGER, "tool:theirs") in seen.origins
    of_server = replace(theirs, result=ResultLabel(Author.STRANGER, "mcp:far"))
    seen = made.assemble(scene(claim), background, (own, of_server)).request.label
    assert Origin(Author.STRANGER, "mcp:far") in seen.origins  # and goes when the server is forgotten
