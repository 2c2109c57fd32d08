"""What became of a provider's trouble: one word, and everything that is wrong about it. Pure, so that a broken system can be shown to be
called broken.

    understood  answered at once: it was odd, not wrong       retried   asked again, and answered
    ran         its calls ran, each once                      stood in  another model answered
    mended      a call was refused, its model was told        asked     the owner is told what to do, and the turn waits
    said        answered with what the provider said          paused    the turn waits, and knows until when
    silent      the model had nothing to say, and said so

Everything else is `unhandled`.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from lab.encounter import KEY, SAID, Case, Sight
from lab.trouble import ANSWER, HALF, NOTE, WORDS, Body, of_kind, text_of

UNHANDLED = "unhandled"
WHOLE = ({"text": NOTE}, {})
"""The only arguments with which a tool was called."""
REMEDIES = {
    "auth": "daimon model add",
    "payment": "needs money",
    "not_found": "daimon model list",
    "too_long": "another model",
    "rejected": "another model",
    "garbage": "base_url",
    "length": "max_output_tokens",
    "filtered": "other words|another model",
}


@dataclass(slots=True)
class Handling:
    case: Case
    outcome: str
    problems: list[str] = field(default_factory=list)

    @property
    def word(self) -> str:
        return UNHANDLED.upper() if self.problems else self.outcome


def judge(case: Case, sight: Sight) -> Handling:
    outcome = _outcome(sight)
    problems = [*_at_rest(case, sight, outcome), *_at_the_end(case, sight, outcome), *_on_record(case, sight)]
    return Handling(case, outcome, problems)


def _outcome(sight: Sight) -> str:
    turn, bodies = sight.rested["turn"], _bodies(sight.rested)
    if turn["state"] == "parked":
        return _parked(sight)
    if turn["ending"] != "answered":
        return "silent" if turn["ending"] == "silent" else UNHANDLED
    if of_kind(bodies, "model_failed"):
        return "stood in" if of_kind(bodies, "route")[-1]["chosen"] == "second" else "retried"
    if intents := of_kind(bodies, "intent"):
        return "ran" if all(intent["gate"]["verdict"] == "allow" for intent in intents) else "mended"
    return "understood" if _answer(sight.rested) == ANSWER else "said"


def _parked(sight: Sight) -> str:
    if not sight.questions:
        return UNHANDLED
    return "paused" if sight.questions[0]["question"]["expires_at"] else "asked"


def _at_rest(case: Case, sight: Sight, outcome: str) -> Iterator[str]:
    bodies = _bodies(sight.rested)
    if outcome not in (allowed := case.trouble.outcomes(case.way)):
        turn = sight.rested["turn"]
        yield f"{outcome} ({turn['state']}, {turn['ending']}), expected {' or '.join(sorted(allowed))}; {_story(bodies)}"
    if not case.trouble.is_named(bodies):
        yield f"the trace does not name it; {_story(bodies)}"
    if outcome == "asked":
        yield from _unhelpful(bodies, sight.questions[0]["question"]["text"])
    if outcome == "paused":
        yield from _untimed(case, sight)
    if outcome == "retried":
        yield from _impatient(case, sight)
    if outcome == "said" and _answer(sight.rested) != WORDS:
        yield f"the provider said {WORDS!r}, the answer is {_answer(sight.rested)!r}"


def _unhelpful(bodies: list[Body], question: str) -> Iterator[str]:
    code = next((body["code"] for body in reversed(of_kind(bodies, "model_failed")) if body["model"]), "")
    if not re.search(REMEDIES.get(code, "^$"), question):
        yield f"the owner is asked without a word on what to do about {code!r}: {question}"


def _untimed(case: Case, sight: Sight) -> Iterator[str]:
    """A pause has an end, which the record and the question agree on, and which is no sooner than the provider asked for."""
    until = sight.questions[0]["question"]["expires_at"]
    failures = of_kind(_bodies(sight.rested), "model_failed")
    if failures[-1]["retry_at"] != until:
        yield f"the trace says {failures[-1]['retry_at']}, the question {until}"
    asked_at = next(step["at"] for step in sight.rested["steps"] if step["body"]["kind"] == "model_failed")
    if (_moment(until) - _moment(asked_at)).total_seconds() < 0.99 * case.trouble.waits_s:
        yield f"the provider asked for {case.trouble.waits_s:g} s, and it comes back at {until}"


def _impatient(case: Case, sight: Sight) -> Iterator[str]:
    steps = sight.rested["steps"]
    failed = next(n for n, step in enumerate(steps) if step["body"]["kind"] == "model_failed")
    again = next((step for step in steps[failed:] if step["body"]["kind"] == "route"), None)
    if again is not None and (_moment(again["at"]) - _moment(steps[failed]["at"])).total_seconds() < 0.99 * case.trouble.waits_s:
        yield f"the provider asked for {case.trouble.waits_s:g} s, and was asked again too early"


def _at_the_end(case: Case, sight: Sight, outcome: str) -> Iterator[str]:
    """The turn is over, with the answer if there was one to be had, and nothing is left behind."""
    turn = sight.ended["turn"]
    is_over = (outcome == "paused" and not case.trouble.is_slept_over) or (outcome == "asked" and case.way != "once")
    wanted = "stopped" if is_over else "silent" if outcome == "silent" else "answered"
    if turn["ending"] != wanted:
        yield f"in the end it is {turn['state']}, {turn['ending']}, not {wanted}; {_story(_bodies(sight.ended))}"
    elif wanted == "answered" and outcome != "said" and _answer(sight.ended) != ANSWER:
        yield f"the answer is {_answer(sight.ended)!r}"
    if sight.under_way:
        yield f"{sight.under_way} model calls were never settled"
    if sight.turns != 1:
        yield f"one message caused {sight.turns} turns"


def _on_record(case: Case, sight: Sight) -> Iterator[str]:
    bodies, steps = _bodies(sight.ended), sight.ended["steps"]
    if "".join(part["text"] for part in sight.ended["event"]["body"]["parts"]) != SAID:
        yield "its event has changed"
    if [step["n"] for step in steps] != list(range(len(steps))):
        yield "steps are missing"
    if KEY in json.dumps(sight.ended):
        yield "the key is in the trace"
    failures = [body for body in of_kind(bodies, "model_failed") if body["model"]]
    calls = len(of_kind(bodies, "reply")) + len(failures)
    unsure = sum(body["code"] in ("timeout", "unreachable") for body in failures)  # they may not have come as far as the provider
    if not calls - unsure <= sight.requests <= calls:
        yield f"{sight.requests} requests reached a provider, the trace knows of {calls}"
    if len(of_kind(bodies, "reserve")) != calls or len(of_kind(bodies, "settle")) != calls:
        yield f"of {calls} calls {len(of_kind(bodies, 'reserve'))} were reserved and {len(of_kind(bodies, 'settle'))} settled"
    if any(text_of(body) and text_of(body) in HALF for body in of_kind(bodies, "reply")):
        yield "half a reply was taken for a whole one"
    yield from _half_calls(bodies)


def _half_calls(bodies: list[Body]) -> Iterator[str]:
    outcomes = {body["intent"]: body for body in of_kind(bodies, "outcome")}
    for n, body in enumerate(bodies):
        if body["kind"] == "intent" and n not in outcomes:
            yield f"the call {body['tool']} has no outcome"
        elif body["kind"] == "intent" and outcomes[n]["how"] != "refused" and body["arguments"] not in WHOLE:
            yield f"{body['tool']} ran with {body['arguments']!r}"


def _answer(trace: Body) -> str:
    replies = of_kind(_bodies(trace), "reply")
    return text_of(replies[-1]) if replies else ""


def _bodies(trace: Body) -> list[Body]:
    return [step["body"] for step in trace["steps"]]


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _story(bodies: list[Body]) -> str:
    told = {"decision": lambda b: b["decision"]["kind"], "model_failed": lambda b: f"failed({b['code']})", "reply": lambda b: b["finish"]}
    return " → ".join(told.get(body["kind"], lambda b: b["kind"])(body) for body in bodies[:24])
