"""A turn, told step by step: from what the journal holds to what a person reads.

Pure: the same turn gives the same report, whoever shows it (a terminal, a page, a file). It leaves nothing out that a step says, except
bytes that stand in blobs, and invents nothing: what was erased is shown as erased, an unknown cost as unknown.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, assert_never

from daimon.abi.event import Erased, Event
from daimon.abi.judgement import Gate
from daimon.abi.message import Reasoning, Text
from daimon.abi.money import dollars
from daimon.abi.step import (
    Answered,
    Asked,
    AskHuman,
    Checkpointed,
    Complete,
    Continue,
    Decided,
    Decision,
    Granted,
    HandOff,
    Happened,
    Intended,
    ModelFailed,
    Park,
    Raised,
    Received,
    RefreshContext,
    Replied,
    Reserved,
    Routed,
    Settled,
    Short,
    Started,
    Step,
    StepBody,
    Upgraded,
    UseTools,
    Wait,
)
from daimon.abi.tool import Question, Send, Touched
from daimon.abi.turn import Ending, Pins, Turn
from daimon.context.held import is_fit_to_show
from daimon.kernel import words
from daimon.kernel.budget import reached
from daimon.kernel.totals import Totals, totals

Tone = Literal["plain", "good", "bad", "asks", "quiet"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One step. `head` is a line, `body` what it says in full."""

    n: int
    after_s: float
    """Since the turn began."""
    kind: str
    head: str
    label: str
    body: tuple[str, ...] = ()
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Report:
    title: str
    facts: tuple[tuple[str, str], ...]
    event: tuple[tuple[str, str], ...]
    said: str
    entries: tuple[Entry, ...]
    totals: Totals
    reply: str
    late: tuple[str, ...] = ()
    """What came for it when it was over, and was ignored."""


def report(turn: Turn, event: Event, steps: Sequence[Step], late: Sequence[Event] = ()) -> Report:
    return Report(
        title=f"{turn.id}  {turn.state}" + (f", {turn.ending}" if turn.ending else ""),
        facts=_facts(turn),
        event=_event_facts(event),
        said=words.said(event.body),
        entries=tuple(_entry(turn, step) for step in steps),
        totals=totals(turn, steps),
        reply=reply(turn, steps),
        late=tuple(f"event {each.id} {_came(each)} at {words.moment(each.received_at)}: ignored, the turn was over" for each in late),
    )


def _came(event: Event) -> str:
    step = "" if event.resolves is None else f" for step {event.resolves.n}"
    return f"({event.body.kind} {words.short(words.said(event.body))!r} of {event.principal}{step})"


def reply(turn: Turn, steps: Sequence[Step]) -> str:
    """What the turn said at its end; nothing while it is not over, or where it stayed silent."""
    if turn.ending is Ending.ANSWERED:
        spoken = [step.body for step in steps if isinstance(step.body, Replied)]
        return words.reply(spoken[-1].parts) if spoken else ""
    if turn.ending in (Ending.LIMIT, Ending.FAILED):
        return f"It had to stop before it was done: {reason(steps)}."
    return ""


def reason(steps: Sequence[Step]) -> str:
    """Why the turn ended as it did, in the words of the last decision."""
    for step in reversed(steps):
        if isinstance(step.body, Decided) and isinstance(step.body.decision, Complete):
            return step.body.decision.reason
    return "no reason was recorded"


# -- the turn and its event --------------------------------------------------------------------------------------------


def _facts(turn: Turn) -> tuple[tuple[str, str], ...]:
    facts = [
        ("conversation", turn.conversation),
        ("began", words.moment(turn.created_at)),
        ("for", f"{turn.principal}, by {turn.agent}"),
        ("label", words.label(turn.label)),
        ("pins", _pins(turn.pins)),
    ]
    if turn.job:
        facts.append(("job", turn.job))
    if turn.root != turn.id:
        facts.append(("root", turn.root))
    if turn.parent is not None:
        facts.append(("parent", str(turn.parent)))
    if turn.forked_from is not None:
        facts.append(("forked from", f"{turn.forked_from}, effects from the {turn.effects}"))
    return tuple(facts)


def _event_facts(event: Event) -> tuple[tuple[str, str], ...]:
    facts = [
        ("event", f"{event.id}  {event.body.kind} from {event.source}"),
        ("received", words.moment(event.received_at)),
        ("label", words.label(event.label)),
        ("key", event.key),
    ]
    if event.reply_to is not None:
        facts.append(("answer to", f"{event.reply_to.channel}:{event.reply_to.to}"))
    if event.parent is not None:
        facts.append(("caused by", str(event.parent)))
    return tuple(facts)


def _pins(pins: Pins) -> str:
    return ", ".join(f"{name} {value}" for name in Pins.__slots__ if (value := getattr(pins, name)))


# -- the steps ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Told:
    head: str
    body: tuple[str, ...] = ()
    tone: Tone = "plain"


def _entry(turn: Turn, step: Step) -> Entry:
    told = _tell(step.body)
    after_s = (step.at - turn.created_at).total_seconds()
    return Entry(step.n, after_s, step.body.kind, told.head, words.label(step.label), told.body, told.tone)


def _tell(body: StepBody) -> _Told:
    match body:
        case Routed() | Replied() | ModelFailed():
            return _thought(body)
        case Reserved() | Settled() | Short() | Raised():
            return _money(body)
        case Intended() | Started() | Happened():
            return _deed(body)
        case Decided(decision=decision, version=version, inputs=inputs):
            seen = ", ".join(f"{name} {words.compact(value)}" for name, value in inputs.items())
            told = _decision(decision)
            return _Told(f"{told.head}  [policy {version}]", (*told.body, *((f"seeing {seen}",) if seen else ())), told.tone)
        case Asked() | Answered() | Granted() | Received():
            return _word(body)
        case Checkpointed(what=what, ref=ref):
            return _Told(f"{what} {ref}")
        case Upgraded(before=before, after=after):
            return _Told("goes on under other pins", (f"before: {_pins(before)}", f"after: {_pins(after)}"))
        case Erased():
            return _Told(words.erased(body), (), "quiet")
        case _:
            assert_never(body)


def _thought(body: Routed | Replied | ModelFailed) -> _Told:
    match body:
        case Routed():
            return _route(body)
        case Replied(model=model, usage=usage):
            head = f"{model} ({body.finish}), {words.usage(usage)}, {words.duration(body.duration_ms / 1000)}"
            remarks = tuple(f"remark: {remark}" for remark in body.remarks)
            kept = () if body.logprobs is None else (f"log-probabilities kept in blob {body.logprobs}",)
            return _Told(head, (*(_spoken(body) or ("(silence)",)), *remarks, *kept), "good")
        case ModelFailed():
            return _failure(body)
        case _:
            assert_never(body)


def _route(body: Routed) -> _Told:
    among = f" among {', '.join(body.candidates)}" if len(body.candidates) > 1 else ""
    why = f": {body.reason}" if body.reason else ""
    cost = "" if body.predicted_cost is None else f", up to {dollars(body.predicted_cost)}"
    passed = tuple(f"passed over {name}: {reason}" for name, reason in body.passed_over.items())
    scores = (f"scores: {', '.join(f'{name} {score:g}' for name, score in body.scores.items())}",) if body.scores else ()
    return _Told(f"{body.chosen}{among}{why}{cost}  [policy {body.policy}]", (*passed, *scores))


def _failure(body: ModelFailed) -> _Told:
    what = f"{body.model}{_at(body.provider)} failed" if body.model else "no model can be asked"
    lasts = "lasting, until somebody changes something" if body.is_lasting else "it may pass"
    again = "" if body.retry_at is None else f", tried again at {words.moment(body.retry_at)}"
    return _Told(f"{what}: {body.code}, {lasts}{again}", (body.message, *((f"had said: {body.partial}",) if body.partial else ())), "bad")


def _at(provider: str) -> str:
    return f" at {provider}" if provider else ""


def _spoken(body: Replied) -> list[str]:
    said = []
    for part in body.parts:
        match part:
            case Text(text=text):
                said.append(text)
            case Reasoning(text=text):
                said.append(f"thinks: {text}")
            case _:
                said.append(f"→ {words.part(part)}")
    return said


def _money(body: Reserved | Settled | Short | Raised) -> _Told:
    match body:
        case Reserved(model=model, cost=cost):
            most = "price unknown" if cost is None else f"up to {dollars(cost)} (price: {body.price})"
            size = f"up to {body.input_tokens:,} tokens in and {body.output_tokens:,} out"
            return _Told(f"{model}{_at(body.provider)}: {size}, {most}", tuple(map(words.account, body.accounts)), "quiet")
        case Settled(reservation=n, usage=usage, how=how):
            why = ("nobody said what the call took, so all that was reserved counts",) if how == "assumed" else ()
            return _Told(f"of {n}: {how}, {words.usage(usage)}", why, "plain" if why else "quiet")
        case Short():
            return _Told(reached(body), tuple(_why_short(body)), "asks")
        case Raised(more=more, by=by):
            return _Told(f"{by} allowed {words.amount(more)} more for {body.scope} {body.key}")
        case _:
            assert_never(body)


def _why_short(body: Short) -> Iterator[str]:
    match body.why:
        case "held":
            yield f"calls under way have set {words.amount(body.held)} aside; it waits for them"
        case "unknown_price":
            yield f"nobody knows what a call of {body.model} costs"
        case "reached":
            pass
        case _:
            assert_never(body.why)
    if body.asked is not None:
        yield f"turn {body.asked} asks the owner already"


def _deed(body: Intended | Started | Happened) -> _Told:
    match body:
        case Intended(tool=tool, arguments=arguments, gate=gate):
            return _Told(words.call(tool, arguments), (f"{_verdict(gate)}; {body.effect}, key {body.key}",), _tone(gate))
        case Started(intent=intent, handle=handle, question=question):
            waits = f" until {words.moment(body.until)}" if body.until else ""
            return _Told(f"of {intent}: goes on outside as {handle}{waits}", _asks(question), "asks" if question else "plain")
        case Happened(intent=intent, code=code, result=result):
            head = f"of {intent}: {code or 'ok'} ({body.how}), {words.duration(body.duration_ms / 1000)}"
            touched = tuple(_touched(each) for each in body.touched)
            done = tuple(f"with {o.kind}" for o in body.operations)
            kept = () if body.hold == "never" or is_fit_to_show(result.label) else (f"not all shown to the model (hold: {body.hold})",)
            return _Told(head, (words.joined(result.parts), *kept, *touched, *done), "bad" if code else "plain")
        case _:
            assert_never(body)


def _touched(each: Touched) -> str:
    how = f": {each.outcome}" if each.outcome else ""
    what_left = f"; what left: {words.label(each.label)}" if each.label is not None else ""
    return f"touched {each.kind} {each.what}{how}{what_left}"


def _verdict(gate: Gate) -> str:
    why = f": {gate.reason}" if gate.reason else ""
    code = f" ({gate.code})" if gate.code else ""
    basis = f", on {gate.by}" if gate.by and gate.verdict == "allow" else ""
    return f"gate says {gate.verdict}{basis}{code}{why}" + (f"  [rules {gate.version}]" if gate.version else "")


def _tone(gate: Gate) -> Tone:
    return "plain" if gate.verdict == "allow" else "asks" if gate.verdict == "ask" else "bad"


def _decision(decision: Decision) -> _Told:
    match decision:
        case Continue():
            return _Told("ask the model")
        case UseTools(intents=intents):
            return _Told(f"run {', '.join(map(str, intents))}")
        case RefreshContext(reason=why):
            return _Told(f"read the context anew: {why}")
        case Park(reason=why, waits=waits):
            return _Told(f"park, {why}: {'; '.join(map(_wait, waits))}", (), "asks")
        case AskHuman(question=question):
            return _Told("ask a person", _asks(question), "asks")
        case HandOff(to=to, reason=why):
            return _Told(f"hand off to {to}" + (f": {why}" if why else ""))
        case Complete(ending=ending, reason=why):
            return _Told(f"end: {ending}" + (f": {why}" if why else ""), (), "bad" if ending in (Ending.FAILED, Ending.LIMIT) else "plain")
        case _:
            assert_never(decision)


def _wait(wait: Wait) -> str:
    until = f" until {words.moment(wait.until)}" if wait.until else ""
    return f"{wait.on} {'for' if wait.on in ('money', 'model') else 'to'} {wait.step}{until}"


def _word(body: Asked | Answered | Granted | Received) -> _Told:
    match body:
        case Asked(question=question):
            about = f" about {', '.join(map(str, body.calls))}" if body.calls else ""
            until = () if question.expires_at is None else (f"until {words.moment(question.expires_at)}",)
            return _Told(f"asks{about}", (*_asks(question), *until, *_sent_later(body)), "asks")
        case Answered(question=n, choice=choice, text=text, by=by, event=event):
            how = f"by {by} (event {event})" if event else "nobody answered in time"
            only = f", only {', '.join(map(str, body.only))}" if body.only else ""
            return _Told(f"to {n}: {choice}{only}, {how}", (text,) if text else ())
        case Granted(question=n, grant=grant):
            return _Told(f"{grant.by} granted {grant.id}, asked at {n}: {words.grant(grant)}")
        case Received(event=event, resolves=resolves, ignored=ignored):
            what = f"event {event}" + ("" if resolves is None else f" for step {resolves}")
            return _Told(f"{what}: ignored, {ignored}", (), "bad") if ignored else _Told(what)
        case _:
            assert_never(body)


def _sent_later(body: Asked) -> tuple[str, ...]:
    moments = [operation.not_before for operation in body.operations if isinstance(operation, Send) and operation.not_before is not None]
    return tuple(f"told at {words.moment(moment)}, after quiet hours" for moment in moments)


def _asks(question: Question | None) -> tuple[str, ...]:
    if question is None:
        return ()
    options = (f"options: {' / '.join(question.options)}",) if question.options else ()
    return (question.text, *options)
