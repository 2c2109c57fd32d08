"""The last wall: what a turn says, or asks, reaches nobody who may not read what it was made of.

A reply carries the label of all that the model had before it. Where whom the turn serves may not read that, the reply stays: they get a
line that says nothing, and the owner is told. The same goes for a question to them. It cannot be talked over: labels decide, not text.

The owner opens it with a yes: what comes of a call that they allowed in somebody's turn may be told to whom the turn serves.
"""

from dataclasses import replace

from daimon.abi.event import Address, Answer, Event
from daimon.abi.ids import OWNER
from daimon.abi.label import Label
from daimon.abi.message import Text
from daimon.abi.people import may_read, serves_owner
from daimon.abi.ports import Ended
from daimon.abi.step import Happened
from daimon.abi.tool import Send
from daimon.kernel.log import Log

OWNERS_DESK = Address("local", "owner")
"""Where questions go when nobody's words caused the turn, and what only the owner may know."""
WITHHELD = "I must not answer that here."


def ended(log: Log, end: Ended) -> Ended:
    whom = log.claim.turn.principal
    if not end.reply or log.claim.event.reply_to is None or may_read(whom, end.label):
        return end
    turn = log.claim.turn.id
    why = f"I did not send my answer to {whom}: it may hold what only you may read. `daimon trace {turn}` shows it."
    return replace(end, reply=(Text(WITHHELD),), told=(Send(OWNERS_DESK, (Text(why),)),))


def may_be_told(log: Log) -> bool:
    """May what was made of all that is in this turn go to whom it serves?"""
    return may_read(log.claim.turn.principal, log.progress.label)


def opened(log: Log, outcome: Happened) -> Happened:
    """The outcome, readable for whom the turn serves where the owner said yes to the call."""
    if serves_owner(log.claim.turn.principal) or not log.progress.is_asked_for(outcome.intent):
        return outcome
    labels = {place: _shared(log, label) for place, label in outcome.result.labels.items()}
    return replace(outcome, result=replace(outcome.result, label=_shared(log, outcome.result.label), labels=labels))


def answer(log: Log, event: Event) -> Event:
    """What the owner answers in a turn for somebody else is said to them as well."""
    is_owners = event.principal == OWNER and isinstance(event.body, Answer) and not serves_owner(log.claim.turn.principal)
    return replace(event, label=_shared(log, event.label)) if is_owners else event


def _shared(log: Log, label: Label) -> Label:
    return label if label.readers is None else Label.of(*label.origins, readers=(*label.readers, log.claim.turn.principal))
