"""Questions to people: asked, and told to whom they concern.

A question is recorded, goes out through the outbox, and the turn parks. In quiet hours it is recorded all the same and its message waits
for their end; a question about money does not wait, because a task that is under way stands still until it is answered. What an answer does
stands in `answering.py`; when the time is up, the first option, the safe one, is taken.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from daimon.abi.event import Asks
from daimon.abi.ids import OWNER, StepRef
from daimon.abi.label import Label
from daimon.abi.message import Text
from daimon.abi.people import serves_owner
from daimon.abi.step import Asked, Started
from daimon.abi.tool import ArgumentRole, Question, Send
from daimon.kernel import permission
from daimon.kernel.log import Log
from daimon.kernel.offers import Ground, Wanted
from daimon.kernel.wall import OWNERS_DESK, may_be_told

OWNERS = frozenset({"authorise", "plan", "outcome", "money", "undo"})
"""What only the owner may answer: whether something may be done."""
PATIENCE = "I have to wait before I can go on: I have done as much as I may for now. I answer as soon as I may again."
TIMED = frozenset({"authorise", "plan"})
"""What nobody waits for longer than `asking.timeout_h`."""


def ask(log: Log, question: Question, calls: Sequence[int] = (), label: Label | None = None) -> None:
    """`calls` are the intents in question, in the order in which it counts them."""
    silent_until = _silent_until(log, question)
    question = _timed(log, question, silent_until)
    told = (_send(log, question, log.progress.next_n, silent_until),) if _is_told(log, question, silent_until) else ()
    sends = (*told, *_courtesy(log, question)) if told else ()
    log.add(Asked(question, calls[0] if calls else None, sends, tuple(calls[1:])), label)


def permit(log: Log, wanted: Sequence[Wanted], label: Label) -> None:
    """May these calls be made? One question for all of them. The label is that of all that it shows."""
    ask(log, permission.question(wanted, ground(log)), [call.n for call in wanted], label)


def wait_for_second_thoughts(log: Log, call: Wanted) -> bool:
    """Asks once whether an allowed call that reaches somebody is to be stopped. False: it may run at once."""
    undo = log.desk.manner.undo
    is_held = bool(undo) and call.manifest.is_consequential and bool(call.of(ArgumentRole.DESTINATION))
    if not is_held or log.claim.turn.effects == "record" or call.n in log.progress.rerun or log.progress.had_second_thoughts(call.n):
        return False
    ask(log, replace(permission.second_thought(call, undo.total_seconds()), expires_at=log.now() + undo), [call.n])
    return True


def announce(log: Log, started: Started) -> Started:
    """A started call that asks a person: the question goes out with it."""
    if started.question is None:
        return started
    silent_until = _silent_until(log, started.question)
    question = started.question if started.until is not None else _timed(log, started.question, silent_until)
    send = _send(log, question, started.intent, silent_until)
    return replace(started, question=question, operations=(*started.operations, send))


def ground(log: Log) -> Ground:
    return Ground(log.progress.agent, log.claim.turn.job, log.now(), log.desk.manner.zone)


def _timed(log: Log, question: Question, silent_until: datetime | None) -> Question:
    """Its time begins when it is told."""
    if question.type not in TIMED or question.expires_at is not None:
        return question
    return replace(question, expires_at=(silent_until or log.now()) + log.desk.manner.timeout)


def _silent_until(log: Log, question: Question) -> datetime | None:
    return None if question.type == "money" else log.desk.manner.silent_until(log.now())


def _is_told(log: Log, question: Question, silent_until: datetime | None) -> bool:
    """A fork speaks to nobody. Nobody is woken for second thoughts, and after the night it is too late for them."""
    return log.claim.turn.effects == "world" and not (question.type == "undo" and silent_until is not None)


def _send(log: Log, question: Question, n: int, not_before: datetime | None) -> Send:
    ref = StepRef(log.claim.turn.id, n)
    to = OWNERS_DESK if _is_for_owner(log, question, n) or not may_be_told(log) else log.claim.event.reply_to
    return Send(to or OWNERS_DESK, (Text(question.text),), not_before, Asks(ref, question.options))


def _courtesy(log: Log, question: Question) -> tuple[Send, ...]:
    """Whom the turn serves hears once that it has to wait for money; how much and why is the owner's business."""
    to, is_asked = log.claim.event.reply_to, any(asked.question.type == "money" for asked in log.progress.questions)
    if question.type != "money" or to is None or is_asked or serves_owner(log.claim.turn.principal):
        return ()
    return (Send(to, (Text(PATIENCE),)),)


def _is_for_owner(log: Log, question: Question, n: int) -> bool:
    if question.type in OWNERS:
        return log.claim.turn.principal != OWNER
    return is_of_house(log, n)


def is_of_house(log: Log, n: int) -> bool:
    """Is it about whether a turn for somebody else may go on? That costs the owner, who is then asked. What a tool asks has an intent."""
    return log.progress.intent(n) is None and not serves_owner(log.claim.turn.principal)
