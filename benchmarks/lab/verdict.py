"""What was promised, compared with what happened: pure functions, so that a broken system can be shown to be called broken.

    lost                an accepted event that left no finished turn, no open question, no answer; an outcome that the world never saw
    repeated            one wish that took effect twice, under one key or under two; an answer said twice; an event taken twice
    unknown_unreported  an unsafe act of unknown outcome that nobody was asked about

A story is what the system itself tells about one accepted event; the ledger is what the world counted.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from lab.script import Script
from lab.world import Ledger

UNSAFE = frozenset({"unsafe", "gated", "slow"})


@dataclass(frozen=True, slots=True)
class Outcome:
    code: str
    how: str


@dataclass(frozen=True, slots=True)
class Intent:
    key: str
    tool: str
    effect: str
    is_allowed: bool
    outcome: Outcome | None
    is_asked: bool
    """Somebody was asked what became of it."""


@dataclass(frozen=True, slots=True)
class Story:
    text: str
    turn: str
    state: str
    ending: str | None
    intents: tuple[Intent, ...] = ()
    open_questions: int = 0
    """What the system says that it still waits for."""
    has_gaps: bool = False
    wakes_by_itself: bool = False
    """It waits for a moment that comes."""


@dataclass(slots=True)
class Verdict:
    lost: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    unreported: list[str] = field(default_factory=list)

    @property
    def is_kept(self) -> bool:
        return not (self.lost or self.repeated or self.unreported)

    def add(self, other: "Verdict") -> None:
        self.lost += other.lost
        self.repeated += other.repeated
        self.unreported += other.unreported


def judge(accepted: dict[str, Script], stories: dict[str, Story], ledger: Ledger) -> Verdict:
    """`accepted` is what the driver has a 202 for, by mark; `stories` is what could be read back."""
    verdict = Verdict()
    for mark, script in accepted.items():
        if (story := stories.get(mark)) is None:
            verdict.lost.append(f"{mark}: accepted, but there is no such event or no turn for it")
        else:
            verdict.lost += [f"{mark}: {fault}" for fault in _lost(script, story, ledger)]
            verdict.unreported += [f"{mark}: {fault}" for fault in _unreported(story, ledger)]
    verdict.repeated += _repeated(ledger)
    known = {intent.key for story in stories.values() for intent in story.intents}
    verdict.unreported += [f"{key}: acted without an intent on disk" for key in ledger.arrived if key not in known]
    return verdict


def _lost(script: Script, story: Story, ledger: Ledger) -> Iterable[str]:
    if Script.parse(story.text) != script:
        yield f"the event now says {story.text!r}"
    if story.has_gaps:
        yield "its steps have gaps"
    match story.state:
        case "done" | "failed":
            yield from _unfinished(script, story, ledger)
        case "parked":
            if not story.open_questions and not story.wakes_by_itself:
                yield "parked, but nobody is asked anything"
        case other:
            yield f"its turn {story.turn} is still {other}"
    for intent in story.intents:
        is_told = intent.outcome is not None and not intent.outcome.code and intent.outcome.how in ("ran", "reran", "verified")
        if is_told and intent.key in ledger.kind and not ledger.applied[intent.key]:
            yield f"{intent.key} is told as done and never happened"
        if is_told and intent.tool.endswith("_effect") and intent.key not in ledger.kind:
            yield f"{intent.key} is told as done and never reached the world"
        if is_told and intent.tool == "remind" and f"done {script.mark}-timer" not in ledger.replies.values():
            yield "its reminder never came"


def _unfinished(script: Script, story: Story, ledger: Ledger) -> Iterable[str]:
    if story.ending != script.ending:
        yield f"its turn {story.turn} ended as {story.ending}, not as {script.ending}"
    elif story.ending == "answered" and f"{story.turn}:reply" not in ledger.replies:
        yield f"its turn {story.turn} is over and nobody was told"
    for intent in story.intents:
        if intent.outcome is None:
            yield f"{intent.key} has no outcome in a turn that is over"


def _repeated(ledger: Ledger) -> list[str]:
    found = [
        f"{key} ({kind}) took effect {ledger.applied[key]} times"
        for key, kind in ledger.kind.items()
        if kind != "pure" and ledger.applied[key] > 1
    ]
    found += [
        f"{key} ({kind}) was called {ledger.arrived[key]} times"
        for key, kind in ledger.kind.items()
        if kind in UNSAFE and ledger.arrived[key] > 1
    ]
    keys: dict[str, set[str]] = defaultdict(set)
    for key, what in ledger.what.items():
        keys[what].add(key)
    for key, text in ledger.replies.items():
        if text.startswith("done "):
            keys[text].add(key)
    return found + [f"{what!r} was done under {len(each)} keys: {', '.join(sorted(each))}" for what, each in keys.items() if len(each) > 1]


def _unreported(story: Story, ledger: Ledger) -> Iterable[str]:
    for intent in story.intents:
        if intent.effect != "unsafe" or not intent.is_allowed:
            continue
        if intent.outcome is None and not intent.is_asked:
            yield f"{intent.key} has an unknown outcome and nobody was asked"
        elif intent.outcome is not None and intent.outcome.code and not intent.is_asked and ledger.arrived[intent.key]:
            yield f"{intent.key} reached the world, is told as {intent.outcome.code}, and nobody was asked"
