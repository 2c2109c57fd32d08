"""What comes of a question: an answer, the end of its time, or somebody who may not answer.

An answer is an event that resolves the question's step. It counts once, while the question is open, and only from whom it concerns: whether
something may be done is for the owner to say, anything else also for whom the turn serves. Any other is recorded with the reason and
changes nothing. An outcome from outside is no answer. When the time is up, the first option, the safe one, is taken; where the question was
about money, the turn looks whether there is some by now.

A grant is written with the answer that gives it, in the same commit.
"""

from dataclasses import replace

from pydantic import JsonValue

from daimon.abi.event import Answer, Event, Fired, Late
from daimon.abi.ids import OWNER, StepRef
from daimon.abi.label import Label
from daimon.abi.step import Answered, Asked, Granted, Happened, Raised, Started
from daimon.abi.tool import Question, Word
from daimon.kernel import asking, budget, dispatch, offers, verdict, wall
from daimon.kernel.log import Log
from daimon.kernel.permission import GRANT, YES
from daimon.kernel.verdict import Verdict


def resolve(log: Log, event: Event) -> None:
    """Takes in an event that answers one of this turn's waiting steps."""
    assert event.resolves is not None
    n, event = event.resolves.n, wall.answer(log, event)
    ignored = _objection(log, n, event)
    log.receive(event, n, ignored)
    if ignored:
        return
    if (asked := log.progress.question(n)) is not None:
        _answer(log, n, asked, event)
    elif (started := log.progress.started(n)) is not None and started.goes_on:
        log.progress.words[n] = _word(started, event)
    elif started is not None:
        outcome = replace(_outcome(log, n, started, event), hold=started.hold)
        log.add(outcome, event.label if started.expects is None else log.progress.label.joined(outcome.result.label))


def _objection(log: Log, n: int, event: Event) -> str:
    """Why this changes nothing; empty if it counts."""
    asked, started = log.progress.question(n), log.progress.started(n)
    question = asked.question if asked is not None else None if started is None else started.question
    if log.progress.is_settled(n) or log.progress.resumed(n) is not None:
        return "it was settled before"
    if isinstance(event.body, Answer) and question is None:
        return "nothing was asked there"
    if isinstance(event.body, Late) and (question is not None or started is None):
        return "an outcome from outside is no answer" if question is not None else "nothing was started there"
    if isinstance(event.body, Answer) and question is not None and event.principal not in _answerers(log, n, question):
        return f"{event.principal} may not answer this"
    return ""


def _answerers(log: Log, n: int, question: Question) -> tuple[str, ...]:
    is_owners = question.type in asking.OWNERS or asking.is_of_house(log, n)
    return (OWNER,) if is_owners else (OWNER, log.claim.turn.principal)


def _answer(log: Log, n: int, asked: Asked, event: Event) -> None:
    choice, text = _said(asked.question, event)
    match asked.question.type:
        case "money":
            _answer_on_money(log, n, choice, text, event)
        case "authorise" if isinstance(event.body, Answer):
            _permit(log, n, asked, verdict.read(asked.question, choice, text, asking.ground(log).today), text, event)
        case _:
            log.add(_answered(n, choice, text, event), event.label)
            _refuse(log, asked, (), choice, text, event)


def _answer_on_money(log: Log, n: int, choice: str, text: str, event: Event) -> None:
    if choice == budget.WAIT and isinstance(event.body, Answer):
        return  # it waits already, and may still be answered otherwise
    short = log.progress.short
    more = budget.raise_by(short, text) if short is not None and choice == budget.RAISE else None
    if choice == budget.RAISE and more is None:
        log.add(Answered(n, budget.WAIT, f"{text!r} is not an amount such as 5 or 2.50", event.principal, None), event.label)
        return  # it looks again, and asks again
    log.add(_answered(n, choice, text, event), event.label)
    if short is not None and more is not None:
        log.add(Raised(short.account.scope, short.account.key, more, event.principal), event.label)


def _permit(log: Log, n: int, asked: Asked, said: Verdict, text: str, event: Event) -> None:
    only = tuple(asked.calls[i - 1] for i in said.only)
    told = f"{text} ({said.fault})".strip() if said.fault else text
    log.add(Answered(n, said.choice, told, event.principal, event.id, only), event.label)
    if said.choice == GRANT and log.claim.turn.effects == "world":
        chosen = (offer.grant for offer in verdict.offers_in(asked.question) if not said.only or offer.call in said.only)
        for offered in dict.fromkeys(chosen):  # two calls alike need one grant
            id_ = str(StepRef(log.claim.turn.id, log.progress.next_n))
            log.add(Granted(n, offers.given(offered, id_, event.principal, said.until, asking.ground(log))), event.label)
    _refuse(log, asked, only, said.choice, told, event)


def _refuse(log: Log, asked: Asked, only: tuple[int, ...], choice: str, text: str, event: Event) -> None:
    """Calls in question that were not allowed get their outcome."""
    for n in asked.calls:
        intended = log.progress.intent(n)
        if intended is None or log.progress.is_settled(n) or (choice in YES and (not only or n in only)):
            continue
        if choice == "done":
            told: JsonValue = {"outcome": "it happened", "told_by": event.principal, "note": text}
            log.add(dispatch.answered(n, intended, told, event.label))
        elif asked.question.type == "outcome":
            message = "nobody knows whether it took effect; do not repeat it"
            log.add(dispatch.refused(n, intended, "unknown_outcome", message))
        else:
            no = f"the owner allowed others, not this: {choice} {text}" if only else f"the owner said: {choice}. {text}"
            log.add(dispatch.refused(n, intended, "denied", no))


def _outcome(log: Log, n: int, started: Started, event: Event) -> Happened:
    intended = log.progress.intent(n)
    assert intended is not None
    match event.body:
        case Late() as late if started.expects is not None:
            return dispatch.examined(n, intended, started.expects, late, event.label)
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


def _word(started: Started, event: Event) -> Word:
    match event.body:
        case Answer() if started.question is not None:
            return Word(*_said(started.question, event))
        case Late(data={"text": str(text)}, is_error=False):
            return Word("", text)
        case _:
            return Word("", is_expired=True)


def _authors(log: Log, started: Started, event: Event) -> dict[str, Label]:
    """Options are the agent's words, and so of all that it has read; a person's pick of one does not make them the person's own."""
    has_options = started.question is not None and bool(started.question.options)
    return {"": event.label, "/choice": event.label.joined(log.progress.label)} if has_options else {}


def _answered(n: int, choice: str, text: str, event: Event) -> Answered:
    return Answered(n, choice, text, event.principal, None if isinstance(event.body, Fired) else event.id)


def _said(question: Question, event: Event) -> tuple[str, str]:
    if not isinstance(event.body, Answer) and question.type == "money":
        return budget.WAIT, "there may be room now"
    if not isinstance(event.body, Answer):
        return (question.options[0] if question.options else ""), "nobody answered in time"
    choice = event.body.choice.strip()
    first, _, rest = choice.partition(" ")
    for said, besides in ((choice, ""), (first, rest.strip())):
        known = next((option for option in question.options if option.casefold() == said.casefold()), None)
        if known is not None:
            return known, " ".join(filter(None, [besides, event.body.text]))
    return (question.options[0] if question.options else choice), event.body.text or choice
