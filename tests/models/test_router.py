"""Who answers, who stands in, and who must not."""

from decimal import Decimal

import pytest

from daimon.abi.breaker import MOST_S, OPEN_S, OPENS_AFTER
from daimon.abi.errors import ProviderFailed
from daimon.abi.ids import HOME_SPACE, SELF, Conversation
from daimon.abi.label import owned
from daimon.abi.message import Image, Message, Role, Text, said
from daimon.abi.model import Choice, Later, Model, Profile, Request, Task
from daimon.abi.money import FixedPrice, Price
from daimon.abi.step import ModelFailed
from daimon.abi.tool import Effect, Manifest
from daimon.models.reflex import Reflex
from daimon.models.router import ListRouter, Rule
from daimon.testing.clock import ManualClock
from daimon.testing.ids import SeededRandom
from daimon.testing.model import ScriptedModel

TOOL = Manifest(name="look", description="looks", parameters={"type": "object"}, effect=Effect.PURE)
OVEN = "[timer] check the oven (due 2026-01-01T00:00:00)"
CHEAP, DEAR = FixedPrice(Decimal(1), Decimal(2)), FixedPrice(Decimal(10), Decimal(50))


def a_model(name: str, provider: str = "", price: Price | None = CHEAP, **more: object) -> ScriptedModel:
    profile = Profile(provider=provider or name, price=price, max_output_tokens=1_000, **more)  # type: ignore[arg-type]
    return ScriptedModel(name=name, profile=profile)


def a_task(text: str = "hi", conversation: str = "main", parts: tuple[object, ...] = (), tokens: int = 4_000, **more: object) -> Task:
    messages = (Message(Role.USER, (Text(text), *parts), owned("test")),)  # type: ignore[arg-type]
    more.setdefault("request", Request(messages, (TOOL,)))
    return Task(input_tokens=tokens, conversation=Conversation(HOME_SPACE, conversation), agent=SELF, **more)  # type: ignore[arg-type]


class Desk:
    """A router with a clock to turn."""

    def __init__(self, *models: Model, rules: tuple[Rule, ...] = (), paces: dict[str, int] | None = None) -> None:
        self.clock = ManualClock()
        names = tuple(model.name for model in models)
        self.router = ListRouter({m.name: m for m in models}, (*rules, Rule(names)), paces or {}, self.clock, SeededRandom(1))

    async def chosen(self, task: Task | None = None) -> Choice:
        found = await self.router.route(task or a_task())
        assert isinstance(found, Choice), found
        return found

    async def later(self, task: Task | None = None) -> Later:
        found = await self.router.route(task or a_task())
        assert isinstance(found, Later), found
        return found

    async def fail(self, times: int = 1, reason: str = "server", retry_after_s: float | None = None, is_lasting: bool = False) -> None:
        """The first that is free fails, so often; in between as much time passes as it takes."""
        for _ in range(times):
            found = await self.router.route(a_task())
            if isinstance(found, Later):
                await self.clock.advance(found.seconds)
                found = await self.chosen()
            self.router.heard(found, ProviderFailed(reason, "down", is_lasting=is_lasting, retry_after_s=retry_after_s))


# -- who answers


async def test_the_first_answers_and_the_choice_says_who_else_there_was() -> None:
    found = await Desk(a_model("a"), a_model("b")).chosen()
    assert (found.routed.chosen, found.routed.candidates, found.routed.passed_over) == ("a", ("a", "b"), {})
    assert found.routed.predicted_cost == Decimal("0.006")


async def test_who_answered_last_in_the_turn_goes_on_with_it() -> None:
    desk = Desk(a_model("a"), a_model("b"))
    found = await desk.chosen(a_task(last_model="b"))
    assert (found.routed.chosen, found.routed.reason) == ("b", "it answered last in this turn")


async def test_reflex_answers_first_where_it_is_sure_and_nothing_else() -> None:
    desk = Desk(Reflex(is_alone=False), a_model("big"))
    for sure in ("what time is it?", "remember that the locker code is 4711", "remind me tomorrow at 9 to call mum"):
        assert (await desk.chosen(a_task(sure))).routed.chosen == "reflex", sure
    unsure = (
        "hello", "help", OVEN, "[heartbeat] read-feed", "what is the meaning of life?", "remind me to call mum",
        "remember the time we went to Rome? write a poem about it", "what time is it in Atlantis?",
    )  # fmt: skip
    for text in unsure:
        found = await desk.chosen(a_task(text))
        assert found.routed.chosen == "big", text
        assert found.routed.passed_over == {"reflex": "it is not sure what to do"}


async def test_reflex_says_a_reminder_where_nobody_else_can_be_asked_or_paid() -> None:
    desk = Desk(Reflex(is_alone=False), a_model("big"))
    assert (await desk.chosen(a_task(OVEN, is_broke=True))).routed.chosen == "reflex"
    with pytest.raises(ProviderFailed, match="no money"):
        await desk.router.route(a_task("what is the meaning of life?", is_broke=True))
    await desk.fail()
    assert (await desk.chosen(a_task(OVEN))).routed.chosen == "reflex"
    assert (await desk.later(a_task("what is the meaning of life?"))).seconds > 0


async def test_reflex_alone_answers_everything() -> None:
    assert (await Desk(Reflex()).chosen(a_task("what is the meaning of life?"))).routed.chosen == "reflex"


async def test_reflex_does_not_take_over_what_another_began() -> None:
    desk = Desk(Reflex(is_alone=False), a_model("big"))
    assert (await desk.chosen(a_task("what time is it?", last_model="big"))).routed.chosen == "big"


# -- what it takes


async def test_a_model_without_tools_or_eyes_is_passed_over_and_better_than_nobody() -> None:
    blind, seeing = a_model("blind"), a_model("seeing", has_images=True)
    picture = (Image("0" * 64, "image/png"),)  # type: ignore[arg-type]
    assert (await Desk(blind, seeing).chosen(a_task(parts=picture))).routed.chosen == "seeing"
    assert (await Desk(blind).chosen(a_task(parts=picture))).routed.reason == "nobody else can, though it cannot see images"
    assert (await Desk(a_model("mute", has_tools=False), seeing).chosen()).routed.passed_over == {"mute": "it cannot use tools"}
    assert (await Desk(a_model("mute", has_tools=False)).chosen()).routed.chosen == "mute"


async def test_an_old_image_needs_no_eyes() -> None:
    picture = Message(Role.USER, (Image("0" * 64, "image/png"),), owned("test"))  # type: ignore[arg-type]
    old = Request((picture, said(Role.ASSISTANT, "a cat", owned("x")), said(Role.USER, "thanks", owned("x"))))
    assert (await Desk(a_model("blind"), a_model("seeing", has_images=True)).chosen(a_task(request=old))).routed.chosen == "blind"


async def test_what_is_too_long_for_one_goes_to_another() -> None:
    desk = Desk(a_model("short", context_tokens=8_000), a_model("long", context_tokens=1_000_000))
    assert (await desk.chosen(a_task(tokens=4 * 20_000))).routed.chosen == "long"
    with pytest.raises(ProviderFailed, match="8,000 tokens is all it reads"):
        await Desk(a_model("short", context_tokens=8_000)).router.route(a_task(tokens=4 * 20_000))


# -- what is forbidden


async def test_private_words_stay_at_home() -> None:
    cloud, home = a_model("cloud"), a_model("home", is_local=True)
    desk = Desk(cloud, home, rules=(Rule(("cloud", "home"), conversations=("private*",), local_only=True),))
    assert (await desk.chosen()).routed.chosen == "cloud"
    found = await desk.chosen(a_task(conversation="private/diary", last_model="cloud"))
    assert found.routed.chosen == "home"
    assert "local_only" in found.routed.passed_over["cloud"]


async def test_what_began_in_private_stays_private_wherever_it_goes() -> None:
    rules = (Rule(("cloud", "home"), conversations=("private*",), local_only=True, max_call_cost=Decimal(1)),)
    desk = Desk(a_model("cloud"), a_model("home", is_local=True), rules=rules)
    assert (await desk.chosen(a_task(conversation="fork/t1", origin="private/diary"))).routed.chosen == "home"
    assert (await desk.chosen(a_task(conversation="fork/t1", origin="main"))).routed.chosen == "cloud"


async def test_private_words_wait_rather_than_leave() -> None:
    rule = Rule(("cloud", "home"), conversations=("private",), local_only=True)
    desk = Desk(a_model("cloud"), a_model("home", is_local=True), rules=(rule,))
    task = a_task(conversation="private")
    desk.router.heard(await desk.chosen(task), ProviderFailed("server", "down"))
    assert (await desk.later(task)).seconds > 0
    with pytest.raises(ProviderFailed, match="local_only"):
        await Desk(a_model("cloud"), rules=(Rule(("cloud",), local_only=True),)).router.route(task)


async def test_a_price_cap_passes_over_the_dear_and_the_unknown() -> None:
    rule = Rule(("dear", "odd", "cheap"), max_call_cost=Decimal("0.01"))
    desk = Desk(a_model("dear", price=DEAR), a_model("odd", price=None), a_model("cheap"), rules=(rule,))
    found = await desk.chosen()
    assert found.routed.chosen == "cheap"
    assert found.routed.passed_over["dear"] == "a call may cost $0.09, allowed is $0.01 (max_call_cost)"
    assert "nobody knows its price" in found.routed.passed_over["odd"]


# -- failures


async def test_a_failing_provider_is_left_alone_and_another_stands_in() -> None:
    desk = Desk(a_model("a"), a_model("b"))
    await desk.fail()
    found = await desk.chosen()
    assert found.routed.chosen == "b"
    assert "down" in found.routed.passed_over["a"]
    await desk.clock.advance(1)
    assert (await desk.chosen()).routed.chosen == "a"


async def test_models_of_one_provider_fail_together() -> None:
    desk = Desk(a_model("a", "one"), a_model("b", "one"), a_model("c", "two"))
    await desk.fail()
    assert (await desk.chosen()).routed.chosen == "c"


async def test_retry_after_is_kept_to_the_second() -> None:
    desk = Desk(a_model("a"))
    await desk.fail(reason="rate", retry_after_s=20)
    assert (await desk.later()).seconds == pytest.approx(20)
    await desk.clock.advance(19.9)
    assert (await desk.later()).seconds == pytest.approx(0.1)
    await desk.clock.advance(0.1)
    await desk.chosen()


async def test_pauses_grow_and_after_some_failures_the_breaker_opens() -> None:
    desk, pauses = Desk(a_model("a")), []
    for _ in range(12):
        await desk.fail()
        pauses.append((await desk.later()).seconds)
    closed, opened = pauses[: OPENS_AFTER - 1], pauses[OPENS_AFTER - 1 :]
    assert all(0.25 * 2**n <= pause <= 0.5 * 2**n for n, pause in enumerate(closed))
    assert opened[0] == pytest.approx(OPEN_S)
    assert opened[-1] == pytest.approx(MOST_S)


async def test_calls_that_were_under_way_together_fail_once() -> None:
    desk = Desk(a_model("a"))
    together = [await desk.chosen() for _ in range(12)]
    for call in together:
        desk.router.heard(call, ProviderFailed("cut", "gone"))
    assert (await desk.later()).seconds <= 0.5


async def test_a_short_retry_after_does_not_keep_an_open_breaker_from_waiting() -> None:
    desk = Desk(a_model("a"))
    await desk.fail(OPENS_AFTER, reason="rate", retry_after_s=1)
    assert (await desk.later()).seconds == pytest.approx(OPEN_S)


async def test_an_old_call_that_ends_does_not_end_the_pause() -> None:
    desk = Desk(a_model("a"))
    old = await desk.chosen()
    await desk.fail(OPENS_AFTER)
    desk.router.heard(old, ProviderFailed("stopped", "x"))
    assert (await desk.later()).seconds == pytest.approx(OPEN_S)


async def test_an_open_breaker_lets_one_call_through_to_try() -> None:
    desk = Desk(a_model("a"))
    await desk.fail(OPENS_AFTER)
    await desk.clock.advance(OPEN_S)
    trial = await desk.chosen()
    assert (await desk.later()).seconds > 0
    desk.router.heard(trial, None)
    await desk.chosen()
    await desk.chosen()


@pytest.mark.parametrize("reason", ["stopped", "unused"])
async def test_a_trial_that_said_nothing_leaves_the_next_one_to_try(reason: str) -> None:
    desk = Desk(a_model("a"))
    await desk.fail(OPENS_AFTER)
    await desk.clock.advance(OPEN_S)
    desk.router.heard(await desk.chosen(), ProviderFailed(reason, "x"))
    await desk.chosen()


async def test_what_lasts_is_not_tried_again_in_this_turn_and_does_not_stop_others() -> None:
    desk = Desk(a_model("a"), a_model("b"))
    await desk.fail(reason="auth", is_lasting=True)
    refused = ModelFailed("a", "auth", "the key was refused", is_lasting=True)
    assert (await desk.chosen(a_task(failures=(refused,)))).routed.passed_over == {"a": "the key was refused"}
    assert (await desk.chosen()).routed.chosen == "a"
    both = (refused, ModelFailed("b", "not_found", "no such model", is_lasting=True))
    with pytest.raises(ProviderFailed, match=r"a: the key was refused\. b: no such model\.") as failed:
        await desk.router.route(a_task(failures=both))
    assert failed.value.reason == "no_model"


async def test_so_many_calls_a_minute() -> None:
    desk = Desk(a_model("a"), paces={"a": 2})
    await desk.chosen()
    await desk.clock.advance(10)
    await desk.chosen()
    later = await desk.later()
    assert (later.seconds, later.is_pace) == (pytest.approx(50), True)
    await desk.clock.advance(50)
    await desk.chosen()


async def test_a_model_whose_profile_fails_is_passed_over() -> None:
    class Broken(ScriptedModel):
        async def profile(self) -> Profile:
            raise RuntimeError("boom")

    found = await Desk(Broken(name="broken"), a_model("b")).chosen()
    assert found.routed.passed_over == {"broken": "it raised RuntimeError: boom"}
