"""A turn as stretches of time: what was assembled, asked, judged, called, waited for.

Pure, and append-only: whether a stretch begins depends on the steps up to there alone, so its number stays the same while the turn goes on,
and only stretches that are open change. `weaving.py` makes them of the steps. Texts are cleaned before they are cut, so that no piece of a
secret is left.

    event → context → model → policy → (wait) → checkpoint → call → context → … → answer
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from daimon.abi.label import Label
from daimon.abi.money import Usage

Kind = Literal["event", "context", "model", "policy", "call", "wait", "checkpoint", "answer"]
Tone = Literal["plain", "good", "bad", "asks", "quiet"]
LEAST_IDLE_MS, MOST_IDLE = 1_000.0, 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    n: int
    kind: Kind
    title: str
    note: str = ""
    start_ms: float
    """Since the event came."""
    end_ms: float | None
    """None: it goes on. The same as `start_ms`: it was a moment."""
    tone: Tone = "plain"
    parent: int | None = None
    steps: tuple[int, ...] = ()
    """What was recorded of it."""
    label: Label | None = None
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Idle:
    """A stretch in which nothing happened but waiting."""

    start_ms: float
    end_ms: float


def idle(spans: Sequence[Span], end_ms: float) -> tuple[Idle, ...]:
    """The longest of them, in order: those that would leave no room for the rest on one axis. In all, they are longer than the work."""
    busy = sorted((span.start_ms, end_ms if span.end_ms is None else span.end_ms) for span in spans if span.kind not in ("wait", "event"))
    found, at, worked = [], 0.0, 0.0
    for start, end in busy:
        if start > at:
            found.append(Idle(at, start))
        worked += max(0.0, end - max(start, at))
        at = max(at, end)
    if end_ms > at:
        found.append(Idle(at, end_ms))
    long = [each for each in found if each.end_ms - each.start_ms > max(LEAST_IDLE_MS, worked / 2)]
    longest = sorted(long, key=lambda each: each.start_ms - each.end_ms)[:MOST_IDLE]
    return tuple(sorted(longest, key=lambda each: each.start_ms))
