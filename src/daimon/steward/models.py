"""Models, for the page: all that `daimon model` does, in a gateway that runs.

What a wish comes to is worked out as for the command line (`model_adding.py`), with a form behind which nobody sits. Then one small call,
and only if that works something is written: first the key, then the settings.
"""

import asyncio

from daimon import config, setup
from daimon.abi.errors import BadInput, ProviderFailed
from daimon.gateway.room import settings_models as shown
from daimon.gateway.room.settings_changed import Changed
from daimon.gateway.room.settings_models import ModelWish
from daimon.setup import REFLEX, VENDORS, Answer, Row, Setup, Wanted
from daimon.steward import model_words
from daimon.steward.estate import Estate
from daimon.steward.model_adding import Adding, Flags, GivenKey, OwnPrice, answered_as
from daimon.steward.model_silence import Missing, Silent

ORDER_VARIABLE = f"{config.PREFIX}MODEL__USE"
MOST_SAID = 500
UNNAMED = "model"
"""Stands for the model where only the provider's list is wanted."""
WHICH = "which model? The provider's list shows what it has"
MISSING = Missing(
    vendor="who serves the model? One of {vendors}",
    base_url="the address is missing: where the server is, such as http://127.0.0.1:8000/v1",
    key="{title} needs a key; it is made on their site, and goes into the vault here",
    model=WHICH,
)


class HomeModels:
    def __init__(self, estate: Estate) -> None:
        self._estate = estate

    async def view(self) -> shown.ModelsView:
        return await asyncio.to_thread(self._view)

    def _view(self) -> shown.ModelsView:
        vendors = tuple(shown.VendorRow(v.name, v.title, v.base_url or "", v.needs_key, v.is_local, v.model) for v in VENDORS.values())
        rows = tuple(map(_row, self._setup().rows()))
        return shown.ModelsView(self._estate.version, rows, vendors, ORDER_VARIABLE if ORDER_VARIABLE in self._estate.environment else "")

    async def found(self) -> shown.FoundHere:
        here = await setup.look(self._estate.environment)
        servers = tuple(shown.FoundServer(s.vendor, VENDORS[s.vendor].title, s.base_url, s.models[:50]) for s in here.servers)
        return shown.FoundHere(tuple(shown.FoundKey(key.vendor, key.variable) for key in here.keys), servers)

    async def offers(self, wish: ModelWish) -> tuple[shown.OfferRow, ...]:
        opened, _, wanted = await asyncio.to_thread(self._wanted, wish, wish.model or UNNAMED)
        try:
            listed = await opened.offers(wanted)
        except ProviderFailed as failed:
            raise _refused(failed, wish) from None
        return tuple(shown.OfferRow(each.model, each.context_tokens, str(each.rate or "")) for each in listed)

    async def try_out(self, name: str) -> shown.Tried:
        opened = await asyncio.to_thread(self._setup)
        wanted = await asyncio.to_thread(opened.wanted, name)
        try:
            return _tried(await opened.test(wanted))
        except ProviderFailed as failed:
            return shown.Tried(False, "", "", 0.0, None, None, "", (), str(failed)[:MOST_SAID])

    async def add(self, wish: ModelWish) -> shown.AddedModel:
        if not wish.model:
            raise BadInput(WHICH)
        async with self._estate.turn:
            opened, adding, wanted = await asyncio.to_thread(self._wanted, wish, wish.model)
            tried = None
            if wish.is_tested:
                wanted, tried = await self._tested(opened, wanted, wish)
            await asyncio.to_thread(opened.add, wanted, wish.place)
            changed = await self._estate.changed()
        kept = wanted.entry.key or (wanted.entry.vendor if wanted.key else "")
        use, price = opened.settings.model.use, adding.price_words(wanted.entry)
        return shown.AddedModel(wanted.name, use, kept, price, tried, tuple(adding.remarks), changed)

    async def _tested(self, opened: Setup, wanted: Wanted, wish: ModelWish) -> tuple[Wanted, shown.Tried]:
        try:
            answer = await opened.test(wanted)
        except ProviderFailed as failed:
            raise _refused(failed, wish) from None
        return answered_as(wanted, answer), _tried(answer)

    async def use(self, names: tuple[str, ...], version: str) -> Changed:
        async with self._estate.turn:
            opened = await asyncio.to_thread(self._setup)
            await asyncio.to_thread(opened.use, names or (REFLEX,), version)
            return await self._estate.changed()

    async def remove(self, name: str) -> Changed:
        async with self._estate.turn:
            opened = await asyncio.to_thread(self._setup)
            key = await asyncio.to_thread(opened.remove, name)
            return await self._estate.changed(f"its key {key} is out of the vault too, since no other model uses it" if key else "")

    def _setup(self) -> Setup:
        return Setup(self._estate.home, self._estate.environment, vault=self._estate.vault)

    def _wanted(self, wish: ModelWish, model: str) -> tuple[Setup, Adding, Wanted]:
        opened = self._setup()
        flags = Flags(
            name=wish.name or None, vendor=wish.vendor, model=model, base_url=wish.base_url or None, key=_key(wish), price=_price(wish),
            place=wish.place, is_tested=wish.is_tested,
        )  # fmt: skip
        adding = Adding(opened, flags, Silent(MISSING), lambda text: None)
        return opened, adding, adding.wanted()


def _key(wish: ModelWish) -> GivenKey | None:
    if wish.key and wish.variable:
        raise BadInput("say the key one way: itself, or the variable that holds it")
    if wish.variable:
        return GivenKey(wish.variable, "variable")
    return GivenKey(wish.key, "typed") if wish.key else None


def _price(wish: ModelWish) -> OwnPrice | None:
    if wish.input_price or wish.output_price:
        return model_words.price(wish.input_price, wish.output_price)
    return wish.price or None


def _refused(failed: ProviderFailed, wish: ModelWish) -> BadInput:
    """A key that is kept nowhere yet is known to nobody else who keeps keys out of texts."""
    said = str(failed)
    return BadInput((said.replace(wish.key, "***") if wish.key else said)[:MOST_SAID])


def _tried(answer: Answer) -> shown.Tried:
    usage = answer.reply.usage
    cost = "" if usage is None or usage.cost is None else f"{usage.cost:f}"
    taken, given = (None, None) if usage is None else (usage.input_tokens, usage.output_tokens)
    seconds, remarks = round(answer.seconds, 3), tuple(answer.reply.remarks)
    return shown.Tried(True, answer.text[:MOST_SAID], answer.reply.model, seconds, taken, given, cost, remarks, "")


def _row(row: Row) -> shown.ModelRow:
    price = "" if row.rate is None else str(row.rate)
    return shown.ModelRow(
        row.name, row.place, row.vendor, row.model, row.address, price, row.context_tokens, row.is_local, row.key, row.lacks_key
    )
