"""From a change of the journal to rows, in the order of the journal. All of it runs inside one transaction of the caller.

Pure in what matters: the same changes give the same rows, whatever the size of the batches. Every act can be repeated without harm as
far as rows have ids; that a change is not counted twice is the cursor's business. Steps that a fork copied are not looked at again: what
they say was said in the turn that they were copied from.
"""

from collections.abc import Callable, Sequence
from typing import TypeGuard

import apsw

from daimon.abi.event import Erased, Event
from daimon.abi.ids import SUMMARIZER, TurnId
from daimon.abi.memory import (
    AmendedBy,
    Amendment,
    Forget,
    ForgetSource,
    Import,
    Learn,
    Put,
    Relate,
    Remember,
    Rewind,
    Summarise,
    Unrelate,
)
from daimon.abi.ports import Change, Erasure
from daimon.abi.step import Asked, Complete, ContextRef, Decided, Happened, Received, Replied, Started, Step, StepBody
from daimon.abi.tool import Operation
from daimon.abi.turn import Turn
from daimon.memory import episodes, exchange, facts, forgetting, index, notes, rewind, rules, transcript, uses, values
from daimon.memory.graph import rows as graph
from daimon.memory.receipt import Receipt

Turns = Callable[[TurnId], Turn | None]
"""What a step does not say itself: the conversation of its turn, its event, and what it was forked from."""


def apply(connection: apsw.Connection, changes: Sequence[Change], turns: Turns) -> bool:
    """Whether something was deleted for good, so that the log must be emptied."""
    deletes = [change.item for change in changes if is_deletion(change.item)]
    for change in changes:
        match change.item:
            case Event():
                _hear(connection, change.item)
            case Step():
                _follow(connection, change.item, turns)
            case Erasure():
                forgetting.erase(connection, change.item, turns)
            case Amendment():
                _amend(connection, change.item)
    if deletes:
        index.rewrite(connection)
    return bool(deletes)


def _hear(connection: apsw.Connection, event: Event) -> None:
    transcript.hear(connection, event)
    for operation in rules.found(event):
        _operate(connection, transcript.receipt_of(event), operation, event.conversation)


def _follow(connection: apsw.Connection, step: Step, turns: Turns) -> None:
    turn = turns(step.turn)
    if isinstance(step.body, Erased):
        episodes.lose(connection, step.turn, step.n)
    episodes.note(connection, step.turn, step.n, step.body)
    if turn is not None and step.n == 0:
        transcript.belongs(connection, turn.event, step.turn)
    if turn is not None and turn.forked_from is not None and step.n <= turn.forked_from.n:
        return
    receipt = Receipt(step.space, step.principal, str(step.ref), step.turn, step.label, step.at)
    conversation = "" if turn is None else turn.conversation
    match step.body:
        case Received(event=event):
            transcript.belongs(connection, event, step.turn)
        case Replied(parts=parts, context=context) if step.agent == SUMMARIZER:
            _summarise(connection, receipt, Summarise(_quoted(context), transcript.worded(parts)), conversation)
        case Replied() as body:
            transcript.reply(connection, receipt, step, body, conversation)
            uses.count(connection, receipt, body.context, step.at)
        case Decided(decision=Complete() as decision):
            episodes.close(connection, receipt, turn, decision)
        case _:
            pass
    for operation in _operations(step.body):
        _operate(connection, receipt, operation, conversation)


def _summarise(connection: apsw.Connection, receipt: Receipt, operation: Summarise, conversation: str) -> None:
    """What a summarizer says is a summary of the turns that it had before it, and no part of any conversation."""
    if operation.turns and operation.text.strip():
        _operate(connection, receipt, operation, conversation)


def _quoted(context: Sequence[ContextRef]) -> tuple[str, ...]:
    return tuple(ref.ref for ref in context if ref.what == "quote")


def _amend(connection: apsw.Connection, amendment: Amendment) -> None:
    receipt = Receipt(amendment.space, amendment.principal, amendment.id, "", amendment.label, amendment.at)
    for operation in amendment.operations:
        match operation:
            case ForgetSource():
                forgetting.forget_source(connection, operation)
            case Rewind(to=to):
                rewind.rewind(connection, receipt, to)
            case Import():
                exchange.take_in(connection, receipt, operation)
            case _:
                _operate(connection, receipt, operation, "")


def _operate(connection: apsw.Connection, receipt: Receipt, operation: Operation | AmendedBy, conversation: str) -> None:
    match operation:
        case Remember():
            notes.remember(connection, receipt, operation)
        case Forget():
            notes.forget(connection, receipt, operation)
        case Learn():
            facts.learn(connection, receipt, operation)
        case Put():
            values.put(connection, receipt, operation)
        case Relate():
            graph.relate(connection, receipt, operation)
        case Unrelate():
            graph.unrelate(connection, receipt, operation)
        case Summarise():
            transcript.summarise(connection, receipt, operation, conversation)
        case _:
            pass


def _operations(body: StepBody) -> tuple[Operation, ...]:
    """Of outcomes, only those that went well count."""
    match body:
        case Happened(code="") | Started() | Asked():
            return body.operations
        case _:
            return ()


def is_deletion(item: Event | Step | Erasure | Amendment) -> TypeGuard[Erasure | Amendment]:
    match item:
        case Erasure():
            return True
        case Amendment(operations=operations):
            return any(isinstance(operation, ForgetSource) for operation in operations)
        case _:
            return False
