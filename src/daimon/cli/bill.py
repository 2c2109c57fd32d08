"""What a turn took, on one line. What is nothing is left out: a reflex takes no tokens, a model of one's own costs no money."""

from collections.abc import Sequence
from decimal import Decimal

from daimon.abi.money import Amount, Usage, dollars
from daimon.abi.step import Replied, Reserved, Routed, Settled, Step
from daimon.abi.turn import Turn
from daimon.kernel import words


def line(turn: Turn, steps: Sequence[Step]) -> str:
    """Models, tokens, cost, time. Empty if no model was asked."""
    models = _models(steps)
    if not models:
        return ""
    settled = [step.body for step in steps if isinstance(step.body, Settled)]
    used = [body.usage for body in settled] or [step.body.usage for step in steps if isinstance(step.body, Replied)]
    assumed = [body.usage for body in settled if body.how == "assumed"]
    known = [body.usage for body in settled if body.how != "assumed"] if settled else used
    took = "" if turn.ended_at is None else words.duration((turn.ended_at - turn.created_at).total_seconds())
    return " · ".join(filter(None, [" + ".join(models), _tokens(known, bool(assumed)), _cost(used, bool(assumed)), took]))


def amount(more: Amount) -> str:
    money = dollars(more.cost) if more.cost else ""
    tokens = f"{more.tokens:,} tokens" if more.tokens else ""
    return " and ".join(filter(None, [money, tokens])) or "nothing"


def _models(steps: Sequence[Step]) -> list[str]:
    """Those that replied, or else were asked, by the names that the owner gave them: a provider may call them otherwise."""
    replied: list[str] = []
    asked: list[str] = []
    chosen = ""
    for step in steps:
        match step.body:
            case Routed(chosen=name) | Reserved(model=name):
                chosen = name
                asked += [name] if isinstance(step.body, Reserved) else []
            case Replied(model=model):
                replied.append(chosen or model)
            case _:
                pass
    return list(dict.fromkeys(replied or asked))


def _tokens(known: Sequence[Usage], has_more: bool) -> str:
    """`and more`: of some calls nobody said what they took."""
    read, written = sum(usage.input_tokens for usage in known), sum(usage.output_tokens for usage in known)
    if not read and not written:
        return ""
    cached = sum(usage.cached_tokens for usage in known)
    share = f" ({100 * cached / read:.0f} % cached)" if cached and read else ""
    return f"{read:,} tokens in{share}, {written:,} out{' and more' if has_more else ''}"


def _cost(used: Sequence[Usage], is_assumed: bool) -> str:
    """`at most`: nobody said what a call took, so it counts in full."""
    known = [usage.cost for usage in used if usage.cost is not None]
    if len(known) < len(used):
        return "cost unknown"
    total = sum(known, start=Decimal(0))
    return "" if not total else f"at most {dollars(total)}" if is_assumed else dollars(total)
