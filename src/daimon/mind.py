"""The models that the settings name, who of them answers, and what they may cost: made at the start, and again when settings change.

A change swaps the parts of the running `Brain` one for one. A call under way ends with the model that it began with: what was replaced is
closed an hour later.
"""

import asyncio
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from zoneinfo import ZoneInfo

from daimon import config, endpoints
from daimon.abi.codec import fingerprint
from daimon.abi.errors import Misconfigured, ProviderFailed
from daimon.abi.ids import SUMMARIES, SUMMARIZER
from daimon.abi.memory import Embedder
from daimon.abi.model import Model
from daimon.abi.money import Limit, Scope
from daimon.abi.ports import Clock, Random, Store
from daimon.abi.step import Sampling
from daimon.extension import Kit
from daimon.keeper import Vault
from daimon.kernel.budget import Budget
from daimon.kernel.thinking import Brain, Patience
from daimon.models.provider import ProviderModel
from daimon.models.reflex import Reflex
from daimon.models.router import ListRouter, Rule

REFLEX = "reflex"
RETIRE_S = 3_600.0
CHANGEABLE = frozenset({"agents", "model", "models", "routes", "budget", "calendars", "channels", "mcp"})
"""Settings that take effect without a restart."""


@dataclass(slots=True)
class Mind:
    vault: Vault
    kit: Kit
    store: Store
    clock: Clock
    random: Random
    settings: config.Settings
    embedder: Embedder | None = None
    """Of this machine, since reflex is used where nothing may leave it: it understands a little more by meaning."""
    jobs: dict[str, Limit] = field(default_factory=dict)
    """What single automations may cost a day; changed by whoever keeps them."""
    brain: Brain = field(init=False)
    _made: list[ProviderModel] = field(default_factory=list)
    _retired: list[ProviderModel] = field(default_factory=list)
    _retiring: asyncio.TimerHandle | None = None
    _closing: "asyncio.Future[None] | None" = None
    _warming: "asyncio.Future[None] | None" = None

    def __post_init__(self) -> None:
        self.brain = self._brain(self.settings)

    @property
    def name(self) -> str:
        return ", ".join(self.settings.model.use)

    @property
    def used(self) -> frozenset[str]:
        """Whoever may answer."""
        return frozenset((*self.settings.model.use, *(name for route in self.settings.routes for name in route.use)))

    @property
    def pin(self) -> str:
        return fingerprint(config.Settings, self.settings)

    def change(self, settings: config.Settings) -> tuple[str, ...]:
        """Raises Misconfigured and changes nothing, or says which sections have changed and need a restart."""
        before, self._made = self._made, []
        try:
            new = self._brain(settings)
        except Misconfigured:
            self._made = before
            raise
        self._retired += before
        self.brain.router, self.brain.budget, self.brain.patience, self.brain.sampling = new.router, new.budget, new.patience, new.sampling
        self._retire()
        changed = {name for name in config.Settings.model_fields if getattr(settings, name) != getattr(self.settings, name)}
        self.settings = settings
        return tuple(sorted(changed - CHANGEABLE))

    def warm(self) -> None:
        """Somebody is about to say something: what the first model needs is loaded meanwhile."""
        wanted = next((model for model in reversed(self._made) if model.name in self.settings.model.use), None)
        if wanted is not None and self._warming is None:
            self._warming = asyncio.ensure_future(_load(wanted))

    async def close(self) -> None:
        if self._warming is not None:
            await asyncio.wait({self._warming})
        if self._retiring is not None:
            self._retiring.cancel()
        for model in (*self._made, *self._retired):
            await model.close()

    def _retire(self) -> None:
        """What was replaced is closed when no call of it can be under way any more."""
        if self._retiring is None and self._retired:
            self._retiring = asyncio.get_running_loop().call_later(RETIRE_S, self._close_retired)

    def _close_retired(self) -> None:
        closing, self._retired, self._retiring = self._retired, [], None
        self._closing = asyncio.ensure_future(_close(closing))

    def _brain(self, settings: config.Settings) -> Brain:
        models, asked = self._models(settings), settings.model
        named = settings.context.summarizer
        rules = [Rule((named,) if named else (), (f"{SUMMARIES}*",), (SUMMARIZER,))]  # only the one that is named, or nobody
        rules += [
            Rule(route.use or asked.use, route.conversations, route.agents, route.local_only, route.max_call_cost)
            for route in settings.routes
        ]
        _require_known(models, settings)
        paces = {name: entry.per_minute for name, entry in settings.models.items() if entry.per_minute is not None}
        router = ListRouter(models, (*rules, Rule(asked.use)), paces, self.clock, self.random)
        sampling = Sampling(asked.temperature, asked.top_p, asked.seed, None, asked.logprobs)
        return Brain(
            router, replace(budget_of(settings), jobs=self.jobs), Patience(asked.first_token_s, asked.next_token_s, asked.whole_s), sampling
        )

    def _models(self, settings: config.Settings) -> dict[str, Model]:
        if taken := sorted({REFLEX, *self.kit.models} & set(settings.models)):
            raise Misconfigured(f"models.{taken[0]}: this name is taken; choose another")
        self.vault.entries()  # one that cannot be opened is told now, not at the first call
        made = [ProviderModel(endpoints.endpoint_of(name, settings, self.vault, os.environ), self.store) for name in settings.models]
        self._made += made
        return {
            REFLEX: Reflex(is_alone=has_only_built_in(settings), embedder=self.embedder),
            **self.kit.models,
            **{model.name: model for model in made},
        }


async def _close(models: list[ProviderModel]) -> None:
    for model in models:
        await model.close()


async def _load(model: ProviderModel) -> None:
    with suppress(ProviderFailed):  # whoever asks it hears the same
        await model.profile()


def budget_of(settings: config.Settings) -> Budget:
    purses: Mapping[Scope, config.Purse] = {scope: getattr(settings.budget, scope) for scope in Scope}
    limits = {scope: Limit(purse.tokens, purse.cost) for scope, purse in purses.items()}
    return Budget(limits, ZoneInfo(str(config.zone(settings))), settings.budget.unknown_price == "allow")


def names_of(settings: config.Settings, others: Iterable[str]) -> frozenset[str]:
    """All that can be asked: those of the settings, those of extensions, and the one that is built in."""
    return frozenset({REFLEX, *settings.models, *others})


def has_only_built_in(settings: config.Settings) -> bool:
    return settings.model.use == (REFLEX,)


def _require_known(models: Mapping[str, Model], settings: config.Settings) -> None:
    places = [("model.use", settings.model.use), *((f"routes[{n}].use", route.use) for n, route in enumerate(settings.routes))]
    named = settings.context.summarizer
    places.append(("context.summarizer", (named,) if named else ()))
    for place, names in places:
        for name in names:
            if name not in models:
                raise Misconfigured(f"{place} names {name!r}, but there is no such model; known are {', '.join(sorted(models))}")
