"""What every journal must do.

    class TestMyJournal(JournalContract):
        @asynccontextmanager
        async def open(self, clock: ManualClock) -> AsyncIterator[FullJournal]:
            ...

Each test opens a fresh journal. Time is by hand; names and chance are the same in every run.
"""

import asyncio
from collections.abc import Awaitable
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import replace
from datetime import timedelta
from typing import Protocol, TypeVar

from daimon.abi.codec import blob_hash
from daimon.abi.errors import BadInput, Erased, Fenced, NotFound
from daimon.abi.event import Address, Answer, Event, Fired, FromAgent, Late, Said, Stop
from daimon.abi.event import Erased as Tombstone
from daimon.abi.ids import HOME_SPACE, OWNER, SELF, AgentId, BlobHash, Conversation, EventId, Key, SpaceId, StepRef, TimerId, TurnId
from daimon.abi.label import Author, Label, Origin, owned
from daimon.abi.memory import AmendedBy, Amender, Amendment, ForgetSource, Import, Item, Learn, Put, Remember
from daimon.abi.message import Text, ToolResult
from daimon.abi.ports import (
    MOST_LETTERS,
    START,
    Blob,
    Busy,
    Claim,
    Damaged,
    DeadLetter,
    Ended,
    Eraser,
    Erasure,
    Forks,
    Idle,
    Intake,
    Journal,
    More,
    Noticed,
    NotYet,
    Outbox,
    Overview,
    Parked,
    Past,
    Released,
    Store,
    Timers,
)
from daimon.abi.step import ContextRef, Continue, Decided, Happened, Received, Replied, Step, StepBody, Wait
from daimon.abi.tool import CancelTimer, Operation, Post, Send, SetTimer
from daimon.abi.turn import Ending, Pins, State
from daimon.testing.clock import ManualClock
from daimon.testing.ids import SeededRandom

A = Conversation(HOME_SPACE, "a")
B = Conversation(HOME_SPACE, "b")
PINS = Pins("c1", "p1", "s1", "t1", "m1")
TTL_S = 30.0
DONE = Ended(Ending.ANSWERED, owned("test"), (Text("an answer"),))
MINE = owned("terminal")
WEB = Label.of(Origin(Author.STRANGER, "web:x.org"), readers=(OWNER,))
T = TypeVar("T")


class FullJournal(Intake, Journal, Past, Overview, Store, Eraser, Amender, Forks, Timers, Outbox, Protocol):
    """All journal ports at once."""


class JournalContract:
    def open(self, clock: ManualClock) -> AbstractAsyncContextManager[FullJournal]:
        raise NotImplementedError

    # -- taking in

    async def test_a_repeated_key_is_recognised_and_answers_with_the_first_event(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            first = await journal.accept(_event(clock, "k1"))
            again = await journal.accept(replace(_event(clock, "k1"), id=EventId("another")))
            assert (first.is_new, again.is_new) == (True, False)
            assert (again.event, again.seq) == (first.event, first.seq)
            assert (await journal.count()).events == 1

    async def test_a_key_is_only_unique_within_its_space_and_source(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            await journal.accept(_event(clock, "k1"))
            other_source = await journal.accept(replace(_event(clock, "k1"), id=EventId("e-2"), source="mail"))
            other_space = await journal.accept(replace(_event(clock, "k1"), id=EventId("e-3"), space=SpaceId("guest")))
            assert other_source.is_new
            assert other_space.is_new

    async def test_events_of_a_conversation_are_numbered_without_gaps(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            assert [(await journal.accept(_event(clock, f"k{i}"))).seq for i in range(3)] == [0, 1, 2]
            assert (await journal.accept(_event(clock, "other", B))).seq == 0

    async def test_an_event_comes_back_as_it_went_in(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            event = replace(_event(clock, "k1"), reply_to=Address("mail", "bob@example.org"), parent=StepRef(TurnId("t-x"), 3))
            await journal.accept(event)
            assert await journal.event(event.id) == event

    async def test_dead_letters_are_kept_newest_first(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            letters = [DeadLetter("api", reason, b"\xff{", clock.now()) for reason in ("first", "second")]
            for letter in letters:
                await journal.bury(letter)
            assert await journal.letters(10) == tuple(reversed(letters))

    async def test_of_dead_letters_only_the_newest_are_kept(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            letters = [DeadLetter("api", str(n), b"{", clock.now()) for n in range(MOST_LETTERS + 2)]
            await asyncio.gather(*map(journal.bury, letters))
            kept = await journal.letters(2 * MOST_LETTERS)
            assert (len(kept), kept[0].reason, kept[-1].reason) == (MOST_LETTERS, str(MOST_LETTERS + 1), "2")

    # -- claiming

    async def test_a_claim_opens_a_turn_that_pins_what_it_started_with(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            event = _event(clock, "k1")
            await journal.accept(event)
            claim = _claimed(await journal.claim(A, "w1", TTL_S, PINS))
            turn = claim.turn
            assert (turn.event, turn.state, turn.pins, turn.root, turn.label) == (event.id, State.RUNNING, PINS, turn.id, event.label)
            assert (claim.event, claim.steps, claim.arrived) == (event, (), ())
            assert await journal.turn(turn.id) == turn
            assert await journal.turn_of(event.id) == turn

    async def test_only_one_turn_of_a_conversation_runs_at_a_time(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            for i in range(2):
                await journal.accept(_event(clock, f"k{i}"))
            await journal.claim(A, "w1", TTL_S, PINS)
            assert await journal.claim(A, "w2", TTL_S, PINS) == Busy()

    async def test_conversations_are_claimed_independently(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            await journal.accept(_event(clock, "k1"))
            await journal.accept(_event(clock, "k2", B))
            assert isinstance(await journal.claim(A, "w1", TTL_S, PINS), Claim)
            assert isinstance(await journal.claim(B, "w2", TTL_S, PINS), Claim)

    async def test_a_conversation_without_work_is_idle(self) -> None:
        async with self.open(ManualClock()) as journal:
            assert await journal.claim(A, "w1", TTL_S, PINS) == Idle()

    async def test_turns_run_in_order_of_arrival_and_finish_tells_of_more(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            events = [_event(clock, f"k{i}") for i in range(3)]
            for event in events:
                await journal.accept(event)
            seen, left = [], []
            for _ in events:
                claim = _claimed(await journal.claim(A, "w1", TTL_S, PINS))
                seen.append(claim.event.id)
                left.append(await journal.finish(claim, [], DONE))
            assert seen == [event.id for event in events]
            assert left == [More(), More(), Released()]

    async def test_an_expired_claim_is_taken_over_with_a_higher_epoch_and_the_same_steps(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            first = await _begin(journal, clock)
            await journal.record(first, [_step(clock, first, 0, _happened(0))])
            await clock.advance(TTL_S + 1)
            second = _claimed(await journal.claim(A, "w2", TTL_S, PINS))
            assert second.epoch > first.epoch
            assert (second.turn.id, [s.n for s in second.steps], second.attempts) == (first.turn.id, [0], 1)

    async def test_a_claim_counts_attempts_that_got_no_further(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            claim = await _begin(journal, clock)
            for n, expected in enumerate((2, 3)):
                await journal.record(claim, [_step(clock, claim, n, Decided(Continue(), "1"))])  # a decision alone is no progress
                await clock.advance(TTL_S + 1)
                claim = _claimed(await journal.claim(A, "w", TTL_S, PINS))
                assert claim.attempts == expected

    async def test_a_renewed_claim_is_not_taken_over(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            claim = await _begin(journal, clock)
            await clock.advance(TTL_S - 1)
            await journal.renew(claim, TTL_S)
            await clock.advance(TTL_S - 1)
            assert await journal.claim(A, "w2", TTL_S, PINS) == Busy()

    async def test_a_jump_of_the_wall_clock_does_not_expire_a_claim(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            await _begin(journal, clock)
            clock.jump(3_600)
            assert await journal.claim(A, "w2", TTL_S, PINS) == Busy()

    async def test_every_write_under_an_old_epoch_is_fenced_and_changes_nothing(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            old = await _begin(journal, clock)
            await clock.advance(TTL_S + 1)
            new = _claimed(await journal.claim(A, "w2", TTL_S, PINS))
            step = _step(clock, old, 0, Decided(Continue(), "1"))
            assert await _is_fenced(journal.renew(old, TTL_S))
            assert await _is_fenced(journal.record(old, [step]))
            assert await _is_fenced(journal.finish(old, [step], DONE))
            assert await journal.steps(new.turn.id) == ()
            assert (await journal.turn(new.turn.id)).state is State.RUNNING
            assert await journal.record(new, [step]) == Noticed()

    # -- steps

    async def test_steps_come_back_as_they_went_in(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            claim = await _begin(journal, clock)
            steps = (_step(clock, claim, 0, Decided(Continue(), "1", {"tokens": 7})), _step(clock, claim, 1, _happened(0)))
            await journal.record(claim, steps)
            assert await journal.steps(claim.turn.id) == steps

    async def test_a_gap_in_the_numbers_is_refused_whole(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            claim = await _begin(journal, clock)
            first, third = (_step(clock, claim, n, Decided(Continue(), "1")) for n in (0, 2))
            assert await _is_fenced(journal.record(claim, [first, third]))
            assert await journal.steps(claim.turn.id) == ()

    async def test_a_large_value_comes_back_whole(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            claim = await _begin(journal, clock)
            step = _step(clock, claim, 0, _happened(0, text="långe " * 200_000))
            await journal.record(claim, [step])
            assert (await journal.steps(claim.turn.id))[0] == step

    async def test_a_request_is_kept_by_the_hash_of_its_exact_bytes(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            claim = await _begin(journal, clock)
            blob = _blob(b"system", b"tools", b"hello" * 500)
            await journal.record(claim, [_step(clock, claim, 0, Replied("m", (), "stop", request=blob.hash))], [blob])
            assert await journal.get(blob.hash) == b"system" + b"tools" + b"hello" * 500

    async def test_a_value_is_found_by_its_hash_and_an_unknown_one_is_not(self) -> None:
        async with self.open(ManualClock()) as journal:
            data = bytes(range(256)) * 50
            name = await journal.put(data)
            assert (name, await journal.get(name), await journal.put(data)) == (blob_hash(data), data, name)
            assert await _raises(NotFound, journal.get(BlobHash("0" * 64)))

    # -- parking, resolving, stopping

    async def test_a_parked_turn_lets_newer_messages_pass(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            parked = await _begin(journal, clock)
            assert await journal.finish(parked, [], _wait(parked, 0)) == Released()
            await journal.accept(_event(clock, "newer"))
            newer = _claimed(await journal.claim(A, "w1", TTL_S, PINS))
            assert newer.turn.id != parked.turn.id
            assert (await journal.turn(parked.turn.id)).state is State.PARKED

    async def test_an_event_that_resolves_a_wait_resumes_the_parked_turn(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            parked = await _begin(journal, clock)
            await journal.finish(parked, [_step(clock, parked, 0, Decided(Continue(), "1"))], _wait(parked, 0))
            answer = _answer(clock, parked, 0)
            await journal.accept(answer)
            resumed = _claimed(await journal.claim(A, "w2", TTL_S, PINS))
            assert (resumed.turn.id, resumed.arrived, [s.n for s in resumed.steps]) == (parked.turn.id, (answer,), [0])

    async def test_an_answer_that_comes_before_the_turn_parks_is_not_lost(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            claim = await _begin(journal, clock)
            await journal.accept(answer := _answer(clock, claim, 0))
            assert await journal.finish(claim, [], _wait(claim, 0)) == More()
            assert _claimed(await journal.claim(A, "w1", TTL_S, PINS)).arrived == (answer,)

    async def test_a_running_turn_notices_what_arrived_for_it_and_what_waits_behind_it(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            claim = await _begin(journal, clock)
            await journal.accept(answer := _answer(clock, claim, 0))
            await journal.accept(newer := _event(clock, "newer"))
            assert await journal.renew(claim, TTL_S) == Noticed(False, (answer,), (newer,))

    async def test_a_received_event_is_taken_and_gets_no_turn_of_its_own(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            claim = await _begin(journal, clock)
            await journal.accept(newer := _event(clock, "newer"))
            assert await journal.record(claim, [_step(clock, claim, 0, Received(newer.id))]) == Noticed()
            assert await journal.finish(claim, [], DONE) == Released()
            taken_by = await journal.turn_of(newer.id)
            assert taken_by is not None
            assert taken_by.id == claim.turn.id

    async def test_a_late_answer_is_kept_and_changes_nothing(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            claim = await _begin(journal, clock)
            await journal.finish(claim, [], DONE)
            accepted = await journal.accept(_answer(clock, claim, 0))
            assert accepted.is_new
            assert await journal.claim(A, "w1", TTL_S, PINS) == Idle()

    async def test_an_answer_to_a_turn_of_another_conversation_is_refused(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            claim = await _begin(journal, clock)
            assert await _raises(BadInput, journal.accept(replace(_answer(clock, claim, 0), conversation="b")))

    async def test_a_wait_with_a_time_out_is_resolved_by_time(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            claim = await _begin(journal, clock)
            until = clock.now() + timedelta(hours=2)
            await journal.finish(claim, [], Parked((Wait("answer", StepRef(claim.turn.id, 0), until),)))
            assert await journal.claim(A, "w1", TTL_S, PINS) == NotYet(until)
            assert (await journal.due(clock.now(), 10)).next_at == until
            await clock.advance(7_200)
            assert (await journal.due(clock.now(), 10)).conversations == (A,)
            resumed = _claimed(await journal.claim(A, "w1", TTL_S, PINS))
            assert [(e.resolves, type(e.body)) for e in resumed.arrived] == [(StepRef(claim.turn.id, 0), Fired)]

    async def test_nothing_overtakes_a_turn_that_waits_for_a_model(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            claim = await _begin(journal, clock)
            until = clock.now() + timedelta(minutes=5)
            await journal.accept(later := _event(clock, "later"))
            await journal.finish(claim, [], Parked((Wait("model", StepRef(claim.turn.id, 0), until),)))
            assert await journal.claim(A, "w1", TTL_S, PINS) == NotYet(until)
            await clock.advance(300)
            assert (await journal.due(clock.now(), 10)).conversations == (A,)
            resumed = _claimed(await journal.claim(A, "w1", TTL_S, PINS))
            assert resumed.turn.id == claim.turn.id
            await journal.finish(resumed, [], DONE)
            assert _claimed(await journal.claim(A, "w1", TTL_S, PINS)).event.id == later.id

    async def test_a_turn_that_waits_for_an_answer_holds_up_nobody(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            claim = await _begin(journal, clock)
            await journal.accept(later := _event(clock, "later"))
            await journal.finish(claim, [], Parked((Wait("answer", StepRef(claim.turn.id, 0)),)))
            assert _claimed(await journal.claim(A, "w1", TTL_S, PINS)).event.id == later.id

    async def test_a_turn_that_waits_for_a_model_can_be_stopped(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            claim = await _begin(journal, clock)
            await journal.accept(later := _event(clock, "later"))
            await journal.finish(claim, [], Parked((Wait("model", StepRef(claim.turn.id, 0), clock.now() + timedelta(hours=1)),)))
            await journal.accept(_stop(clock, claim))
            stopped = _claimed(await journal.claim(A, "w1", TTL_S, PINS))
            assert (stopped.turn.id, stopped.is_stopped) == (claim.turn.id, True)
            await journal.finish(stopped, [], Ended(Ending.STOPPED, owned("test")))
            assert _claimed(await journal.claim(A, "w1", TTL_S, PINS)).event.id == later.id

    async def test_what_has_waited_longest_is_due_first_whatever_it_is_called(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            for key, where in (("1", B), ("2", A), ("3", B)):
                await journal.accept(replace(_event(clock, key), conversation=where.name))
            assert (await journal.due(clock.now(), 10)).conversations == (B, A)
            assert (await journal.due(clock.now(), 1)).conversations == (B,)

    async def test_a_stop_is_noticed_by_a_running_turn(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            claim = await _begin(journal, clock)
            await journal.accept(_stop(clock, claim))
            assert (await journal.renew(claim, TTL_S)).is_stopped
            assert await journal.finish(claim, [], Ended(Ending.STOPPED, owned("test"))) == Released()

    async def test_a_stopped_turn_that_is_parked_is_claimed_to_be_ended(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            parked = await _begin(journal, clock)
            await journal.finish(parked, [], _wait(parked, 0))
            await journal.accept(_stop(clock, parked))
            assert (await journal.due(clock.now(), 10)).conversations == (A,)
            claim = _claimed(await journal.claim(A, "w1", TTL_S, PINS))
            assert (claim.turn.id, claim.is_stopped) == (parked.turn.id, True)

    # -- timers

    async def test_a_timer_fires_once_as_an_event_of_its_conversation(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            at = clock.now() + timedelta(minutes=5)
            await _operate(journal, clock, SetTimer(TimerId("tm-1"), at, "tea"))
            assert [(r.timer, r.at, r.about) for r in await journal.pending(A)] == [("tm-1", at, "tea")]
            assert (await journal.due(clock.now(), 10)).conversations == ()
            await clock.advance(360)
            for _ in range(2):
                await journal.due(clock.now(), 10)
            claim = _claimed(await journal.claim(A, "w1", TTL_S, PINS))
            assert claim.event.body == Fired(TimerId("tm-1"), "tea", at, 60.0)
            assert claim.event.reply_to == Address("local", "a")
            assert await journal.finish(claim, [], DONE) == Released()
            assert await journal.pending(A) == ()

    async def test_a_clock_that_jumps_back_does_not_fire_a_timer_twice(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            await _operate(journal, clock, SetTimer(TimerId("tm-1"), clock.now() + timedelta(minutes=5), "tea"))
            clock.jump(3_600)
            await journal.due(clock.now(), 10)
            clock.jump(-3_600)
            await journal.due(clock.now(), 10)
            clock.jump(7_200)
            await journal.due(clock.now(), 10)
            assert (await journal.count()).events == 2

    async def test_a_cancelled_timer_does_not_fire(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            timer = TimerId("tm-1")
            await _operate(journal, clock, SetTimer(timer, clock.now() + timedelta(minutes=5), "tea"), CancelTimer(timer))
            await clock.advance(600)
            assert (await journal.due(clock.now(), 10)).conversations == ()

    # -- going out

    async def test_a_reply_is_queued_with_the_end_of_its_turn(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            claim = await _begin(journal, clock)
            assert await journal.outgoing(10) == ()
            await journal.finish(claim, [], DONE)
            (message,) = await journal.outgoing(10)
            assert (message.key, message.to, message.content) == (f"{claim.turn.id}:reply", Address("local", "a"), Said(DONE.reply))
            await journal.delivered(message, "confirmed")
            assert await journal.outgoing(10) == ()

    async def test_silence_queues_nothing(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            claim = await _begin(journal, clock)
            await journal.finish(claim, [], Ended(Ending.SILENT, owned("test")))
            assert await journal.outgoing(10) == ()

    async def test_messages_to_one_place_are_handed_out_one_by_one_in_order(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            to = Address("mail", "bob")
            await _operate(journal, clock, Send(to, (Text("one"),)), Send(to, (Text("two"),)), Send(Address("mail", "eve"), (Text("x"),)))
            first, other, *more = [m for m in await journal.outgoing(10) if m.to.channel == "mail"]
            assert ([first.content, other.content], more) == ([Said((Text("one"),)), Said((Text("x"),))], [])
            await journal.delivered(first, "sent")
            assert Said((Text("two"),)) in [m.content for m in await journal.outgoing(10)]

    async def test_a_postponed_message_comes_back_at_its_time(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            claim = await _begin(journal, clock)
            await journal.finish(claim, [], DONE)
            (message,) = await journal.outgoing(10)
            await journal.sending(message, 0)
            assert await journal.outgoing(10) == ()
            await journal.delivered(message, "queued", "no network", clock.now() + timedelta(seconds=30))
            assert await journal.outgoing(10) == ()
            await clock.advance(31)
            (again,) = await journal.outgoing(10)
            assert (again.key, again.attempts) == (message.key, 1)

    async def test_work_for_another_agent_goes_out_as_an_event_whose_turn_is_a_child(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            claim = await _operate(journal, clock, Post(AgentId("scout"), "b", (Text("look"),)), finish=False)
            child = await _deliver_internal(journal)
            assert (child.agent, child.body, child.parent) == (
                "scout",
                FromAgent(SELF, (Text("look"),)),
                StepRef(claim.turn.id, 0),
            )
            turn = _claimed(await journal.claim(B, "w2", TTL_S, PINS)).turn
            assert (turn.parent, turn.root, turn.agent) == (StepRef(claim.turn.id, 0), claim.turn.id, "scout")

    async def test_a_child_reports_to_the_step_that_started_it(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            parent = await _operate(journal, clock, Post(AgentId("scout"), "b", (Text("look"),)), finish=False)
            await _deliver_internal(journal)
            await journal.finish(parent, [], _wait(parent, 0))
            child = _claimed(await journal.claim(B, "w2", TTL_S, PINS))
            await journal.finish(child, [], DONE)
            report = await _deliver_internal(journal)
            assert (report.body, report.resolves) == (Late({"ending": "answered", "text": "an answer"}), StepRef(parent.turn.id, 0))
            assert _claimed(await journal.claim(A, "w1", TTL_S, PINS)).turn.id == parent.turn.id

    async def test_work_for_a_turn_that_was_stopped_meanwhile_is_not_begun(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            parent = await _operate(journal, clock, Post(AgentId("scout"), "b", (Text("look"),)), finish=False)
            await journal.finish(parent, [], Ended(Ending.STOPPED, owned("test")))
            await _deliver_internal(journal)
            assert await journal.claim(B, "w2", TTL_S, PINS) == Idle()

    async def test_the_end_of_a_stopped_turn_stops_its_children(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            parent = await _operate(journal, clock, Post(AgentId("scout"), "b", (Text("look"),)), finish=False)
            await _deliver_internal(journal)
            child = _claimed(await journal.claim(B, "w2", TTL_S, PINS))
            await journal.finish(parent, [], Ended(Ending.STOPPED, owned("test")))
            stop = await _deliver_internal(journal)
            assert isinstance(stop.body, Stop)
            assert stop.body.turn == child.turn.id
            assert (await journal.renew(child, TTL_S)).is_stopped

    # -- reading

    async def test_due_finds_what_nobody_holds(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            await journal.accept(_event(clock, "k1"))
            assert (await journal.due(clock.now(), 10)).conversations == (A,)
            await journal.claim(A, "w1", TTL_S, PINS)
            assert (await journal.due(clock.now(), 10)).conversations == ()
            await clock.advance(TTL_S + 1)
            assert (await journal.due(clock.now(), 10)).conversations == (A,)

    async def test_turns_are_listed_newest_first_by_conversation_and_state(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            first = await _begin(journal, clock)
            await journal.finish(first, [], DONE)
            second = await _begin(journal, clock, "k2")
            await journal.accept(_event(clock, "k3", B))
            third = _claimed(await journal.claim(B, "w", TTL_S, PINS))
            assert [t.id for t in await journal.turns(HOME_SPACE, 10)] == [third.turn.id, second.turn.id, first.turn.id]
            assert [t.id for t in await journal.turns(HOME_SPACE, 1, "a")] == [second.turn.id]
            assert [t.id for t in await journal.turns(HOME_SPACE, 10, state=State.DONE)] == [first.turn.id]
            assert await journal.turns(SpaceId("guest"), 10) == ()
            assert await _raises(NotFound, journal.turn(TurnId("nowhere")))

    async def test_a_watch_goes_on_from_its_cursor_and_sees_what_comes(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            claim = await _begin(journal, clock)
            async with aclosing(journal.watch(START)) as changes:  # type: ignore[type-var]
                first = await asyncio.wait_for(anext(changes), 60)
                assert isinstance(first.item, Event)
                coming = asyncio.ensure_future(anext(changes))
                await asyncio.sleep(0)
                step = _step(clock, claim, 0, Decided(Continue(), "1"))
                await journal.record(claim, [step])
                assert (await asyncio.wait_for(coming, 60)).item == step
            async with aclosing(journal.watch(first.cursor)) as changes:  # type: ignore[type-var]
                assert (await asyncio.wait_for(anext(changes), 60)).item == step

    async def test_erasing_a_turn_leaves_numbers_hashes_and_tombstones(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            claim = await _begin(journal, clock)
            blob = _blob(b"system", b"tools", b"the secret words")
            await journal.record(claim, [_step(clock, claim, 0, Replied("m", (Text("secret"),), "stop", request=blob.hash))], [blob])
            await journal.finish(claim, [], DONE)
            erased = await journal.erase_turn(claim.turn.id, "the owner asked")
            assert all(len(tombstone.hash) == 64 and tombstone.reason == "the owner asked" for tombstone in erased)
            (step,) = await journal.steps(claim.turn.id)
            assert isinstance(step.body, Tombstone)
            assert step.n == 0
            assert isinstance((await journal.event(claim.event.id)).body, Tombstone)
            assert [m.content for m in await journal.outgoing(10)] == [None]
            assert await _raises(Erased, journal.get(blob.hash))

    async def test_an_open_turn_is_not_erased(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            claim = await _begin(journal, clock)
            assert await _raises(BadInput, journal.erase_turn(claim.turn.id, "too early"))

    async def test_erasing_one_turn_leaves_the_same_words_of_another(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            long = "the same long text " * 10_000
            first = replace(_event(clock, "k1"), body=Said((Text(long),)))
            await journal.accept(first)
            await journal.accept(second := replace(_event(clock, "k2", B), body=Said((Text(long),))))
            claim = _claimed(await journal.claim(A, "w1", TTL_S, PINS))
            await journal.finish(claim, [], DONE)
            await journal.erase_turn(claim.turn.id, "the owner asked")
            assert (await journal.event(second.id)).body == second.body
            await journal.accept(third := replace(_event(clock, "k3"), body=Said((Text(long),))))
            assert (await journal.event(third.id)).body == third.body

    async def test_words_that_were_erased_can_be_said_again(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            long = "a long text " * 10_000
            await journal.accept(replace(_event(clock, "k1"), body=Said((Text(long),))))
            claim = _claimed(await journal.claim(A, "w1", TTL_S, PINS))
            await journal.finish(claim, [], DONE)
            await journal.erase_turn(claim.turn.id, "the owner asked")
            await journal.accept(again := replace(_event(clock, "k2"), body=Said((Text(long),))))
            assert (await journal.event(again.id)).body == again.body

    async def test_an_erasure_is_a_change_that_readers_see(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            claim = await _begin(journal, clock)
            await journal.finish(claim, [], DONE)
            await journal.erase_turn(claim.turn.id, "the owner asked")
            async with aclosing(journal.watch(START)) as changes:  # type: ignore[type-var]
                items = [(await asyncio.wait_for(anext(changes), 60)).item for _ in range(2)]
            assert items[-1] == Erasure(claim.turn.id, clock.now(), "the owner asked")

    # -- amending, forgetting

    async def test_an_amendment_is_a_change_that_readers_see_in_its_place(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            await journal.accept(first := _event(clock, "k1"))
            await journal.amend(amendment := _amendment(clock, "am-1", Remember("tea at four", "n-1"), Put("city", "Graz")))
            await journal.accept(last := _event(clock, "k2"))
            assert await _items(journal, 3) == [first, amendment, last]

    async def test_a_second_amendment_with_the_same_id_is_the_first(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            await journal.amend(first := _amendment(clock, "am-1", Remember("tea at four", "n-1")))
            await journal.amend(_amendment(clock, "am-1", Remember("something else", "n-2")))
            await journal.accept(after := _event(clock, "k1"))
            assert await _items(journal, 2) == [first, after]

    async def test_a_source_is_not_forgotten_by_a_plain_amendment_nor_without_a_name(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            assert await _raises(BadInput, journal.amend(_amendment(clock, "am-1", ForgetSource("web:x.org"))))
            assert await _raises(BadInput, journal.forget_source(_amendment(clock, "am-2", Remember("tea", "n-1"))))
            assert await _raises(BadInput, journal.forget_source(_amendment(clock, "am-3", ForgetSource(""))))
            await journal.accept(event := _event(clock, "k1"))
            assert await _items(journal, 1) == [event]

    async def test_forgetting_a_source_empties_what_names_it_and_nothing_else(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            claim = await _begin(journal, clock)
            before = _step(clock, claim, 0, _happened(0, text="the owner's list"))
            steps = [before, _labelled(_step(clock, claim, 1, _happened(1, text="from the page")), WEB)]
            await journal.finish(claim, steps, Ended(Ending.ANSWERED, owned("test").joined(WEB), (Text("the page says"),)))
            await journal.accept(other := replace(_event(clock, "k2", B), label=Label.of(Origin(Author.STRANGER, "web:x.org.example"))))
            before_it = await journal.erasures()
            assert await journal.forget_source(forget := _amendment(clock, "am-1", ForgetSource("web:x.org"))) == 2
            kept, gone = await journal.steps(claim.turn.id)
            assert kept == before
            assert (type(gone.body), gone.n, gone.label) == (Tombstone, 1, WEB)
            assert (await journal.event(claim.event.id)).body == claim.event.body
            assert (await journal.event(other.id)).body == other.body
            assert [m.content for m in await journal.outgoing(10)] == [None]
            items = await _items(journal, 6)
            assert items[4:] == [forget, Erasure(claim.turn.id, clock.now(), "web:x.org was forgotten", (f"{claim.turn.id}:1",))]
            assert await journal.erasures() > before_it

    async def test_forgetting_twice_with_one_id_is_forgetting_once(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            await journal.accept(replace(_event(clock, "k1"), label=WEB))
            forget = _amendment(clock, "am-1", ForgetSource("web:x.org"))
            assert [await journal.forget_source(forget) for _ in range(2)] == [1, 0]
            await journal.accept(later := replace(_event(clock, "k2"), label=WEB))
            assert await journal.forget_source(forget) == 0
            assert (await journal.event(later.id)).body == later.body

    async def test_an_event_that_waits_for_its_turn_is_forgotten_too(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            await journal.accept(event := replace(_event(clock, "k1"), label=WEB))
            assert await journal.forget_source(_amendment(clock, "am-1", ForgetSource("web:x.org"), reason="asked")) == 1
            assert (await _items(journal, 3))[-1] == Erasure(TurnId(""), clock.now(), "asked", (event.id,))
            assert isinstance(_claimed(await journal.claim(A, "w1", TTL_S, PINS)).event.body, Tombstone)

    async def test_an_event_a_step_and_a_turn_are_sources_too(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            first = await _begin(journal, clock)
            await journal.finish(first, [_step(clock, first, n, _happened(n, text=f"result {n}")) for n in range(2)], DONE)
            second = await _begin(journal, clock, "k2")
            await journal.finish(second, [_step(clock, second, 0, _happened(0))], DONE)
            assert await journal.forget_source(_amendment(clock, "am-1", ForgetSource(f"{first.turn.id}:1"))) == 1
            assert [type(step.body) for step in await journal.steps(first.turn.id)] == [Happened, Tombstone]
            assert await journal.forget_source(_amendment(clock, "am-2", ForgetSource(first.event.id))) == 1
            assert isinstance((await journal.event(first.event.id)).body, Tombstone)
            assert (await journal.event(second.event.id)).body == second.event.body
            assert await journal.forget_source(_amendment(clock, "am-3", ForgetSource(second.turn.id))) >= 2
            assert isinstance((await journal.event(second.event.id)).body, Tombstone)
            assert isinstance((await journal.steps(second.turn.id))[0].body, Tombstone)

    async def test_a_turn_that_would_lose_something_must_be_over(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            claim = await _begin(journal, clock)
            await journal.record(claim, [step := _labelled(_step(clock, claim, 0, _happened(0)), WEB)])
            for source in ("web:x.org", claim.turn.id, claim.event.id, f"{claim.turn.id}:0"):
                said = await _refusal(BadInput, journal.forget_source(_amendment(clock, f"am-{source}", ForgetSource(source))))
                assert claim.turn.id in said
            assert await journal.steps(claim.turn.id) == (step,)
            await journal.finish(claim, [], DONE)
            assert await journal.forget_source(_amendment(clock, "am-web:x.org", ForgetSource("web:x.org"))) == 1

    async def test_a_source_of_another_space_is_not_reached(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            await journal.accept(event := replace(_event(clock, "k1"), label=WEB))
            guest = replace(_amendment(clock, "am-1", ForgetSource("web:x.org")), space=SpaceId("guest"))
            assert await journal.forget_source(guest) == 0
            assert await journal.forget_source(replace(guest, id="am-2", operations=(ForgetSource(event.id),))) == 0
            assert (await journal.event(event.id)).body == event.body

    async def test_a_prompt_of_another_conversation_that_quotes_what_is_erased_is_erased(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            first = await _begin(journal, clock)
            await journal.finish(first, [_step(clock, first, 0, _happened(0))], DONE)
            await journal.accept(_event(clock, "k2", B))
            other = _claimed(await journal.claim(B, "w1", TTL_S, PINS))
            asked = [_blob(b"system", b"tools", b"recalled: k1"), _blob(b"system", b"tools", b"nothing recalled")]
            quotes = ContextRef("recall", blob_hash(b"recalled: k1")), ContextRef("quote", first.event.id)
            replies = [Replied("m", (), "stop", request=asked[0].hash, context=quotes), Replied("m", (), "stop", request=asked[1].hash)]
            await journal.finish(other, [_step(clock, other, n, reply) for n, reply in enumerate(replies)], DONE, asked)
            await journal.forget_source(_amendment(clock, "am-1", ForgetSource(first.event.id)))
            assert await _raises(Erased, journal.get(asked[0].hash))
            assert await journal.get(asked[1].hash) == b"systemtoolsnothing recalled"
            assert [step.body for step in await journal.steps(other.turn.id)] == replies

    async def test_an_import_goes_on_without_the_items_of_a_forgotten_source(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            own, theirs = (
                Item(id=f"n-{n}", kind="note", text="text", at=clock.now(), label=label, source="am-0")
                for n, label in enumerate((MINE, WEB))
            )
            mixed = _amendment(clock, "am-1", Import((own, theirs)), Put("city", "Graz"))
            await journal.amend(mixed)
            await journal.amend(whole := replace(_amendment(clock, "am-2", Remember("from the page", "n-9")), label=WEB))
            await journal.amend(Amendment(id="am-3", space=HOME_SPACE, principal=OWNER, at=clock.now(), operations=(Import((theirs,)),)))
            assert await journal.forget_source(_amendment(clock, "am-4", ForgetSource("web:x.org"))) == 3
            left = [item for item in await _items(journal, 4) if isinstance(item, Amendment)]
            assert left[0] == replace(mixed, operations=(Import((own,)), Put("city", "Graz")))
            assert left[1] == replace(whole, operations=())
            assert (left[2].id, left[2].operations) == ("am-3", ())

    async def test_a_fact_that_was_learnt_by_hand_goes_with_the_event_whose_words_it_has(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            await journal.accept(event := _event(clock, "k1"))
            kept = Learn("f-2", "owner", "lives in Graz", "city")
            await journal.amend(learnt := _amendment(clock, "am-1", Learn("f-1", "owner", "likes tea", source=event.id), kept))
            assert await journal.forget_source(_amendment(clock, "am-2", ForgetSource(event.id))) == 2
            assert (await _items(journal, 2))[1] == replace(learnt, operations=(kept,))
            assert await journal.forget_source(_amendment(clock, "am-3", ForgetSource("am-1"))) == 1
            assert (await _items(journal, 2))[1] == replace(learnt, operations=())

    # -- forks

    async def test_a_fork_copies_the_steps_and_takes_its_effects_from_the_record(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            claim = await _begin(journal, clock)
            await journal.finish(claim, [_step(clock, claim, n, Decided(Continue(), "1")) for n in range(3)], DONE)
            fork = await journal.fork(StepRef(claim.turn.id, 1))
            assert (fork.forked_from, fork.effects, fork.event) == (StepRef(claim.turn.id, 1), "record", claim.event.id)
            assert fork.where in (await journal.due(clock.now(), 10)).conversations
            forked = _claimed(await journal.claim(fork.where, "w1", TTL_S, PINS))
            assert [(s.turn, s.n) for s in forked.steps] == [(fork.id, 0), (fork.id, 1)]
            await journal.record(forked, [_step(clock, forked, 2, Decided(Continue(), "2"))])
            assert len(await journal.steps(claim.turn.id)) == 3
            assert await _raises(NotFound, journal.fork(StepRef(claim.turn.id, 9)))

    # -- all at once

    async def test_whatever_workers_do_every_event_is_served_once_and_in_order(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            random, served = SeededRandom(7), list[str]()
            sent = [_event(clock, f"k{i}", A if i % 3 else B) for i in range(60)]
            waiting = list(sent)
            for turn in range(2_000):
                if waiting and random.uniform() < 0.2:
                    await journal.accept(waiting.pop(0))
                claim = await journal.claim(A if random.uniform() < 0.6 else B, f"w{turn}", TTL_S, PINS)
                if isinstance(claim, Claim) and random.uniform() < 0.7:
                    await journal.finish(claim, [_step(clock, claim, len(claim.steps), Decided(Continue(), "1"))], DONE)
                    served.append(claim.event.key)
                elif random.uniform() < 0.5:
                    await clock.advance(TTL_S + 1)  # whoever held it is gone
                if not waiting and len(served) == len(sent):
                    break
            assert sorted(served) == sorted(e.key for e in sent)
            for where in (A, B):
                assert [k for k in served if k in {e.key for e in sent if e.where == where}] == [e.key for e in sent if e.where == where]


def _event(clock: ManualClock, key: str, where: Conversation = A) -> Event:
    return Event(
        id=EventId(f"e-{where.name}-{key}"), source="test", key=Key(f"{where.name}-{key}"), conversation=where.name, space=where.space,
        principal=OWNER, body=Said((Text(key),)), label=owned("test"), occurred_at=clock.now(), received_at=clock.now(),
        reply_to=Address("local", where.name),
    )  # fmt: skip


def _answer(clock: ManualClock, claim: Claim, n: int) -> Event:
    event = _event(clock, f"answer-{claim.turn.id}-{n}", claim.conversation)
    return replace(event, body=Answer("yes"), resolves=StepRef(claim.turn.id, n))


def _stop(clock: ManualClock, claim: Claim) -> Event:
    return replace(_event(clock, f"stop-{claim.turn.id}", claim.conversation), body=Stop(claim.turn.id))


def _amendment(clock: ManualClock, id_: str, *operations: AmendedBy, reason: str = "") -> Amendment:
    return Amendment(id=id_, space=HOME_SPACE, principal=OWNER, at=clock.now(), operations=operations, label=MINE, reason=reason)


def _labelled(step: Step, label: Label) -> Step:
    return replace(step, label=label)


async def _items(journal: FullJournal, n: int) -> list[Event | Step | Erasure | Amendment]:
    """The first so many changes."""
    async with aclosing(journal.watch(START)) as changes:  # type: ignore[type-var]
        return [(await asyncio.wait_for(anext(changes), 60)).item for _ in range(n)]


def _step(clock: ManualClock, claim: Claim, n: int, body: StepBody) -> Step:
    turn = claim.turn
    return Step(
        turn=turn.id, n=n, body=body, at=clock.now(), space=turn.space, principal=turn.principal, agent=turn.agent, label=owned("test")
    )


def _happened(intent: int, *operations: Operation, text: str = "ok") -> Happened:
    return Happened(intent, ToolResult("c1", "tool", (Text(text),), label=owned("test")), operations=operations)


def _blob(*chunks: bytes) -> Blob:
    return Blob(blob_hash(b"".join(chunks)), chunks, fixed=2)


def _wait(claim: Claim, n: int) -> Parked:
    return Parked((Wait("answer", StepRef(claim.turn.id, n)),))


def _claimed(claim: Claim | Busy | Idle | NotYet | Damaged) -> Claim:
    assert isinstance(claim, Claim), claim
    return claim


async def _begin(journal: FullJournal, clock: ManualClock, key: str = "k1") -> Claim:
    await journal.accept(_event(clock, key))
    return _claimed(await journal.claim(A, "w1", TTL_S, PINS))


async def _operate(journal: FullJournal, clock: ManualClock, *operations: Operation, finish: bool = True) -> Claim:
    """A turn whose only outcome carries these operations."""
    claim = await _begin(journal, clock)
    await journal.record(claim, [_step(clock, claim, 0, _happened(0, *operations))])
    if finish:
        await journal.finish(claim, [], Ended(Ending.SILENT, owned("test")))
    return claim


async def _deliver_internal(journal: FullJournal) -> Event:
    """What the postman does for the channel between conversations."""
    (message,) = [m for m in await journal.outgoing(10) if m.to.channel == "daimon"]
    assert isinstance(message.content, Event)
    await journal.accept(message.content)
    await journal.delivered(message, "confirmed")
    return message.content


async def _is_fenced(work: Awaitable[object]) -> bool:
    return await _raises(Fenced, work)


async def _refusal(kind: type[Exception], work: Awaitable[object]) -> str:
    try:
        await work
    except kind as refusal:
        return str(refusal)
    return ""


async def _raises(kind: type[Exception], work: Awaitable[object]) -> bool:
    try:
        await work
    except kind:
        return True
    return False
