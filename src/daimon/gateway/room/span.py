"""One stretch of a turn in full: what is known of it as facts, texts and messages.

Nothing is cut here; whoever shows it cuts. The prompt of a model call is told message by message, with its tier and why it was there
(`context/provenance.py`). Where words were erased that is said, and the rest is told all the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from daimon.abi.context import Tier
from daimon.abi.errors import DaimonError
from daimon.abi.event import Event
from daimon.abi.judgement import Gate
from daimon.abi.message import Part, Reasoning, Text, ToolCall
from daimon.abi.money import Usage, dollars
from daimon.abi.ports import Archive, Store
from daimon.abi.step import (
    Answered,
    Asked,
    Checkpointed,
    Complete,
    Decided,
    Granted,
    Happened,
    Intended,
    ModelFailed,
    Received,
    Replied,
    Reserved,
    Routed,
    Settled,
    Short,
    Started,
    Step,
    StepBody,
    Upgraded,
)
from daimon.abi.tool import Question
from daimon.abi.turn import Pins
from daimon.context.provenance import SeenMessage, seen
from daimon.gateway.room.cutting import Piece, pretty
from daimon.gateway.room.loom import Woven
from daimon.kernel import words
from daimon.kernel.budget import reached
from daimon.kernel.spans import Span


@dataclass(frozen=True, slots=True)
class Fact:
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the prompt."""

    piece: Piece
    role: str
    sort: str
    tier: Tier
    form: str
    tokens: int
    source: str
    why: str


@dataclass(frozen=True, slots=True)
class Detail:
    span: Span
    facts: tuple[Fact, ...]
    pieces: tuple[Piece, ...]
    gate: Gate | None
    """What the rules said of a call."""
    messages: tuple[Message, ...]
    note: str = ""
    """Why something is missing."""


@dataclass(frozen=True, slots=True)
class Details:
    archive: Archive
    store: Store
    woven: Woven

    async def of(self, span: Span) -> Detail:
        bodies = [self.woven.steps[n] for n in self._about(span)]
        facts = [fact for step in bodies for fact in _facts(step.body)]
        pieces = [piece for step in bodies for piece in _pieces(step)]
        gate = next((step.body.gate for step in bodies if isinstance(step.body, Intended)), None)
        if span.n == 0:
            event = self.woven.event
            facts, pieces = list(_of_event(event)), [Piece("What came", words.said(event.body), label=event.label)]
        if span.kind == "answer":
            pieces += self._answer()
        messages, note = await self._prompt(span) if span.kind in ("context", "model") else ((), "")
        return Detail(span, tuple(facts), tuple(pieces), gate if span.kind in ("policy", "call") else None, messages, note)

    def _about(self, span: Span) -> tuple[int, ...]:
        """Its own steps, and of a call what was intended."""
        intents = (body.intent for n in span.steps if isinstance(body := self.woven.steps[n].body, Happened | Started))
        return tuple(sorted({*span.steps, *(intents if span.kind == "call" else ())}))

    def _answer(self) -> list[Piece]:
        spoken = [(step, step.body) for step in self.woven.steps if isinstance(step.body, Replied)]
        return [Piece("What was said", words.reply(body.parts), label=step.label) for step, body in spoken[-1:]]

    async def _prompt(self, span: Span) -> tuple[tuple[Message, ...], str]:
        """Of the model call; of the context that was assembled for it, the same."""
        call = span if span.kind == "model" else next((each for each in self.woven.spans[span.n + 1 :] if each.kind == "model"), None)
        n = None if call is None else next((n for n in call.steps if isinstance(self.woven.steps[n].body, Replied | ModelFailed)), None)
        if n is None:
            return (), "The prompt is kept when the call is over."
        try:
            found = await seen(self.archive, self.store, self.woven.turn.id, n)
        except DaimonError as gone:
            return (), str(gone)
        return tuple(self._message(each) for each in found.messages), f"{len(found.tools)} tools, about {found.tools_tokens:,} tokens"

    def _message(self, each: SeenMessage) -> Message:
        is_own = each.source.startswith(self.woven.turn.id) or each.source == self.woven.turn.event
        is_fixed = each.sort in ("system", "page", "summary", "notice")
        tier: Tier = "L3" if each.sort == "memory" else "L1" if is_fixed or (is_own and each.form == "whole") else "L2"
        return Message(
            Piece(each.sort, each.text, "text", each.label), each.role, each.sort, tier, each.form, each.tokens, each.source, each.why
        )


def _of_event(event: Event) -> Iterator[Fact]:
    yield Fact("Came from", f"{event.source}, {event.principal}")
    yield Fact("Received", words.moment(event.received_at))
    yield Fact("Event", event.id)


def _facts(body: StepBody) -> Iterator[Fact]:
    match body:
        case Routed() | Reserved() | Settled() | Replied() | ModelFailed():
            yield from _of_model(body)
        case Intended() | Started() | Happened() | Checkpointed():
            yield from _of_call(body)
        case Asked() | Answered() | Granted() | Received():
            yield from _of_words(body)
        case Decided(decision=Complete(ending=ending, reason=reason), version=version):
            yield Fact("Ending", f"{ending}: {reason}" if reason else ending)
            yield Fact("Policy", version)
        case Decided(decision=decision, version=version, inputs=inputs):
            yield Fact(
                f"Decision: {decision.kind}", ", ".join(f"{name} {words.compact(value)}" for name, value in inputs.items()) or version
            )
        case Short() as short:
            yield Fact("Limit", reached(short))
        case Upgraded(before=before, after=after):
            yield Fact("Before", _pins(before))
            yield Fact("After", _pins(after))
        case _:
            pass


def _pins(pins: Pins) -> str:
    return ", ".join(f"{name} {getattr(pins, name)}" for name in Pins.__slots__)


def _of_model(body: Routed | Reserved | Settled | Replied | ModelFailed) -> Iterator[Fact]:
    match body:
        case Routed(chosen=chosen, reason=reason, policy=policy):
            yield Fact("Chosen", f"{chosen}: {reason}" if reason else chosen)
            yield Fact("Routing", policy)
            yield from (Fact(f"Not {name}", why) for name, why in body.passed_over.items())
        case Reserved(provider=provider, cost=cost, price=price):
            yield Fact("Provider", provider)
            yield Fact("Set aside", f"up to {dollars(cost)} (price: {price})")
        case Settled(usage=usage, how=how):
            yield from _usage(usage)
            yield Fact("Counted", how)
        case Replied(finish=finish, usage=usage, duration_ms=took):
            yield Fact("Finish", finish)
            yield Fact("Took", words.duration(took / 1000))
            yield from (() if usage.cost is None else _usage(usage))
            yield from (Fact("Remark", remark) for remark in body.remarks)
        case ModelFailed(code=code, message=message):
            yield Fact("Failed", f"{code}: {message}")


def _usage(usage: Usage) -> Iterator[Fact]:
    yield Fact("Tokens", words.tokens(usage))
    yield Fact("Cost", dollars(usage.cost))


def _of_call(body: Intended | Started | Happened | Checkpointed) -> Iterator[Fact]:
    match body:
        case Intended(tool=tool, effect=effect, key=key):
            yield Fact("Tool", tool)
            yield Fact("When repeated", effect)
            yield Fact("Key", key)
        case Started(handle=handle, until=until):
            yield Fact("Goes on as", handle)
            yield from (() if until is None else (Fact("Until", words.moment(until)),))
        case Happened(code=code, how=how, duration_ms=took):
            yield Fact("Outcome", f"{code or 'ok'} ({how}), {words.duration(took / 1000)}")
            yield from (Fact(f"Touched {each.kind}", f"{each.what} {each.outcome}".strip()) for each in body.touched)
        case Checkpointed(what=what, ref=ref):
            yield Fact("Checkpoint", f"{what} {ref}")


def _of_words(body: Asked | Answered | Granted | Received) -> Iterator[Fact]:
    match body:
        case Asked(question=question):
            yield from _question(question)
        case Answered(choice=choice, by=by, event=event, text=text):
            yield Fact("Answer", f"{choice} {text}".strip())
            yield Fact("By", by if event else "nobody in time")
        case Granted(grant=grant):
            yield Fact("Granted", words.grant(grant))
        case Received(event=event, ignored=ignored):
            yield Fact("Event", f"{event}: ignored, {ignored}" if ignored else event)


def _question(question: Question) -> Iterator[Fact]:
    if question.options:
        yield Fact("Options", " / ".join(question.options))
    if question.expires_at is not None:
        yield Fact("Until", words.moment(question.expires_at))


def _pieces(step: Step) -> Iterator[Piece]:
    match step.body:
        case Replied(parts=parts):
            yield from (_part(part, step) for part in parts)
        case ModelFailed(partial=partial) if partial:
            yield Piece("Had said", partial, label=step.label)
        case Intended(arguments=arguments):
            yield Piece("Arguments", pretty(arguments), "json", step.label)
        case Happened(result=result):
            data, whole = words.data_of(result.parts), words.joined(result.parts)
            sort: Literal["text", "json"] = "text" if data is None or isinstance(data, str) else "json"
            text = whole if data is None else data if isinstance(data, str) else pretty(data)
            yield Piece("Result", text, sort, result.label)
        case Asked(question=question) | Started(question=Question() as question):
            yield Piece("Question", question.text, label=step.label)
        case _:
            pass


def _part(part: Part, step: Step) -> Piece:
    match part:
        case Text(text=text):
            return Piece("Reply", text, label=step.label)
        case Reasoning(text=text):
            return Piece("Reasoning", text, label=step.label)
        case ToolCall(tool=tool, arguments=arguments):
            return Piece(f"Calls {tool}", pretty(arguments), "json", step.label)
        case _:
            return Piece("Part", words.part(part), label=step.label)
