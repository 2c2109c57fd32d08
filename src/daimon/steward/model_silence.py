"""The form behind which nobody sits: what can be taken without a question is taken, the rest is said to be missing.

A script is told which flag to give, a page what to fill in: that is all that differs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from daimon.abi.errors import BadInput, ProviderFailed
from daimon.setup import VENDORS, Found, Offer
from daimon.steward.model_adding import OwnPrice, Picked

MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class Missing:
    """What is said where something is missing, with `{vendors}`, `{found}`, `{title}` and `{models}` where they are known."""

    vendor: str
    base_url: str
    key: str
    model: str


class Silent:
    def __init__(self, missing: Missing) -> None:
        self._missing = missing

    def vendor(self, found: Found) -> Picked:
        here = [key.variable for key in found.keys] + [server.base_url for server in found.servers]
        seen = f"; found here: {', '.join(here)}" if here else ""
        raise BadInput(self._missing.vendor.format(vendors=", ".join(VENDORS), found=seen))

    def base_url(self) -> str:
        raise BadInput(self._missing.base_url)

    def keeps_variable(self, variable: str) -> bool:
        return True

    def key(self, title: str, is_needed: bool) -> str:
        if is_needed:
            raise BadInput(self._missing.key.format(title=title))
        return ""

    def another_key(self, title: str, failed: ProviderFailed) -> str:
        raise failed

    def another_address(self, address: str, failed: ProviderFailed) -> str:
        raise failed

    def model(self, offers: Sequence[Offer], usual: str) -> str:
        names = ", ".join(offer.model for offer in offers[:MOST_NAMED])
        raise BadInput(self._missing.model.format(models=names or "none at the moment"))

    def price(self, model: str, usual: Literal["free", "unknown"]) -> OwnPrice:
        return usual

    def name(self, usual: str) -> str:
        return usual

    def object(self, bad: BadInput) -> None:
        raise bad
