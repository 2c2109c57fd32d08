"""What a turn took, on one line. What is nothing is left out: a reflex takes no tokens, a model of one's own costs no money."""

from collections.abc import Sequence
from decimal import Decimal

from daimon.abi.money import Amount, Usage, dollars
from daimon.abi.step import Replied, Reserved, Settled, Step
from daimon.abi.turn import Turn
from daimon.observe import words


def line(turn: Turn, steps: Sequence[Step]) -> str:
    """Models, tokens, cost, time. Empty if no model was asked."""
    settled = [step.body for step in steps if isinstance(step.body, Settled)]
    replied = [step.body for step in steps if isinstance(step.body, Replied)]
    reserved = [step.body for step in steps if isinstance(step.body, Reserved)]
    models = dict.fromkeys([body.model for body in replied] or [body.model for body in reserved])
    if not models:
        return ""
    used = [body.usage for body in settled or replied]
    cost = _cost(used, is_assumed=any(body.how == "assumed" for body in settled))
    took = "" if turn.ended_at is None else words.duration((turn.ended_at - turn.created_at).total_seconds())
    return " · ".join(filter(None, [" + ".join(models), _tokens(used), cost, took]))


def amount(more: Amount) -> str:
    money = dollars(more.cost) if more.cost else ""
    tokens = f"{more.tokens:,} tokens" if more.tokens else ""
    return " and ".join(filter(None, [money, tokens])) or "nothing"


def _tokens(used: Sequence[Usage]) -> str:
    read, written = sum(usage.input_tokens for usage in used), sum(usage.output_tokens for usage in used)
    if not read and not written:
        return ""
    cached = sum(usage.cached_tokens for usage in used)
    share = f" ({100 * cached / read:.0f} % cached)" if cached and read else ""
    return f"{read:,} tokens in{share}, {written:,} out"


def _cost(used: Sequence[Usage], is_assumed: bool) -> str:
    """`at most`: nobody said what a call took, so it counts in full."""
    known = [usage.cost for usage in used if usage.cost is not None]
    if len(known) < len(used):
        return "cost unknown"
    total = sum(known, start=Decimal(0))
    return "" if not total else f"at most {dollars(total)}" if is_assumed else dollars(total)
