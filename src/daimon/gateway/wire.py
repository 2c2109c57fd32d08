"""JSON from outside to an Event, checked at the door.

One schema for the HTTP API and for `daimon inject`. Unknown keys, wrong types, broken text and absurd nesting raise
`BadInput` with the place and the reason. Whoever sends through the owner's socket or with the owner's token speaks as the
owner, so words are labelled as the owner's; what a webhook carries is a stranger's.

    {"type": "message", "text": "hello", "conversation": "main"}
    {"type": "message", "text": "look", "parts": [{"kind": "image", "blob": HASH, "media_type": "image/png"}]}
    {"type": "message", "text": "no, the other one", "steer": true}
    {"type": "heartbeat", "job": "read-feed"}
    {"type": "webhook", "service": "github", "data": {…}}
    {"type": "answer", "to": "TURN:STEP", "choice": "allow"}
"""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue, StringConstraints, TypeAdapter, ValidationError

from daimon.abi.errors import BadInput, TooLarge
from daimon.abi.event import INTERNAL, Address, Answer, Body, Event, FromAgent, Heartbeat, Late, Said, Stop, Webhook
from daimon.abi.ids import OWNER, AgentId, EventId, Key, PrincipalId, StepRef, TurnId
from daimon.abi.label import Author, Label, Origin, owned
from daimon.abi.message import Content, Text
from daimon.abi.plain import fault
from daimon.abi.ports import Clock, Ids

Name = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
MOST_PLACES_SHOWN = 3
RESERVED = frozenset({INTERNAL, "timer", "timeout"})
"""Sources of events that the journal makes itself."""


class _Common(BaseModel):
    model_config = ConfigDict(extra="forbid")

    conversation: Name = "main"
    source: Name = "inject"
    key: Name | None = None
    """The same key from the same source is the same event. Left out, every event is new."""
    at: AwareDatetime | None = None
    reply_to: Address | None = None


class MessageIn(_Common):
    type: Literal["message"]
    text: str | None = None
    parts: tuple[Content, ...] = ()
    steer: bool = False
    """The turn that runs takes it in, as soon as it looks up. If none runs, it is a message like others."""


class HeartbeatIn(_Common):
    type: Literal["heartbeat"]
    job: Name
    data: JsonValue = None


class WebhookIn(_Common):
    type: Literal["webhook"]
    service: Name
    data: JsonValue
    headers: dict[str, str] = Field(default_factory=dict)


class AgentIn(_Common):
    type: Literal["agent"]
    agent: Name
    text: str


class AnswerIn(_Common):
    type: Literal["answer"]
    to: str
    choice: str
    text: str = ""


class OutcomeIn(_Common):
    type: Literal["outcome"]
    to: str
    data: JsonValue
    is_error: bool = False


class StopIn(_Common):
    type: Literal["stop"]
    turn: Name
    reason: str = ""


EventIn = Annotated[
    MessageIn | HeartbeatIn | WebhookIn | AgentIn | AnswerIn | OutcomeIn | StopIn,
    Field(discriminator="type"),
]
_ADAPTER: TypeAdapter[EventIn] = TypeAdapter(EventIn)
_NAME: TypeAdapter[str] = TypeAdapter(Name)


def read(data: bytes, most_bytes: int, key: str | None = None) -> EventIn:
    """The event in these bytes. A key that came beside them counts more than one inside."""
    if len(data) > most_bytes:
        raise TooLarge(f"the event has {len(data)} bytes, at most {most_bytes} are taken (gateway.max_event_bytes)")
    try:
        sent = _ADAPTER.validate_json(data, strict=True)
    except ValidationError as bad:
        raise BadInput(_explain(bad)) from None
    except RecursionError:
        raise BadInput("the event is nested too deep") from None
    if key is not None:
        sent = sent.model_copy(update={"key": _checked(key)})
    _check(sent)
    return sent


def _check(sent: EventIn) -> None:
    """What types alone do not say."""
    if isinstance(sent, MessageIn):
        wrong = fault(sent.model_dump(include={"parts"})["parts"]) if sent.parts else ""
    else:
        wrong = fault(getattr(sent, "data", None))
    if wrong:
        raise BadInput(f"{'parts' if isinstance(sent, MessageIn) else 'data'}: {wrong}")
    if sent.source in RESERVED:
        raise BadInput(f"source: {sent.source!r} is for Daimon itself")
    if sent.reply_to is not None and sent.reply_to.channel == INTERNAL:
        raise BadInput(f"reply_to: the channel {INTERNAL!r} is for Daimon itself")


def to_event(sent: EventIn, clock: Clock, ids: Ids, default_source: str | None = None) -> Event:
    now = clock.now()
    source = default_source or sent.source
    id_ = EventId(ids.new("e"))
    body, resolves = _body(sent)
    return Event(
        id=id_, source=source, key=Key(sent.key or id_), conversation=sent.conversation, principal=_principal(sent), body=body,
        label=_label(sent, source), occurred_at=_utc(sent.at) or now, received_at=now,
        reply_to=sent.reply_to or Address("local", sent.conversation), resolves=resolves,
    )  # fmt: skip


def _checked(key: str) -> str:
    try:
        return _NAME.validate_python(key)
    except ValidationError as bad:
        raise BadInput(f"Idempotency-Key: {bad.errors()[0]['msg']}") from None


def _body(sent: EventIn) -> tuple[Body, StepRef | None]:
    match sent:
        case MessageIn(text=text, parts=parts, steer=steer):
            said = ((Text(text),) if text else ()) + parts
            if not said:
                raise BadInput("a message needs `text` or `parts`; both are empty")
            return Said(said, steers=steer), None
        case HeartbeatIn(job=job, data=data):
            return Heartbeat(job, data), None
        case WebhookIn(service=service, data=data, headers=headers):
            return Webhook(service, data, headers), None
        case AgentIn(agent=agent, text=text):
            return FromAgent(AgentId(agent), (Text(text),)), None
        case AnswerIn(to=to, choice=choice, text=text):
            return Answer(choice, text), _step(to)
        case OutcomeIn(to=to, data=data, is_error=is_error):
            return Late(data, is_error), _step(to)
        case StopIn(turn=turn, reason=reason):
            return Stop(TurnId(turn), reason), None


def _principal(sent: EventIn) -> PrincipalId:
    match sent:
        case WebhookIn(service=service):
            return PrincipalId(f"service:{service}")
        case AgentIn(agent=agent):
            return PrincipalId(f"agent:{agent}")
        case _:
            return OWNER


def _label(sent: EventIn, source: str) -> Label:
    match sent:
        case WebhookIn(service=service):
            return _from(Author.STRANGER, f"webhook:{service}")
        case AgentIn(agent=agent):
            return _from(Author.AGENT, f"agent:{agent}")
        case OutcomeIn():
            return _from(Author.STRANGER, f"outcome:{source}")
        case HeartbeatIn(job=job, data=data):
            return _from(Author.SERVICE, "heartbeat") if data is None else _from(Author.STRANGER, f"heartbeat:{job}")
        case _:
            return owned(source)


@lru_cache(256)
def _from(author: Author, source: str) -> Label:
    return Label.of(Origin(author, source), readers=(OWNER,))


def _step(text: str) -> StepRef:
    try:
        return StepRef.parse(text)
    except ValueError as bad:
        raise BadInput(f"`to`: {bad}") from None


def _utc(at: datetime | None) -> datetime | None:
    try:
        return None if at is None else at.astimezone(UTC)
    except OverflowError:
        raise BadInput(f"`at`: {at} is outside of the years that can be kept") from None


def _explain(bad: ValidationError) -> str:
    errors = bad.errors(include_url=False, include_input=False)
    said = []
    for error in errors[:MOST_PLACES_SHOWN]:
        path = error["loc"][1:] if error["loc"][:1] and error["loc"][0] in _TAGS else error["loc"]
        place = ".".join(str(part) for part in path)
        said.append(f"{place}: {error['msg']}" if place else error["msg"])
    more = f" (and {len(errors) - MOST_PLACES_SHOWN} more)" if len(errors) > MOST_PLACES_SHOWN else ""
    return "; ".join(said) + more


_TAGS = frozenset({"message", "heartbeat", "webhook", "agent", "answer", "outcome", "stop"})
