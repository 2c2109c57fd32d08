"""What a turn took: calls, failures, tokens, money, time.

Pure. Settlements say what was used, so that failed calls are part of it; a reply that has none speaks for itself. What nobody knows stays
unknown, and what was only assumed is said apart.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from daimon.abi.money import NOTHING, Usage
from daimon.abi.step import Happened, Intended, ModelFailed, Replied, Reserved, Settled, Step, StepBody
from daimon.abi.turn import Turn


@dataclass(frozen=True, slots=True)
class Totals:
    """What a turn took. Settlements say it, so that failed calls are part of it; replies that have none speak for themselves."""

    model_calls: int
    tool_calls: int
    failures: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost: Decimal | None
    """None: at least one call does not say what it cost."""
    took_s: float | None
    """None: it is not over."""
    cache_write_tokens: int = 0
    assumed: Decimal = NOTHING
    """Of the cost: counted in full because nobody said what the call took."""
    under_way: int = 0
    held: Decimal | None = NOTHING
    """The most that calls under way can cost. None: nobody knows."""

    @property
    def usage(self) -> Usage:
        return Usage(self.input_tokens, self.output_tokens, self.cached_tokens, self.cache_write_tokens, self.cost)


def totals(turn: Turn, steps: Sequence[Step]) -> Totals:
    open_ = _open(steps)
    charges = [*_charges(steps), *(_whole(reserved) for reserved in open_ if turn.ended_at is not None)]
    under_way = [reserved.cost for reserved in open_ if turn.ended_at is None]
    return Totals(
        model_calls=sum(isinstance(step.body, Replied) or (isinstance(step.body, ModelFailed) and bool(step.body.model)) for step in steps),
        tool_calls=sum(isinstance(step.body, Intended) for step in steps),
        failures=sum(isinstance(step.body, ModelFailed) or (isinstance(step.body, Happened) and bool(step.body.code)) for step in steps),
        input_tokens=sum(charge.usage.input_tokens for charge in charges),
        output_tokens=sum(charge.usage.output_tokens for charge in charges),
        cached_tokens=sum(charge.usage.cached_tokens for charge in charges),
        cost=_sum([charge.cost for charge in charges]),
        took_s=None if turn.ended_at is None else (turn.ended_at - turn.created_at).total_seconds(),
        cache_write_tokens=sum(charge.usage.cache_write_tokens for charge in charges),
        assumed=sum((charge.cost or NOTHING for charge in charges if charge.is_assumed), start=NOTHING),
        under_way=len(under_way),
        held=_sum(under_way),
    )


@dataclass(frozen=True, slots=True)
class _Charge:
    """What one call took, as the ledger counts it."""

    usage: Usage
    cost: Decimal | None
    is_assumed: bool = False


def _charges(steps: Sequence[Step]) -> Iterator[_Charge]:
    """A settlement speaks for the reply that follows it."""
    reserved = {step.n: step.body.cost for step in steps if isinstance(step.body, Reserved)}
    before: StepBody | None = None
    for step in steps:
        match step.body:
            case Settled(reservation=n, usage=usage, how=how):
                yield _Charge(usage, reserved.get(n) if usage.cost is None else usage.cost, how == "assumed")
            case Replied(usage=usage) if not isinstance(before, Settled):
                yield _Charge(usage, usage.cost)
            case _:
                pass
        before = step.body


def _open(steps: Sequence[Step]) -> list[Reserved]:
    """Calls that nobody settled. While the turn goes on they are under way; when it is over they count in full."""
    settled = {step.body.reservation for step in steps if isinstance(step.body, Settled)}
    return [step.body for step in steps if isinstance(step.body, Reserved) and step.n not in settled]


def _whole(reserved: Reserved) -> _Charge:
    return _Charge(Usage(reserved.input_tokens, reserved.output_tokens), reserved.cost, is_assumed=True)


def _sum(costs: Sequence[Decimal | None]) -> Decimal | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known, start=NOTHING) if len(known) == len(costs) else None
