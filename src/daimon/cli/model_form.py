"""What `daimon model add` asks for, step by step, and what happens where nobody can be asked.

`Terminal` asks the person; a key is typed unseen and never shown. In scripts and pipes `Silent` stands in for it, which takes what can be
taken without a question, and otherwise names the flag that is missing.
"""

from collections.abc import Sequence
from typing import Literal

from daimon import setup
from daimon.abi.errors import BadInput, ProviderFailed
from daimon.cli import hidden, screen
from daimon.cli.attention import attentive
from daimon.setup import Found, Offer
from daimon.steward import model_words as words
from daimon.steward.model_adding import OwnPrice, Picked
from daimon.steward.model_silence import Missing

MOST_SHOWN = 20
MISSING = Missing(
    vendor="--vendor is missing: {vendors}{found}",
    base_url="--base-url is missing: where the server is, such as http://127.0.0.1:8000/v1",
    key="{title} needs a key: give it with --key-stdin, or name its variable with --key-env",
    model="--model is missing; this provider has {models}",
)
"""What a script is told, where nobody can be asked."""


class Terminal:
    def vendor(self, found: Found) -> Picked:
        choices = [*_found_choices(found), *((vendor.title, Picked(name)) for name, vendor in setup.VENDORS.items())]
        screen.say("Who serves the model?")
        for n, (text, _) in enumerate(choices, 1):
            screen.say(f"{n:>3}  {text}")
        while True:
            answer = _ask("Number or name", "1")
            if answer.isdecimal() and 1 <= int(answer) <= len(choices):
                return choices[int(answer) - 1][1]
            try:
                return Picked(setup.vendor_of(answer).name)
            except BadInput as bad:
                self.object(bad)

    def base_url(self) -> str:
        return _ask_address("Its address, such as http://127.0.0.1:8000/v1")

    def keeps_variable(self, variable: str) -> bool:
        screen.say(f"{variable} of the environment holds a key.\n  1  use the variable, also later\n  2  copy the key into the vault")
        return _ask("Number", "1") != "2"

    def key(self, title: str, is_needed: bool) -> str:
        question = f"Key for {title} (it is not shown): " if is_needed else f"Key for {title} (Enter: none; it is not shown): "
        while True:
            key = hidden.ask(question, "give the key with --key-stdin").strip()
            if key or not is_needed:
                return key
            screen.remark("a key is needed; you get one on the provider's web site")

    def another_key(self, title: str, failed: ProviderFailed) -> str:
        screen.remark(str(failed), style="red")
        return self.key(title, is_needed=True)

    def another_address(self, address: str, failed: ProviderFailed) -> str:
        screen.remark(str(failed), style="red")
        return _ask_address("Its address", address)

    def model(self, offers: Sequence[Offer], usual: str) -> str:
        if not offers:
            raise BadInput("this provider has no models at the moment; load or pull one first")
        shown = sorted(offers, key=lambda offer: offer.model != usual)
        while True:
            _show(shown)
            answer = _ask("Model: number, name or a part of the name", shown[0].model)
            found = _matching(answer, shown, offers)
            if len(found) == 1:
                return found[0].model
            if not found:
                screen.remark(f"no model has {answer!r} in its name")
            shown = found or list(offers)

    def price(self, model: str, usual: Literal["free", "unknown"]) -> OwnPrice:
        screen.say(f"The price list does not know {model}. Dollars a million tokens, in and out, such as `3 15`; or `free`; or `unknown`.")
        while True:
            try:
                return _typed_price(_ask("Price", usual).split())
            except BadInput as bad:
                self.object(bad)

    def name(self, usual: str) -> str:
        return _ask("How do you want to call it", usual)

    def object(self, bad: BadInput) -> None:
        screen.remark(str(bad))


def _found_choices(found: Found) -> list[tuple[str, Picked]]:
    keys = [
        (f"{setup.VENDORS[key.vendor].title}, with {key.variable} of the environment", Picked(key.vendor, None, key.variable))
        for key in found.keys
    ]
    servers = []
    for server in found.servers:
        some = ", ".join(server.models[:3]) + (", …" if len(server.models) > 3 else "")
        servers.append(
            (
                f"{setup.VENDORS[server.vendor].title} at {server.base_url} ({some or 'no models yet'})",
                Picked(server.vendor, server.base_url),
            )
        )
    return keys + servers


def _show(offers: Sequence[Offer]) -> None:
    for n, offer in enumerate(offers[:MOST_SHOWN], 1):
        screen.say(f"{n:>3}  {offer.model:<44} {offer.rate or 'price unknown'}")
    if len(offers) > MOST_SHOWN:
        screen.say(f"     … and {len(offers) - MOST_SHOWN} more: type a part of the name")


def _matching(answer: str, shown: Sequence[Offer], offers: Sequence[Offer]) -> list[Offer]:
    """A whole name before a number, a number before a part."""
    if whole := [offer for offer in offers if offer.model == answer]:
        return whole[:1]
    if answer.isdecimal() and 1 <= int(answer) <= min(len(shown), MOST_SHOWN):
        return [shown[int(answer) - 1]]
    return [offer for offer in offers if answer.lower() in offer.model.lower()]


def _typed_price(typed: list[str]) -> OwnPrice:
    match typed:
        case ["free" | "unknown" as word]:
            return word
        case [given_in, given_out]:
            return words.price(given_in, given_out)
        case _:
            raise BadInput("two numbers, or `free`, or `unknown`")


def _ask_address(question: str, usual: str = "") -> str:
    while True:
        try:
            return words.address(_ask(question, usual))
        except BadInput as bad:
            screen.remark(str(bad))


def _ask(question: str, usual: str = "") -> str:
    shown = f"{question} [{usual}]: " if usual else f"{question}: "
    while True:
        try:
            with attentive():
                answer = input(screen.plain(shown)).strip()
        except EOFError:
            raise KeyboardInterrupt from None
        if answer or usual:
            return answer or usual
