"""The receipt of an item: where its words stand in the journal, what it took the place of, what took its place.

The words are read from the journal at the moment of the question, so that what was erased there is not shown here. Of what was deleted for
good there is no item any more, but its source still tells when and why.
"""

from dataclasses import replace
from typing import Protocol

from daimon.abi.curator import Account, Origin
from daimon.abi.errors import NotFound
from daimon.abi.event import Erased, Event
from daimon.abi.ids import HOME_SPACE, OWNER, EventId, StepRef, TurnId
from daimon.abi.memory import Amendment, Import, Learn, Put, Remember
from daimon.abi.ports import Archive
from daimon.abi.step import Happened, Replied, Step, StepBody
from daimon.memory import reading, transcript
from daimon.memory.store import MemoryStore

MOST_SHOWN = 1_000


class Told(Archive, Protocol):
    async def amendment(self, id_: str) -> Amendment: ...


async def account(store: MemoryStore, record: Told, id_: str) -> Account:
    """Raises NotFound if memory never had it."""
    try:
        item = await store.item(HOME_SPACE, OWNER, id_)
    except NotFound:
        source = await store.run(lambda connection: reading.source_of_deleted(connection, HOME_SPACE, OWNER, id_))
        return Account(id=id_, item=None, origin=await _origin(record, source, None, id_))
    family = await store.history(HOME_SPACE, OWNER, id_)
    others = [each for each in family if each.id != item.id]
    return Account(
        id=item.id,
        item=item,
        origin=await _origin(record, item.source, item.span, item.id),
        replaced=tuple(each for each in others if each.id in item.supersedes or each.ended_by == item.source),
        replaced_by=tuple(each for each in others if item.id in each.supersedes or (item.ended_by and each.source == item.ended_by)),
    )


async def _origin(record: Told, source: str, span: tuple[int, int] | None, item: str) -> Origin | None:
    for read in (_of_step, _of_event, _of_amendment):
        found = await read(record, source, span, item)
        if found is not None:
            return found
    return None


async def _of_event(record: Told, source: str, span: tuple[int, int] | None, item: str) -> Origin | None:
    try:
        event = await record.event(EventId(source))
        turn = await record.turn_of(event.id)
    except NotFound:
        return None
    return _marked(event, Origin(
        ref=source, what="event", at=event.occurred_at, conversation=event.conversation, speaker=transcript.speaker_of(event),
        turn="" if turn is None else turn.id, text=_quoted(transcript.said(event), span),
    ))  # fmt: skip


async def _of_step(record: Told, source: str, span: tuple[int, int] | None, item: str) -> Origin | None:
    try:
        ref = StepRef.parse(source)
        turn = await record.turn(TurnId(ref.turn))
        step = next(each for each in await record.steps(turn.id) if each.n == ref.n)
        asked = transcript.said(await record.event(turn.event))
    except (ValueError, NotFound, StopIteration):
        return None
    return _marked(step, Origin(
        ref=source, what="step", at=step.at, conversation=turn.conversation, speaker=step.agent, turn=turn.id,
        text=_quoted(_said(step.body), span), asked=asked[:MOST_SHOWN],
    ))  # fmt: skip


async def _of_amendment(record: Told, source: str, span: tuple[int, int] | None, item: str) -> Origin | None:
    try:
        amendment = await record.amendment(source)
    except NotFound:
        return None
    gone = "" if amendment.operations else "its source was forgotten"
    return Origin(
        ref=source, what="amendment", at=amendment.at, speaker=amendment.principal, text=_amended(amendment, item)[:MOST_SHOWN], erased=gone
    )


def _marked(of: Event | Step, origin: Origin) -> Origin:
    return replace(origin, erased=of.body.reason, erased_at=of.body.at) if isinstance(of.body, Erased) else origin


def _quoted(text: str, span: tuple[int, int] | None) -> str:
    return (text if span is None else text[span[0] : span[1]])[:MOST_SHOWN]


def _said(body: StepBody) -> str:
    match body:
        case Replied(parts=parts):
            return transcript.worded(parts)
        case Happened(result=result):
            return f"the outcome of {result.tool}"
        case _:
            return ""


def _amended(amendment: Amendment, item: str) -> str:
    """What it says of this item."""
    for operation in amendment.operations:
        match operation:
            case Remember(text=text, note=id_) | Learn(statement=text, fact=id_) if id_ == item:
                return text
            case Put(key=key) if item == f"value:{key}":
                return key
            case Import(items=items):
                return next((each.text for each in items if each.id == item), "")
            case _:
                pass
    return ""
