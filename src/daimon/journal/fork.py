"""A fork: the same beginning, another end.

The new turn lives in a conversation of its own, so that it neither waits for nor disturbs the one it came from. Its steps are
copies; what it does from there on has keys of its own. It is left running and held by nobody: the next sweep finds it.
"""

from dataclasses import replace
from datetime import datetime
from itertools import count
from typing import Literal

import apsw

from daimon.abi.errors import Erased, NotFound
from daimon.abi.event import Erased as Tombstone
from daimon.abi.ids import StepRef, TurnId
from daimon.abi.ports import Ids
from daimon.abi.turn import State, Turn
from daimon.journal.archive import steps, turn
from daimon.journal.intake import next_seq
from daimon.journal.rows import put_step, put_turn, written


def fork(db: apsw.Connection, positions: "count[int]", ids: Ids, at: StepRef, effects: Literal["world", "record"], now: datetime) -> Turn:
    original = turn(db, at.turn)
    copied = [step for step in steps(db, at.turn) if step.n <= at.n]
    if len(copied) != at.n + 1:
        raise NotFound(f"turn {at.turn} has no step {at.n}; its last is {len(copied) - 1}")
    if any(isinstance(step.body, Tombstone) for step in copied):
        raise Erased(f"turn {at.turn} was erased; there is nothing left to fork")
    new = TurnId(ids.new("t"))
    forked = replace(
        original, id=new, conversation=f"fork/{new}", forked_from=at, effects=effects, parent=None, root=original.root,
        state=State.RUNNING, ending=None, ended_at=None, created_at=now,
    )  # fmt: skip
    next_seq(db, forked.where)
    put_turn(db, forked)
    for step in copied:
        put_step(db, next(positions), written(replace(step, turn=new)))
    return forked
