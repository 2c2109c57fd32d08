"""A turn of the journal as the page shows it.

Pure but for the rendering of Markdown, and slow for long texts: it is called in a thread. Known secrets are taken out before a text is cut,
because half of one is not recognised. Prompts stand in the journal by reference; nothing here follows them.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from daimon.abi.chat import Sent, Told
from daimon.abi.event import Answer, Erased, Event, FromAgent, Said
from daimon.abi.ids import OWNER, PrincipalId, StepRef
from daimon.abi.judgement import Gate
from daimon.abi.message import Reasoning, ToolCall
from daimon.abi.money import NOTHING
from daimon.abi.step import (
    Answered,
    Asked,
    Complete,
    Decided,
    Happened,
    Intended,
    ModelFailed,
    Received,
    Replied,
    Short,
    Started,
    Step,
)
from daimon.abi.tool import Question
from daimon.abi.turn import Ending, State
from daimon.context.held import is_fit_to_show
from daimon.gateway.room.contents import as_json, files, said, text_of, told_by
from daimon.gateway.room.markdown import Markdown, without_turning
from daimon.gateway.room.transcript import (
    Ask,
    CallState,
    Came,
    Deed,
    Given,
    Gone,
    Heard,
    Item,
    Posted,
    Reply,
    Trouble,
    TurnView,
    Words,
)
from daimon.kernel.budget import reached

MOST_SAID = 20_000
"""Characters of what somebody said."""
MOST_RESULT, MOST_ARGUMENTS, MOST_THOUGHT = 4_000, 2_000, 4_000
MOST_LINES = 40
"""Of what a call touched."""
_BY = {
    "harmless": "it changes nothing",
    "clean": "nobody but you had a word in it",
    "words": "you asked for it",
    "plan": "it is part of what was planned",
    "grant": "you allowed the like of it",
    "policy": "a policy allows it",
}
_VERDICTS = {"allow": "Allowed", "ask": "Asked first", "deny": "Refused", "invalid": "Not a valid call"}


@dataclass(frozen=True, slots=True)
class Teller:
    markdown: Markdown
    clean: Callable[[str], str]
    names: Mapping[PrincipalId, str]

    def turn(self, told: Told) -> TurnView:
        turn, spent = told.turn, told.spent
        replies = [step.body for step in told.steps if isinstance(step.body, Replied)]
        usages = [reply.usage for reply in replies]  # of a model that needs no reservation
        costs = [usage.cost for usage in usages]
        return TurnView(
            id=turn.id, conversation=turn.conversation, state=turn.state, ending=turn.ending, reason=self.clean(_reason(told)),
            created_at=turn.created_at, ended_at=turn.ended_at, agent=turn.agent, job=turn.job, came=self.came(told.event),
            items=tuple(self._items(told)), posted=tuple(map(self._posted, told.sent)),
            model=replies[-1].model if replies else "", model_calls=spent.calls or len(replies),
            input_tokens=spent.input_tokens if spent.calls else sum(usage.input_tokens for usage in usages),
            cached_tokens=spent.cached_tokens if spent.calls else sum(usage.cached_tokens for usage in usages),
            output_tokens=spent.output_tokens if spent.calls else sum(usage.output_tokens for usage in usages),
            cost=spent.cost if spent.calls else None if None in costs else sum((cost for cost in costs if cost), start=NOTHING),
        )  # fmt: skip

    def came(self, event: Event) -> Came:
        speaker = event.body.speaker if isinstance(event.body, Said) else ""
        parts = event.body.parts if isinstance(event.body, Said | FromAgent) else ()
        return Came(
            event=event.id, key=event.key, kind=event.body.kind, source=event.source, who=self.who(event.principal, speaker),
            is_owner=event.principal == OWNER and event.body.kind in ("message", "answer", "stop"), at=event.received_at,
            words=self.words(said(event), MOST_SAID, event.id), files=files(parts), label=event.label, reply_to=event.reply_to,
        )  # fmt: skip

    def who(self, principal: PrincipalId, speaker: str = "") -> str:
        return without_turning(speaker or self.names.get(principal, "") or principal)

    def words(self, text: str, most: int, of: str) -> Words:
        text = without_turning(self.clean(text))
        return Words(text[:most], len(text), len(text) > most, of)

    # -- what was done

    def _items(self, told: Told) -> Iterator[Item]:
        known = _Known(told)
        for before, step in zip((None, *told.steps), told.steps, strict=False):
            if before is not None and step.n > before.n + 1:
                yield Gone(step=before.n + 1, count=told.skipped, why="too many steps to show here")
            item = self._item(known, step)
            if item is not None:
                yield item

    def _item(self, known: "_Known", step: Step) -> Item | None:
        match step.body:
            case Replied():
                return self._reply(step, step.body)
            case Intended():
                return self._deed(known, step, step.body)
            case Asked(question=question):
                return self._ask(known, step, step.n, question)
            case Started(intent=n, question=Question() as question):
                return self._ask(known, step, n, question)
            case Received(event=id_, ignored=ignored) if (event := known.events.get(id_)) and not isinstance(event.body, Answer):
                return Heard(step=step.n, came=self.came(event), ignored=ignored)
            case ModelFailed() | Short():
                return Trouble(step=step.n, at=step.at, text=self.clean(_trouble(step.body)))
            case Erased(reason=reason):
                return Gone(step=step.n, count=1, why=f"erased: {reason}")
            case _:
                return None

    def _reply(self, step: Step, body: Replied) -> Reply:
        text = text_of(body.parts)
        thinking = "\n".join(part.text for part in body.parts if isinstance(part, Reasoning))
        made = self.markdown.render(text)
        return Reply(
            step=step.n, at=step.at, model=body.model, html=made.html, text=self.clean(text)[:MOST_SAID], is_cut=made.is_cut,
            thinking=self.words(thinking, MOST_THOUGHT, str(step.ref)).text, files=files(body.parts), label=step.label,
            input_tokens=body.usage.input_tokens, output_tokens=body.usage.output_tokens, cost=body.usage.cost,
            duration_ms=body.duration_ms,
        )  # fmt: skip

    def _deed(self, known: "_Known", step: Step, body: Intended) -> Deed:
        outcome = known.outcomes.get(step.n)
        done = outcome.body if outcome is not None and isinstance(outcome.body, Happened) else None
        result = None if done is None or outcome is None else self.words(told_by(done.result.parts), MOST_RESULT, str(outcome.ref))
        return Deed(
            step=step.n, at=step.at, tool=body.tool, arguments=self.words(as_json(body.arguments), MOST_ARGUMENTS, str(step.ref)),
            state=known.state_of(step.n, done), verdict=self.clean(_verdict(body.gate)), code="" if done is None else done.code,
            result=result, files=() if done is None else files(done.result.parts), label=None if done is None else done.result.label,
            is_held=done is not None and done.hold != "never" and not is_fit_to_show(done.result.label),
            touched=() if done is None else tuple(self.clean(f"{each.kind} {each.what}") for each in done.touched[:MOST_LINES]),
            duration_ms=0.0 if done is None else done.duration_ms, asked_by=known.asked_by.get(body.call),
        )  # fmt: skip

    def _ask(self, known: "_Known", step: Step, origin: int, question: Question) -> Ask:
        answer = self._given(known, origin, step.n)
        return Ask(
            step=step.n, at=step.at, to=str(StepRef(step.turn, origin)), text=without_turning(self.clean(question.text)),
            options=tuple(map(self.clean, question.options)), type=question.type, expires_at=question.expires_at, answer=answer,
            is_open=answer is None and origin not in known.outcomes and known.is_open,
        )  # fmt: skip

    def _given(self, known: "_Known", origin: int, since: int) -> Given | None:
        step = known.answers.get(origin)
        if step is not None and isinstance(step.body, Answered):
            by = "nobody in time" if step.body.event is None else self.who(step.body.by)
            return Given(self.clean(step.body.choice), self.clean(step.body.text), by, step.at)
        event = known.resolving(origin, since)
        if event is not None and isinstance(event.body, Answer):
            return Given(self.clean(event.body.choice), self.clean(event.body.text), self.who(event.principal), event.received_at)
        return None

    def _posted(self, sent: Sent) -> Posted:
        is_reply = sent.key.endswith(":reply")
        own = None if is_reply or sent.said is None or sent.said.asks is not None else sent.said
        return Posted(
            to=sent.to, state=sent.state, note=self.clean(sent.note), at=sent.at, is_reply=is_reply,
            html="" if own is None else self.markdown.render(text_of(own.parts)).html, files=() if own is None else files(own.parts),
        )  # fmt: skip


class _Known:
    """What the steps of a turn say of each other."""

    def __init__(self, told: Told) -> None:
        steps = told.steps
        self.events = {event.id: event for event in told.events}
        self.outcomes = {step.body.intent: step for step in steps if isinstance(step.body, Happened)}
        self.started = {step.body.intent for step in steps if isinstance(step.body, Started)}
        self.answers = {step.body.question: step for step in steps if isinstance(step.body, Answered)}
        self.asking = {n for step in steps if isinstance(step.body, Asked) and step.n not in self.answers for n in step.body.calls}
        self.asked_by = {
            part.call: step.n for step in steps if isinstance(step.body, Replied) for part in step.body.parts if isinstance(part, ToolCall)
        }
        self._came = [
            (step.n, step.body.resolves, self.events[step.body.event])
            for step in steps
            if isinstance(step.body, Received) and not step.body.ignored and step.body.event in self.events
        ]
        self.turn = told.turn
        self.is_open = told.turn.ended_at is None

    def resolving(self, origin: int, since: int) -> Event | None:
        """What came for a step after it asked. One call may ask more than once."""
        return next((event for n, resolves, event in self._came if resolves == origin and n > since), None)

    def state_of(self, intent: int, done: Happened | None) -> CallState:
        if done is not None:
            return "failed" if done.code and done.how not in ("refused", "cancelled") else _HOW.get(done.how, "ok")
        if not self.is_open:
            return "unknown"
        if intent in self.asking:
            return "asking"
        return "waiting" if intent in self.started or self.turn.state is State.PARKED else "running"


_HOW: dict[str, CallState] = {"refused": "refused", "cancelled": "cancelled"}


def _reason(told: Told) -> str:
    if told.turn.ending in (None, Ending.ANSWERED, Ending.SILENT):
        return ""
    decisions = (step.body.decision for step in reversed(told.steps) if isinstance(step.body, Decided))
    return next((decision.reason for decision in decisions if isinstance(decision, Complete)), "")


def _trouble(body: ModelFailed | Short) -> str:
    if isinstance(body, Short):
        return reached(body)
    who = f"{body.model} failed" if body.model else "No model can be asked"
    return f"{who}: {body.message}"


def _verdict(gate: Gate) -> str:
    why = gate.reason or _BY.get(gate.by.partition(":")[0], gate.by)
    return f"{_VERDICTS[gate.verdict]}: {why}" if why else _VERDICTS[gate.verdict]
