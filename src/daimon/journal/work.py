"""Claims, steps, endings: what a worker does to a conversation.

Every write first checks the claim's epoch; an old one raises `Fenced` and changes nothing. Steps are numbered by the turn
without gaps, and what steps carry takes effect here, in the same transaction: an event that a step received is taken, timers
of an outcome are set, messages are put into the outbox.

A lease is measured on the monotonic clock of this boot. After a restart no lease of an earlier boot counts: its process is gone.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from daimon.abi.automation import Automate, Cease
from daimon.abi.errors import Fenced, JournalDamaged
from daimon.abi.event import Event
from daimon.abi.hook import MakeHook
from daimon.abi.ids import Conversation, TurnId
from daimon.abi.ports import Blob, Busy, Claim, Damaged, DeadLetter, Ended, Idle, More, Noticed, NotYet, Parked, Released
from daimon.abi.step import (
    PROGRESS,
    Answered,
    Asked,
    Granted,
    Happened,
    ModelFailed,
    Raised,
    Received,
    Replied,
    Reserved,
    Settled,
    Short,
    Started,
    Step,
    Wait,
)
from daimon.abi.tool import CancelTimer, Operation, Post, Send, SetTimer
from daimon.abi.turn import Ending, Pins, State, Turn
from daimon.journal import automations, grants, hooks, ledger, outbox, quotes, timers
from daimon.journal.intake import LATE, TAKEN, WAITING, bury
from daimon.journal.now import Held, Now
from daimon.journal.rows import (
    EVENT,
    ROPE,
    STEP,
    TURN,
    Packed,
    Written,
    micros,
    moment,
    packed,
    put_blob,
    put_step,
    put_turn,
    read_event,
    read_step,
    read_turn,
    write_label,
)

MOST_NEWER = 16
"""How many of the events that wait behind a turn it is shown at once."""


def claim(
    db: apsw.Connection, now: Now, conversation: Conversation, worker: str, ttl_s: float, pins: Pins
) -> Claim | Busy | Idle | NotYet | Damaged:
    if _is_held(db, now, conversation):
        return Busy()
    turn = _next_turn(db, now, conversation, pins)
    if turn is None:
        return _idle(db, conversation)
    try:
        event = read_event(db.execute(EVENT + " WHERE e.id = ?", (turn.event,)).get)
        steps = tuple(read_step(row) for row in db.execute(STEP + " WHERE s.turn = ? ORDER BY s.n", (turn.id,)))
    except JournalDamaged as damage:
        return _set_aside(db, now, turn, damage)
    attempts: int = db.execute("UPDATE turns SET attempts = attempts + 1 WHERE id = ? RETURNING attempts", (turn.id,)).get
    epoch: int = db.execute(
        "UPDATE conversations SET epoch = epoch + 1, holder = ?, boot = ?, lease_until = ? WHERE space = ? AND name = ? RETURNING epoch",
        (worker, now.boot, now.monotonic + ttl_s, conversation.space, conversation.name),
    ).get
    is_stopped = bool(db.execute("SELECT is_stopped FROM turns WHERE id = ?", (turn.id,)).get)
    now.holds[conversation] = Held(epoch, worker, turn.id, len(steps), attempts, is_stopped, may_have_waiting=True)
    return Claim(
        conversation=conversation, worker=worker, epoch=epoch, turn=turn, event=event, steps=steps,
        arrived=_arrived(db, now, conversation, turn.id), attempts=attempts,
        is_stopped=is_stopped,
    )  # fmt: skip


def _set_aside(db: apsw.Connection, now: Now, turn: Turn, damage: JournalDamaged) -> Damaged:
    db.execute("UPDATE turns SET state = 'failed', ending = 'failed', ended_at = ? WHERE id = ?", (micros(now.at), turn.id))
    db.execute("UPDATE events SET taken = ? WHERE turn = ? AND taken = ?", (LATE, turn.id, WAITING))
    db.execute(
        "UPDATE conversations SET epoch = epoch + 1, holder = NULL, lease_until = NULL WHERE space = ? AND name = ?",
        (turn.space, turn.conversation),
    )
    now.holds.pop(turn.where, None)
    outbox.abandon(db, now, turn)
    ledger.leave(db, now, turn.id)
    return Damaged(turn.id, str(damage))


def renew(db: apsw.Connection, now: Now, claim: Claim, ttl_s: float) -> Noticed:
    held = _held(db, now, claim)
    db.execute(
        "UPDATE conversations SET boot = ?, lease_until = ? WHERE space = ? AND name = ?",
        (now.boot, now.monotonic + ttl_s, claim.conversation.space, claim.conversation.name),
    )
    return _notice(db, now, claim, held)


def record(db: apsw.Connection, now: Now, claim: Claim, steps: Sequence[Written], blobs: Sequence[Blob]) -> Noticed:
    held = _held(db, now, claim)
    _append(db, now, claim, held, steps, blobs)
    return _notice(db, now, claim, held)


def finish(
    db: apsw.Connection, now: Now, claim: Claim, steps: Sequence[Written], rest: Ended | Parked, blobs: Sequence[Blob]
) -> More | Released:
    _append(db, now, claim, _held(db, now, claim), steps, blobs)
    if isinstance(rest, Ended):
        _end(db, now, claim, rest)
    else:
        _park(db, now, claim, rest.waits)
    conversation = claim.conversation
    db.execute(
        "UPDATE conversations SET holder = NULL, lease_until = NULL WHERE space = ? AND name = ?", (conversation.space, conversation.name)
    )
    now.holds.pop(conversation, None)
    return More() if has_work(db, conversation) else Released()


def has_work(db: apsw.Connection, conversation: Conversation) -> bool:
    where = (conversation.space, conversation.name)
    return bool(
        db.execute("SELECT 1 FROM events WHERE space = ? AND conversation = ? AND taken = 0 LIMIT 1", where).get
        or db.execute(
            """SELECT 1 FROM turns WHERE space = ? AND conversation = ? AND state IN ('running', 'parked')
               AND (state = 'running' OR is_stopped) LIMIT 1""",
            where,
        ).get
    )


def workable(db: apsw.Connection, now: Now, limit: int) -> tuple[Conversation, ...]:
    """Conversations with work that nobody holds: what was interrupted first, then what has waited longest."""
    rows = db.execute(
        """SELECT w.space, w.conversation FROM (
               SELECT space, conversation, MIN(first) AS first FROM (
                   SELECT space, conversation, pos AS first FROM events WHERE taken = 0
                   UNION ALL SELECT space, conversation, 0 FROM turns
                   WHERE state IN ('running', 'parked') AND (state = 'running' OR is_stopped))
               GROUP BY space, conversation) w
           JOIN conversations c ON c.space = w.space AND c.name = w.conversation
           WHERE c.holder IS NULL OR c.boot <> ? OR c.lease_until <= ? ORDER BY w.first LIMIT ?""",
        (now.boot, now.monotonic, limit),
    )
    return tuple(Conversation(space, name) for space, name in rows)


# -- claiming ----------------------------------------------------------------------------------------------------------


def _is_held(db: apsw.Connection, now: Now, conversation: Conversation) -> bool:
    return bool(
        db.execute(
            "SELECT 1 FROM conversations WHERE space = ? AND name = ? AND holder IS NOT NULL AND boot = ? AND lease_until > ?",
            (conversation.space, conversation.name, now.boot, now.monotonic),
        ).get
    )


def _next_turn(db: apsw.Connection, now: Now, conversation: Conversation, pins: Pins) -> Turn | None:
    where = (conversation.space, conversation.name)
    interrupted = db.execute(
        TURN + " WHERE space = ? AND conversation = ? AND state IN ('running', 'parked') AND (state = 'running' OR is_stopped) ORDER BY id",
        where,
    ).fetchone()
    if interrupted is not None:
        return _resume(db, read_turn(interrupted))
    waiting = f"e.space = ? AND e.conversation = ? AND e.taken = 0{' AND e.turn IS NOT NULL' if _keeps_place(db, where) else ''}"
    while (row := db.execute(f"{EVENT} WHERE {waiting} ORDER BY e.seq LIMIT 1", where).get) is not None:
        event = _readable(db, now, row)
        if event is None:
            continue
        if event.resolves is None and not _is_orphan(db, event):
            return _open_turn(db, now, event, pins)
        parked = db.execute(TURN + " WHERE id = ? AND state = 'parked'", (event.resolves.turn if event.resolves else None,)).get
        if parked is not None:
            return _resume(db, read_turn(parked))
        db.execute("UPDATE events SET taken = ? WHERE id = ?", (LATE, event.id))
    return None


def _keeps_place(db: apsw.Connection, where: tuple[str, str]) -> bool:
    """Does a turn here wait for a model? Then nothing that was said later overtakes it; what answers or times out its waits comes in."""
    return bool(
        db.execute(
            """SELECT 1 FROM turns t JOIN waits w ON w.turn = t.id AND w.kind = 'model'
               WHERE t.space = ? AND t.conversation = ? AND t.state IN ('running', 'parked') AND t.state = 'parked' LIMIT 1""",
            where,
        ).get
    )


def _is_orphan(db: apsw.Connection, event: Event) -> bool:
    """Work for a turn that was stopped, or gave up, before the work began."""
    if event.parent is None:
        return False
    ending = db.execute("SELECT ending FROM turns WHERE id = ?", (event.parent.turn,)).get
    return ending is not None and Ending(ending).stops_children


def _resume(db: apsw.Connection, turn: Turn) -> Turn:
    db.execute("DELETE FROM waits WHERE turn = ?", (turn.id,))
    db.execute("UPDATE turns SET state = 'running' WHERE id = ?", (turn.id,))
    return read_turn(db.execute(TURN + " WHERE id = ?", (turn.id,)).get)


def _open_turn(db: apsw.Connection, now: Now, event: Event, pins: Pins) -> Turn:
    new = TurnId(now.ids.new("t"))
    root, job, origin, origin_agent = new, event.job, event.conversation, event.agent
    if event.parent is not None:
        above = db.execute("SELECT root, job, origin, origin_agent FROM turns WHERE id = ?", (event.parent.turn,)).get
        root, job, origin, origin_agent = (event.parent.turn, job, origin, origin_agent) if above is None else above
    turn = Turn(
        id=new, conversation=event.conversation, space=event.space, event=event.id, principal=event.principal, agent=event.agent,
        root=TurnId(root),
        state=State.RUNNING, created_at=now.at, label=event.label, pins=pins, parent=event.parent, job=job,
        origin=origin, origin_agent=origin_agent,
    )  # fmt: skip
    put_turn(db, turn)
    db.execute("UPDATE events SET turn = ?, taken = ? WHERE id = ?", (turn.id, TAKEN, event.id))
    return turn


def _idle(db: apsw.Connection, conversation: Conversation) -> Idle | NotYet:
    until = db.execute("SELECT MIN(until) FROM waits WHERE space = ? AND conversation = ?", (conversation.space, conversation.name)).get
    return Idle() if until is None else NotYet(moment(until))


# -- writing -----------------------------------------------------------------------------------------------------------


def _held(db: apsw.Connection, now: Now, claim: Claim) -> Held:
    """Raises Fenced if somebody else holds the conversation."""
    held = now.holds.get(claim.conversation)
    if held is None or held.turn != claim.turn.id:
        held = now.holds[claim.conversation] = _read_held(db, claim)
    if (held.epoch, held.worker) != (claim.epoch, claim.worker):
        raise Fenced(f"conversation {claim.conversation} is held under another epoch than {claim.epoch}; this worker must stop")
    return held


def _read_held(db: apsw.Connection, claim: Claim) -> Held:
    epoch, worker, is_stopped, attempts, next_n = db.execute(
        """SELECT c.epoch, c.holder, t.is_stopped, t.attempts,
               COALESCE((SELECT n + 1 FROM steps WHERE turn = t.id ORDER BY n DESC LIMIT 1), 0)
           FROM conversations c, turns t WHERE c.space = ? AND c.name = ? AND t.id = ?""",
        (claim.conversation.space, claim.conversation.name, claim.turn.id),
    ).get
    return Held(epoch, worker, claim.turn.id, next_n, attempts, bool(is_stopped), may_have_waiting=True)


def _append(db: apsw.Connection, now: Now, claim: Claim, held: Held, steps: Sequence[Written], blobs: Sequence[Blob]) -> None:
    expected = held.next_n
    positions = {}
    for made in steps:
        step = made.step
        if step.n != expected:
            raise Fenced(f"step {step.ref} does not follow step {expected - 1}; another worker wrote this turn")
        expected += 1
        positions[step.n] = next(now.positions)
        put_step(db, positions[step.n], made)
        _apply(db, now, claim, step)
    if held.attempts and any(isinstance(made.step.body, PROGRESS) for made in steps):
        db.execute("UPDATE turns SET attempts = 0 WHERE id = ?", (claim.turn.id,))
        held.attempts = 0
    held.next_n = expected
    for blob in blobs:
        _put_rope(db, now, blob, _referrer(steps, positions, blob))
    for made in steps:
        quotes.note(db, positions[made.step.n], made.step.body)


def _referrer(steps: Sequence[Written], positions: dict[int, int], blob: Blob) -> int | None:
    for made in steps:
        match made.step.body:
            case Replied(request=request, logprobs=logprobs) if blob.hash in (request, logprobs):
                return positions[made.step.n]
            case ModelFailed(request=request) if blob.hash == request:
                return positions[made.step.n]
            case _:
                pass
    return next(iter(positions.values()), None)


def _put_rope(db: apsw.Connection, now: Now, blob: Blob, pos: int | None) -> None:
    at = micros(now.at)
    chunks = [packed(chunk) for chunk in blob.chunks]
    for i, chunk in enumerate(chunks):
        put_blob(db, chunk, None if i < blob.fixed else pos, at)
    whole = bytes.fromhex(blob.hash)
    put_blob(db, Packed(whole, ROPE, sum(map(len, blob.chunks)), b"".join(chunk.digest for chunk in chunks)), pos, at)
    if pos is not None:
        db.execute("INSERT OR IGNORE INTO blob_refs VALUES (?, ?)", (whole, pos))


def _apply(db: apsw.Connection, now: Now, claim: Claim, step: Step) -> None:
    match step.body:
        case Received(event=event):
            db.execute("UPDATE events SET taken = ?, turn = ? WHERE id = ?", (TAKEN, claim.turn.id, event))
        case Started(intent=origin, operations=operations):
            _operate(db, now, claim, step, origin, operations)
        case Happened(intent=origin, operations=operations):
            outbox.withdraw(db, now, claim.turn, origin)
            _operate(db, now, claim, step, origin, operations)
        case Asked(operations=operations):
            _operate(db, now, claim, step, step.n, operations)
        case Answered(question=question):
            outbox.withdraw(db, now, claim.turn, question)
        case Granted() as granted:
            grants.give(db, step, granted)
        case _:
            pass
    _charge(db, now, step)


def _charge(db: apsw.Connection, now: Now, step: Step) -> None:
    match step.body:
        case Reserved() as reserved:
            ledger.reserve(db, step, reserved)
        case Settled() as settled:
            ledger.settle(db, now, step, settled)
        case Short() as short:
            ledger.fell_short(db, now, step, short)
        case Raised() as raised:
            ledger.allow(db, now, step, raised)
        case Asked(question=question) if question.type == "money":
            pass
        case Replied() | ModelFailed() | Asked():
            ledger.went_on(db, now, step.turn)
        case _:
            pass


def _operate(db: apsw.Connection, now: Now, claim: Claim, step: Step, origin: int, operations: tuple[Operation, ...]) -> None:
    again = f"{step.n}." if isinstance(step.body, Started) and step.body.goes_on else ""  # one call may ask more than once
    for i, operation in enumerate(operations):
        if isinstance(operation, SetTimer | CancelTimer):
            timers.apply(db, claim.event, step, operation)
        elif isinstance(operation, Automate | Cease):
            automations.apply(db, step, operation)
        elif isinstance(operation, Send | Post):
            outbox.apply(db, now, claim.turn, step, f"{claim.turn.id}:{origin}:{again}{i}", operation)
        elif isinstance(operation, MakeHook):
            hooks.make(db, now, step.space, operation.hook, step.principal, step.label)
        # the others are read from the journal by whom they concern: memory, the kernel


def _notice(db: apsw.Connection, now: Now, claim: Claim, held: Held) -> Noticed:
    if not held.may_have_waiting:
        return Noticed(held.is_stopped)
    where = (claim.conversation.space, claim.conversation.name)
    newer = db.execute(
        EVENT + f" WHERE e.space = ? AND e.conversation = ? AND e.taken = 0 AND e.turn IS NULL ORDER BY e.seq LIMIT {MOST_NEWER}", where
    )
    noticed = Noticed(held.is_stopped, _arrived(db, now, claim.conversation, claim.turn.id), _all_readable(db, now, newer))
    held.may_have_waiting = bool(noticed.arrived or noticed.newer)
    return noticed


def _arrived(db: apsw.Connection, now: Now, conversation: Conversation, turn: TurnId) -> tuple[Event, ...]:
    rows = db.execute(
        EVENT + " WHERE e.space = ? AND e.conversation = ? AND e.taken = ? AND e.turn = ? ORDER BY e.seq",
        (conversation.space, conversation.name, WAITING, turn),
    )
    return _all_readable(db, now, rows)


def _all_readable(db: apsw.Connection, now: Now, rows: Iterable[Any]) -> tuple[Event, ...]:
    return tuple(event for row in list(rows) if (event := _readable(db, now, row)) is not None)


def _readable(db: apsw.Connection, now: Now, row: tuple[Any, ...]) -> Event | None:
    """The event, or None if its row is damaged: then it is laid with the dead letters, and the others go on."""
    try:
        return read_event(row)
    except JournalDamaged as damage:
        db.execute("UPDATE events SET taken = ? WHERE id = ?", (LATE, row[0]))
        bury(db, DeadLetter("journal", f"event {row[0]}: {damage}", row[-1] or b"", now.at))
        return None


# -- resting -----------------------------------------------------------------------------------------------------------


def _end(db: apsw.Connection, now: Now, claim: Claim, end: Ended) -> None:
    db.execute(
        "UPDATE turns SET state = ?, ending = ?, ended_at = ?, label = ? WHERE id = ?",
        (end.ending.state, end.ending, micros(now.at), write_label(end.label), claim.turn.id),
    )
    db.execute("UPDATE events SET taken = ? WHERE space = ? AND conversation = ? AND taken = 0 AND turn = ?",
               (LATE, claim.conversation.space, claim.conversation.name, claim.turn.id))  # fmt: skip
    outbox.withdraw(db, now, claim.turn)
    if end.reply and claim.event.reply_to is not None:
        outbox.say(db, now, claim.turn, claim.event.reply_to, end)
    outbox.tell(db, now, claim.turn, end)
    if claim.turn.reports:
        outbox.report(db, now, claim.turn, end)
    if end.ending.stops_children:
        outbox.stop_children(db, now, claim.turn)
    ledger.leave(db, now, claim.turn.id)


def _park(db: apsw.Connection, now: Now, claim: Claim, waits: Sequence[Wait]) -> None:
    db.execute("UPDATE turns SET state = 'parked' WHERE id = ?", (claim.turn.id,))
    for wait in waits:
        db.execute(
            "INSERT OR REPLACE INTO waits VALUES (?, ?, ?, ?, ?, ?)",
            (claim.turn.id, str(wait.step), wait.on, claim.conversation.space, claim.conversation.name,
             None if wait.until is None else micros(wait.until)),
        )  # fmt: skip
    ledger.look_again(db, now, claim.turn.id)
