"""`daimon model add`: from flags and answers to a model that works.

What is wanted is worked out in `steward/model_adding.py`. Then one small call shows that it works, and only then something is written:
first the key, then the settings.
"""

import asyncio
import sys
from pathlib import Path

from daimon.abi.errors import BadInput
from daimon.cli import screen
from daimon.cli.model_change import asking, changed, opened, tested, told
from daimon.cli.model_form import MISSING, Terminal
from daimon.setup import Place, Setup, Wanted
from daimon.steward import model_words
from daimon.steward.model_adding import Adding, Flags, GivenKey, OwnPrice, answered_as
from daimon.steward.model_silence import Silent


def one_key(key: str | None, variable: str | None, is_on_stdin: bool) -> GivenKey | None:
    if sum((key is not None, variable is not None, is_on_stdin)) > 1:
        raise BadInput("say the key one way: --key-stdin, --key-env or --key")
    if variable is not None:
        return GivenKey(variable, "variable")
    if is_on_stdin:
        return GivenKey("", "stdin")
    return None if key is None else GivenKey(key, "flag")


def one_price(price: tuple[str, str] | None, is_free: bool, is_unknown: bool) -> OwnPrice | None:
    if sum((price is not None, is_free, is_unknown)) > 1:
        raise BadInput("say the price one way: --price IN OUT, --free or --unknown-price")
    if price is not None:
        return model_words.price(*price)
    return "free" if is_free else "unknown" if is_unknown else None


def one_place(is_first: bool, is_last: bool, is_unused: bool) -> Place:
    if sum((is_first, is_last, is_unused)) > 1:
        raise BadInput("say the place one way: --first, --last or --no-use")
    return "first" if is_first else "last" if is_last else "none" if is_unused else "usual"


def add(given: Path | None, flags: Flags, as_json: bool) -> None:
    opened_setup = opened(given)
    is_at_terminal = not as_json and sys.stdin.isatty() and sys.stdout.isatty()
    adding = Adding(opened_setup, flags, Terminal() if is_at_terminal else Silent(MISSING), _quiet if as_json else screen.remark)
    value: dict[str, object] = {}
    try:
        wanted = adding.wanted()
        if flags.is_tested:
            wanted, value = _tried_out(adding, opened_setup, wanted, is_loud=not as_json)
    except KeyboardInterrupt:
        screen.remark("\nnothing was written")
        raise
    opened_setup.add(wanted, flags.place)
    order = opened_setup.settings.model.use
    entry = wanted.entry
    value |= {"name": wanted.name, "vendor": entry.vendor, "model": entry.model, "base_url": entry.base_url, "use": list(order)}
    value |= {"key": entry.key or (entry.vendor if wanted.key else None), "price": adding.price_words(entry), "remarks": adding.remarks}
    changed(opened_setup, as_json, value, f"{wanted.name} is set up in {opened_setup.home.config}; the order is now: {', '.join(order)}")


def _quiet(text: str) -> None:
    return


def _tried_out(adding: Adding, opened_setup: Setup, wanted: Wanted, is_loud: bool) -> tuple[Wanted, dict[str, object]]:
    if is_loud:
        screen.remark(asking(wanted))
    answer = asyncio.run(opened_setup.test(wanted))
    if is_loud:
        screen.say(told(wanted.name, answer))
    for remark in answer.reply.remarks:
        adding.say(remark)
    return answered_as(wanted, answer), {"tested": tested(answer)}
