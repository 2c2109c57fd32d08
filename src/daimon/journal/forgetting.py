"""Forgetting a source: all that came from there, and all that was made of it.

Labels are joined along, so a label that names a source is on everything that its words went into: events, outcomes, replies, messages. A
source may also be one event, one step or one turn. The amendment that asks for it, the emptied rows and the entries that tell readers are
one transaction: after a crash all of it is there, or nothing.

It is refused while a turn that would lose something is not over, or one runs that may have it in its prompt: such a turn would go on with
what is gone, and write it down again. It does not know what models remember, nor who read what was sent.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import apsw

from daimon.abi.codec import encode
from daimon.abi.errors import BadInput, JournalDamaged
from daimon.abi.ids import Conversation, SpaceId, TurnId
from daimon.abi.label import UNLABELLED, Label
from daimon.abi.memory import Amendment, ForgetSource
from daimon.abi.message import Message
from daimon.abi.step import Asked, Happened, Replied, Started, Step
from daimon.abi.tool import Post, Send
from daimon.journal import amendments, erasure, hooks, outbox, prompts
from daimon.journal.now import Now
from daimon.journal.rows import EVENT, STEP, read_event, read_label, read_step

EVERY = -1
"""No limit to the turns whose prompts are looked through."""


def forget(db: apsw.Connection, now: Now, amendment: Amendment) -> int:
    """How many payloads went. None, if there is an amendment with this id."""
    sources = [operation.source for operation in amendment.operations if isinstance(operation, ForgetSource)]
    if not sources or not all(sources):
        raise BadInput(f"amendment {amendment.id} names no source to forget; its first operation must be one")
    if not amendments.put(db, now, amendment):
        return 0
    return sum(_Forgetting(db, now, amendment.space, source, amendment.reason or f"{source} was forgotten").run() for source in sources)


def foreseen(db: apsw.Connection, now: Now, space: SpaceId, source: str) -> int:
    """How many payloads would go. Changes nothing. Raises BadInput where forgetting would."""
    return _Forgetting(db, now, space, source, "").count()


@dataclass(frozen=True, slots=True)
class _Row:
    pos: int | None
    """None: it is only looked for in prompts."""
    ref: str
    """As event or step; empty for a message on its way out."""
    turn: TurnId
    """Empty, if no turn has taken it in."""
    conversation: str


@dataclass(frozen=True, slots=True)
class _Forgetting:
    db: apsw.Connection
    now: Now
    space: SpaceId
    source: str
    reason: str

    def run(self) -> int:
        turn = self._turn()
        if turn is not None:
            names = self._names(turn)
            erased = len(erasure.erase(self.db, self.now, turn, self.reason))
        else:
            rows, is_gone = self._one() or (self._labelled(), self._is_from_it)
            names = {row.ref for row in rows if row.ref}
            erased = self._empty(rows, is_gone)
        return erased + self._amendments(names | {self.source}) + hooks.forget(self.db, self.space, self.source)

    def count(self) -> int:
        turn = self._turn()
        if turn is not None:
            erasure.require_over(self.db, turn)
            names, whole = self._names(turn), erasure.count(self.db, turn)
        else:
            rows, _ = self._one() or (self._labelled(), self._is_from_it)
            self._require_over(rows, self._places(rows))
            names, whole = {row.ref for row in rows if row.ref}, sum(row.pos is not None for row in rows)
        gone = whole + hooks.count(self.db, self.space, self.source)
        return gone + len(amendments.lessened(self.db, self.space, self._is_from(names | {self.source})))

    def _turn(self) -> TurnId | None:
        found: TurnId | None = self.db.execute("SELECT id FROM turns WHERE id = ? AND space = ?", (self.source, self.space)).get
        return found

    def _one(self) -> "tuple[list[_Row], prompts.IsGone] | None":
        """The event or the step that the source is, with the copies that forks have of it."""
        if (row := self.db.execute(EVENT + " WHERE e.id = ? AND e.space = ?", (self.source, self.space)).get) is not None:
            where: Any = self.db.execute("SELECT pos, id, COALESCE(turn, ''), conversation FROM events WHERE id = ?", (self.source,)).get
            return [_Row(*where), *self._forked(where[2])], prompts.said_in(_readable(read_event, row))
        turn, _, n = self.source.rpartition(":")
        if (row := self.db.execute(STEP + " WHERE s.turn = ? AND s.n = ? AND s.space = ?", (turn, n, self.space)).get) is None:
            return None
        steps = tuple(_readable(read_step, row))
        return list(self._copies(TurnId(turn), int(n), steps)), prompts.said_in(steps)

    def _forked(self, turn: TurnId) -> Iterator[_Row]:
        """Forks of a turn have its event in their prompts, and no row for it."""
        for fork in erasure.forks(self.db, turn):
            conversation: Any = self.db.execute("SELECT conversation FROM turns WHERE id = ?", (fork,)).get
            yield _Row(None, "", fork, conversation)
            yield from self._forked(fork)

    def _copies(self, turn: TurnId, n: int, steps: tuple[Step, ...]) -> Iterator[_Row]:
        where: Any = self.db.execute(
            """SELECT s.pos, s.turn || ':' || s.n, s.turn, t.conversation FROM steps s JOIN turns t ON t.id = s.turn
               WHERE s.turn = ? AND s.n = ?""",
            (turn, n),
        ).get
        if where is None:
            return  # the fork left before it
        yield _Row(*where)
        for pos in outbox.saying(self.db, turn, {text for step in steps for text in _sent(step)}):
            yield _Row(pos, "", turn, where[3])
        for fork in erasure.forks(self.db, turn):
            yield from self._copies(fork, n, steps)

    def _labelled(self) -> list[_Row]:
        """Everything whose label names the source. SQLite only looks for its letters; what a label says is read."""
        needle = encode(str, self.source)
        is_unknown = _names(UNLABELLED, self.source)
        rows: list[Any] = self.db.execute(
            """SELECT w.pos, w.ref, w.turn, w.conversation, w.label FROM (
                   SELECT pos, id ref, COALESCE(turn, '') turn, conversation, label, space FROM events
                   UNION ALL SELECT s.pos, s.turn || ':' || s.n, s.turn, t.conversation, s.label, s.space
                             FROM steps s JOIN turns t ON t.id = s.turn
                   UNION ALL SELECT pos, '', turn, conversation, label, space FROM outbox) w
               JOIN payloads p USING (pos)
               WHERE w.space = ?1 AND (instr(w.label, ?2) OR (?3 AND (w.label IS NULL OR instr(w.label, ?4)))) AND p.body IS NOT NULL""",
            (self.space, needle, is_unknown, b'"origins":[]'),
        ).fetchall()
        return [_Row(*row) for *row, label in rows if _is_named(label, self.source)]

    def _is_from_it(self, message: Message) -> bool:
        return _names(message.label, self.source)

    def _empty(self, rows: list[_Row], is_gone: prompts.IsGone) -> int:
        places = self._places(rows)
        self._require_over(rows, places)
        erased = erasure.empty(self.db, self.now, [(row.pos, row.ref) for row in rows if row.pos is not None], self.reason)
        for conversation, first in places.items():
            prompts.empty(self.db, conversation, first, EVERY, is_gone)
        by_turn: dict[TurnId, list[str]] = {}
        for row in rows:
            if row.ref:
                by_turn.setdefault(row.turn, []).append(row.ref)
        for turn, only in by_turn.items():
            erasure.announce(self.db, self.now, turn, self.reason, only)
        return len(erased)

    def _places(self, rows: Iterable[_Row]) -> dict[Conversation, TurnId]:
        """Whose prompts may hold it: each conversation, from its first turn that has some of it."""
        places: dict[Conversation, TurnId] = {}
        for row in rows:
            where = Conversation(self.space, row.conversation)
            places[where] = min(places.get(where, row.turn), row.turn)
        return places

    def _require_over(self, rows: Iterable[_Row], places: dict[Conversation, TurnId]) -> None:
        for turn in sorted({row.turn for row in rows if row.turn}):
            if self.db.execute("SELECT 1 FROM turns WHERE id = ? AND ended_at IS NULL", (turn,)).get:
                raise BadInput(f"turn {turn} is not over and has words from {self.source}; stop it, or wait for its end, then forget")
        for conversation, first in places.items():
            erasure.require_quiet(self.db, conversation, first)

    def _names(self, turn: TurnId) -> set[str]:
        """Of the turn's events and steps, and of its forks'."""
        rows: list[Any] = self.db.execute(
            "SELECT id FROM events WHERE turn = ?1 UNION ALL SELECT turn || ':' || n FROM steps WHERE turn = ?1", (turn,)
        ).fetchall()
        return {name for (name,) in rows}.union(*(self._names(fork) for fork in erasure.forks(self.db, turn)))

    def _amendments(self, names: set[str]) -> int:
        gone, lessened = amendments.forget(self.db, self.now, self.space, self._is_from(names), self.reason)
        if gone:
            erasure.announce(self.db, self.now, TurnId(""), self.reason, gone)
        return lessened

    def _is_from(self, names: set[str]) -> amendments.IsFrom:
        return lambda name, label: name in names or _names(label, self.source)


def _names(label: Label, source: str) -> bool:
    return any(origin.source == source for origin in label.origins)


def _is_named(label: bytes | None, source: str) -> bool:
    """One that cannot be read, but holds the letters, counts as naming it."""
    try:
        return _names(read_label(label), source)
    except JournalDamaged:
        return True


def _readable(read: Callable[[tuple[Any, ...]], Any], row: tuple[Any, ...]) -> Iterator[Any]:
    """What cannot be read cannot be looked for elsewhere."""
    try:
        yield read(row)
    except JournalDamaged:
        return


def _sent(step: Step) -> Iterator[str]:
    """What it says or sends: it may stand in messages of its turn."""
    match step.body:
        case Replied(parts=parts):
            yield from prompts.texts(parts)
        case Happened(operations=operations) | Started(operations=operations) | Asked(operations=operations):
            for operation in operations:
                if isinstance(operation, Send | Post):
                    yield from prompts.texts(operation.parts)
        case _:
            pass
