"""What is tried in a conversation: a source that says what it must not, in some form. What comes of it is looked for in many places.

An errand has a conversation of its own, named after it, so that whatever comes out can be told apart. The model is the errand's
accomplice: it knows the values (a provider knows its key), and answers by the errand's lines.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from daimon.testing.provider.line import Call, Line
from daimon.testing.provider.seen import Seen
from lab.coding import PROMISED
from lab.planted import PARROT

NAMED = re.compile(r"errand (\w+);")
OVER = Line(text="That is all.")
ON = Call("leak", {"how": "result", "text": "nothing"})
"""Called so that the model is asked once more, and is shown what it said."""
HOWS = (
    "nested", "name of a field", "part", "touched", "send", "remember", "timer", "error", "code of an error", "crash",
    "crash with a cause", "question", "handle",
)  # fmt: skip
LOGGED = ("log", "log of an error", "thread", "warning", "finaliser", "task", "callback")
SOME = ("base64", "hex", "reversed", "percent, each byte", "spaced", "no width between")
PIECES = (1, 2, 3, 5, 8, 64)


@dataclass(frozen=True, slots=True)
class Errand:
    id: str
    group: str
    name: str
    lines: tuple[Line, ...]
    event: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the event besides the usual ones."""

    def posted(self) -> dict[str, Any]:
        usual = {"type": "message", "text": f"errand {self.id};", "conversation": self.id}
        event = {**usual, "reply_to": {"channel": "recorder", "to": self.id}, **self.event}
        about = f"errand {self.id};"
        if event["type"] in ("webhook", "heartbeat"):
            del event["text"]
            event["data"] = {"about": about, "more": event.get("data")}
        else:
            event["text"] = event["text"].replace("errand ;", about)
        return event


def answered(errands: Mapping[str, Errand], echo: str, seen: Seen) -> Line:
    """The line that comes next in the errand that was named last. The parrot says its own."""
    if isinstance(seen.json, dict) and seen.json.get("model") == PARROT:
        return Line(text=echo, reasoning=echo, model=echo[:60])
    said = [message for message in _messages(seen) if message.get("role") in ("user", "assistant")]
    for place in range(len(said) - 1, -1, -1):
        if said[place]["role"] == "user" and (named := NAMED.findall(str(said[place]["content"]))):
            errand = errands.get(named[-1])
            done = sum(message["role"] == "assistant" for message in said[place:])
            return errand.lines[done] if errand and done < len(errand.lines) else OVER
    return OVER


def _messages(seen: Seen) -> list[dict[str, Any]]:
    return seen.json.get("messages", []) if isinstance(seen.json, dict) else []  # type: ignore[return-value]


def errands(texts: Mapping[str, str]) -> Iterator[Errand]:
    """All of them; texts by the name of their coding."""
    rows = (*_by_tools(), *_by_the_model(texts), *_by_events(texts))
    return (Errand(f"e{number:03}", *row) for number, row in enumerate(rows))


_Row = tuple[str, str, tuple[Line, ...], dict[str, Any]]


def _call(how: str, text: str) -> tuple[Line, ...]:
    return (Line(calls=(Call("leak", {"how": how, "text": text}),)), OVER)


def _by_tools() -> Iterator[_Row]:
    for coding in PROMISED:
        yield "result of a tool", coding, _call("result", coding), {}
    for how in HOWS:
        yield "tool", how, _call(how, "plain"), {}
    for coding in SOME:
        yield "error of a tool", coding, _call("error", coding), {}
    for how in LOGGED:
        yield "log", how, _call(how, "plain"), {}
    for channel in ("breaking", "unsent"):
        yield "channel", channel, (OVER,), {"reply_to": {"channel": channel, "to": "nobody"}}


def _by_the_model(texts: Mapping[str, str]) -> Iterator[_Row]:
    plain = texts["plain"]
    for coding in PROMISED:
        yield "words of a model", coding, (Line(text=texts[coding], calls=(ON,)), Line(text=texts[coding])), {}
    for size in PIECES:
        pieces = Line(text=plain, reasoning=plain, chunk=size, calls=(ON,))
        yield "stream in pieces", f"of {size}", (pieces, Line(text=plain, chunk=size)), {}
    for coding in ("plain", *SOME):
        yield "reasoning", coding, (Line(text="Hm.", reasoning=texts[coding], calls=(ON,)), OVER), {}
        yield "arguments", coding, (Line(calls=(Call("leak", {"how": "result", "text": texts[coding]}),)), OVER), {}
    odd = {
        "name of an argument": Call("leak", {"how": "result", "text": "nothing", plain: "x"}),
        "nested in arguments": Call("leak", {"how": {"a": [plain]}, "text": "nothing"}),
        "arguments that are no JSON": Call("leak", '{"how": "result", "text": "' + plain[:90]),
        "name of a tool": Call(texts["one"], {}),
        "id of a call": Call("leak", {"how": "result", "text": "nothing"}, id=texts["one"]),
        "a note": Call("remember", {"text": plain}),
        "a reminder": Call("remind", {"about": plain, "at": "2027-11-15T10:00:00+00:00"}),
        "a question to the owner": Call("ask_owner", {"question": f"Is it {plain}?", "options": [texts["one"], "no"]}),
        "a command": Call("run", {"command": f"true {texts['one']}", "terminal": texts["one"][:32]}),
    }
    for name, call in odd.items():
        yield "arguments", name, (Line(calls=(call,)), OVER), {}
    yield "words of a model", "in its own name", (Line(text="x", model=texts["one"], calls=(ON,)), OVER), {}
    yield "words of a model", "refusing", (Line(text=plain, finish="refusal"),), {}
    yield "words of a model", "cut by length", (Line(text=plain, finish="length"),), {}


def _by_events(texts: Mapping[str, str]) -> Iterator[_Row]:
    plain, one, lines = texts["plain"], texts["one"], (OVER,)
    for coding in ("plain", *SOME):
        yield "event", coding, lines, {"text": f"errand ; {texts[coding]}"}
    hook = {"type": "webhook", "service": "shop", "data": {}}
    yield "event", "webhook", lines, {**hook, "data": {"body": plain, one: [plain]}}
    yield "event", "headers of a webhook", lines, {**hook, "headers": {"authorization": f"Bearer {one}"}}
    yield "event", "name of a service", lines, {**hook, "service": one}
    yield "event", "heartbeat", lines, {"type": "heartbeat", "job": "look", "data": [plain]}
    yield "event", "name of a job", lines, {"type": "heartbeat", "job": one}
    yield "event", "another agent", lines, {"type": "agent", "agent": "helper", "text": f"errand ; {plain}"}
    yield "event", "name of an agent", lines, {"type": "agent", "agent": one, "text": "errand ;"}
    yield "event", "its key", lines, {"key": one}
    yield "event", "its source", lines, {"source": one}
