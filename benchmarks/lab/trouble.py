"""What goes wrong at a provider, and what must come of it.

The faults of the provider server are all here; a new one without a row ends the benchmark. A few rows are added for what is no fault of
one answer: an address where nobody listens, words of patience, a limit met inside of a call. Each row says what the provider answers
when it goes wrong, what may come of it, and how the trace must name it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from daimon.testing.provider.line import Call, Fault, Line

PATIENCE_S = 20.0
"""How long a model may be silent: long enough that a busy machine is not taken for a silent provider."""
SHORT_S = 0.8
"""The same, where silence is the trouble."""
ANSWER = "Done: the note is kept, schön 🌧."
WORDS = "I would rather not say any more about that."
"""What a provider says where it answers something else than it was asked."""
HALF = "This sentence must never be taken for an answer, since its end is missing."
NOTE = "The key of the boat house lies under the third stone."

Way = Literal["once", "always", "stand-in"]
"""It goes wrong at the first call, at every call, at every call while a second model stands by."""
Body = dict[str, Any]
Named = Callable[[Sequence[Body]], bool]


@dataclass(frozen=True, slots=True)
class Kind:
    """What comes of it, in each way that it is tried."""

    outcomes: dict[Way, str]


ONCE_RETRIED = Kind({"once": "retried"})
ONCE_ASKED = Kind({"once": "asked"})
ONCE_PAUSED = Kind({"once": "paused"})
PASSING = Kind({"once": "retried", "always": "paused", "stand-in": "stood in"})
LASTING = Kind({"once": "asked", "always": "asked", "stand-in": "stood in"})
SAID = Kind({"once": "said"})
MENDED = Kind({"once": "mended"})
RAN = Kind({"once": "ran"})
HARMLESS = Kind({"once": "understood"})
UNHARMED = Kind({"once": "understood", "always": "understood", "stand-in": "understood"})
SILENT = Kind({"once": "silent", "always": "silent", "stand-in": "silent"})


@dataclass(frozen=True, slots=True)
class Trouble:
    line: Line | None
    """None: nobody is there at all."""
    kinds: tuple[Kind, ...]
    is_named: Named
    patience_s: float = PATIENCE_S
    waits_s: float = 0.0
    """The provider asked for so much patience."""
    is_slept_over: bool = False
    """The turn is left alone until it wakes by itself."""

    def outcomes(self, way: Way) -> set[str]:
        return {kind.outcomes[way] for kind in self.kinds if way in kind.outcomes}


def failed_as(*codes: str) -> Named:
    return lambda bodies: any(body["code"] in codes and body["message"] and body["model"] for body in of_kind(bodies, "model_failed"))


def finished_as(*finishes: str) -> Named:
    return lambda bodies: any(body["finish"] in finishes for body in of_kind(bodies, "reply"))


def remarked(words: str) -> Named:
    return lambda bodies: any(words in remark for body in of_kind(bodies, "reply") for remark in body["remarks"])


def said(words: str) -> Named:
    return lambda bodies: any(words in text_of(body) for body in of_kind(bodies, "reply"))


def either(*ways: Named) -> Named:
    return lambda bodies: any(way(bodies) for way in ways)


def is_refused(bodies: Sequence[Body]) -> bool:
    """The gate let the call not through, and its model was told."""
    refused = {body["intent"] for body in of_kind(bodies, "outcome") if body["how"] == "refused"}
    return any(body["gate"]["verdict"] == "invalid" and n in refused for n, body in enumerate(bodies) if body["kind"] == "intent")


def is_assumed(bodies: Sequence[Body]) -> bool:
    return any(body["how"] == "assumed" for body in of_kind(bodies, "settle"))


def is_told_apart(bodies: Sequence[Body]) -> bool:
    """Two calls that came under one name."""
    return len({body["call"] for body in of_kind(bodies, "intent")}) == 2


def is_silence(bodies: Sequence[Body]) -> bool:
    return any(body["finish"] == "stop" and not body["parts"] for body in of_kind(bodies, "reply"))


def needs_no_name(bodies: Sequence[Body]) -> bool:
    return True


def of_kind(bodies: Iterable[Body], kind: str) -> list[Body]:
    return [body for body in bodies if body["kind"] == kind]


def text_of(reply: Body) -> str:
    return "".join(part["text"] for part in reply["parts"] if part["kind"] == "text")


_Row = tuple[Line, tuple[Kind, ...], Named]


def _problem(*codes: str, kinds: tuple[Kind, ...]) -> _Row:
    """It fails with one of these codes, and says nothing of its own."""
    return Line(), kinds, failed_as(*codes)


_CALL = Call("remember", {"text": NOTE})
_SPOKEN = Line(text=HALF)
_ANSWERED = Line(text=ANSWER)
_CALLED = Line(calls=(_CALL,))
_SAYING = Line(text=WORDS)
_CUT = Fault("", after=4)
"""Without its name, which is filled in from the table."""
_FAULTS: dict[str, _Row] = {
    "401": _problem("auth", kinds=(LASTING,)),
    "402": _problem("payment", kinds=(LASTING,)),
    "credits": _problem("payment", kinds=(LASTING,)),
    "403": _problem("auth", kinds=(LASTING,)),
    "404": _problem("not_found", kinds=(LASTING,)),
    "408": _problem("timeout", kinds=(PASSING,)),
    "413": _problem("too_long", kinds=(LASTING,)),
    "too_long": _problem("too_long", kinds=(LASTING,)),
    "429": _problem("rate", kinds=(PASSING,)),
    "quota": _problem("payment", "rate", kinds=(LASTING, PASSING)),  # Google's comes back tomorrow, the others want money
    "500": _problem("server", kinds=(PASSING,)),
    "502_html": _problem("server", kinds=(PASSING,)),
    "503": _problem("overloaded", kinds=(PASSING,)),
    "529": _problem("overloaded", kinds=(PASSING,)),
    "wrong_content_type": _problem("garbage", kinds=(LASTING,)),
    "refuse_connection": _problem("cut", "unreachable", kinds=(PASSING,)),
    "hang": _problem("timeout", kinds=(PASSING,)),
    "slow_first_byte": (replace(_SPOKEN, fault=Fault("", delay_s=3 * SHORT_S)), (PASSING,), failed_as("timeout")),
    "stall": (replace(_SPOKEN, fault=_CUT), (PASSING,), failed_as("timeout")),
    "cut": (replace(_SPOKEN, fault=_CUT), (PASSING,), failed_as("cut")),
    "cut_clean": (replace(_SPOKEN, fault=_CUT), (PASSING,), failed_as("cut")),
    "cut_in_call": (_CALLED, (PASSING,), failed_as("cut")),
    "overloaded_in_stream": (replace(_SPOKEN, fault=_CUT), (PASSING,), failed_as("overloaded")),
    "garbage_json": (replace(_SPOKEN, fault=_CUT), (PASSING,), failed_as("garbage")),
    "malformed": (replace(_ANSWERED, fault=_CUT), (UNHARMED, PASSING), either(said(ANSWER), failed_as("garbage"))),  # beside good events
    "noise": (_ANSWERED, (HARMLESS,), needs_no_name),
    "empty": (_SPOKEN, (PASSING, SILENT), either(failed_as("empty"), is_silence)),  # with an end to it, it is silence on purpose
    "garbage_arguments": (_CALLED, (MENDED, ONCE_RETRIED), either(is_refused, failed_as("garbage"))),  # Google notices by itself
    "unknown_tool": (_CALLED, (MENDED,), is_refused),
    "duplicate_call_id": (replace(_CALLED, calls=(_CALL, Call("now", {}))), (RAN,), is_told_apart),
    "no_usage": (_ANSWERED, (HARMLESS, ONCE_RETRIED), is_assumed),  # the Anthropic library cannot do without
    "other_model": (_ANSWERED, (HARMLESS,), remarked("answered by somebody-else")),
    "refusal": (_SAYING, (SAID, ONCE_ASKED), either(said(WORDS), finished_as("filtered"), failed_as("filtered"))),
    "filtered": (_SAYING, (SAID,), finished_as("filtered")),
    "length": (_SAYING, (SAID,), finished_as("length")),
}
_SILENT = ("hang", "slow_first_byte", "stall")
_HALF_CALL = Call("remember", _CALL.text[:30])
_MORE = {
    "429, wait 1 s": Trouble(Line(fault=Fault("429", retry_after=1)), (PASSING,), failed_as("rate"), waits_s=1.0),
    "429, wait 1 h": Trouble(Line(fault=Fault("429", retry_after=3_600)), (ONCE_PAUSED,), failed_as("rate"), waits_s=3_600.0),
    "slow, in time": Trouble(replace(_ANSWERED, fault=Fault("slow_first_byte", delay_s=SHORT_S)), (HARMLESS,), needs_no_name),
    "nobody listens": Trouble(None, (Kind({"always": "paused", "stand-in": "stood in"}),), failed_as("unreachable")),
    "nothing, filtered": Trouble(Line(finish="filtered"), (LASTING,), failed_as("filtered")),
    "nothing, length": Trouble(Line(finish="length"), (LASTING,), failed_as("length")),
    "length in a call": Trouble(
        replace(_SAYING, calls=(_HALF_CALL,), finish="length"), (SAID, ONCE_RETRIED), either(remarked("not finished"), failed_as("garbage"))
    ),
}
LONG = {
    "429, wait 33 s": Trouble(
        Line(fault=Fault("429", retry_after=33)), (ONCE_PAUSED,), failed_as("rate"), waits_s=33.0, is_slept_over=True
    ),
}  # fmt: skip
"""Not for those in a hurry."""


def troubles(faults: Iterable[str]) -> dict[str, Trouble]:
    """By name. Raises KeyError for a fault that has no row here."""
    return {name: _of_fault(name) for name in faults} | _MORE


def _of_fault(name: str) -> Trouble:
    line, kinds, is_named = _FAULTS[name]
    patience_s = SHORT_S if name in _SILENT else PATIENCE_S
    return Trouble(replace(line, fault=replace(line.fault or Fault(""), name=name)), kinds, is_named, patience_s)
