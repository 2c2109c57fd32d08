"""The scheduler policy: from where a turn stands to what happens next.

A pure function of a small view, so that any decision can be recomputed from its record. The version is written with every
decision; raise it whenever the function changes. The order of the questions is the policy: what a person wants comes first,
then what is under way, then the limits, then the work.
"""

from dataclasses import asdict, dataclass
from decimal import Decimal

from pydantic import JsonValue

from daimon.abi.money import NOTHING
from daimon.abi.step import AskHuman, Complete, Continue, Decision, HandOff, ModelFailed, Park, RefreshContext, Short, UseTools, Wait
from daimon.abi.tool import HandOver, Question
from daimon.abi.turn import Ending
from daimon.kernel import budget

VERSION = "3"
STOP, CONTINUE, RETRY = "stop", "continue", "retry"
"""What a person may answer when a turn asks how to go on."""
ABANDONED = "it cannot go on now, and nobody waits for it"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one turn may take, besides money (`budget`). Time pauses the turn at `pause_share` and asks; steps end it."""

    steps: int = 200
    active_s: float = 1_800.0
    errors: int = 5
    pause_share: float = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    steps: int = 0
    replies: int = 0
    tokens: int = 0
    cost: Decimal = NOTHING
    """What is known of it; a call of unknown price adds nothing here. It is for the record: the budget decides."""
    active_s: float = 0.0
    errors: int = 0
    """Consecutive failures of tools, and of models where another try will not help."""
    extensions: int = 0
    """How often a person let the turn go on past a limit."""
    ready: tuple[int, ...] = ()
    waits: tuple[Wait, ...] = ()
    has_answer: bool = False
    is_silent: bool = False
    is_stale: bool = False
    is_stopped: bool = False
    is_interrupted: bool = False
    hand_over: HandOver | None = None
    short: Short | None = None
    """A limit was met, and the owner has not been asked yet."""
    failure: ModelFailed | None = None
    """No model can be asked, and nobody has been told yet."""
    is_unattended: bool = False
    """Nobody waits for it, and nobody is asked: where others would ask or wait, it ends."""

    def as_inputs(self) -> dict[str, JsonValue]:
        """What differs from an empty view, for the record."""
        row = asdict(self)
        return {name: _plain(value) for name, value in row.items() if value not in (0, (), None, False)}


def decide(view: View, limits: Limits) -> Decision:
    if view.is_stopped:
        return Complete(Ending.STOPPED, "somebody asked it to stop")
    if view.is_interrupted:
        return Complete(Ending.INTERRUPTED, "a newer message took its place")
    if view.ready:
        return UseTools(view.ready)
    if view.waits:
        return Complete(Ending.LIMIT, ABANDONED) if view.is_unattended else Park("waiting", view.waits)
    if view.has_answer:
        return Complete(Ending.SILENT if view.is_silent else Ending.ANSWERED)
    if view.steps >= limits.steps:
        return Complete(Ending.LIMIT, f"{view.steps} steps were taken, the limit is {limits.steps} (limits.steps)")
    if question := _doubt(view, limits):
        return Complete(Ending.LIMIT, ABANDONED) if view.is_unattended else AskHuman(question)
    if view.hand_over is not None:
        return HandOff(view.hand_over.agent, view.hand_over.reason)
    if view.is_stale:
        return RefreshContext("what the model last saw has changed")
    return Continue()


def _no_model(failure: ModelFailed) -> Question:
    """Nobody can be asked: for a while, or until somebody changes something."""
    if failure.retry_at is None:
        return Question(f"No model can answer. {failure.message} Shall I try again?", (STOP, CONTINUE), "choose")
    text = f"No model can answer at the moment. {failure.message} I try again at {failure.retry_at:%H:%M:%S %Z}."
    return Question(text, (RETRY, STOP), "choose", expires_at=failure.retry_at)


def _doubt(view: View, limits: Limits) -> Question | None:
    if view.short is not None:
        return budget.question(view.short)
    if view.failure is not None:
        return _no_model(view.failure)
    share = limits.pause_share * (1 + view.extensions)
    if view.active_s >= limits.active_s * share:
        return _go_on(f"This task has been working for {view.active_s:.0f} of {limits.active_s:.0f} seconds (limits.active_s).")
    if view.errors >= limits.errors:
        return _go_on(f"{view.errors} attempts in a row failed (limits.errors).")
    return None


def _go_on(what: str) -> Question:
    return Question(f"{what} Shall it go on?", (STOP, CONTINUE), "choose")


def _plain(value: object) -> JsonValue:
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    return str(value)
