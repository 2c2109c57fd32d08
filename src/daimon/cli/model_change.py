"""`daimon model test`, `use`, `price` and `remove`."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from daimon import config, homes
from daimon.abi.errors import BadInput
from daimon.abi.money import dollars
from daimon.cli import hidden, screen
from daimon.cli.reloading import News, reloaded
from daimon.setup import Answer, Setup, Wanted, place_of, rate_of
from daimon.steward import model_words

ORDER_VARIABLE = f"{config.PREFIX}MODEL__USE"


USED = News("the running gateway uses it now", "the next start uses it")
_GONE = News("the running gateway asks it no more", "the next start does without it")


def test(given: Path | None, name: str, as_json: bool) -> None:
    setup = opened(given)
    wanted = setup.wanted(name)
    if not as_json:
        screen.remark(asking(wanted))
    answer = asyncio.run(setup.test(wanted))
    if as_json:
        screen.emit_value({"name": name, **tested(answer)})
        return
    screen.say(told(name, answer))
    for remark in answer.reply.remarks:
        screen.remark(remark)


def use(given: Path | None, names: Sequence[str], as_json: bool) -> None:
    setup = opened(given)
    setup.use(names)
    changed(setup, as_json, {"use": list(names)}, f"the order is now: {', '.join(names)}")


def price(given: Path | None, name: str, said: config.Price | Literal["library", "free", "unknown"], as_json: bool) -> None:
    setup = opened(given)
    setup.price(name, said)
    rate = rate_of(setup.entry(name))
    value = {"name": name, "price": None if rate is None else str(rate), "source": None if rate is None else rate.price.source}
    changed(setup, as_json, value, f"{name}: {rate or 'price unknown'}")


def one_price(
    words: Sequence[str], numbers: Sequence[str], cache_read: str | None, cache_write: str | None
) -> config.Price | Literal["library", "free", "unknown"]:
    match list(words), list(numbers):
        case ["free" | "unknown" | "library" as word], []:
            return word
        case [], [given_in, given_out]:
            return model_words.price(given_in, given_out, cache_read, cache_write)
        case _:
            raise BadInput("say the price one way: IN OUT in dollars a million tokens, or --free, or --unknown, or --library")


def remove(given: Path | None, name: str, as_json: bool) -> None:
    setup = opened(given)
    key = setup.remove(name)
    gone = f"; its key {key!r} is out of the vault too, since no other model uses it" if key else ""
    value = {"name": name, "key": key or None, "use": list(setup.settings.model.use)}
    changed(setup, as_json, value, f"{name} is removed{gone}; the order is now: {', '.join(setup.settings.model.use)}", _GONE)


def opened(given: Path | None) -> Setup:
    return Setup(homes.home_at(given), os.environ, hidden.passphrase)


def changed(setup: Setup, as_json: bool, value: Mapping[str, object], text: str, news: News = USED) -> None:
    """Says what was done, and who knows of it."""
    is_heard, heard = reloaded(setup.home, news)
    if as_json:
        screen.emit_value({**value, "reloaded": is_heard})
        return
    screen.say(text)
    screen.remark(heard)
    if ORDER_VARIABLE in os.environ:
        screen.remark(f"{ORDER_VARIABLE} of the environment says another order, and it wins where it is set")


def asking(wanted: Wanted) -> str:
    return f"asking {wanted.entry.model} at {place_of(wanted)} … (Ctrl-C stops)"


def tested(answer: Answer) -> dict[str, object]:
    usage = answer.reply.usage
    return {
        "model": answer.reply.model,
        "text": answer.text,
        "seconds": round(answer.seconds, 3),
        "input_tokens": None if usage is None else usage.input_tokens,
        "output_tokens": None if usage is None else usage.output_tokens,
        "cost": None if usage is None or usage.cost is None else str(usage.cost),
        "remarks": list(answer.reply.remarks),
    }


def told(name: str, answer: Answer) -> str:
    usage = answer.reply.usage
    took = "it did not say how many tokens" if usage is None else f"{usage.input_tokens} tokens in, {usage.output_tokens} out"
    cost = dollars(None if usage is None else usage.cost)
    words = f"answers {answer.text!r}" if answer.text else "answers, without words so far"
    return f"{name} {words} as {answer.reply.model} after {answer.seconds:.1f} s: {took}, cost {cost}"
