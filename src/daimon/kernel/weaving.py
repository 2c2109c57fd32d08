"""From steps to stretches of time.

Steps say when something was over and how long it took, so most stretches are counted back from their end. A call that is refused has no
stretch of its own: that stands with the decision. Reservations and settlements belong to the model call that they are about; other steps
that make no stretch belong to the next one, so that each step is told somewhere.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from daimon.abi.event import Erased, Event
from daimon.abi.judgement import Gate
from daimon.abi.message import Text, ToolCall
from daimon.abi.step import (
    Answered,
    Asked,
    Checkpointed,
    Complete,
    Decided,
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
    Upgraded,
    UseTools,
)
from daimon.abi.turn import Ending, Turn
from daimon.kernel import words
from daimon.kernel.budget import reached
from daimon.kernel.permission import YES
from daimon.kernel.spans import Kind, Span, Tone

MOST_TITLE, MOST_NOTE = 120, 240
MOST_READ = 20_000
"""Of a text so much is cleaned before it is cut: more than the longest secret."""


def begun_at(turn: Turn, event: Event, steps: Sequence[Step]) -> datetime:
    """When it began to matter: a fork begins with what it copied, everything else with its event."""
    return min([turn.created_at, *(step.at for step in steps[:1])] if turn.forked_from else [turn.created_at, event.received_at])


class Weaving:
    def __init__(self, turn: Turn, event: Event, zero: datetime, clean: Callable[[str], str]) -> None:
        self._zero, self._clean = zero, clean
        self._spans: list[Span] = []
        self._model: int | None = None
        """The model call that is under way."""
        self._thought: int | None = None
        """The last one that was answered: what follows comes from it."""
        self._judged: dict[int, int] = {}
        self._calls: dict[int, int] = {}
        self._waits: dict[int, int] = {}
        self._rest: int | None = None
        self._loose: tuple[int, ...] = ()
        """Steps that will belong to the next stretch."""
        self._last_ms = self._ms(turn.created_at)
        said = words.said(event.body) or event.body.kind
        came = min(self._ms(event.received_at), self._last_ms)
        self._spans.append(
            Span(
                n=0, kind="event", title=self._short(said, MOST_TITLE), note=f"{event.body.kind} from {event.source}",
                start_ms=max(came, 0.0), end_ms=self._last_ms, label=event.label,
            )
        )  # fmt: skip

    def all(self, turn: Turn) -> tuple[Span, ...]:
        """As it is now: of a turn that is over nothing goes on."""
        if turn.ended_at is None:
            return tuple(self._spans)
        end = self._ms(turn.ended_at)
        return tuple(replace(span, end_ms=max(end, span.start_ms)) if span.end_ms is None else span for span in self._spans)

    def take(self, step: Step) -> None:
        self._woken(step)
        match step.body:
            case Routed() | Reserved() | Settled() | Replied() | ModelFailed():
                self._thinking(step)
            case Intended() | Started() | Happened() | Checkpointed():
                self._acting(step)
            case Decided():
                self._deciding(step, step.body)
            case Asked() | Answered() | Received():
                self._asking(step)
            case _:
                self._remarking(step)
        self._last_ms = max(self._last_ms, self._ms(step.at))

    def _thinking(self, step: Step) -> None:
        match step.body:
            case Routed(chosen=chosen, reason=reason):
                if self._model is not None:
                    self._end(self._model, step, note="it was not asked", tone="quiet")
                why = f"{chosen}: {reason}" if reason else chosen
                context = self._add(step, "context", "Context", note=why)
                self._change(context, start_ms=min(self._last_ms, self._ms(step.at)))
                self._model = self._open(step, "model", chosen)
            case Reserved():
                self._join(self._model, step)
            case Settled(usage=usage, how=how) if self._model is not None:
                self._join(self._model, step)
                self._change(self._model, usage=usage)
                if how == "unused":
                    self._end(self._model, step, note="it was not asked after all", tone="quiet")
                    self._model = None
            case Replied() as replied:
                self._replied(step, replied)
            case ModelFailed(model=model, code=code, message=message):
                which = self._open(step, "model", model or "No model") if self._model is None else self._model
                self._end(which, step, note=self._short(f"{code}: {message}", MOST_NOTE), tone="bad")
                self._model = None
            case _:
                self._loose += (step.n,)

    def _replied(self, step: Step, body: Replied) -> None:
        which = self._open(step, "model", body.model) if self._model is None else self._model
        known = self._spans[which]
        calls = ", ".join(part.tool for part in body.parts if isinstance(part, ToolCall))
        said = "".join(part.text for part in body.parts if isinstance(part, Text))
        told = "; ".join(filter(None, [f"calls {calls}" if calls else "", said])) or "silence"
        start = min(known.start_ms, self._ms(step.at)) if not body.duration_ms else max(self._ms(step.at) - body.duration_ms, 0.0)
        self._change(which, title=body.model, start_ms=start, usage=known.usage or body.usage, label=step.label)
        self._end(which, step, note=self._short(told, MOST_NOTE), tone="good")
        self._thought, self._model = which, None

    def _acting(self, step: Step) -> None:
        match step.body:
            case Intended(tool=tool, arguments=arguments, gate=gate):
                told = f"{words.call(tool, arguments)[:MOST_READ]}"
                self._judged[step.n] = self._add(
                    step, "policy", f"{_verdict(gate)}: {self._short(told, MOST_TITLE)}", note=self._short(gate.reason, MOST_NOTE),
                    tone=_tone(gate), parent=self._thought,
                )  # fmt: skip
            case Started(intent=intent, handle=handle, question=question):
                call = self._call(step, intent)
                asked = handle if question is None else question.text
                title = f"{'Goes on outside' if question is None else 'Asks'}: {self._short(asked, MOST_TITLE)}"
                self._waits[intent] = self._open(step, "wait", title, tone="asks", parent=call)
            case Happened() as happened:
                self._happened(step, happened)
            case Checkpointed(what=what, ref=ref):
                self._add(step, "checkpoint", f"Checkpoint {what}", note=ref, parent=self._thought)
            case _:
                self._loose += (step.n,)

    def _call(self, step: Step, intent: int) -> int:
        """The stretch of a call; it begins where it is first heard of."""
        if intent not in self._calls:
            judged = self._judged.get(intent)
            title = "call" if judged is None else self._spans[judged].title.partition(": ")[2]
            parent = self._thought if judged is None else self._spans[judged].parent
            self._calls[intent] = self._open(step, "call", title, parent=parent)
        else:
            self._join(self._calls[intent], step)
        return self._calls[intent]

    def _happened(self, step: Step, body: Happened) -> None:
        told = self._short("; ".join(filter(None, [body.code, words.joined(body.result.parts)[:MOST_READ]])), MOST_NOTE)
        tone: Tone = "bad" if body.code else "good"
        if body.how in ("refused", "cancelled") and body.intent not in self._calls and body.intent in self._judged:
            judged = self._judged[body.intent]
            self._join(judged, step)
            self._change(judged, note=self._spans[judged].note or told, tone="bad")
            return
        call = self._call(step, body.intent)
        waited = self._waits.pop(body.intent, None)
        if waited is not None:
            self._end(waited, step)
        elif body.duration_ms:
            self._change(call, start_ms=max(self._ms(step.at) - body.duration_ms, 0.0))
        self._change(call, label=body.result.label)
        self._end(call, step, note=told, tone=tone)

    def _deciding(self, step: Step, body: Decided) -> None:
        match body.decision:
            case UseTools(intents=intents):
                for intent in intents:
                    self._call(step, intent)
            case Park(reason=reason) if not self._waits:
                self._rest = self._open(step, "wait", f"Waits: {self._short(reason, MOST_TITLE)}", tone="asks")
            case RefreshContext(reason=reason):
                self._add(step, "context", "Context is read anew", note=self._short(reason, MOST_NOTE))
            case HandOff(to=to, reason=reason):
                self._add(step, "policy", f"Handed over to {to}", note=self._short(reason, MOST_NOTE))
            case Complete(ending=ending, reason=reason):
                tone: Tone = "bad" if ending in (Ending.FAILED, Ending.LIMIT) else "good"
                self._add(step, "answer", ending.capitalize(), note=self._short(reason, MOST_NOTE), tone=tone)
            case _:
                self._loose += (step.n,)

    def _asking(self, step: Step) -> None:
        match step.body:
            case Asked(question=question) as asked:
                about = self._judged.get(asked.calls[0]) if asked.calls else None
                title = f"Asks: {self._short(question.text, MOST_TITLE)}"
                self._waits[step.n] = self._open(step, "wait", title, tone="asks", parent=about)
            case Answered(question=n, choice=choice, by=by, event=event) if n in self._waits:
                who = f"{choice}, by {by}" if event else f"{choice}: nobody answered in time"
                self._end(self._waits.pop(n), step, note=self._short(who, MOST_NOTE), tone="good" if choice in YES else "plain")
            case Received(ignored=ignored) if ignored:
                self._add(step, "event", "An event came and was ignored", note=self._short(ignored, MOST_NOTE), tone="quiet")
            case Received(resolves=None):
                self._add(step, "event", "A message came in meanwhile")
            case _:
                self._loose += (step.n,)

    def _remarking(self, step: Step) -> None:
        match step.body:
            case Short() as short:
                self._end_model(step)
                self._add(step, "policy", "Limit met", note=self._short(reached(short), MOST_NOTE), tone="asks")
            case Raised(more=more, by=by):
                self._add(step, "policy", "Limit raised", note=f"{by} allowed {words.amount(more)} more")
            case Granted(grant=grant):
                self._add(step, "policy", "Granted", note=self._short(words.grant(grant), MOST_NOTE), tone="good")
            case Upgraded():
                self._add(step, "policy", "Goes on under other settings", tone="quiet")
            case Erased(reason=reason):
                self._add(step, "event", "Erased", note=self._short(reason, MOST_NOTE), tone="quiet")
            case _:
                self._loose += (step.n,)

    def _end_model(self, step: Step) -> None:
        if self._model is not None:
            self._end(self._model, step, note="there was no money for it", tone="asks")
            self._model = None

    def _woken(self, step: Step) -> None:
        """Whatever is recorded after a park says that it is over."""
        if self._rest is not None:
            self._change(self._rest, end_ms=max(self._ms(step.at), self._spans[self._rest].start_ms))
            self._rest = None

    def _add(self, step: Step, kind: Kind, title: str, note: str = "", tone: Tone = "plain", parent: int | None = None) -> int:
        """A moment; `_open` makes a stretch of it that goes on."""
        at, n, steps = self._ms(step.at), len(self._spans), (*self._loose, step.n)
        self._spans.append(Span(n=n, kind=kind, title=title, note=note, start_ms=at, end_ms=at, tone=tone, parent=parent, steps=steps))
        self._loose = ()
        return n

    def _open(self, step: Step, kind: Kind, title: str, tone: Tone = "plain", parent: int | None = None) -> int:
        n = self._add(step, kind, title, tone=tone, parent=parent)
        self._change(n, end_ms=None)
        return n

    def _end(self, which: int, step: Step, *, note: str = "", tone: Tone | None = None) -> None:
        span = self._spans[which]
        self._join(which, step)
        self._change(which, end_ms=max(self._ms(step.at), span.start_ms), note=note or span.note, tone=tone or span.tone)

    def _join(self, which: int | None, step: Step) -> None:
        if which is None:
            self._loose += (step.n,)
        elif step.n not in self._spans[which].steps:
            self._change(which, steps=(*self._spans[which].steps, step.n))

    def _change(self, which: int, **to: object) -> None:
        self._spans[which] = replace(self._spans[which], **to)  # type: ignore[arg-type]

    def _ms(self, at: datetime) -> float:
        return round((at - self._zero).total_seconds() * 1000, 3)

    def _short(self, text: str, most: int) -> str:
        return words.short(self._clean(text[:MOST_READ]), most)


def _verdict(gate: Gate) -> str:
    return {"allow": "Allowed", "ask": "Needs your word", "deny": "Denied", "invalid": "Not valid"}[gate.verdict]


def _tone(gate: Gate) -> Tone:
    return "plain" if gate.verdict == "allow" else "asks" if gate.verdict == "ask" else "bad"
