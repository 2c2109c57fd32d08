"""Questions to people: asked, answered, expired, ignored.

A question goes out through the outbox and the turn parks. An answer is an event that resolves the question's step. It counts
once, and only from the owner or from whom the turn serves (about money, from the owner alone); any other is recorded as received
and changes nothing. When the time is up, the first option, the safe one, is taken; where the question was about money, the turn
looks whether there is some by now.
"""

from pydantic import JsonValue

from daimon.abi.event import Address, Answer, Event, Fired, Late
from daimon.abi.ids import OWNER, StepRef
from daimon.abi.label import Label
from daimon.abi.message import Text
from daimon.abi.step import Answered, Asked, Happened, Raised, Started
from daimon.abi.tool import Question, Send
from daimon.kernel import budget, dispatch
from daimon.kernel.budget import ALLOW
from daimon.kernel.log import Log

OWNERS_DESK = Address("local", "owner")
"""Where questions go when nobody's words caused the turn."""


def ask(log: Log, question: Question, about: int | None = None) -> None:
    sends = (_send(log, question, log.progress.next_n),) if log.claim.turn.effects == "world" else ()
    log.add(Asked(question, about, sends))


def announce(log: Log, started: Started) -> Started:
    """A started call that asks a person: the question goes out with it."""
    if started.question is None:
        return started
    send = _send(log, started.question, started.intent)
    return Started(started.intent, started.handle, started.question, started.until, (*started.operations, send))


def resolve(log: Log, event: Event) -> None:
    """Takes in an event that answers one of this turn's waiting steps."""
    assert event.resolves is not None
    n = event.resolves.n
    log.receive(event, resolves=n)
    if log.progress.is_settled(n) or not _may_answer(log, event, log.progress.question(n)):
        return
    if (asked := log.progress.question(n)) is not None:
        _answer(log, n, asked, event)
    elif (started := log.progress.started(n)) is not None:
        log.add(_outcome(log, n, started, event), event.label)


def _answer(log: Log, n: int, asked: Asked, event: Event) -> None:
    choice, text = _said(asked.question, event)
    if asked.question.type == "money" and choice == budget.WAIT and isinstance(event.body, Answer):
        return  # it waits already, and may still be answered otherwise
    short = log.progress.short
    more = budget.raise_by(short, text) if short is not None and asked.question.type == "money" and choice == budget.RAISE else None
    if asked.question.type == "money" and choice == budget.RAISE and more is None:
        log.add(Answered(n, budget.WAIT, f"{text!r} is not an amount such as 5 or 2.50", event.principal, None), event.label)
        return  # it looks again, and asks again
    log.add(Answered(n, choice, text, event.principal, None if isinstance(event.body, Fired) else event.id), event.label)
    if short is not None and more is not None:
        log.add(Raised(short.account.scope, short.account.key, more, event.principal), event.label)
    intended = None if asked.about is None else log.progress.intent(asked.about)
    if asked.about is None or intended is None or choice == ALLOW:
        return
    if choice == "done":
        log.add(dispatch.answered(asked.about, intended, {"outcome": "it happened", "told_by": event.principal, "note": text}, event.label))
    else:
        code = "unknown_outcome" if asked.question.type == "outcome" else "denied"
        message = (
            "nobody knows whether it took effect; do not repeat it" if code == "unknown_outcome" else f"the owner said: {choice}. {text}"
        )
        log.add(dispatch.refused(asked.about, intended, code, message))


def _outcome(log: Log, n: int, started: Started, event: Event) -> Happened:
    intended = log.progress.intent(n)
    assert intended is not None
    match event.body:
        case Late(data=data, is_error=is_error):
            return dispatch.answered(n, intended, data, event.label, is_error)
        case Answer() if started.question is not None:
            choice, text = _said(started.question, event)
            return dispatch.answered(n, intended, {"choice": choice, "text": text}, event.label, labels=_authors(log, started, event))
        case _ if started.question is not None and started.question.options:
            taken: JsonValue = {"choice": started.question.options[0], "text": "", "expired": True}
            return dispatch.answered(n, intended, taken, event.label, labels=_authors(log, started, event))
        case _:
            return dispatch.refused(n, intended, "expired", "nothing was heard in time")


def _authors(log: Log, started: Started, event: Event) -> dict[str, Label]:
    """Options are the agent's words, and so of all that it has read; a person's pick of one does not make them the person's own."""
    has_options = started.question is not None and bool(started.question.options)
    return {"": event.label, "/choice": event.label.joined(log.progress.label)} if has_options else {}


def _said(question: Question, event: Event) -> tuple[str, str]:
    if not isinstance(event.body, Answer) and question.type == "money":
        return budget.WAIT, "there may be room now"
    if not isinstance(event.body, Answer):
        return (question.options[0] if question.options else ""), "nobody answered in time"
    choice = event.body.choice.strip()
    first, _, rest = choice.partition(" ")
    for said, besides in ((choice, ""), (first, rest)):
        known = next((option for option in question.options if option.casefold() == said.casefold()), None)
        if known is not None:
            return known, event.body.text or besides.strip()
    return (question.options[0] if question.options else choice), event.body.text or choice


def _may_answer(log: Log, event: Event, asked: Asked | None) -> bool:
    """The owner, or whom the turn serves; about money, the owner alone."""
    is_about_money = asked is not None and asked.question.type == "money"
    return not isinstance(event.body, Answer) or event.principal in ((OWNER,) if is_about_money else (OWNER, log.claim.turn.principal))


def _send(log: Log, question: Question, n: int) -> Send:
    ref = StepRef(log.claim.turn.id, n)
    options = f" [{' / '.join(question.options)}]" if question.options else ""
    text = f"{question.text}{options}\n(answer with: daimon answer {ref} …)"
    to_owner = question.type == "money" and log.claim.turn.principal != OWNER
    return Send(OWNERS_DESK if to_owner else log.claim.event.reply_to or OWNERS_DESK, (Text(text),))
