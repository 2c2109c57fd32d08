"""Which model answers: an ordered list, and conditions.

The first of the list that can (tools, images, size), may (privacy, price cap) and is not out of order answers; the rest stand in for it.
Who answered last in a turn goes on with it, since its provider has the beginning in its cache. A model may itself object to a request: the
built-in `reflex` does so unless it is sure, and so is a first tier that costs nothing. What was considered and why it was passed over is
written down with every choice.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fnmatch import fnmatchcase

from daimon.abi.breaker import Breaker
from daimon.abi.errors import ProviderFailed
from daimon.abi.ids import AgentId, Conversation
from daimon.abi.message import Image, Message, ToolResult, is_said
from daimon.abi.model import Choice, Later, Model, Profile, Task
from daimon.abi.money import dollars, worst
from daimon.abi.ports import Clock, Random
from daimon.abi.step import Routed

OURS = frozenset({"stopped", "unused"})
"""Ends of a call that say nothing of the provider."""
MINUTE_S = 60.0
NOBODY = AgentId("")
BYTES_PER_TOKEN = 4
"""A task's size is a bound; this makes a likely size of it."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Who may answer, for some conversations and agents; patterns with * and ?, none means all."""

    use: tuple[str, ...]
    conversations: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    local_only: bool = False
    max_call_cost: Decimal | None = None

    def is_for(self, conversation: str, agent: str) -> bool:
        return _is_among(conversation, self.conversations) and _is_among(agent, self.agents)

    def with_origin(self, origin: "Rule") -> "Rule":
        """What is forbidden where the task began is forbidden here too."""
        caps = [cap for cap in (self.max_call_cost, origin.max_call_cost) if cap is not None]
        return replace(self, local_only=self.local_only or origin.local_only, max_call_cost=min(caps, default=None))


@dataclass(frozen=True, slots=True)
class _Search:
    """What was found on the way to a choice."""

    task: Task
    rule: Rule
    passed_over: dict[str, str] = field(default_factory=dict)
    waits: dict[str, float] = field(default_factory=dict)
    paced: set[str] = field(default_factory=set)
    """Of those who wait: only because of the owner's own pace."""
    poor: dict[str, Profile] = field(default_factory=dict)
    """Who could answer, but not with all that the request has: without tools, without seeing the images."""
    too_long: set[str] = field(default_factory=set)
    """Who could answer a shorter request."""


class ListRouter:
    def __init__(self, models: Mapping[str, Model], rules: Sequence[Rule], paces: Mapping[str, int], clock: Clock, random: Random) -> None:
        """The first rule that is for a task counts; the last one must be for all. `paces` are calls a minute, by model."""
        self._models = models
        self._rules = rules
        self._paces = {name: _Pace(per_minute, clock) for name, per_minute in paces.items()}
        self._clock = clock
        self._random = random
        self._breakers: dict[str, Breaker] = {}

    async def route(self, task: Task) -> Choice | Later:
        rule = self._wanting(task.wanted, self._rule(task.conversation, task.agent, task.origin, task.origin_agent))
        search = _Search(task, rule)
        if task.wanted and task.wanted not in self._models:
            search.passed_over[task.wanted] = "it was asked for, but no model has this name (models)"
        for name in _in_order(rule.use, task):
            profile = await self._profile(self._models[name], search)
            if profile is not None and self._is_free(name, profile, search):
                return self._choose(name, profile, search)
        for name, profile in search.poor.items():
            if self._is_free(name, profile, search):
                return self._choose(name, profile, search)
        if search.waits:
            soonest = min(search.waits, key=lambda name: search.waits[name])
            return Later(search.waits[soonest], _all(search.passed_over), search.paced == set(search.waits))
        raise ProviderFailed("too_long" if search.too_long else "no_model", _all(search.passed_over), is_lasting=True)

    async def window(self, conversation: Conversation, agent: AgentId, origin: str = "", wanted: str = "") -> tuple[str, int] | None:
        for name in self._wanting(wanted, self._rule(conversation, agent, origin)).use:
            with suppress(ProviderFailed):
                profile = await self._models[name].profile()
                if profile.is_metered and profile.context_tokens is not None:
                    return name, profile.context_tokens - min(profile.max_output_tokens, profile.context_tokens // 2)
        return None

    def _rule(self, conversation: Conversation, agent: AgentId, origin: str, origin_agent: AgentId = NOBODY) -> Rule:
        """What is forbidden where it began is so whoever asks: for who works here, and for who worked there."""
        rule = next(rule for rule in self._rules if rule.is_for(conversation.name, agent))
        if origin in ("", conversation.name):
            return rule
        for asker in {agent, origin_agent or agent}:
            rule = rule.with_origin(next(rule for rule in self._rules if rule.is_for(origin, asker)))
        return rule

    def _wanting(self, name: str, rule: Rule) -> Rule:
        """Whoever is asked for comes first; what the rule forbids stays forbidden."""
        return replace(rule, use=(name, *(each for each in rule.use if each != name))) if name in self._models else rule

    def heard(self, choice: Choice, failed: ProviderFailed | None) -> None:
        breaker = self._breaker(choice.model.name, choice.profile)
        if failed is None:
            breaker.succeeded()
        elif failed.is_lasting or failed.reason in OURS:
            breaker.gave_up()
        else:
            breaker.failed(str(failed), failed.retry_after_s)

    async def _profile(self, model: Model, search: _Search) -> Profile | None:
        """Its profile, if nothing about it stands against asking it."""
        task = search.task
        try:
            profile = await model.profile()
            reason = _failed_before(model, task) or _forbidden(profile, search)
            if not reason and (reason := _too_long(profile, task)):
                search.too_long.add(model.name)
            lacks = _lacks(profile, task)
            objection = model.objection(task.request) if len(search.rule.use) > 1 else ""
            if not reason and (lacks or (objection and model.stands_in(task.request))):
                search.poor[model.name] = profile
        except ProviderFailed as failed:
            reason, lacks, objection, profile = str(failed), "", "", None
        except Exception as bug:  # noqa: BLE001 - a model may be an extension's own
            reason, lacks, objection, profile = f"it raised {type(bug).__name__}: {bug}", "", "", None
        if said := reason or objection or lacks:
            search.passed_over[model.name] = said
            return None
        return profile

    def _is_free(self, name: str, profile: Profile, search: _Search) -> bool:
        breaker = self._breaker(name, profile)
        wait, reason = breaker.wait_s(), breaker.reason
        if wait <= 0 and name in self._paces:
            search.paced.add(name)
            wait, reason = self._paces[name].wait_s(), f"{name} may be asked {self._paces[name].per_minute} times a minute (per_minute)"
        if wait > 0:
            search.waits[name] = wait
            search.passed_over[name] = f"to be asked in {wait:.1f} s: {reason}"
        return wait <= 0

    def _choose(self, name: str, profile: Profile, search: _Search) -> Choice:
        self._breaker(name, profile).asking()
        if name in self._paces:
            self._paces[name].take()
        task, rule = search.task, search.rule
        reason = "it answered last in this turn" if name == task.last_model else "the first that can and may"
        reason = f"nobody else can, though {search.passed_over[name]}" if name in search.poor else reason
        cost = worst(profile.price, task.input_tokens, profile.max_output_tokens).cost if profile.is_metered else Decimal(0)
        routed = Routed(name, "list", reason, rule.use, passed_over=dict(search.passed_over), predicted_cost=cost)
        return Choice(self._models[name], profile, routed)

    def _breaker(self, name: str, profile: Profile) -> Breaker:
        """Models of one provider share it; those inside Daimon have nobody to share it with."""
        provider = profile.provider if profile.is_metered else name
        if provider not in self._breakers:
            self._breakers[provider] = Breaker(self._clock, self._random)
        return self._breakers[provider]


class _Pace:
    """So many calls a minute."""

    def __init__(self, per_minute: int, clock: Clock) -> None:
        self.per_minute = per_minute
        self._clock = clock
        self._calls: deque[float] = deque(maxlen=per_minute)

    def wait_s(self) -> float:
        is_full = len(self._calls) == self.per_minute
        return max(0.0, self._calls[0] + MINUTE_S - self._clock.monotonic()) if is_full else 0.0

    def take(self) -> None:
        self._calls.append(self._clock.monotonic())


def _in_order(names: tuple[str, ...], task: Task) -> tuple[str, ...]:
    """Who answered last comes first."""
    last = task.last_model
    return (last, *(name for name in names if name != last)) if last in names else names


def _failed_before(model: Model, task: Task) -> str:
    for failure in reversed(task.failures):
        if failure.model == model.name and failure.is_lasting:
            return failure.message
    return ""


def _lacks(profile: Profile, task: Task) -> str:
    """What the request needs and the model has not."""
    if task.request.tools and not profile.has_tools:
        return "it cannot use tools"
    if not profile.has_images and any(map(_has_image, _newest(task.request.messages))):
        return "it cannot see images"
    return ""


def _too_long(profile: Profile, task: Task) -> str:
    room = profile.context_tokens
    if room is not None and task.input_tokens // BYTES_PER_TOKEN + profile.max_output_tokens > room:
        return f"the request is too long for it: {room:,} tokens is all it reads"
    return ""


def _forbidden(profile: Profile, search: _Search) -> str:
    rule, task = search.rule, search.task
    if task.is_broke and profile.is_metered:
        return "there is no money for it"
    if rule.local_only and not profile.is_local:
        return "it is not local, and these words must not leave the machine (local_only)"
    if rule.max_call_cost is None or not profile.is_metered:
        return ""
    cost = worst(profile.price, task.input_tokens, profile.max_output_tokens).cost
    if cost is None:
        return f"nobody knows its price, and a call may cost {dollars(rule.max_call_cost)} (max_call_cost)"
    if cost > rule.max_call_cost:
        return f"a call may cost {dollars(cost)}, allowed is {dollars(rule.max_call_cost)} (max_call_cost)"
    return ""


def _newest(messages: Sequence[Message]) -> Sequence[Message]:
    """From the last thing that a user said."""
    last = max((n for n, message in enumerate(messages) if is_said(message)), default=0)
    return messages[last:]


def _has_image(message: Message) -> bool:
    return any(
        isinstance(part, Image) or (isinstance(part, ToolResult) and any(isinstance(p, Image) for p in part.parts))
        for part in message.parts
    )


def _is_among(name: str, patterns: tuple[str, ...]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def _all(reasons: Mapping[str, str]) -> str:
    return " ".join(f"{name}: {reason.rstrip('.')}." for name, reason in reasons.items())
